/* SPDX-License-Identifier: BSD-3-Clause */
/* Votes of stepped and pipelined loops. */
#include "libclient/vote.h"

#include <errno.h>
#include <stdio.h>

#include "libclient/apart.h"
#include "libclient/wait.h"

int lbc_vote_enter(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;

    if (lbc_vote_end(ctx) < 0)
        return -EIO;
    lbc_apart_vote(ctx, l->step->vote);
    ctx->voting = l;
    return ctx->failed ? -EIO : 0;
}

int lbc_vote_end(struct lb_ctx *ctx)
{
    struct lb_loop *l = ctx->voting;

    if (!l)
        return ctx->failed ? -EIO : 0;
    if (lbc_wait_for(l, NULL) < 0)
        return -EIO;
    ctx->voting = NULL;
    return lbc_vote_is_split(l) ? -EIO : 0;
}

int lbc_vote_look(struct lb_ctx *ctx)
{
    struct lb_loop *l = ctx->voting;
    int rc = l && !ctx->failed ? lbc_apart_voted(ctx) : 0;

    if (rc < 0)
        lbc_ctx_fail(ctx);
    if (rc == 1)
        ctx->voting = NULL;
    if (rc == 1 && lbc_vote_is_split(l))
        return -EIO;
    return ctx->failed ? -EIO : 0;
}

bool lbc_vote_is_split(struct lb_loop *l)
{
    const int64_t *v = l->step->vote;
    bool loops = v[LBC_VOTE_LOOP] != -v[LBC_VOTE_MINUS_LOOP];

    if (!loops && (v[LBC_VOTE_LEAVER] == INT64_MAX || v[LBC_VOTE_INTERVAL] == INT64_MAX))
        return false;
    l->ctx->failed = true;
    if (v[LBC_VOTE_LEAVER] == l->ctx->rank)
        fprintf(stderr,
                "lb: rank %d has closed loop \"%s\" after %lld calls of lb_loop_exchange and "
                "others go on with "
                "it: no rows are brought any more\n",
                l->ctx->rank, l->name, (long long)l->step->exchanges);
    return true;
}
