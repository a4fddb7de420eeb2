/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers of a layout. */
#include "libclient/connect.h"

#include <errno.h>
#include <stdlib.h>

#include "libclient/carry.h"
#include "libclient/lanes.h"

/* Parts of one exchange, growing. */
struct parts {
    struct lbc_part *part;
    size_t n, size;
    int64_t in, out, nin, nout;
};

enum which { ALL, STILL, FLOWING };

static bool is_of(const struct lbc_rows *rows, enum which which)
{
    return which == ALL || rows->flows == (which == FLOWING);
}

/* The rows of a span, of all arrays, or of those whose rows flow or do not. */
static int add_span(const struct lb_loop *l, struct parts *p, int peer, bool out, enum which which,
                    struct lbx_span span)
{
    int64_t n = span.last - span.first;

    if (n <= 0)
        return 0;
    if (p->n + l->nrows > p->size) {
        size_t size = 2 * p->size + l->nrows;
        struct lbc_part *part = realloc(p->part, size * sizeof(*part));

        if (!part)
            return -ENOMEM;
        p->part = part;
        p->size = size;
    }
    for (size_t a = 0; a < l->nrows; a++) {
        size_t row = l->rows[a].row_bytes;
        struct lbc_segment s = {l->rows[a].base + (size_t)span.first * row, (size_t)n * row};

        if (s.bytes > 0 && is_of(&l->rows[a], which))
            p->part[p->n++] = (struct lbc_part){peer, out, s};
    }
    *(out ? &p->out : &p->in) += n;
    ++*(out ? &p->nout : &p->nin);
    return 0;
}

/* What changes its owner between this rank and another. */
static int add_moves(const struct lb_loop *l, struct parts *p, int peer,
                     const struct lbc_layout *old, const struct lbc_layout *new)
{
    int me = l->ctx->rank;
    int rc = add_span(l, p, peer, false, ALL,
                      lbc_layout_both(lbc_layout_of(old, peer), lbc_layout_of(new, me)));

    return rc < 0 ? rc
                  : add_span(l, p, peer, true, ALL,
                             lbc_layout_both(lbc_layout_of(old, me), lbc_layout_of(new, peer)));
}

/* What a rank with block `taker` needs of the rows of block `giver`: these are on one side of it, as blocks do not overlap. */
static struct lbx_span halo_rows(struct lbx_span taker, struct lbx_span giver, int64_t halo)
{
    struct lbx_span below = {taker.first > halo ? taker.first - halo : 0, taker.first};
    struct lbx_span above = {taker.last,
                             taker.last > INT64_MAX - halo ? INT64_MAX : taker.last + halo};

    if (taker.first == taker.last)
        return (struct lbx_span){0, 0};
    return lbc_layout_both(giver, giver.first < taker.first ? below : above);
}

static int add_halos(const struct lb_loop *l, struct parts *p, int peer, const struct lbc_layout *y)
{
    struct lbx_span mine = lbc_layout_block(l, y), theirs = lbc_layout_of(y, peer);
    bool after = theirs.first >= mine.last; /* what flows from before comes in the pass */
    int rc = add_span(l, p, peer, false, after ? ALL : STILL, halo_rows(mine, theirs, l->halo));

    return rc < 0
               ? rc
               : add_span(l, p, peer, true, after ? STILL : ALL, halo_rows(theirs, mine, l->halo));
}

/* What has flowed before a joint, of the rows before the block. */
static int add_seams(const struct lb_loop *l, struct parts *p, int peer, const struct lbc_layout *y)
{
    struct lbx_span mine = lbc_layout_block(l, y), theirs = lbc_layout_of(y, peer);

    if (!l->joins)
        return 0;
    return theirs.first >= mine.last
               ? add_span(l, p, peer, true, FLOWING, halo_rows(theirs, mine, l->halo))
               : add_span(l, p, peer, false, FLOWING, halo_rows(mine, theirs, l->halo));
}

static int make_exchange(const struct lb_loop *l, struct parts *p, struct lbc_exchange **ret)
{
    struct lbc_transport *t = l->ctx->transport;

    return p->n > 0 ? t->ops->exchange_create(t, p->part, p->n, ret) : 0;
}

static void disconnect(const struct lb_loop *l, struct lbc_layout *y)
{
    if (y->moves)
        l->ctx->transport->ops->exchange_destroy(l->ctx->transport, y->moves);
    if (y->halos)
        l->ctx->transport->ops->exchange_destroy(l->ctx->transport, y->halos);
    if (y->seams)
        l->ctx->transport->ops->exchange_destroy(l->ctx->transport, y->seams);
    y->moves = y->halos = y->seams = NULL;
    lbc_carry_destroy(l, y->carry);
    y->carry = NULL;
    lbc_lanes_disconnect(l, y);
}

int lbc_connect(const struct lb_loop *l, struct lbc_layout *y, const struct lbc_layout *before)
{
    struct parts moves = {0}, halos = {0}, seams = {0};
    int rc = 0;

    if (!l->ctx || !l->ctx->transport)
        return lbc_lanes_connect(l, y);
    for (int r = 0; r < l->ctx->size && rc == 0; r++) {
        if (r == l->ctx->rank)
            continue;
        if (before)
            rc = add_moves(l, &moves, r, before, y);
        if (rc == 0)
            rc = add_halos(l, &halos, r, y);
        if (rc == 0)
            rc = add_seams(l, &seams, r, y);
    }
    if (rc == 0)
        rc = make_exchange(l, &moves, &y->moves);
    if (rc == 0)
        rc = make_exchange(l, &halos, &y->halos);
    if (rc == 0)
        rc = make_exchange(l, &seams, &y->seams);
    if (rc == 0 && before)
        rc = lbc_carry_create(l, before, y, &y->carry);
    if (rc == 0 && !(before && l->joins)) /* see lbc_joint_settle */
        rc = lbc_lanes_connect(l, y);
    if (rc < 0)
        disconnect(l, y);
    y->in = moves.in;
    y->out = moves.out;
    y->nin = moves.nin;
    y->nout = moves.nout;
    free(moves.part);
    free(halos.part);
    free(seams.part);
    return rc;
}

void lbc_connect_end(const struct lb_loop *l, struct lbc_layout *y)
{
    if (!y)
        return;
    disconnect(l, y);
    free(y->bound);
    free(y);
}
