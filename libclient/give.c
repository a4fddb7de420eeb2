/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of packed iterations, piece by piece. */
#include "libclient/give.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/outgoing.h"
#include "libclient/packed.h"
#include "libclient/report.h"

struct lbc_give {
    struct lbc_give *next;
    struct lb_loop *loop;
    int dest, pieces; /* under way */
    bool ended;       /* the last piece was begun */
    int64_t begun_ns;
    struct lbw_done done; /* of the pieces begun; the CPU time of those that are through */
    size_t nrest;
    struct lbx_span rest[LBC_TRANSFER_SPANS]; /* not sent yet */
};

void lbc_give_gone(struct lb_loop *l, const struct lbc_header *h)
{
    int rc = 0;

    for (size_t i = 0; i < h->nspans && rc == 0; i++) { /* cannot fail: there is room */
        rc = lbx_spanset_remove(&l->owned, h->span[i].first, h->span[i].last);
        l->iterations_out += h->span[i].last - h->span[i].first;
    }
}

/* The header's spans are the first of what was to go. */
static void take_off(struct lbc_give *g, const struct lbc_header *h)
{
    size_t whole = h->nspans;

    if (whole > 0 && h->span[whole - 1].last < g->rest[whole - 1].last)
        g->rest[--whole].first = h->span[h->nspans - 1].last;
    g->nrest -= whole;
    memmove(g->rest, g->rest + whole, g->nrest * sizeof(g->rest[0]));
}

static void unlink_give(struct lbc_give *g)
{
    struct lbc_give **p = &g->loop->ctx->give;

    while (*p != g)
        p = &(*p)->next;
    *p = g->next;
    free(g);
}

/* A piece is with its new owner; g may be freed. */
static void sent(struct lbc_give *g, const struct lbw_done *done)
{
    g->done.cpu_ns += done->cpu_ns;
    g->pieces--;
    if (!g->ended || g->pieces > 0)
        return;
    g->done.wall_ns = lbx_clock_mono_ns() - g->begun_ns;
    lbc_report_done(g->loop, &g->done);
    unlink_give(g);
}

/* Returns 0, -EAGAIN (too much is on its way), or another negative errno: nothing has happened then. */
static int send_piece(struct lbc_give *g)
{
    struct lb_loop *l = g->loop;
    struct lb_ctx *ctx = l->ctx;
    struct lbc_header h = {.kind = LBC_TRANSFER_MOVE,
                           .epoch = g->done.epoch,
                           .before_iterations = g->done.iterations,
                           .before_bytes = g->done.bytes};
    int64_t bytes = 0, rows = 0;
    size_t n = 0;
    int rc = 0;

    if (g->nrest > 0)
        rc = lbc_packed_fit(l, g->rest, g->nrest, LBC_PACKED_PIECE, h.span, &n, &bytes);
    if (rc == 0 && !lbc_packed_has_room(ctx->packed_out, bytes))
        rc = -EAGAIN;
    h.nspans = (uint32_t)n;
    h.last = n == g->nrest && (n == 0 || h.span[n - 1].last == g->rest[n - 1].last);
    if (rc == 0)
        rc = lbc_loop_reserve(l, n);
    if (rc == 0)
        rc = lbc_outgoing_start_piece(l, g->dest, &h, g, sent);
    if (rc < 0)
        return rc;
    lbc_give_gone(l, &h);
    take_off(g, &h);
    for (size_t i = 0; i < n; i++)
        rows += h.span[i].last - h.span[i].first;
    g->done.iterations += rows;
    g->done.bytes += rows * l->row_bytes + h.packed_bytes;
    g->ended = h.last > 0;
    g->pieces++;
    return 0;
}

int lbc_give_begin(struct lb_loop *l, int dest, const struct lbc_header *h)
{
    struct lbc_give *g = calloc(1, sizeof(*g)), **end = &l->ctx->give;
    int rc;

    if (!g)
        return -ENOMEM;
    g->loop = l;
    g->dest = dest;
    g->begun_ns = lbx_clock_mono_ns();
    g->done.epoch = h->epoch;
    g->done.role = LBW_SENT;
    g->nrest = h->nspans;
    memcpy(g->rest, h->span, h->nspans * sizeof(h->span[0]));
    rc = send_piece(g);
    if (rc < 0 && rc != -EAGAIN) {
        free(g);
        return rc;
    }
    while (*end)
        end = &(*end)->next;
    *end = g;
    return 0;
}

/* What was not sent remains here.  Returns 0 or -ENOMEM. */
static int take_back(struct lbc_give *g)
{
    struct lb_loop *l = g->loop;
    int rc = lbc_loop_reserve(l, g->nrest);

    for (; rc == 0 && g->nrest > 0; g->nrest--) { /* cannot fail: there is room */
        struct lbx_span s = g->rest[g->nrest - 1];

        l->remaining_count +=
            s.last - s.first - lbx_spanset_count_in(&l->remaining, s.first, s.last);
        rc = lbx_spanset_add(&l->remaining, s.first, s.last);
    }
    return rc;
}

int lbc_give_go_on(struct lb_ctx *ctx)
{
    int rc = 0;

    for (struct lbc_give *g = ctx->give; g && rc == 0; g = g->next) {
        while (!g->ended && rc == 0) {
            rc = send_piece(g);
            if (rc ==
                -EOVERFLOW) /* its data has become such meanwhile; the end is told without a span */
                rc = take_back(g);
        }
        if (rc == -EAGAIN || rc == -ENOMEM) /* later, then */
            rc = 0;
    }
    return rc;
}

bool lbc_give_is_under_way(const struct lb_loop *l)
{
    const struct lbc_give *g = l->ctx->give;

    while (g && g->loop != l)
        g = g->next;
    return g != NULL;
}

void lbc_give_drop(struct lb_ctx *ctx, const struct lb_loop *l)
{
    for (struct lbc_give *g = ctx->give, *next; g; g = next) {
        next = g->next;
        if (l && g->loop != l)
            continue;
        (void)!take_back(g); /* without memory they are lost, with what was on its way */
        unlink_give(g);
    }
}
