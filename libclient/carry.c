/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed data of stepped and pipelined loops. */
#include "libclient/carry.h"

#include <errno.h>
#include <stdlib.h>

#include "libclient/packed.h"
#include "libclient/wait.h"

static void add(struct lbc_carry *c, int peer, bool out, struct lbx_span span)
{
    if (span.first < span.last)
        c->parcel[c->n++] = (struct lbc_parcel){.peer = peer, .out = out, .span = span};
}

/* The sizes of all lots that have still to come or go.  Returns 0, -ENOMEM, or another negative errno. */
static int connect_sizes(const struct lb_loop *l, struct lbc_carry *c, struct lbc_exchange **ret)
{
    struct lbc_part *part = calloc(c->n + 1, sizeof(*part));
    size_t n = 0;
    int rc;

    if (!part)
        return -ENOMEM;
    for (size_t i = 0; i < c->n; i++) {
        struct lbc_parcel *p = &c->parcel[i];

        if (p->span.first < p->span.last)
            part[n++] = (struct lbc_part){p->peer, p->out, {&p->lot, sizeof(p->lot)}};
    }
    rc = l->ctx->transport->ops->exchange_create(l->ctx->transport, part, n, ret);
    free(part);
    return rc;
}

int lbc_carry_create(const struct lb_loop *l, const struct lbc_layout *before,
                     const struct lbc_layout *y, struct lbc_carry **ret)
{
    int me = l->ctx->rank, size = l->ctx->size, rc;
    struct lbc_carry *c;

    if (!l->pack.pack)
        return 0;
    c = calloc(1, sizeof(*c) + 2 * (size_t)size * sizeof(c->parcel[0]));
    if (!c)
        return -ENOMEM;
    for (int r = 0; r < size; r++) {
        if (r == me)
            continue;
        add(c, r, false, lbc_layout_both(lbc_layout_of(before, r), lbc_layout_of(y, me)));
        add(c, r, true, lbc_layout_both(lbc_layout_of(before, me), lbc_layout_of(y, r)));
    }
    rc = c->n > 0 ? connect_sizes(l, c, &c->sizes) : 0;
    if (c->n == 0 || rc < 0)
        free(c);
    else
        *ret = c;
    return rc;
}

static void end_exchange(const struct lb_loop *l, struct lbc_carry *c, struct lbc_exchange *e)
{
    c->lent |= !l->ctx->transport->ops->exchange_destroy(l->ctx->transport, e);
}

void lbc_carry_destroy(const struct lb_loop *l, struct lbc_carry *c)
{
    if (!c)
        return;
    end_exchange(l, c, c->sizes);
    if (c->lent)
        return;
    for (size_t i = 0; i < c->n; i++)
        free(c->parcel[i].data);
    free(c);
}

/* The others are in it already: without memory a rank waits until there is some. */
static int pack(struct lb_loop *l, struct lbc_parcel *p, const struct lbx_span *span)
{
    int rc;

    while ((rc = lbc_packed_make(l, span, 1, &p->data, &p->lot.bytes)) == -ENOMEM)
        lbc_wait_rest(l->ctx);
    return rc;
}

/* As much for each as there is room for: of one at least there is some.  Returns 0 or a negative errno. */
static int pack_lots(struct lb_loop *l, struct lbc_carry *c)
{
    int64_t held_bytes = 0, bytes;
    size_t left = 0, n;
    int rc = 0;

    for (size_t i = 0; i < c->n; i++)
        left += c->parcel[i].out && c->parcel[i].span.first < c->parcel[i].span.last;
    for (size_t i = 0; i < c->n && rc == 0; i++) {
        struct lbc_parcel *p = &c->parcel[i];
        struct lbx_span span;

        if (!p->out || p->span.first == p->span.last)
            continue;
        p->lot.iterations = p->lot.bytes = 0;
        rc = lbc_packed_fit(l, &p->span, 1, (LBC_PACKED_MOST - held_bytes) / (int64_t)left--, &span,
                            &n, &bytes);
        if (rc < 0 || !lbc_packed_has_room(held_bytes, bytes))
            continue;
        p->lot.iterations = span.last - span.first;
        rc = pack(l, p, &span);
        held_bytes += p->lot.bytes;
    }
    return rc;
}

/* A place for what comes. */
static int make_room(struct lb_loop *l, struct lbc_parcel *p)
{
    if (p->lot.bytes < 1 || p->lot.bytes > INT64_MAX / 2 || p->lot.iterations < 1 ||
        p->lot.iterations > p->span.last - p->span.first)
        return -EPROTO;
    while (!(p->data = malloc((size_t)p->lot.bytes)))
        lbc_wait_rest(l->ctx);
    return 0;
}

