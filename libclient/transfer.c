/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers and segments of transfers. */
#include "libclient/transfer.h"

size_t lbc_transfer_bytes(size_t n)
{
    return offsetof(struct lbc_header, span) + n * sizeof(struct lbx_span);
}

size_t lbc_transfer_segments(const struct lb_loop *l, size_t array, size_t narrays,
                             const struct lbx_span *span, size_t n, struct lbc_segment *ret_segment,
                             int64_t *ret_bytes)
{
    size_t k = 0;

    *ret_bytes = 0;
    for (size_t a = array; a < array + narrays; a++) {
        for (size_t i = 0; i < n; i++) {
            size_t row = l->rows[a].row_bytes;
            size_t bytes = (size_t)(span[i].last - span[i].first) * row;

            if (bytes == 0)
                continue;
            ret_segment[k++] =
                (struct lbc_segment){l->rows[a].base + (size_t)span[i].first * row, bytes};
            *ret_bytes += (int64_t)bytes;
        }
    }
    return k;
}
