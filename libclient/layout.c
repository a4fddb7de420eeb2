/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of a stepped loop. */
#include "libclient/layout.h"

#include <errno.h>
#include <stdlib.h>

#include "libclient/carry.h"
#include "libclient/flow.h"
#include "libclient/step.h"

/* Parts of one exchange, growing. */
struct parts {
    struct lbc_part *part;
    size_t n, size;
    int64_t in, out, nin, nout;
};

static struct lbx_span block_of(const int64_t *bound, int rank)
{
    return (struct lbx_span){bound[rank], bound[rank + 1]};
}

struct lbx_span lbc_layout_block(const struct lb_loop *l, const struct lbc_layout *y)
{
    return block_of(y->bound, l->ctx ? l->ctx->rank : 0);
}

/* Empty: last <= first. */
static struct lbx_span both(struct lbx_span a, struct lbx_span b)
{
    return (struct lbx_span){a.first > b.first ? a.first : b.first,
                             a.last < b.last ? a.last : b.last};
}

struct lbx_span lbc_layout_both(const struct lbc_layout *x, int a, const struct lbc_layout *y,
                                int b)
{
    return both(block_of(x->bound, a), block_of(y->bound, b));
}

/* The rows of a span, of all arrays, or of those whose rows do not flow. */
static int add_span(const struct lb_loop *l, struct parts *p, int peer, bool out, bool all,
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

        if (s.bytes > 0 && (all || !l->rows[a].flows))
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
    int rc = add_span(l, p, peer, false, true, lbc_layout_both(old, peer, new, me));

    return rc < 0 ? rc : add_span(l, p, peer, true, true, lbc_layout_both(old, me, new, peer));
}

/* What a rank with block `taker` needs of the rows of block `giver`: these are on one side of it, as blocks do not overlap. */
static struct lbx_span halo_rows(struct lbx_span taker, struct lbx_span giver, int64_t halo)
{
    struct lbx_span below = {taker.first > halo ? taker.first - halo : 0, taker.first};
    struct lbx_span above = {taker.last,
                             taker.last > INT64_MAX - halo ? INT64_MAX : taker.last + halo};

    if (taker.first == taker.last)
        return (struct lbx_span){0, 0};
    return both(giver, giver.first < taker.first ? below : above);
}

static int add_halos(const struct lb_loop *l, struct parts *p, int peer, const int64_t *bound)
{
    struct lbx_span mine = block_of(bound, l->ctx->rank), theirs = block_of(bound, peer);
    bool after = theirs.first >= mine.last; /* what flows from before comes in the pass */
    int rc = add_span(l, p, peer, false, after, halo_rows(mine, theirs, l->step->halo));

    return rc < 0 ? rc : add_span(l, p, peer, true, !after, halo_rows(theirs, mine, l->step->halo));
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
    y->moves = y->halos = NULL;
    lbc_carry_destroy(l, y->carry);
    y->carry = NULL;
    lbc_flow_disconnect(l, y);
}

int lbc_layout_connect(const struct lb_loop *l, struct lbc_layout *y,
                       const struct lbc_layout *before)
{
    struct parts moves = {0}, halos = {0};
    int rc = 0;

    if (!l->ctx || !l->ctx->transport)
        return lbc_flow_connect(l, y);
    for (int r = 0; r < l->ctx->size && rc == 0; r++) {
        if (r == l->ctx->rank)
            continue;
        if (before)
            rc = add_moves(l, &moves, r, before, y);
        if (rc == 0)
            rc = add_halos(l, &halos, r, y->bound);
    }
    if (rc == 0)
        rc = make_exchange(l, &moves, &y->moves);
    if (rc == 0)
        rc = make_exchange(l, &halos, &y->halos);
    if (rc == 0 && before)
        rc = lbc_carry_create(l, before, y, &y->carry);
    if (rc == 0)
        rc = lbc_flow_connect(l, y);
    if (rc < 0)
        disconnect(l, y);
    y->in = moves.in;
    y->out = moves.out;
    y->nin = moves.nin;
    y->nout = moves.nout;
    free(moves.part);
    free(halos.part);
    return rc;
}

struct lbc_layout *lbc_layout_create(const struct lb_loop *l, uint64_t epoch)
{
    struct lbc_layout *y = calloc(1, sizeof(*y));

    if (!y)
        return NULL;
    y->epoch = epoch;
    y->bound = calloc((size_t)(l->ctx ? l->ctx->size : 1) + 1, sizeof(*y->bound));
    if (!y->bound) {
        free(y);
        return NULL;
    }
    return y;
}

void lbc_layout_destroy(const struct lb_loop *l, struct lbc_layout *y)
{
    if (!y)
        return;
    disconnect(l, y);
    free(y->bound);
    free(y);
}

int lbc_layout_neighbour(const struct lb_loop *l, const struct lbc_layout *y, int side)
{
    struct lbx_span mine = lbc_layout_block(l, y);

    for (int r = l->ctx->rank + side; r >= 0 && r < l->ctx->size && mine.first < mine.last;
         r += side)
        if (y->bound[r] < y->bound[r + 1])
            return r;
    return -1;
}

int lbc_layout_holders(const struct lb_loop *l, const struct lbc_layout *y)
{
    int n = 0;

    for (int r = 0; r < l->ctx->size; r++)
        n += y->bound[r] < y->bound[r + 1];
    return n;
}

int64_t lbc_layout_hash(const struct lb_loop *l, const struct lbc_layout *y)
{
    uint64_t h = y->epoch ^ (uint64_t)y->block << 32;

    for (int r = 0; r <= l->ctx->size; r++) {
        h = (h ^ (uint64_t)y->bound[r]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return (int64_t)(h >> 1);
}

int lbc_layout_owner(const struct lb_loop *l, const struct lbc_layout *y, int64_t i)
{
    int low = 0, high = (l->ctx ? l->ctx->size : 1) - 1;

    while (low <
           high) { /* the last rank whose block begins at i or before: empty ones come before it */
        int mid = low + (high - low + 1) / 2;

        if (y->bound[mid] <= i)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}