/* Begin to send, or to receive, the lots of parcels [first, last).  Returns 0 or a negative errno. */
static int start_lots(struct lb_loop *l, struct lbc_carry *c, size_t first, size_t last, bool out,
                      struct lbc_exchange **ret)
{
    const struct lbc_transport_ops *ops = l->ctx->transport->ops;
    struct lbc_part *part;
    size_t n = 0;
    int rc = 0;

    while (!(part = calloc(last - first + 1, sizeof(*part))))
        lbc_wait_rest(l->ctx);
    for (size_t i = first; i < last; i++) {
        struct lbc_parcel *p = &c->parcel[i];

        if (p->out == out && p->data)
            part[n++] = (struct lbc_part){p->peer, out, {p->data, (size_t)p->lot.bytes}};
    }
    while (n > 0 && (rc = ops->exchange_create(l->ctx->transport, part, n, ret)) == -ENOMEM)
        lbc_wait_rest(l->ctx);
    free(part);
    return rc < 0 || n == 0 ? rc : ops->exchange_start(l->ctx->transport, *ret);
}

/* Wait for what was started (NULL: nothing), unless rc says that something failed.  Returns 0 or a negative errno. */
static int finish_lots(struct lb_loop *l, struct lbc_carry *c, struct lbc_exchange *e, int rc)
{
    if (e && rc == 0)
        rc = lbc_wait_for(l, e);
    end_exchange(l, c, e);
    return rc;
}

/* The parcel's lot has gone, or has come: its memory is free again. */
static int take_lot(struct lb_loop *l, struct lbc_carry *c, struct lbc_parcel *p)
{
    struct lbx_span span = {p->span.first, p->span.first + p->lot.iterations};
    int rc = 0;

    if (!p->data)
        return 0;
    if (!p->out)
        rc = lbc_packed_take(l, &span, 1, p->data, p->lot.bytes);
    *(p->out ? &c->bytes_out : &c->bytes_in) += p->lot.bytes;
    p->span.first = span.last;
    free(p->data);
    p->data = NULL;
    return rc;
}

/* What the others have for this rank, in turn: so much at a time as there is room for. */
static int receive_lots(struct lb_loop *l, struct lbc_carry *c)
{
    size_t first = 0, last = 0;
    int rc = 0;

    while (first < c->n && rc == 0) {
        struct lbc_exchange *e = NULL;
        int64_t held_bytes = 0;

        for (; last < c->n && rc == 0; last++) {
            struct lbc_parcel *p = &c->parcel[last];

            if (p->out || p->span.first == p->span.last ||
                (p->lot.iterations == 0 && p->lot.bytes == 0))
                continue;
            if (!lbc_packed_has_room(held_bytes, p->lot.bytes))
                break;
            rc = make_room(l, p);
            held_bytes += p->lot.bytes;
        }
        if (rc == 0)
            rc = start_lots(l, c, first, last, false, &e);
        rc = finish_lots(l, c, e, rc);
        for (; first < last && rc == 0; first++)
            if (!c->parcel[first].out)
                rc = take_lot(l, c, &c->parcel[first]);
    }
    return rc;
}

/* One round.  Returns 0 or a negative errno. */
static int run_round(struct lb_loop *l, struct lbc_carry *c, struct lbc_exchange *sizes)
{
    struct lbc_exchange *e = NULL;
    int rc = pack_lots(l, c);

    if (rc == 0)
        rc = lbc_wait_exchange(l, sizes);
    if (rc == 0)
        rc = start_lots(l, c, 0, c->n, true, &e);
    if (rc == 0)
        rc = receive_lots(l, c);
    rc = finish_lots(l, c, e, rc);
    for (size_t i = 0; i < c->n && rc == 0; i++)
        if (c->parcel[i].out)
            rc = take_lot(l, c, &c->parcel[i]);
    return rc;
}

static bool is_through(const struct lbc_carry *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->parcel[i].span.first < c->parcel[i].span.last)
            return false;
    return true;
}

int lbc_carry_run(struct lb_loop *l, struct lbc_carry *c)
{
    int rc = run_round(l, c, c->sizes);

    while (rc == 0 && !is_through(c)) {
        struct lbc_exchange *sizes = NULL;

        while ((rc = connect_sizes(l, c, &sizes)) == -ENOMEM)
            lbc_wait_rest(l->ctx);
        if (rc == 0)
            rc = run_round(l, c, sizes);
        end_exchange(l, c, sizes);
    }
    if (rc == 0)
        return 0;
    lbc_ctx_fail(l->ctx);
    return -EIO;
}
