/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transfers in which the values of a pipelined pass flow, block by block.  They are made with the layout; a pass that is
 * not pipelined has none.
 */
#ifndef LBC_LANES_H
#define LBC_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/layout.h"

/* What the first rank of a pipeline finds. */
struct lbc_found {
    int64_t batch; /* blocks in a message; 0 while messages are timed */
    int64_t legs;  /* of a pass */
};

/* While the block size is being found: how a rank hears of it. */
struct lbc_size {
    struct lbc_exchange *left, *right; /* from and to; NULL: the pipeline's first, last */
    struct lbc_found in, out;
    int64_t message_ns; /* CPU time of sending one */
    bool sending;
};

/* Whether a person or a test has set the block size. */
bool lbc_lanes_is_fixed(const struct lb_loop *l);

/* The block size to use when the balancer says `told` (0: before it has said any): 1 to m. */
int64_t lbc_lanes_block(const struct lb_loop *l, int64_t told);

/* What to begin with in a loop's first layout if its block size will be found, see size.h; else 0.  The same on all ranks. */
int64_t lbc_lanes_first(const struct lb_loop *l, const struct lbc_layout *y);

/* Blocks of the elements from y->from on, and the message that a block goes in: each in one of its own, unless their size is being
 * found. */
int64_t lbc_lanes_blocks(const struct lb_loop *l, const struct lbc_layout *y);
int64_t lbc_lanes_message(const struct lbc_layout *y, int64_t block);

/* Elements of a message, but the first while their size is being found, and the last. */
int64_t lbc_lanes_width(const struct lbc_layout *y);

/* The first element of message k, and of the first message that begins there or behind; past the last one: all elements. */
int64_t lbc_lanes_element(const struct lb_loop *l, const struct lbc_layout *y, int64_t k);
int64_t lbc_lanes_next(const struct lb_loop *l, const struct lbc_layout *y, int64_t element);

/* Make the transfers of a layout whose bounds and block are there.  Returns 0, -ENOMEM, or another negative errno. */
int lbc_lanes_connect(const struct lb_loop *l, struct lbc_layout *y)
    __attribute__((warn_unused_result));

/*
 * Make the transfers of the messages that are not there yet, now that y->batch is known.
 * Returns 0, -ENOMEM (some may be there: call again), or another negative errno.
 */
int lbc_lanes_extend(const struct lb_loop *l, struct lbc_layout *y)
    __attribute__((warn_unused_result));

/* Let a layout's blocks begin at this element, with transfers for those that are left.  When that fails the context has failed. */
void lbc_lanes_restart(struct lb_loop *l, struct lbc_layout *y, int64_t from);
void lbc_lanes_disconnect(const struct lb_loop *l, struct lbc_layout *y);

#endif
