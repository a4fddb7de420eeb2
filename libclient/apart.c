/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that are apart. */
#include "libclient/apart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libclient/outgoing.h"

#define END (INT64_C(1) << 40) /* the loop of a context's end */
#define NO_LOOP UINT32_MAX     /* what is told is of the whole context */

#define PASSED_ON \
    1 /* the sequence of an LBC_TRANSFER_CLOSED: its source has heard of it, and goes on */

/* What an LBC_TRANSFER_ASK asks about. */
enum ask { ASK_VOTE, ASK_COLLECT };

/* Two ranks say it, as it is where the program's ranks differ. */
static void say(const struct lb_ctx *ctx, const char *what, const char *name)
{
    if (ctx->rank <= 1)
        fprintf(stderr,
                "lb: rank %d: another one has closed %s%s%s too early: iterations may be missing, "
                "and no rows are "
                "brought any more\n",
                ctx->rank, what, name, *name ? "\"" : "");
}

static void fail_in(struct lb_loop *l)
{
    if (l->ctx->failed)
        return;
    say(l->ctx, "loop \"", l->name);
    l->ctx->failed = true;
}

/* This rank has closed what others go on with, or is the one that was told so by another. */
static void fail_ahead(struct lb_ctx *ctx)
{
    if (ctx->failed)
        return;
    for (struct lb_loop *l = ctx->loop; l; l = l->next)
        if (l->pass >= l->gone_passes) {
            fail_in(l);
            return;
        }
    fprintf(stderr,
            "lb: rank %d has closed a loop that others go on with: iterations may be missing, and "
            "no rows are brought "
            "any more\n",
            ctx->rank);
    ctx->failed = true;
}

void lbc_apart_reduce(struct lb_ctx *ctx, int64_t *value, int n)
{
    ctx->votes++;
    if (ctx->transport->ops->least_start(ctx->transport, value, n) < 0)
        lbc_ctx_fail(ctx);
}

void lbc_apart_vote(struct lb_ctx *ctx, int64_t *vote)
{
    lbc_apart_reduce(ctx, vote, LBC_VOTES);
}

int lbc_apart_voted(struct lb_ctx *ctx)
{
    int rc = ctx->transport->ops->least_test(ctx->transport);

    if (rc == 1)
        ctx->voted = ctx->votes;
    return rc;
}

static void vote_for(struct lb_ctx *ctx, int64_t number, int64_t pass)
{
    int64_t *v = ctx->vote;

    memset(v, 0, sizeof(ctx->vote));
    v[LBC_VOTE_HASH] = pass;
    v[LBC_VOTE_MINUS_HASH] = -pass;
    v[LBC_VOTE_LOOP] = number;
    v[LBC_VOTE_MINUS_LOOP] = -number;
    v[LBC_VOTE_LEAVER] = INT64_MAX;
    lbc_apart_vote(ctx, v);
}

/* All have voted: for the same? */
static bool agrees(const struct lb_ctx *ctx)
{
    const int64_t *v = ctx->vote;

    return v[LBC_VOTE_LOOP] == -v[LBC_VOTE_MINUS_LOOP] &&
           v[LBC_VOTE_HASH] == -v[LBC_VOTE_MINUS_HASH];
}

void lbc_apart_enter(struct lb_loop *l)
{
    vote_for(l->ctx, l->number, l->pass);
}

int lbc_apart_test(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    int rc = lbc_apart_voted(ctx);

    if (rc <= 0 || agrees(ctx))
        return rc;
    if (ctx->vote[LBC_VOTE_LOOP] < l->number)
        fail_ahead(ctx);
    else
        fail_in(l);
    return 0;
}

