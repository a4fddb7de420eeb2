/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of a layout, told by the ranks to each other. */
#include "libclient/bounds.h"

#include <errno.h>
#include <string.h>

#include "libclient/apart.h"
#include "libclient/connect.h"
#include "libclient/step.h"
#include "libclient/vote.h"
#include "libclient/wait.h"

/*
 * A rank may have closed the loop since it voted, or be in another one: it enters a vote, which the longer reductions that
 * follow must not meet.  Another vote comes first, and shows it.
 */
static int meet(struct lb_loop *l)
{
    const int64_t vote[LBC_VOTES] = {[LBC_VOTE_LOOP] = l->number,
                                     [LBC_VOTE_MINUS_LOOP] = -(int64_t)l->number,
                                     [LBC_VOTE_LEAVER] = INT64_MAX};

    memcpy(l->step->vote, vote, sizeof(vote));
    return lbc_vote_enter(l) < 0 ? -EIO : lbc_vote_end(l->ctx);
}

static bool ascend(const int64_t *bound, int n)
{
    for (int r = 0; r < n; r++)
        if (bound[r] > bound[r + 1])
            return false;
    return bound[0] == 0;
}

int lbc_bounds_gather(struct lb_loop *l, struct lbc_layout *y)
{
    struct lb_ctx *ctx = l->ctx;
    int64_t mine = y->bound[ctx->rank];
    int rc = 0;

    if (!y->partial)
        return 0;
    if (meet(l) < 0)
        return -EIO;
    for (int r = 0; r < ctx->size; r++)
        y->bound[r] = r == ctx->rank ? mine : INT64_MAX;
    for (int n, at = 0; at < ctx->size; at += n) {
        n = ctx->size - at < LBC_LEAST_MAX ? ctx->size - at : LBC_LEAST_MAX;
        lbc_apart_reduce(ctx, y->bound + at, n);
        if (lbc_wait_for(l, NULL) < 0)
            return -EIO;
    }
    y->bound[ctx->size] = l->n;
    y->partial = false;
    if (!ascend(y->bound, ctx->size))
        return 1;
    while (!ctx->failed && (rc = lbc_connect(l, y, l->step->layout)) == -ENOMEM)
        lbc_wait_rest(ctx); /* the others count on us */
    if (rc < 0)
        lbc_ctx_fail(ctx);
    return ctx->failed ? -EIO : 0;
}
