/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that came from elsewhere: names of users, accounts, hosts. */
#ifndef LBX_TEXT_H
#define LBX_TEXT_H

#include <stddef.h>

/* Bytes of the UTF-8 character at s (NUL-terminated), 0 when there is none: overlong forms, surrogates and what is beyond
 * the last character are none. */
size_t lbx_text_utf8(const char *s);

/* Copy as much of s as fits, whole characters only; each byte that is no UTF-8 and each control character becomes '?'.
 * ret[out] [size], always NUL-terminated; size > 0 */
void lbx_text_clean(const char *s, char *ret, size_t size);

#endif
