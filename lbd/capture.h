/* SPDX-License-Identifier: BSD-3-Clause */
/* What another program says: run, read to its end, and killed when it takes too long.  Blocking; not for the loop's thread. */
#ifndef LBD_CAPTURE_H
#define LBD_CAPTURE_H

#include <stdint.h>

#include "common/error.h"

#define LBD_CAPTURE_MOST ((size_t)8 << 20) /* bytes of its output */

/*
 * argv[in]  NULL-terminated; argv[0] is looked for in PATH.  Its standard error is dropped.
 * ret_text[out]  its output, NUL-terminated, to be freed; untouched on failure
 * Returns 0, -ENOENT (no such program), -ETIMEDOUT, -EIO (it failed), -EFBIG, or another negative errno, with err.
 */
int lbd_capture(char *const argv[], int64_t deadline_ns, char **ret_text, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
