/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers going out: iterations with their rows, or rows alone for a collection. */
#ifndef LBC_OUTGOING_H
#define LBC_OUTGOING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libclient/loop.h"
#include "libclient/transfer.h"

/*
 * Start a transfer of the arrays [array, array + narrays) to rank dest.
 * h[in,out]  kind, epoch and spans are the caller's (and sequence, array, last of a collection), the rest is filled in
 * Returns 0 or the transport's errors; nothing has happened then.
 */
int lbc_outgoing_start(struct lb_loop *l, int dest, struct lbc_header *h, size_t array,
                       size_t narrays) __attribute__((warn_unused_result));

struct lbc_give;
typedef void lbc_outgoing_sent(struct lbc_give *give, const struct lbw_done *done);

/* The same with all arrays, for a piece of a move that is told of as a whole, see give.h: when it is with its new owner `sent` is called. */
int lbc_outgoing_start_piece(struct lb_loop *l, int dest, struct lbc_header *h,
                             struct lbc_give *give, lbc_outgoing_sent *sent)
    __attribute__((warn_unused_result));

/* Tell rank dest something that is not for a loop here: h[in,out]  kind, loop and what else it says; no spans.  As above. */
int lbc_outgoing_tell(struct lb_ctx *ctx, int dest, struct lbc_header *h)
    __attribute__((warn_unused_result));

/* Was anything told that was not taken yet? */
bool lbc_outgoing_tells(const struct lb_ctx *ctx);

/* Is anything of a loop on its way?  What is only told is taken where ranks wait, and no hook looks after it. */
bool lbc_outgoing_is_busy(const struct lb_ctx *ctx);

/*
 * Start to send the rows of one array for owned spans [which, ...) to the root of a collection, as
 * many as go into one transfer.  Returns the number of spans sent, or a negative errno.
 */
int lbc_outgoing_collect(struct lb_loop *l, size_t array, int root, size_t which);

/* Go on with all.  Returns 0 or a negative errno of the transport. */
int lbc_outgoing_poll(struct lb_ctx *ctx) __attribute__((warn_unused_result));

/* Is a transfer of l going out? */
bool lbc_outgoing_active(const struct lb_loop *l);

/* Is any iteration of the n spans among those going out? */
bool lbc_outgoing_has_any(const struct lb_loop *l, const struct lbx_span *span, size_t n);

/* Forget those of a loop (NULL: of all). */
void lbc_outgoing_drop(struct lb_ctx *ctx, const struct lb_loop *l);

#endif
