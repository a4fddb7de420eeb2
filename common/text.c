/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that came from elsewhere. */
#include "common/text.h"

#include <string.h>

size_t lbx_text_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : (s[0] & 0xf0) == 0xe0       ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

void lbx_text_clean(const char *s, char *ret, size_t size)
{
    size_t at = 0;

    while (*s) {
        size_t n = lbx_text_utf8(s);
        size_t step = n ? n : 1;

        if (at + step >= size)
            break;
        if (n == 0 || (unsigned char)*s < 0x20 || *s == 0x7f)
            ret[at] = '?';
        else
            memcpy(ret + at, s, n);
        at += step;
        s += step;
    }
    ret[at] = '\0';
}
