/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers coming in. */
#include "libclient/incoming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/array.h"
#include "libclient/outgoing.h"
#include "libclient/packed.h"
#include "libclient/report.h"
#include "libclient/transfer.h"

/* A transfer whose header is here. */
struct lbc_in {
    struct lbc_in *next;
    struct lbc_header header;
    struct lbc_recv *recv; /* owned */
    int source;
    bool receiving; /* its rows: not before the loop is in the transfer's pass */
    bool received;  /* all is here; it waits for memory to be added */
    int64_t begun_ns, cpu_ns, bytes;
    void *packed; /* owned, NULL: none */
    int64_t packed_bytes;
};

static void free_in(struct lb_ctx *ctx, struct lbc_in *in)
{
    ctx->packed_in -= in->packed_bytes;
    free(in->packed);
    free(in);
}

static bool is_header(const struct lbc_header *h, size_t bytes)
{
    return bytes >= lbc_transfer_bytes(0) && h->magic == LBC_TRANSFER_MAGIC &&
           h->nspans <= LBC_TRANSFER_SPANS && bytes == lbc_transfer_bytes(h->nspans) &&
           (h->kind == LBC_TRANSFER_MOVE || h->kind == LBC_TRANSFER_COLLECT ||
            ((h->kind == LBC_TRANSFER_CLOSED || h->kind == LBC_TRANSFER_ASK) && h->nspans == 0));
}

/* Do the spans lie in the loop, and belong to nobody here? */
static bool fits_loop(const struct lb_loop *l, const struct lbc_header *h)
{
    int64_t end = 0;

    for (size_t i = 0; i < h->nspans; i++) {
        if (h->span[i].first < end || h->span[i].last <= h->span[i].first ||
            h->span[i].last > l->n ||
            lbx_spanset_count_in(&l->owned, h->span[i].first, h->span[i].last) > 0)
            return false;
        end = h->span[i].last;
    }
    if (h->packed_bytes < 0 || h->before_iterations < 0 || h->before_bytes < 0 ||
        h->before_iterations > l->n || h->before_bytes > INT64_MAX / 2 ||
        (h->packed_bytes > 0) != (h->kind == LBC_TRANSFER_MOVE && l->pack.pack && h->nspans > 0))
        return false;
    return h->kind != LBC_TRANSFER_COLLECT || h->array < l->nrows;
}

/* Returns 1 with a new one at the end of the list, 0, or a negative errno. */
static int take_header(struct lb_ctx *ctx, int64_t now_ns)
{
    struct lbc_transport *t = ctx->transport;
    union {
        char bytes[LBC_HEADER_MAX];
        struct lbc_header header;
    } u;
    struct lbc_in *in = calloc(1, sizeof(*in)), **end = &ctx->in;
    size_t n = 0;
    int rc;

    if (!in)
        return 0; /* it stays where it is, until there is memory */
    rc = t->ops->probe(t, u.bytes, &n, &in->source, &in->recv);
    if (rc != 1) {
        free(in);
        return rc;
    }
    if (!is_header(&u.header, n)) {
        t->ops->recv_drop(t, in->recv);
        free(in);
        return -EIO;
    }
    memcpy(&in->header, u.bytes, n);
    if (in->header.kind == LBC_TRANSFER_MOVE && in->header.last == 0)
        ctx->expect_until_ns = now_ns + LBC_EXPECT_NS; /* the next piece */
    else if (in->header.kind == LBC_TRANSFER_MOVE)
        ctx->expected -= ctx->expected > 0;
    in->begun_ns = now_ns;
    while (*end)
        end = &(*end)->next;
    *end = in;
    return 1;
}

/* May its rows be received now?  Until then they wait at their source. */
static bool is_due(const struct lbc_in *in, const struct lb_loop *l)
{
    if (!l)
        return false;
    if (in->header.kind == LBC_TRANSFER_COLLECT)
        return l->collecting && in->header.sequence == l->collects;
    /* Iterations that come back before our own sending of them was seen to be complete: their
     * memory is still the sending's, and is released after it. */
    return l->state != LBC_IDLE && in->header.pass == l->pass &&
           !lbc_outgoing_has_any(l, in->header.span, in->header.nspans);
}

static void populate(const struct lb_loop *l, size_t array, const struct lbc_header *h)
{
    for (size_t i = 0; i < h->nspans && l->rows[array].page_bytes > 0; i++)
        lbc_array_populate(l->rows[array].base +
                               (size_t)h->span[i].first * l->rows[array].row_bytes,
                           (size_t)(h->span[i].last - h->span[i].first) * l->rows[array].row_bytes);
}

static int begin_receiving(struct lb_ctx *ctx, struct lbc_in *in, const struct lb_loop *l)
{
    bool all = in->header.kind == LBC_TRANSFER_MOVE;
    size_t first = all ? 0 : in->header.array, arrays = all ? l->nrows : 1, n;
    struct lbc_segment *segment;
    int rc;

    if (!fits_loop(l, &in->header))
        return -EIO;
    if (in->header.packed_bytes > 0 && !in->packed) {
        /* else it waits at its source: what has a place here comes, as all are in the pass */
        if (!lbc_packed_has_room(ctx->packed_in, in->header.packed_bytes))
            return -ENOMEM;
        in->packed = malloc((size_t)in->header.packed_bytes);
        in->packed_bytes = in->packed ? in->header.packed_bytes : 0;
        ctx->packed_in += in->packed_bytes;
    }
    segment = calloc(arrays * in->header.nspans + 2, sizeof(*segment));
    if (!segment || (in->header.packed_bytes > 0 && !in->packed)) {
        free(segment);
        return -ENOMEM;
    }
    n = lbc_transfer_segments(l, first, arrays, in->header.span, in->header.nspans, segment,
                              &in->bytes);
    for (size_t a = first; a < first + arrays; a++)
        populate(l, a, &in->header);
    if (in->packed)
        segment[n++] = (struct lbc_segment){in->packed, (size_t)in->header.packed_bytes};
    in->bytes += in->header.packed_bytes;
    rc = ctx->transport->ops->recv(ctx->transport, in->recv, segment, n);
    free(segment);
    if (rc == 0)
        in->receiving = true;
    return rc;
}

