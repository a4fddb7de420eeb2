/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a stepped or pipelined loop. */
#include "libclient/leave.h"

#include <errno.h>
#include <stdio.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/exchange.h"
#include "libclient/incoming.h"
#include "libclient/outgoing.h"
#include "libclient/step.h"
#include "libclient/vote.h"
#include "libclient/wait.h"

/* Would a rank with block `taker` wait for rows of block `giver`? */
static bool needs(const struct lb_loop *l, struct lbx_span taker, struct lbx_span giver)
{
    if (taker.first == taker.last || giver.first == giver.last)
        return false;
    return giver.first < taker.first ? taker.first - giver.last < l->halo
                                     : giver.first - taker.last < l->halo;
}

/*
 * Tell those that share rows with this one, or all, that it has closed the loop, or has given it up.  Those that do not hear
 * of it in want of memory are told at the next turn.
 */
static void tell(struct lb_loop *l, bool given_up)
{
    const struct lbc_layout *y = l->step->layout;
    struct lbx_span mine = lbc_layout_block(l, y);
    struct lbc_step *s = l->step;

    for (; s->told_ranks < l->ctx->size; s->told_ranks++) {
        struct lbc_header h = {.kind = LBC_TRANSFER_CLOSED,
                               .epoch = (uint64_t)s->exchanges,
                               .closed_passes = l->total.passes};
        struct lbx_span theirs = lbc_layout_of(y, s->told_ranks);

        if (given_up)
            lbc_apart_give_up(&h, l->ctx);
        if (s->told_ranks != l->ctx->rank &&
            (given_up || s->tells_all || needs(l, theirs, mine) || needs(l, mine, theirs)) &&
            lbc_outgoing_start(l, s->told_ranks, &h, 0, 0) < 0)
            return;
    }
}

static void vote(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    int64_t *v = l->step->vote;

    v[LBC_VOTE_NEXT] = v[LBC_VOTE_HASH] = v[LBC_VOTE_MINUS_HASH] = 0;
    v[LBC_VOTE_LATER] = v[LBC_VOTE_LINK] = 0;
    v[LBC_VOTE_INTERVAL] = INT64_MAX;
    v[LBC_VOTE_LOOP] = l->number;
    v[LBC_VOTE_MINUS_LOOP] = -(int64_t)l->number;
    v[LBC_VOTE_LEAVER] = ctx->rank;
    lbc_apart_vote(ctx, v);
}

/* Wait until all have taken what they were told, but not for long: who computes takes it later. */
static void give_up(struct lb_loop *l)
{
    int64_t since_ns = lbx_clock_mono_ns(), waited_ns = 0;
    struct lb_ctx *ctx = l->ctx;

    fprintf(stderr,
            "lb: rank %d: another one has closed loop \"%s\" after %lld calls of lb_loop_exchange: "
            "no rows are brought "
            "any more\n",
            ctx->rank, l->name, (long long)l->gone_exchanges);
    l->step->told_ranks = 0;
    do {
        tell(l, true);
        lbc_exchange_poll(ctx, lbx_clock_mono_ns());
        lbc_wait_turn(ctx, waited_ns);
        waited_ns = lbx_clock_mono_ns() - since_ns;
    } while (!ctx->failed && (l->step->told_ranks < ctx->size || lbc_outgoing_active(l)) &&
             waited_ns < ctx->patience_ns / LBC_TELL_PART);
    ctx->failed = true;
    lbc_exchange_drop(ctx, NULL);
}

bool lbc_leave_is_vain(struct lb_loop *l, bool votes)
{
    struct lbc_step *s = l->step;

    if (lbc_apart_is_given_up(l) || (!votes && lbc_vote_look(l->ctx) < 0))
        return true;
    if (l->given_up && votes)
        l->ctx->failed = true;
    else if (!votes && (l->state == LBC_IDLE ? s->exchanges >= l->gone_exchanges
                                             : l->total.passes >= l->gone_passes))
        give_up(l);
    return l->ctx->failed;
}

int lbc_leave_prepare(struct lb_loop *l, int64_t halo, int64_t elements)
{
    int rc = lbc_step_create(l, halo, elements);

    if (rc < 0)
        return rc;
    l->vain = lbc_leave_is_vain;
    l->owed = lbc_step_ask_owed;
    return 0;
}

/* What was told is taken by all before they forget the loop.  Returns 0 or a negative errno. */
static int settle(struct lb_loop *l)
{
    struct lbc_transport *t = l->ctx->transport;
    int64_t since_ns = lbx_clock_mono_ns();
    bool entered = false;
    int rc = 0;

    while (rc == 0 && !l->ctx->failed) {
        if (!entered && !lbc_outgoing_active(l)) {
            rc = t->ops->barrier_start(t);
            entered = true;
        }
        if (rc == 0 && entered)
            rc = t->ops->barrier_test(t);
        if (rc == 0)
            lbc_wait_turn(l->ctx, lbx_clock_mono_ns() - since_ns);
    }
    while (rc > 0 && !l->ctx->failed && lbc_incoming_has(l))
        lbc_exchange_poll(l->ctx, lbx_clock_mono_ns());
    return rc < 0 ? rc : 0;
}

/* Others may not come to the vote that is under way without rows of this rank: they are told meanwhile.  Returns 0 or -EIO. */
static int end_vote(struct lb_loop *l)
{
    int64_t since_ns = lbx_clock_mono_ns(), waited_ns;
    struct lb_ctx *ctx = l->ctx;

    while (lbc_vote_look(ctx) == 0 && ctx->voting) {
        waited_ns = lbx_clock_mono_ns() - since_ns;
        if (waited_ns > ctx->patience_ns / LBC_TELL_PART)
            tell(l, false);
        lbc_wait_turn(ctx, waited_ns);
        if (lbc_leave_is_vain(l, true))
            break;
    }
    return ctx->failed ? -EIO : 0;
}

void lbc_leave(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_transport *t = ctx->transport;
    int64_t since_ns = lbx_clock_mono_ns(), waited_ns;
    int rc = 0;

    if (!t || ctx->failed || ctx->size == 1 || !t->ops->usable(t))
        return;
    l->leaving = true;
    lbc_step_ask_owed(l);
    if (end_vote(l) < 0)
        return;
    /* Who goes on applies what was agreed on in the last vote, and may wait for rows of this rank. */
    l->step->tells_all = l->step->voted && l->step->vote[LBC_VOTE_NEXT] > 0;
    l->step->told_ranks = 0;
    vote(l);
    while (!ctx->failed && rc == 0) {
        rc = lbc_apart_voted(ctx);
        waited_ns = lbx_clock_mono_ns() - since_ns;
        if (rc == 0 && waited_ns > ctx->patience_ns / LBC_TELL_PART)
            tell(l, false);
        if (rc == 0)
            lbc_wait_turn(ctx, waited_ns);
        if (rc == 0 && lbc_leave_is_vain(l, true))
            return;
    }
    if (rc > 0 && !lbc_vote_is_split(l))
        rc = settle(l);
    if (rc < 0)
        lbc_ctx_fail(ctx);
}
