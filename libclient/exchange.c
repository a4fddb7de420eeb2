/* SPDX-License-Identifier: BSD-3-Clause */
/* Obeying the balancer, and transfers going out. */
#include "libclient/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/array.h"
#include "libclient/incoming.h"
#include "libclient/packed.h"
#include "libclient/report.h"
#include "libclient/step.h"

/* A transfer whose source we are. */
struct lbc_out {
    struct lbc_out *next;
    struct lb_loop *loop;
    struct lbc_send *send; /* owned by the transport */
    bool move;             /* else a collection's */
    struct lbw_done done;
    int64_t begun_ns;
    void *packed; /* owned, NULL: none */
    size_t nspans;
    struct lbx_span span[LBC_TRANSFER_SPANS];
};

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

/* Start a transfer of the arrays [array, array + narrays).  The transport's errors; nothing has
 * happened then. */
static int start(struct lb_loop *l, int dest, struct lbc_header *h, size_t array, size_t narrays)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_out *out = calloc(1, sizeof(*out));
    struct lbc_segment *segment = calloc(narrays * h->nspans + 2, sizeof(*segment));
    size_t n;
    int rc = out && segment ? 0 : -ENOMEM;

    if (rc == 0 && l->pack.pack && h->kind == LBC_TRANSFER_MOVE)
        rc = lbc_packed_make(l, h->span, h->nspans, &out->packed, &h->packed_bytes);
    if (rc == 0) {
        h->magic = LBC_TRANSFER_MAGIC;
        h->loop = l->number;
        h->pass = l->pass;
        out->loop = l;
        out->move = h->kind == LBC_TRANSFER_MOVE;
        out->begun_ns = lbx_clock_mono_ns();
        out->done.cpu_ns = -lbx_clock_thread_cpu_ns();
        out->done.epoch = h->epoch;
        out->done.role = LBW_SENT;
        out->nspans = h->nspans;
        memcpy(out->span, h->span, h->nspans * sizeof(h->span[0]));
        for (size_t i = 0; i < h->nspans; i++)
            out->done.iterations += h->span[i].last - h->span[i].first;
        n = lbc_segments(l, array, narrays, h->span, h->nspans, segment, &out->done.bytes);
        if (out->packed)
            segment[n++] = (struct lbc_segment){out->packed, (size_t)h->packed_bytes};
        out->done.bytes += h->packed_bytes;
        rc = ctx->transport->ops->send(ctx->transport, dest, h, lbc_header_bytes(h->nspans),
                                       segment, n, &out->send);
    }
    free(segment);
    if (rc < 0) {
        if (out && out->packed &&
            lbc_packed_take(l, h->span, h->nspans, out->packed, h->packed_bytes) < 0)
            lbc_ctx_fail(ctx); /* cannot be: we made it ourselves */
        if (out)
            free(out->packed);
        free(out);
        return rc;
    }
    out->done.cpu_ns += lbx_clock_thread_cpu_ns();
    out->next = ctx->out;
    ctx->out = out;
    return 0;
}

/* From here on the iterations are on their way: no failure any more. */
static void give_away(struct lb_loop *l, const struct lbc_header *h)
{
    int rc = 0;

    for (size_t i = 0; i < h->nspans && rc == 0; i++) { /* cannot fail: there is room */
        int64_t n = h->span[i].last - h->span[i].first;

        rc = lbx_spanset_remove(&l->remaining, h->span[i].first, h->span[i].last);
        if (rc == 0)
            rc = lbx_spanset_remove(&l->owned, h->span[i].first, h->span[i].last);
        l->remaining_count -= n;
        l->iterations_out += n;
    }
    l->moves_out++;
}

/* move by value: a report may take the place of the message that it came in. */
static void obey(struct lb_ctx *ctx, struct lbw_move move)
{
    struct lb_loop *l = lbc_loop_find(ctx, move.loop);
    struct lbc_header h = {.kind = LBC_TRANSFER_MOVE, .epoch = move.epoch};

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
    if (h.nspans == 0 || lbc_loop_reserve(l, h.nspans) < 0 ||
        start(l, (int)move.dest, &h, 0, l->nrows) < 0) {
        refuse(l, move.epoch);
        return;
    }
    give_away(l, &h);
}

