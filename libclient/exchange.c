/* SPDX-License-Identifier: BSD-3-Clause */
/* Obeying the balancer. */
#include "libclient/exchange.h"

#include <errno.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/give.h"
#include "libclient/incoming.h"
#include "libclient/outgoing.h"
#include "libclient/report.h"

/* How often a rank looks that has work: for transfers that were announced and have not come in time, and for others. */
#define ANNOUNCED_NS (500 * LBX_NS_PER_MS)
#define UNANNOUNCED_NS (2 * LBX_NS_PER_S)
#define OVERHEAR_NS LBX_NS_PER_MS
#define EXPECTED_MAX 1000

static void refuse(struct lb_loop *l, uint64_t epoch)
{
    struct lbw_done done = {.epoch = epoch, .role = LBW_REFUSED};

    lbc_report_done(l, &done);
}

/* What remains of [first, last), the last spans of it.  Returns their number. */
static size_t pick(const struct lb_loop *l, int64_t first, int64_t last, struct lbx_span *ret_span)
{
    size_t n = 0;

    for (size_t i = l->remaining.n; i > 0 && n < LBC_TRANSFER_SPANS; i--) {
        struct lbx_span s = l->remaining.span[i - 1];

        if (s.last <= first)
            break;
        if (s.first < first)
            s.first = first;
        if (s.last > last)
            s.last = last;
        if (s.first < s.last)
            ret_span[n++] = s;
    }
    for (size_t i = 0; i < n / 2; i++) { /* found from the end: ascending again */
        struct lbx_span s = ret_span[i];

        ret_span[i] = ret_span[n - 1 - i];
        ret_span[n - 1 - i] = s;
    }
    return n;
}

/* From here on the iterations are on their way, or will be, piece by piece: no failure any more. */
static void give_away(struct lb_loop *l, const struct lbc_header *h)
{
    int rc = 0;

    for (size_t i = 0; i < h->nspans && rc == 0; i++) { /* cannot fail: there is room */
        rc = lbx_spanset_remove(&l->remaining, h->span[i].first, h->span[i].last);
        l->remaining_count -= h->span[i].last - h->span[i].first;
    }
    if (!l->pack.pack)
        lbc_give_gone(l, h);
    l->moves_out++;
}

/* move by value: a report may take the place of the message that it came in. */
static void obey(struct lb_ctx *ctx, struct lbw_move move)
{
    struct lb_loop *l = lbc_loop_find(ctx, move.loop);
    struct lbc_header h = {.kind = LBC_TRANSFER_MOVE, .epoch = move.epoch, .last = 1};
    int rc;

    if (!l || l->step)
        return; /* closed: nobody keeps count of it any more; or its rows do not move so */
    if (l->state != LBC_RUNNING || move.pass != l->pass || move.pass <= l->final_pass ||
        move.epoch <= l->epoch || move.dest >= (uint32_t)ctx->size ||
        move.dest == (uint32_t)ctx->rank || ctx->failed) {
        refuse(l, move.epoch);
        return;
    }
    l->epoch = move.epoch;
    h.nspans = (uint32_t)pick(l, move.first, move.last, h.span);
    rc = h.nspans == 0 ? -ENOENT : lbc_loop_reserve(l, h.nspans);
    if (rc == 0)
        rc = l->pack.pack ? lbc_give_begin(l, (int)move.dest, &h)
                          : lbc_outgoing_start(l, (int)move.dest, &h, 0, l->nrows);
    if (rc < 0) {
        refuse(l, move.epoch);
        return;
    }
    give_away(l, &h);
}

static void handle(struct lb_ctx *ctx, const struct lbw_rank_msg *msg, int64_t now_ns)
{
    struct lb_loop *l;

    switch (msg->type) {
    case LBW_MOVE:
        obey(ctx, msg->u.move);
        break;
    case LBW_INSTRUCT:
        l = lbc_loop_find(ctx, msg->u.instruct.loop);
        if (!l)
            break;
        if (l->reported)
            l->report_ns += msg->u.instruct.period_ns - l->period_ns;
        l->period_ns = msg->u.instruct.period_ns;
        l->low_ns = msg->u.instruct.low_ns;
        l->chunk_ns = msg->u.instruct.chunk_ns;
        break;
    case LBW_FINAL:
        l = lbc_loop_find(ctx, msg->u.final.loop);
        if (l && msg->u.final.pass > l->final_pass)
            l->final_pass = msg->u.final.pass;
        break;
    case LBW_LAYOUT:
        l = lbc_loop_find(ctx, msg->u.layout.loop);
        if (l && l->told)
            l->told(l, &msg->u.layout);
        break;
    case LBW_ANSWER:
        l = lbc_loop_find(ctx, msg->u.answer.loop);
        if (l && l->asks == msg->u.answer.to) /* else one that was no longer waited for */
            l->asks = 0;
        break;
    case LBW_EXPECT:
        ctx->expected += ctx->expected < EXPECTED_MAX;
        ctx->expect_until_ns = now_ns + LBC_EXPECT_NS;
        break;
    case LBW_CLOSED:
        lbc_apart_told(ctx, msg->u.closed.loop, msg->u.closed.passes);
        break;
    case LBW_START:
    case LBW_BEAT:
        break;
    default: /* STOP; and what no balancer says */
        lbc_link_close(&ctx->link);
        break;
    }
}

void lbc_exchange_listen(struct lb_ctx *ctx, int64_t now_ns)
{
    if (!lbc_link_is_open(&ctx->link))
        return;
    lbc_link_poll(&ctx->link, now_ns);
    while (lbc_link_next(&ctx->link, ctx->msg))
        handle(ctx, ctx->msg, now_ns);
    lbc_ctx_check_link(ctx);
}

bool lbc_exchange_due(const struct lb_ctx *ctx, int64_t now_ns)
{
    return ctx->in || lbc_outgoing_is_busy(ctx) || ctx->give || ctx->apart || ctx->failed ||
           !lbc_link_is_open(&ctx->link) || (ctx->expected > 0 && now_ns < ctx->expect_until_ns) ||
           now_ns - ctx->looked_ns >= (ctx->expected > 0 ? ANNOUNCED_NS : UNANNOUNCED_NS);
}

void lbc_exchange_look(struct lb_ctx *ctx, int64_t now_ns)
{
    ctx->looked_ns = now_ns;
    if (ctx->transport && !ctx->failed &&
        (lbc_incoming_poll(ctx, now_ns) < 0 || lbc_outgoing_poll(ctx) < 0 ||
         lbc_give_go_on(ctx) < 0))
        lbc_ctx_fail(ctx);
    lbc_apart_settle(ctx, now_ns);
    if (ctx->failed)
        lbc_exchange_drop(ctx, NULL);
}

void lbc_exchange_overhear(struct lb_ctx *ctx, int64_t now_ns)
{
    if (now_ns - ctx->link.polled_ns >= OVERHEAR_NS)
        lbc_exchange_listen(ctx, now_ns);
}

void lbc_exchange_poll(struct lb_ctx *ctx, int64_t now_ns)
{
    lbc_exchange_listen(ctx, now_ns);
    lbc_exchange_look(ctx, now_ns);
}

void lbc_exchange_drop(struct lb_ctx *ctx, const struct lb_loop *l)
{
    struct lbc_transport *t = ctx->transport;

    if (ctx->failed && t && t->ops->abandon)
        t->ops->abandon(t);
    lbc_outgoing_drop(ctx, l);
    lbc_give_drop(ctx, l);
    lbc_incoming_drop(ctx, l);
}
