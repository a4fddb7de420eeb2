/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that travels with iterations and is not rows: packed by the program's callbacks. */
#ifndef LBC_PACKED_H
#define LBC_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "libclient/loop.h"

/*
 * Pack the data of n spans' iterations, which the program then has no more.
 * ret_data[out]  to be free()d
 * Returns 0, -ENOMEM, or -EOVERFLOW (no memory could hold it): nothing was packed.
 */
int lbc_packed_make(struct lb_loop *l, const struct lbx_span *span, size_t n, void **ret_data,
                    int64_t *ret_bytes) __attribute__((warn_unused_result));

/* Unpack what was packed of the same spans.  Returns 0, or -EPROTO: nothing was unpacked. */
int lbc_packed_take(struct lb_loop *l, const struct lbx_span *span, size_t n, const void *data,
                    int64_t bytes) __attribute__((warn_unused_result));

#endif
