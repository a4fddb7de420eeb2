/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers of a pipelined pass. */
#include "libclient/lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/grain.h"

#define BLOCKS_MAX 4096 /* of a pass: each has transfers of its own */

int64_t lbc_lanes_block(const struct lb_loop *l, int64_t told)
{
    int64_t elements = l->elements, least;
    struct lbp_grain g;

    if (l->ctx && (l->ctx->test_block > 0 || l->ctx->grain > 0))
        told = l->ctx->test_block > 0 ? l->ctx->test_block : l->ctx->grain;
    if (told == 0) {
        lbp_grain_init(&g, elements, l->ctx ? (uint32_t)l->ctx->size : 1);
        told = lbp_grain_choose(&g);
    }
    least = elements / BLOCKS_MAX + (elements % BLOCKS_MAX != 0);
    return told < least ? least : told > elements ? elements : told;
}

/* The elements of one block in the rows that flow.  Returns 0, -ENOMEM, or another negative errno. */
static int make_block(const struct lb_loop *l, const struct lbc_layout *y, int64_t k, int peer,
                      bool out, struct lbx_span rows, struct lbc_exchange **ret)
{
    int64_t from = k * y->block, left = l->elements - from;
    size_t elements = (size_t)(left < y->block ? left : y->block), n = 0, most;
    struct lbc_part *part;
    int rc = 0;

    if (__builtin_mul_overflow((size_t)(rows.last - rows.first), l->nrows, &most))
        return -ENOMEM;
    part = calloc(most + 1, sizeof(*part));
    if (!part)
        return -ENOMEM;
    for (size_t a = 0; a < l->nrows; a++) {
        size_t row = l->rows[a].row_bytes, element = row / (size_t)l->elements;

        for (int64_t i = rows.first; i < rows.last && l->rows[a].flows && element > 0; i++)
            part[n++] = (struct lbc_part){
                peer,
                out,
                {l->rows[a].base + (size_t)i * row + (size_t)from * element, elements * element}};
    }
    if (n > 0)
        rc = l->ctx->transport->ops->exchange_create(l->ctx->transport, part, n, ret);
    free(part);
    return rc;
}

static int make_blocks(const struct lb_loop *l, struct lbc_layout *y, int peer, bool out,
                       struct lbx_span rows, struct lbc_exchange ***ret)
{
    int rc = 0;

    *ret = calloc((size_t)y->nblocks, sizeof(**ret));
    if (!*ret)
        return -ENOMEM;
    for (int64_t k = 0; k < y->nblocks && rc == 0; k++)
        rc = make_block(l, y, k, peer, out, rows, &(*ret)[k]);
    return rc;
}

int lbc_lanes_connect(const struct lb_loop *l, struct lbc_layout *y)
{
    struct lbx_span mine = lbc_layout_block(l, y), rows;
    int64_t halo = l->halo;
    int left, right, rc = 0;

    if (l->elements == 0 || mine.first == mine.last)
        return 0;
    y->nblocks = l->elements / y->block + (l->elements % y->block != 0);
    if (!l->ctx || !l->ctx->transport)
        return 0;
    left = lbc_layout_neighbour(l, y, -1);
    right = lbc_layout_neighbour(l, y, 1);
    rows = (struct lbx_span){mine.first > halo ? mine.first - halo : 0, mine.first};
    if (left >= 0)
        rc = make_blocks(l, y, left, false, rows, &y->inflow);
    /* where blocks are shorter than the halo, rows that came from the left go on to the right */
    rows = (struct lbx_span){mine.last > halo ? mine.last - halo : 0, mine.last};
    if (right >= 0 && rc == 0)
        rc = make_blocks(l, y, right, true, rows, &y->outflow);
    return rc;
}

static void free_blocks(const struct lb_loop *l, const struct lbc_layout *y,
                        struct lbc_exchange ***e)
{
    for (int64_t k = 0; *e && k < y->nblocks; k++)
        l->ctx->transport->ops->exchange_destroy(l->ctx->transport, (*e)[k]);
    free(*e);
    *e = NULL;
}

void lbc_lanes_disconnect(const struct lb_loop *l, struct lbc_layout *y)
{
    free_blocks(l, y, &y->inflow);
    free_blocks(l, y, &y->outflow);
}