/* Ask the ranks [first, first + n), going round, whether they still come.  In want of memory nobody is asked. */
static void ask(struct lb_loop *l, enum ask what, uint32_t which, int first, int n)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_header h = {
        .kind = LBC_TRANSFER_ASK, .loop = l->number, .array = what, .sequence = which};
    int rc = 0;

    for (int r = first; r < first + n && (rc == 0 || rc == -ENOMEM); r++)
        if (r % ctx->size != ctx->rank)
            rc = lbc_outgoing_tell(ctx, r % ctx->size, &h);
    if (rc < 0 && rc != -ENOMEM) /* it cannot be reached, and has not taken part */
        lbc_ctx_fail(ctx);
}

int lbc_apart_close(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_transport *t = ctx->transport;
    int next = (ctx->rank + 1) % ctx->size, rc;
    struct lbc_header h = {
        .kind = LBC_TRANSFER_CLOSED, .loop = l->number, .closed_passes = l->total.passes};

    if (l->step || !ctx->balanced || ctx->size == 1 || !t || ctx->failed || !t->ops->usable(t))
        return -ENOTCONN;
    rc = lbc_outgoing_tell(ctx, next, &h);
    return rc < 0 ? rc : next;
}

/* What the balancer has said of loop l the next rank may not have heard.  In want of memory it is told at a later turn. */
static void pass_on(struct lb_loop *l, int64_t waited_ns)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_header h = {.kind = LBC_TRANSFER_CLOSED,
                           .loop = l->number,
                           .sequence = PASSED_ON,
                           .closed_passes = l->gone_passes};

    if (ctx->settle_ns > 0 || (lbc_outgoing_tell(ctx, (ctx->rank + 1) % ctx->size, &h) == -ENOMEM &&
                               waited_ns < ctx->patience_ns / LBC_TELL_PART))
        return;
    ctx->settle_ns = lbx_clock_mono_ns() + ctx->patience_ns / LBC_TELL_PART;
    ctx->told_ranks = ctx->size;
    ctx->apart = true;
}

/* The reduction that the end of the present pass is, or will be. */
static uint32_t vote_of(const struct lb_loop *l)
{
    return l->state == LBC_WAITING ? l->ctx->votes : l->ctx->votes + 1;
}

void lbc_apart_wait_pass(struct lb_loop *l, int64_t waited_ns)
{
    struct lb_ctx *ctx = l->ctx;
    uint32_t which = vote_of(l);

    if (ctx->failed)
        return;
    if (which > ctx->gone_votes) {
        fail_in(l);
    } else if (l->pass >= l->gone_passes && l->told_gone) {
        ctx->apart = true; /* nobody else may know: lbc_apart_settle tells all */
    } else if (l->pass >= l->gone_passes) {
        pass_on(l, waited_ns);
    } else if (waited_ns > ctx->patience_ns / LBC_TELL_PART && ctx->asked_vote != which) {
        ctx->asked_vote = which;
        ask(l, ASK_VOTE, which, ctx->rank + 1, 1);
    }
}

void lbc_apart_wait_collect(struct lb_loop *l, int64_t waited_ns)
{
    struct lb_ctx *ctx = l->ctx;

    if (ctx->failed)
        return;
    if (ctx->collects > ctx->gone_collects) {
        fail_in(l);
    } else if (l->collecting && waited_ns > ctx->patience_ns / LBC_TELL_PART &&
               ctx->asked_collect != ctx->collects) {
        ctx->asked_collect = ctx->collects;
        ask(l, ASK_COLLECT, ctx->collects, 0, ctx->size);
    }
}

/* Has this rank taken part in what a header is about, or may it still? */
static bool may_take_part(const struct lb_ctx *ctx, const struct lbc_header *h)
{
    const struct lb_loop *l = lbc_loop_find(ctx, h->loop);

    if (h->loop >= ctx->nloops || (l && !l->leaving))
        return true;
    switch (h->kind) {
    case LBC_TRANSFER_ASK:
        return h->sequence <= (h->array == ASK_VOTE ? ctx->voted : ctx->collects);
    case LBC_TRANSFER_COLLECT:
        return l && h->sequence <= l->collects;
    case LBC_TRANSFER_CLOSED:
        return l || h->last == 0;
    default:
        return l != NULL;
    }
}

