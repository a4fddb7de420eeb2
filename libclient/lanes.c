/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers of a pipelined pass. */
#include "libclient/lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "libclient/wait.h"
#include "policy/grain.h"

#define BLOCKS_MAX 4096 /* of a pass: each has transfers of its own */
#define FINER 4         /* than blind, to begin with where the block size is found */

bool lbc_lanes_is_fixed(const struct lb_loop *l)
{
    return l->ctx && (l->ctx->test_block > 0 || l->ctx->grain > 0);
}

static int64_t least_block(const struct lb_loop *l)
{
    return l->elements / BLOCKS_MAX + (l->elements % BLOCKS_MAX != 0);
}

int64_t lbc_lanes_block(const struct lb_loop *l, int64_t told)
{
    int64_t elements = l->elements, least = least_block(l);
    struct lbp_grain g;

    if (lbc_lanes_is_fixed(l))
        told = l->ctx->test_block > 0 ? l->ctx->test_block : l->ctx->grain;
    if (told == 0) {
        lbp_grain_init(&g, elements, l->ctx ? (uint32_t)l->ctx->size : 1);
        told = lbp_grain_choose(&g);
    }
    return told < least ? least : told > elements ? elements : told;
}

int64_t lbc_lanes_blocks(const struct lb_loop *l, const struct lbc_layout *y)
{
    int64_t rest = l->elements - y->from;

    return rest / y->block + (rest % y->block != 0);
}

int64_t lbc_lanes_width(const struct lbc_layout *y)
{
    return y->size && y->batch > 0 ? y->batch * y->block : y->block;
}

int64_t lbc_lanes_message(const struct lbc_layout *y, int64_t block)
{
    if (!y->size)
        return block;
    return block == 0 || y->batch == 0 ? block : 1 + (block - 1) / y->batch;
}

/* As many blocks end at this element. */
static int64_t blocks_end(const struct lb_loop *l, const struct lbc_layout *y, int64_t blocks)
{
    int64_t rest = l->elements - y->from;

    return y->from + (blocks > rest / y->block ? rest : blocks * y->block);
}

int64_t lbc_lanes_element(const struct lb_loop *l, const struct lbc_layout *y, int64_t k)
{
    return blocks_end(l, y, y->size && k > 0 ? 1 + (k - 1) * y->batch : k);
}

int64_t lbc_lanes_next(const struct lb_loop *l, const struct lbc_layout *y, int64_t element)
{
    int64_t rest = element - y->from, blocks = rest / y->block + (rest % y->block != 0);

    if (y->size && y->batch > 1 && blocks > 1)
        blocks = 1 + ((blocks - 2) / y->batch + 1) * y->batch;
    return blocks_end(l, y, blocks);
}

/* The elements of one message in the rows that flow.  Returns 0, -ENOMEM, or another negative errno. */
static int make_message(const struct lb_loop *l, const struct lbc_layout *y, int64_t k, int peer,
                        bool out, struct lbx_span rows, struct lbc_exchange **ret)
{
    int64_t from = lbc_lanes_element(l, y, k);
    size_t elements = (size_t)(lbc_lanes_element(l, y, k + 1) - from), n = 0, most;
    struct lbc_part *part;
    int rc = 0;

    if (*ret)
        return 0;
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

static int make_messages(const struct lb_loop *l, struct lbc_layout *y, int peer, bool out,
                         struct lbx_span rows, struct lbc_exchange ***ret)
{
    int rc = 0;

    if (!*ret)
        *ret = calloc((size_t)lbc_lanes_blocks(l, y), sizeof(**ret));
    if (!*ret)
        return -ENOMEM;
    for (int64_t k = 0; k < y->nblocks && rc == 0; k++)
        rc = make_message(l, y, k, peer, out, rows, &(*ret)[k]);
    return rc;
}

int lbc_lanes_extend(const struct lb_loop *l, struct lbc_layout *y)
{
    struct lbx_span mine = lbc_layout_block(l, y), rows;
    int left = lbc_layout_neighbour(l, y, -1), right = lbc_layout_neighbour(l, y, 1), rc = 0;
    int64_t halo = l->halo;

    y->nblocks =
        y->size && y->batch == 0 ? 1 : lbc_lanes_message(y, lbc_lanes_blocks(l, y) - 1) + 1;
    rows = (struct lbx_span){mine.first > halo ? mine.first - halo : 0, mine.first};
    if (left >= 0)
        rc = make_messages(l, y, left, false, rows, &y->inflow);
    /* where blocks are shorter than the halo, rows that came from the left go on to the right */
    rows = (struct lbx_span){mine.last > halo ? mine.last - halo : 0, mine.last};
    if (right >= 0 && rc == 0)
        rc = make_messages(l, y, right, true, rows, &y->outflow);
    return rc;
}

void lbc_lanes_restart(struct lb_loop *l, struct lbc_layout *y, int64_t from)
{
    int rc = 0;

    lbc_lanes_disconnect(l, y);
    y->from = from;
    while (!l->ctx->failed && (rc = lbc_lanes_connect(l, y)) == -ENOMEM)
        lbc_wait_rest(l->ctx); /* the others count on us */
    if (rc < 0)
        lbc_ctx_fail(l->ctx);
}

int64_t lbc_lanes_first(const struct lb_loop *l, const struct lbc_layout *y)
{
    int64_t blind = lbc_lanes_block(l, 0), least = least_block(l);

    if (!l->ctx || !l->ctx->transport || lbc_lanes_is_fixed(l) || lbc_layout_holders(l, y) < 2)
        return 0;
    return blind / FINER < least ? least : blind / FINER;
}

static int make_found(const struct lb_loop *l, int peer, bool out, struct lbc_found *f,
                      struct lbc_exchange **ret)
{
    struct lbc_part part = {peer, out, {f, sizeof(*f)}};

    if (peer < 0)
        return 0;
    return l->ctx->transport->ops->exchange_create(l->ctx->transport, &part, 1, ret);
}

/* What takes what is found from rank to rank. */
static int connect_size(const struct lb_loop *l, struct lbc_layout *y)
{
    struct lbc_size *z;
    int rc;

    if (y->epoch > 0 || y->batch > 0 || lbc_lanes_first(l, y) == 0)
        return 0;
    y->size = z = calloc(1, sizeof(*z));
    if (!z)
        return -ENOMEM;
    rc = make_found(l, lbc_layout_neighbour(l, y, -1), false, &z->in, &z->left);
    return rc < 0 ? rc : make_found(l, lbc_layout_neighbour(l, y, 1), true, &z->out, &z->right);
}

int lbc_lanes_connect(const struct lb_loop *l, struct lbc_layout *y)
{
    struct lbx_span mine = lbc_layout_block(l, y);
    int rc;

    if (l->elements == 0 || mine.first == mine.last)
        return 0;
    if (!l->ctx || !l->ctx->transport) {
        y->nblocks = lbc_lanes_blocks(l, y);
        return 0;
    }
    rc = connect_size(l, y);
    return rc < 0 ? rc : lbc_lanes_extend(l, y);
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
    if (y->size) {
        bool left = l->ctx->transport->ops->exchange_destroy(l->ctx->transport, y->size->left);
        bool right = l->ctx->transport->ops->exchange_destroy(l->ctx->transport, y->size->right);

        if (left && right)
            free(y->size);
    }
    y->size = NULL;
}
