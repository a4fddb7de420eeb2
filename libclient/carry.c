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
        c->parcel[c->n++] = (struct lbc_parcel){peer, out, span, 0, NULL};
}

/* One part a parcel: the memory of sizes, or of data. */
static int connect_parcels(const struct lb_loop *l, struct lbc_carry *c, bool sizes,
                           struct lbc_exchange **ret)
{
    struct lbc_part *part = calloc(c->n + 1, sizeof(*part));
    int rc;

    if (!part)
        return -ENOMEM;
    for (size_t i = 0; i < c->n; i++) {
        struct lbc_parcel *p = &c->parcel[i];

        part[i] = (struct lbc_part){p->peer, p->out, {p->data, (size_t)p->bytes}};
        if (sizes)
            part[i].segment = (struct lbc_segment){&p->bytes, sizeof(p->bytes)};
    }
    rc = l->ctx->transport->ops->exchange_create(l->ctx->transport, part, c->n, ret);
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
    rc = c->n > 0 ? connect_parcels(l, c, true, &c->sizes) : 0;
    if (c->n == 0 || rc < 0)
        free(c);
    else
        *ret = c;
    return rc;
}

void lbc_carry_destroy(const struct lb_loop *l, struct lbc_carry *c)
{
    if (!c)
        return;
    l->ctx->transport->ops->exchange_destroy(l->ctx->transport, c->sizes);
    if (!l->ctx->failed) /* else it may be written to, still */
        for (size_t i = 0; i < c->n; i++)
            free(c->parcel[i].data);
    free(c);
}

/* The others are in it already: without memory a rank waits until there is some. */
static int pack(struct lb_loop *l, struct lbc_parcel *p)
{
    int rc;

    while ((rc = lbc_packed_make(l, &p->span, 1, &p->data, &p->bytes)) == -ENOMEM)
        lbc_wait_rest(l->ctx);
    return rc;
}

/* A place for what comes. */
static int make_room(struct lb_loop *l, struct lbc_parcel *p)
{
    if (p->bytes < 1 || p->bytes > INT64_MAX / 2)
        return -EPROTO;
    while (!(p->data = malloc((size_t)p->bytes)))
        lbc_wait_rest(l->ctx);
    return 0;
}

static int send_all(struct lb_loop *l, struct lbc_carry *c)
{
    struct lbc_exchange *e = NULL;
    int rc;

    while ((rc = connect_parcels(l, c, false, &e)) == -ENOMEM)
        lbc_wait_rest(l->ctx);
    if (rc < 0)
        return rc;
    rc = lbc_wait_exchange(l, e);
    l->ctx->transport->ops->exchange_destroy(l->ctx->transport, e);
    return rc;
}

static int run(struct lb_loop *l, struct lbc_carry *c)
{
    int rc = 0;

    for (size_t i = 0; i < c->n && rc == 0; i++)
        if (c->parcel[i].out)
            rc = pack(l, &c->parcel[i]);
    if (rc == 0)
        rc = lbc_wait_exchange(l, c->sizes);
    for (size_t i = 0; i < c->n && rc == 0; i++)
        if (!c->parcel[i].out)
            rc = make_room(l, &c->parcel[i]);
    if (rc == 0)
        rc = send_all(l, c);
    for (size_t i = 0; i < c->n && rc == 0; i++) {
        struct lbc_parcel *p = &c->parcel[i];

        if (!p->out)
            rc = lbc_packed_take(l, &p->span, 1, p->data, p->bytes);
        *(p->out ? &c->bytes_out : &c->bytes_in) += p->bytes;
    }
    return rc;
}

int lbc_carry_run(struct lb_loop *l, struct lbc_carry *c)
{
    if (run(l, c) < 0) {
        lbc_ctx_fail(l->ctx);
        return -EIO;
    }
    for (size_t i = 0; i < c->n; i++) {
        free(c->parcel[i].data);
        c->parcel[i].data = NULL;
    }
    return 0;
}
