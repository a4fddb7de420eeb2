/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors with a text for people. */
#include "common/error.h"

#include <stdio.h>
#include <string.h>

int lbx_error_set(struct lbx_error *err, int code, const char *fmt, ...)
{
    va_list ap;

    if (!err)
        return code;
    err->code = code;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return code;
}

void lbx_error_prefix(struct lbx_error *err, const char *fmt, ...)
{
    char old[LBX_ERROR_TEXT_MAX];
    size_t used;
    va_list ap;

    if (!err)
        return;
    memcpy(old, err->text, sizeof(old));
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    used = strlen(err->text);
    snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
}
