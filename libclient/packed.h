/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that travels with iterations and is not rows: packed by the program's callbacks.
 *
 * What is packed takes memory beside the program's own, so it goes in pieces: no more than LBC_PACKED_MOST of it is in memory
 * at once for all that goes from a rank, and as much for all that comes to it; or one piece, where an iteration is larger.
 */
#ifndef LBC_PACKED_H
#define LBC_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libclient/loop.h"

#define LBC_PACKED_PIECE (INT64_C(1) << 20)
#define LBC_PACKED_MOST (INT64_C(4) << 20)

/* Is there room for so many bytes more beside those that are in memory? */
static inline bool lbc_packed_has_room(int64_t held_bytes, int64_t bytes)
{
    return held_bytes == 0 || bytes <= LBC_PACKED_MOST - held_bytes;
}

/*
 * The first iterations of n spans whose data takes no more than `most` bytes when it is packed, which may be below 0; at least one.
 * ret_span[out]  [*ret_n], n at most, may be span
 * ret_bytes[out]  what their data takes, as of now
 * Returns 0, or -EOVERFLOW (no memory could hold the first one's data).
 */
int lbc_packed_fit(struct lb_loop *l, const struct lbx_span *span, size_t n, int64_t most,
                   struct lbx_span *ret_span, size_t *ret_n, int64_t *ret_bytes)
    __attribute__((warn_unused_result));

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