/* All of it is here: from now on the iterations are ours.  Returns 0, -ENOMEM (call again), or -EIO. */
static int add(struct lbc_in *in, struct lb_loop *l, int64_t now_ns)
{
    const struct lbc_header *h = &in->header;
    struct lbw_done done = {.epoch = h->epoch,
                            .role = LBW_RECEIVED,
                            .bytes = h->before_bytes + in->bytes,
                            .wall_ns = now_ns - in->begun_ns};
    int64_t iterations = 0;
    int rc = 0;

    if (h->kind == LBC_TRANSFER_COLLECT) {
        l->collected += h->last;
        return 0;
    }
    if (lbc_loop_reserve(l, h->nspans) < 0)
        return -ENOMEM;
    if (in->packed && lbc_packed_take(l, h->span, h->nspans, in->packed, h->packed_bytes) < 0)
        return -EIO;
    for (size_t i = 0; i < h->nspans && rc == 0; i++) { /* cannot fail: there is room */
        rc = lbx_spanset_add(&l->owned, h->span[i].first, h->span[i].last);
        if (rc == 0)
            rc = lbx_spanset_add(&l->remaining, h->span[i].first, h->span[i].last);
        iterations += h->span[i].last - h->span[i].first;
    }
    l->remaining_count += iterations;
    l->total.iterations_in += iterations;
    l->total.bytes_in += in->bytes;
    l->told_low = l->told_dry = false; /* there is something new to run out of */
    l->piece_cpu_ns += in->cpu_ns;
    if (h->last == 0)
        return 0;
    l->total.moves_in++;
    done.iterations = h->before_iterations + iterations;
    done.cpu_ns = l->piece_cpu_ns;
    l->piece_cpu_ns = 0;
    lbc_report_done(l, &done);
    return 0;
}

/* Returns 1 when it is finished, 0, or -EIO. */
static int go_on(struct lb_ctx *ctx, struct lbc_in *in)
{
    struct lb_loop *l = lbc_loop_find(ctx, in->header.loop);
    int64_t cpu_ns = lbx_clock_thread_cpu_ns();
    int rc = 0;

    if (!in->receiving && !in->received) {
        if (lbc_apart_take(ctx, &in->header)) {
            ctx->transport->ops->recv_drop(ctx->transport, in->recv);
            return 1;
        }
        if (!is_due(in, l))
            return 0;
        rc = begin_receiving(ctx, in, l);
        if (rc == -ENOMEM)
            return 0;
    }
    if (rc == 0 && in->receiving) {
        rc = ctx->transport->ops->recv_test(ctx->transport, in->recv);
        if (rc != 0) {
            in->receiving = false;
            in->recv = NULL;
        }
        if (rc == 1)
            in->received = true;
    }
    in->cpu_ns += lbx_clock_thread_cpu_ns() - cpu_ns;
    if (rc < 0)
        return -EIO;
    rc = in->received ? add(in, l, lbx_clock_mono_ns()) : -ENOMEM;
    return rc == 0 ? 1 : rc == -ENOMEM ? 0 : rc;
}

int lbc_incoming_poll(struct lb_ctx *ctx, int64_t now_ns)
{
    int rc;

    ctx->receiving = false;
    do
        rc = take_header(ctx, now_ns);
    while (rc == 1);
    for (struct lbc_in **p = &ctx->in; rc == 0 && *p;) {
        struct lbc_in *in = *p;

        rc = go_on(ctx, in);
        if (rc == 1) {
            *p = in->next;
            free_in(ctx, in);
            rc = 0;
        } else {
            ctx->receiving |= in->receiving;
            p = &in->next;
        }
    }
    return rc < 0 ? -EIO : 0;
}

bool lbc_incoming_expected(const struct lb_loop *l)
{
    for (const struct lbc_in *in = l->ctx->in; in; in = in->next)
        if (in->header.kind == LBC_TRANSFER_MOVE && in->header.loop == l->number &&
            in->header.pass == l->pass)
            return true;
    return false;
}

bool lbc_incoming_has(const struct lb_loop *l)
{
    const struct lbc_in *in = l->ctx->in;

    while (in && in->header.loop != l->number)
        in = in->next;
    return in != NULL;
}

void lbc_incoming_drop(struct lb_ctx *ctx, const struct lb_loop *l)
{
    for (struct lbc_in **p = &ctx->in; *p;) {
        struct lbc_in *in = *p;

        if (l && in->header.loop != l->number) {
            p = &in->next;
            continue;
        }
        *p = in->next;
        if (in->recv && !in->receiving) /* rows on their way into memory keep their requests */
            ctx->transport->ops->recv_drop(ctx->transport, in->recv);
        if (in->receiving)
            in->packed = NULL;
        free_in(ctx, in);
    }
}
