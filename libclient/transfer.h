/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes from rank to rank when iterations move, or are collected: a header, and rows where they lie. */
#ifndef LBC_TRANSFER_H
#define LBC_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

#include "libclient/loop.h"

#define LBC_TRANSFER_SPANS 32
#define LBC_TRANSFER_MAGIC 0x6c627434U

enum lbc_transfer_kind {
    LBC_TRANSFER_MOVE = 1,    /* iterations change their owner */
    LBC_TRANSFER_COLLECT = 2, /* only the rows of one array, for lb_loop_collect */
    /* No rows: the source has closed a loop, see leave.h and apart.h, or given it up. */
    LBC_TRANSFER_CLOSED = 3,
    LBC_TRANSFER_ASK = 4, /* no rows: the source waits, see apart.h */
};

/* What goes in front of the rows; all ranks of a job have one byte order.  The rows follow array by
 * array, and within an array span by span. */
struct lbc_header {
    uint32_t magic, kind, loop, nspans;
    int64_t pass;
    uint64_t epoch;
    uint32_t sequence, array; /* COLLECT: which collection, whose rows; CLOSED: see apart.c */
    uint32_t last;            /* MOVE: of its move's pieces, see give.h; COLLECT: of the source's */
    uint32_t zero;
    int64_t packed_bytes;                    /* behind the rows; 0: nothing is packed */
    int64_t before_iterations, before_bytes; /* MOVE: in earlier pieces of it */
    int64_t
        closed_passes; /* CLOSED: after so many, and `epoch` exchanges; last: given up, not closed */
    struct lbx_span span[LBC_TRANSFER_SPANS];
};

/* Bytes of a header with n spans. */
size_t lbc_transfer_bytes(size_t n);

/*
 * The memory of rows: arrays [array, array + narrays) of l, of n spans.
 * ret_segment[out]  [narrays * n]
 * Returns the number of segments that have bytes; ret_bytes is their sum.
 */
size_t lbc_transfer_segments(const struct lb_loop *l, size_t array, size_t narrays,
                             const struct lbx_span *span, size_t n, struct lbc_segment *ret_segment,
                             int64_t *ret_bytes);

#endif
