/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves of packed iterations, which go piece by piece: what is packed takes memory, see packed.h.
 *
 * All iterations of a move leave what remains here at once, and belong to this rank until the piece that they are in is sent;
 * each piece is a transfer of its own, so the destination may run its iterations before the others come.  The move is told of
 * once, when all pieces are through.  No pass ends, and no epoch is obeyed less, while pieces are still to go.
 */
#ifndef LBC_GIVE_H
#define LBC_GIVE_H

#include <stdbool.h>

#include "libclient/loop.h"
#include "libclient/transfer.h"

/*
 * Begin a move of the header's spans, for which lbc_loop_reserve has made room, to rank dest.
 * Returns 0, or a negative errno: nothing has happened then.
 */
int lbc_give_begin(struct lb_loop *l, int dest, const struct lbc_header *h)
    __attribute__((warn_unused_result));

/* The header's iterations have been sent: they are not owned any more. */
void lbc_give_gone(struct lb_loop *l, const struct lbc_header *h);

/* Send what there is room for.  Returns 0 or a negative errno of the transport. */
int lbc_give_go_on(struct lb_ctx *ctx) __attribute__((warn_unused_result));

/* Is a move of l not through? */
bool lbc_give_is_under_way(const struct lb_loop *l);

/* Forget those of a loop (NULL: of all); what was not sent remains here. */
void lbc_give_drop(struct lb_ctx *ctx, const struct lb_loop *l);

#endif