static void handle(struct lb_ctx *ctx, const struct lbw_rank_msg *msg)
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
        if (l && l->step)
            lbc_step_told(l, &msg->u.layout);
        break;
    case LBW_ANSWER:
        l = lbc_loop_find(ctx, msg->u.answer.loop);
        if (l && l->asks == msg->u.answer.to) /* else one that was no longer waited for */
            l->asks = 0;
        break;
    case LBW_START:
    case LBW_BEAT:
        break;
    default: /* STOP; and what no balancer says */
        lbc_link_close(&ctx->link);
        break;
    }
}

/* The rows are with their new owner. */
static void finish(struct lbc_out *out)
{
    struct lb_loop *l = out->loop;

    if (!out->move)
        return;
    out->done.wall_ns = lbx_clock_mono_ns() - out->begun_ns;
    l->bytes_out += out->done.bytes;
    lbc_report_done(l, &out->done);
    for (size_t a = 0; a < l->nrows; a++) {
        size_t row = l->rows[a].row_bytes;

        if (!l->rows[a].release)
            continue;
        for (size_t i = 0; i < out->nspans; i++)
            if (lbx_spanset_count_in(&l->owned, out->span[i].first, out->span[i].last) == 0)
                lbc_array_release(l->rows[a].base + (size_t)out->span[i].first * row,
                                  (size_t)(out->span[i].last - out->span[i].first) * row);
    }
}

static int test_outgoing(struct lb_ctx *ctx)
{
    for (struct lbc_out **p = &ctx->out; *p;) {
        struct lbc_out *out = *p;
        int64_t cpu_ns = lbx_clock_thread_cpu_ns();
        int rc = ctx->transport->ops->send_test(ctx->transport, out->send);

        out->done.cpu_ns += lbx_clock_thread_cpu_ns() - cpu_ns;
        if (rc == 0) {
            p = &out->next;
            continue;
        }
        *p = out->next;
        if (rc == 1)
            finish(out);
        free(out->packed);
        free(out);
        if (rc < 0)
            return rc;
    }
    return 0;
}

void lbc_exchange_poll(struct lb_ctx *ctx, int64_t now_ns)
{
    if (lbc_link_is_open(&ctx->link)) {
        lbc_link_poll(&ctx->link, now_ns);
        while (lbc_link_next(&ctx->link, ctx->msg))
            handle(ctx, ctx->msg);
        lbc_ctx_check_link(ctx);
    }
    if (!ctx->transport || ctx->failed)
        return;
    if (lbc_incoming_poll(ctx, now_ns) < 0 || test_outgoing(ctx) < 0)
        lbc_ctx_fail(ctx);
}

bool lbc_exchange_sending(const struct lb_loop *l)
{
    for (const struct lbc_out *out = l->ctx->out; out; out = out->next)
        if (out->loop == l)
            return true;
    return false;
}

bool lbc_exchange_sends_any(const struct lb_loop *l, const struct lbx_span *span, size_t n)
{
    for (const struct lbc_out *out = l->ctx->out; out; out = out->next)
        for (size_t i = 0; out->loop == l && out->move && i < out->nspans; i++)
            for (size_t k = 0; k < n; k++)
                if (span[k].first < out->span[i].last && out->span[i].first < span[k].last)
                    return true;
    return false;
}

int lbc_exchange_collect(struct lb_loop *l, size_t array, int root, size_t which)
{
    struct lbc_header h = {
        .kind = LBC_TRANSFER_COLLECT, .sequence = l->collects, .array = (uint32_t)array};
    int rc;

    while (h.nspans < LBC_TRANSFER_SPANS && which + h.nspans < l->owned.n) {
        h.span[h.nspans] = l->owned.span[which + h.nspans];
        h.nspans++;
    }
    h.last = which + h.nspans == l->owned.n;
    rc = start(l, root, &h, array, 1);
    return rc < 0 ? rc : (int)h.nspans;
}

void lbc_exchange_drop(struct lb_ctx *ctx, const struct lb_loop *l)
{
    for (struct lbc_out **p = &ctx->out; *p;) {
        struct lbc_out *out = *p;

        if (l && out->loop != l) {
            p = &out->next;
            continue;
        }
        *p = out->next; /* what is sent keeps its requests */
        free(out);
    }
    lbc_incoming_drop(ctx, l);
}
