/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers going out. */
#include "libclient/outgoing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/array.h"
#include "libclient/packed.h"
#include "libclient/report.h"

/* A transfer whose source we are. */
struct lbc_out {
    struct lbc_out *next;
    struct lb_loop *loop;  /* NULL: of none */
    struct lbc_send *send; /* owned by the transport */
    bool move;             /* else a collection's */
    struct lbw_done done;
    int64_t begun_ns;
    struct lbc_give *give; /* NULL: it is no piece */
    lbc_outgoing_sent *sent;
    void *packed; /* owned, NULL: none */
    int64_t packed_bytes;
    size_t nspans;
    struct lbx_span span[LBC_TRANSFER_SPANS];
};

static void free_out(struct lb_ctx *ctx, struct lbc_out *out)
{
    ctx->packed_out -= out->packed_bytes;
    free(out->packed);
    free(out);
}

static int start(struct lb_loop *l, int dest, struct lbc_header *h, size_t array, size_t narrays,
                 struct lbc_give *give, lbc_outgoing_sent *sent)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_out *out = calloc(1, sizeof(*out));
    struct lbc_segment *segment = calloc(narrays * h->nspans + 2, sizeof(*segment));
    size_t n;
    int rc = out && segment ? 0 : -ENOMEM;

    if (rc == 0 && l->pack.pack && h->kind == LBC_TRANSFER_MOVE && h->nspans > 0)
        rc = lbc_packed_make(l, h->span, h->nspans, &out->packed, &h->packed_bytes);
    if (rc == 0) {
        h->magic = LBC_TRANSFER_MAGIC;
        h->loop = l->number;
        h->pass = l->pass;
        out->loop = l;
        out->give = give;
        out->sent = sent;
        out->move = h->kind == LBC_TRANSFER_MOVE;
        out->begun_ns = lbx_clock_mono_ns();
        out->done.cpu_ns = -lbx_clock_thread_cpu_ns();
        out->done.epoch = h->epoch;
        out->done.role = LBW_SENT;
        out->nspans = h->nspans;
        memcpy(out->span, h->span, h->nspans * sizeof(h->span[0]));
        for (size_t i = 0; i < h->nspans; i++)
            out->done.iterations += h->span[i].last - h->span[i].first;
        n = lbc_transfer_segments(l, array, narrays, h->span, h->nspans, segment, &out->done.bytes);
        if (out->packed)
            segment[n++] = (struct lbc_segment){out->packed, (size_t)h->packed_bytes};
        out->done.bytes += h->packed_bytes;
        rc = ctx->transport->ops->send(ctx->transport, dest, h, lbc_transfer_bytes(h->nspans),
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
    out->packed_bytes = h->packed_bytes;
    ctx->packed_out += out->packed_bytes;
    out->next = ctx->out;
    ctx->out = out;
    return 0;
}

int lbc_outgoing_start(struct lb_loop *l, int dest, struct lbc_header *h, size_t array,
                       size_t narrays)
{
    return start(l, dest, h, array, narrays, NULL, NULL);
}

int lbc_outgoing_start_piece(struct lb_loop *l, int dest, struct lbc_header *h,
                             struct lbc_give *give, lbc_outgoing_sent *sent)
{
    return start(l, dest, h, 0, l->nrows, give, sent);
}

int lbc_outgoing_tell(struct lb_ctx *ctx, int dest, struct lbc_header *h)
{
    struct lbc_out *out = calloc(1, sizeof(*out));
    int rc = -ENOMEM;

    h->magic = LBC_TRANSFER_MAGIC;
    if (out)
        rc = ctx->transport->ops->send(ctx->transport, dest, h, lbc_transfer_bytes(0), NULL, 0,
                                       &out->send);
    if (rc < 0) {
        free(out);
        return rc;
    }
    out->next = ctx->out;
    ctx->out = out;
    return 0;
}

bool lbc_outgoing_tells(const struct lb_ctx *ctx)
{
    const struct lbc_out *out = ctx->out;

    while (out && out->loop)
        out = out->next;
    return out != NULL;
}

bool lbc_outgoing_is_busy(const struct lb_ctx *ctx)
{
    const struct lbc_out *out = ctx->out;

    while (out && !out->loop)
        out = out->next;
    return out != NULL;
}

/* The rows are with their new owner. */
static void finish(struct lbc_out *out)
{
    struct lb_loop *l = out->loop;

    if (!out->move)
        return;
    out->done.wall_ns = lbx_clock_mono_ns() - out->begun_ns;
    l->bytes_out += out->done.bytes;
    if (out->give)
        out->sent(out->give, &out->done);
    else
        lbc_report_done(l, &out->done);
    for (size_t a = 0; a < l->nrows; a++) {
        size_t row = l->rows[a].row_bytes;

        if (l->rows[a].page_bytes == 0)
            continue;
        for (size_t i = 0; i < out->nspans; i++)
            if (lbx_spanset_count_in(&l->owned, out->span[i].first, out->span[i].last) == 0)
                /* by the smallest pages: others on a large one may be ours, or coming */
                lbc_array_release(l->rows[a].base + (size_t)out->span[i].first * row,
                                  (size_t)(out->span[i].last - out->span[i].first) * row, 1);
    }
}

int lbc_outgoing_poll(struct lb_ctx *ctx)
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
        free_out(ctx, out);
        if (rc < 0)
            return rc;
    }
    return 0;
}

bool lbc_outgoing_active(const struct lb_loop *l)
{
    for (const struct lbc_out *out = l->ctx->out; out; out = out->next)
        if (out->loop == l)
            return true;
    return false;
}

bool lbc_outgoing_has_any(const struct lb_loop *l, const struct lbx_span *span, size_t n)
{
    for (const struct lbc_out *out = l->ctx->out; out; out = out->next)
        for (size_t i = 0; out->loop == l && out->move && i < out->nspans; i++)
            for (size_t k = 0; k < n; k++)
                if (span[k].first < out->span[i].last && out->span[i].first < span[k].last)
                    return true;
    return false;
}

int lbc_outgoing_collect(struct lb_loop *l, size_t array, int root, size_t which)
{
    struct lbc_header h = {
        .kind = LBC_TRANSFER_COLLECT, .sequence = l->collects, .array = (uint32_t)array};
    int rc;

    while (h.nspans < LBC_TRANSFER_SPANS && which + h.nspans < l->owned.n) {
        h.span[h.nspans] = l->owned.span[which + h.nspans];
        h.nspans++;
    }
    h.last = which + h.nspans == l->owned.n;
    rc = lbc_outgoing_start(l, root, &h, array, 1);
    return rc < 0 ? rc : (int)h.nspans;
}

void lbc_outgoing_drop(struct lb_ctx *ctx, const struct lb_loop *l)
{
    for (struct lbc_out **p = &ctx->out; *p;) {
        struct lbc_out *out = *p;

        if (l && out->loop != l) {
            p = &out->next;
            continue;
        }
        *p = out->next;
        out->packed = NULL; /* what is sent keeps its requests */
        free_out(ctx, out);
    }
}
