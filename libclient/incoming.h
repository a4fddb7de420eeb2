/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers coming in: their headers, and receiving their rows where they belong. */
#ifndef LBC_INCOMING_H
#define LBC_INCOMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libclient/loop.h"

#define LBC_TRANSFER_SPANS 32
#define LBC_TRANSFER_MAGIC 0x6c627432U

enum lbc_transfer_kind {
    LBC_TRANSFER_MOVE = 1,    /* iterations change their owner */
    LBC_TRANSFER_COLLECT = 2, /* only the rows of one array, for lb_loop_collect */
};

/* What goes in front of the rows; all ranks of a job have one byte order.  The rows follow array by
 * array, and within an array span by span. */
struct lbc_header {
    uint32_t magic, kind, loop, nspans;
    int64_t pass;
    uint64_t epoch;
    uint32_t sequence, array, last; /* COLLECT: which collection, whose rows, the source's last */
    uint32_t zero;
    int64_t packed_bytes; /* behind the rows; 0: nothing is packed */
    struct lbx_span span[LBC_TRANSFER_SPANS];
};

/* Bytes of a header with n spans. */
size_t lbc_header_bytes(size_t n);

/*
 * The memory of rows: arrays [array, array + narrays) of l, of n spans.
 * ret_segment[out]  [narrays * n]
 * Returns the number of segments that have bytes; ret_bytes is their sum.
 */
size_t lbc_segments(const struct lb_loop *l, size_t array, size_t narrays,
                    const struct lbx_span *span, size_t n, struct lbc_segment *ret_segment,
                    int64_t *ret_bytes);

/* Take new headers and go on with all that is coming in.  Returns 0, or -EIO: the transport failed.
 */
int lbc_incoming_poll(struct lb_ctx *ctx, int64_t now_ns);

/* Is a transfer for l's present pass coming in?  Is any being received? */
bool lbc_incoming_expected(const struct lb_loop *l);
bool lbc_incoming_active(const struct lb_ctx *ctx);

/* As lbc_exchange_drop, of those coming in. */
void lbc_incoming_drop(struct lb_ctx *ctx, const struct lb_loop *l);

#endif
