/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors with a text for people: what went wrong, where, and what would be right. */
#ifndef LBX_ERROR_H
#define LBX_ERROR_H

#include <stdarg.h>

#define LBX_ERROR_TEXT_MAX 512 /* bytes, with the final NUL */

struct lbx_error {
    int code; /* negative errno; 0 when nothing was recorded */
    char text[LBX_ERROR_TEXT_MAX];
};

/*
 * Record an error in place of an older one.  err may be NULL: then only the code is returned.
 * code[in]  negative errno;  fmt's arguments may be err->text.  A text too long is cut.
 * Returns code, so that a function can say `return lbx_error_set(err, -EINVAL, "...")`.
 */
int lbx_error_set(struct lbx_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "prefix: " before the recorded text, which is cut where it no longer fits.  The code stays.
 * err may be NULL. */
void lbx_error_prefix(struct lbx_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
