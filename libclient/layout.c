/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of a stepped loop. */
#include "libclient/layout.h"

#include <stdlib.h>

#define PARTIAL UINT64_C(0x5851f42d4c957f2d) /* no other layout's hash but by chance */

struct lbx_span lbc_layout_of(const struct lbc_layout *y, int rank)
{
    return (struct lbx_span){y->bound[rank], y->bound[rank + 1]};
}

struct lbx_span lbc_layout_block(const struct lb_loop *l, const struct lbc_layout *y)
{
    return lbc_layout_of(y, l->ctx ? l->ctx->rank : 0);
}

struct lbx_span lbc_layout_both(struct lbx_span a, struct lbx_span b)
{
    return (struct lbx_span){a.first > b.first ? a.first : b.first,
                             a.last < b.last ? a.last : b.last};
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
    uint64_t h = y->epoch ^ (uint64_t)y->block << 32 ^ (y->partial ? PARTIAL : 0);

    for (int r = 0; r <= l->ctx->size && !y->partial; r++) {
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
