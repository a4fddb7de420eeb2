/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors with a text for people. */
#include "common/error.h"

#include <stdio.h>
#include <string.h>

int lbx_error_set(struct lbx_error *err, int code, const char *fmt, ...)
{
    char text[LBX_ERROR_TEXT_MAX]; /* an argument may be err->text itself */
    va_list ap;

    if (!err)
        return code;
    va_start(ap, fmt);
    if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
        text[0] = '\0';
    va_end(ap);
    err->code = code;
    memcpy(err->text, text, strlen(text) + 1);
    return code;
}

void lbx_error_prefix(struct lbx_error *err, const char *fmt, ...)
{
    char text[LBX_ERROR_TEXT_MAX];
    size_t used;
    va_list ap;

    if (!err)
        return;
    va_start(ap, fmt);
    if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
        text[0] = '\0';
    va_end(ap);
    used = strlen(text);
    if (snprintf(text + used, sizeof(text) - used, ": %s", err->text) < 0)
        text[used] = '\0';
    memcpy(err->text, text, strlen(text) + 1);
}