/* Another rank has closed a loop that is open here, or has given it up. */
static void take_closed(struct lb_loop *l, const struct lbc_header *h)
{
    if ((int64_t)h->epoch < l->gone_exchanges)
        l->gone_exchanges = (int64_t)h->epoch;
    if (h->closed_passes < l->gone_passes)
        l->gone_passes = h->closed_passes;
    l->given_up |= h->last > 0;
    l->told_gone |= h->sequence != PASSED_ON || h->last > 0;
}

bool lbc_apart_take(struct lb_ctx *ctx, const struct lbc_header *h)
{
    bool given_up = h->kind == LBC_TRANSFER_CLOSED && h->last > 0;
    struct lb_loop *l = lbc_loop_find(ctx, h->loop);

    if (given_up && h->sequence < ctx->gone_votes)
        ctx->gone_votes = h->sequence;
    if (given_up && h->array < ctx->gone_collects)
        ctx->gone_collects = h->array;
    ctx->given_up |= given_up && h->loop == NO_LOOP;
    if (!may_take_part(ctx, h))
        ctx->apart = true;
    if (l && h->kind == LBC_TRANSFER_CLOSED)
        take_closed(l, h);
    return h->kind == LBC_TRANSFER_ASK || h->loop == NO_LOOP ||
           (l ? h->kind == LBC_TRANSFER_CLOSED : h->loop < ctx->nloops);
}

void lbc_apart_told(struct lb_ctx *ctx, uint32_t number, int64_t passes)
{
    struct lb_loop *l = lbc_loop_find(ctx, number);

    if (!l)
        fail_ahead(ctx);
    else if (passes < l->gone_passes)
        l->gone_passes = passes;
}

void lbc_apart_give_up(struct lbc_header *ret_header, const struct lb_ctx *ctx)
{
    ret_header->kind = LBC_TRANSFER_CLOSED;
    ret_header->last = 1;
    ret_header->sequence = ctx->voted;
    ret_header->array = ctx->collects;
}

/* Tell all that this rank takes no further part.  Those that do not hear of it in want of memory are told at the next turn. */
static void tell_all(struct lb_ctx *ctx)
{
    struct lbc_header h = {.loop = NO_LOOP};

    lbc_apart_give_up(&h, ctx);
    for (; ctx->told_ranks < ctx->size; ctx->told_ranks++)
        if (ctx->told_ranks != ctx->rank && lbc_outgoing_tell(ctx, ctx->told_ranks, &h) == -ENOMEM)
            return;
}

void lbc_apart_settle(struct lb_ctx *ctx, int64_t now_ns)
{
    if (!ctx->apart || ctx->failed)
        return;
    if (ctx->settle_ns == 0)
        ctx->settle_ns = now_ns + ctx->patience_ns / LBC_TELL_PART;
    tell_all(ctx);
    /* who computes takes it later */
    if ((ctx->told_ranks == ctx->size && !lbc_outgoing_tells(ctx)) || now_ns >= ctx->settle_ns)
        fail_ahead(ctx);
}

bool lbc_apart_is_given_up(struct lb_loop *l)
{
    if (l->ctx->given_up)
        fail_in(l);
    return l->ctx->failed;
}

void lbc_apart_enter_end(struct lb_ctx *ctx)
{
    vote_for(ctx, END, 0);
}

int lbc_apart_test_end(struct lb_ctx *ctx)
{
    int rc = lbc_apart_voted(ctx);

    if (rc < 0) {
        lbc_ctx_fail(ctx);
    } else if (rc == 1 && !agrees(ctx)) {
        fail_ahead(ctx);
    } else if (rc == 0 && !ctx->failed && ctx->votes > ctx->gone_votes) {
        say(ctx, "a loop", "");
        ctx->failed = true;
    }
    return ctx->failed ? 0 : rc;
}
