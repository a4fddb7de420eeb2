/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in quotes. */
#include "sim/quoted.h"

#include "common/text.h"

void sim_print_quoted(FILE *out, enum sim_output form, const char *text)
{
    char clean[SIM_PATH_BYTES];

    lbx_text_clean(text, clean, sizeof(clean)); /* JSON takes UTF-8 alone */
    putc('"', out);
    for (const char *c = clean; *c; c++) {
        if (*c == '"' || (*c == '\\' && form == SIM_JSON))
            putc(form == SIM_CSV ? '"' : '\\', out);
        putc(*c, out);
    }
    putc('"', out);
}
