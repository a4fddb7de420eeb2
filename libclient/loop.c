/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops: opening, arrays, what is owned, figures. */
#include "libclient/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/array.h"

#define CHUNK_NS LBX_NS_PER_MS         /* until the balancer says otherwise */
#define PERIOD_NS (20 * LBX_NS_PER_MS) /* likewise */

int lbc_loop_reserve(struct lb_loop *l, size_t extra)
{
    size_t most = l->owned.n > l->remaining.n ? l->owned.n : l->remaining.n;
    int rc = lbx_spanset_reserve(&l->owned, l->owned.n + extra + 1);

    /* a pass begins with all that is owned remaining */
    return rc < 0 ? rc : lbx_spanset_reserve(&l->remaining, most + extra + 1);
}

struct lb_loop *lbc_loop_find(const struct lb_ctx *ctx, uint32_t number)
{
    for (struct lb_loop *l = ctx->loop; l; l = l->next)
        if (l->number == number)
            return l;
    return NULL;
}

static int64_t cut(int64_t n, int rank, int size, long double before, long double sum)
{
    int64_t begin = rank == 0      ? 0
                    : rank == size ? n
                                   : (int64_t)((long double)n * (before / sum) + 0.5L);

    return begin < 0 ? 0 : begin > n ? n : begin;
}

/* Where the block of rank `rank` begins: the ranks' weights laid end to end, cut to iterations. */
static int64_t block_begin(int64_t n, int rank, int size, const double *weight)
{
    long double before = 0, sum = 0;

    if (!weight)
        return n / size * rank + (rank < n % size ? rank : n % size);
    for (int r = 0; r < size; r++) {
        if (r == rank)
            before = sum;
        sum += weight[r];
    }
    return cut(n, rank, size, before, sum);
}

void lbc_loop_block(int64_t n, int rank, int size, const double *weight, int64_t *ret_first,
                    int64_t *ret_last)
{
    *ret_first = block_begin(n, rank, size, weight);
    *ret_last = block_begin(n, rank + 1, size, weight);
}

/* As block_begin of each, without adding up the weights again for each. */
void lbc_loop_bounds(int64_t n, int size, const double *weight, int64_t *ret_bound)
{
    long double before = 0, sum = 0;

    for (int r = 0; r < size && weight; r++)
        sum += weight[r];
    for (int r = 0; r <= size; r++) {
        ret_bound[r] = weight ? cut(n, r, size, before, sum) : block_begin(n, r, size, NULL);
        if (weight && r < size)
            before += weight[r];
    }
}

lb_loop *lb_loop_open(lb_ctx *ctx, const char *name, int64_t n)
{
    struct lb_loop *l;
    int64_t first, last;

    if (n < 0)
        return NULL;
    if (ctx && ctx->loop && ctx->loop->owed)
        ctx->loop->owed(ctx->loop);
    if (ctx)
        ctx->nloops++; /* whatever happens here, the others count on */
    l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->ctx = ctx;
    l->n = n;
    if (name)
        strncpy(l->name, name, sizeof(l->name) - 1);
    l->pass = l->final_pass = -1;
    l->gone_exchanges = l->gone_passes = INT64_MAX;
    l->chunk_ns = CHUNK_NS;
    l->period_ns = PERIOD_NS;
    lbx_spanset_init(&l->owned);
    lbx_spanset_init(&l->remaining);
    lbc_loop_block(n, ctx ? ctx->rank : 0, ctx ? ctx->size : 1, ctx ? ctx->weight : NULL, &first,
                   &last);
    if (lbc_loop_reserve(l, 1) < 0 || lbx_spanset_add(&l->owned, first, last) < 0) {
        lbx_spanset_fini(&l->owned);
        lbx_spanset_fini(&l->remaining);
        free(l);
        return NULL;
    }
    if (ctx) {
        l->number = l->total.loop = ctx->nloops - 1;
        l->next = ctx->loop;
        ctx->loop = l;
    }
    return l;
}

/* An array that two loops move: its rows are kept, as the one may own what the other gave away. */
static bool is_shared(struct lb_loop *l, const char *base, size_t bytes)
{
    bool shared = false;

    for (struct lb_loop *p = l->ctx->loop; p; p = p->next) {
        for (size_t i = 0; i < p->nrows; i++) {
            size_t other_bytes = (size_t)p->n * p->rows[i].row_bytes;

            if (base < p->rows[i].base + other_bytes && p->rows[i].base < base + bytes) {
                p->rows[i].page_bytes = 0;
                shared = true;
            }
        }
    }
    return shared;
}

int lb_loop_array(lb_loop *l, void *base, size_t row_bytes)
{
    struct lbc_rows *rows;
    int64_t all_bytes;
    size_t bytes;

    if (!l || (!base && row_bytes > 0 && l->n > 0))
        return -EINVAL;
    if (__builtin_mul_overflow((size_t)l->n, row_bytes, &bytes) || bytes > INT64_MAX ||
        __builtin_add_overflow(l->row_bytes, row_bytes, &all_bytes))
        return -EINVAL;
    if (l->started)
        return -EBUSY;
    rows = realloc(l->rows, (l->nrows + 1) * sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    l->rows = rows;
    rows[l->nrows].base = base;
    rows[l->nrows].row_bytes = row_bytes;
    rows[l->nrows].flows = false;
    rows[l->nrows].page_bytes =
        l->ctx && !is_shared(l, base, bytes) ? lbc_array_page(l->ctx, base, bytes) : 0;
    l->nrows++;
    l->row_bytes = all_bytes;
    return 0;
}

int lb_loop_owned(const lb_loop *l, int which, int64_t *first, int64_t *last)
{
    if (!l || which < 0 || (size_t)which >= l->owned.n)
        return 0;
    *first = l->owned.span[which].first;
    *last = l->owned.span[which].last;
    return 1;
}

int lb_loop_stats(const lb_loop *l, struct lb_stats *ret_stats)
{
    struct lb_stats s;

    if (!l || !ret_stats || ret_stats->struct_bytes < sizeof(size_t) + sizeof(int64_t))
        return -EINVAL;
    memset(&s, 0, sizeof(s));
    s.struct_bytes = ret_stats->struct_bytes;
    s.passes = l->total.passes;
    s.iterations = l->total.iterations;
    s.iterations_in = l->total.iterations_in;
    s.iterations_out = l->iterations_out;
    s.moves_in = l->total.moves_in;
    s.moves_out = l->moves_out;
    s.bytes_in = l->total.bytes_in;
    s.bytes_out = l->bytes_out;
    s.hooks = l->hooks;
    s.compute_s = (double)l->total.compute_ns / LBX_NS_PER_S;
    s.cpu_s = (double)l->total.cpu_ns / LBX_NS_PER_S;
    s.wait_s = (double)l->total.wait_ns / LBX_NS_PER_S;
    s.library_s = (double)l->total.library_ns / LBX_NS_PER_S;
    /* an older program has a shorter struct, a newer one zeros behind what we know */
    if (ret_stats->struct_bytes > sizeof(s))
        memset((char *)ret_stats + sizeof(s), 0, ret_stats->struct_bytes - sizeof(s));
    memcpy(ret_stats, &s,
           ret_stats->struct_bytes < sizeof(s) ? ret_stats->struct_bytes : sizeof(s));
    return 0;
}
