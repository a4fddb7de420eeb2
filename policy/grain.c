/* SPDX-License-Identifier: BSD-3-Clause */
/* The block size of a pipelined loop. */
#include "policy/grain.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

/* The least time of a message, where it is not seen again, rises by this factor with each that is. */
#define CREEP 1.02
/* A sweep that takes longer than expected changes what is expected by this part of the difference; a shorter one by all of it. */
#define LEARN 0.25
/* Another block size is taken only for a gain above this ratio. */
#define STAY 0.01
/* Sweeps that a loop is expected to have, where nobody said: a loop of one alone loses a tenth of what its pipeline costs. */
#define EXPECTED 4
/* Blocks for each rank, before anything is known. */
#define BLIND 8
/* Part of a message's cost at the ends of a pipeline: ranks in the middle receive one and send one for each block. */
#define AT_END 0.5
/* Sizes of messages that differ by less than this factor tell nothing of the cost of one iteration. */
#define APART 2.0

static double sane(double x)
{
    return isfinite(x) && x > 0 ? x : 0;
}

/* As F of grain.h. */
static double filled(uint32_t p, const struct lbp_grain_cost *cost)
{
    return p > 2 && cost->filled >= 2 && cost->filled < p ? cost->filled : p;
}

double lbp_grain_total_ns(int64_t m, uint32_t p, int64_t blocks, const struct lbp_grain_cost *cost)
{
    double M = (double)blocks, P = p, F = filled(p, cost);
    double block = sane(cost->t_seq_ns) / (P * M);
    double shift = sane(cost->t_fixed_ns) + sane(cost->t_incr_ns) * (double)m / M;

    return (M + F - 1) * block + (M + F - 2) * shift;
}

int64_t lbp_grain_optimal_blocks(int64_t m, uint32_t p, const struct lbp_grain_cost *cost)
{
    double P = p, F = filled(p, cost), fixed = sane(cost->t_fixed_ns), best;
    int64_t low;

    if (p < 2 || m <= 1)
        return 1;
    best = sane(cost->t_seq_ns) * (F - 1) / P + sane(cost->t_incr_ns) * (double)m * (F - 2);
    if (best <= 0)
        return 1;
    best = fixed > 0 ? sqrt(best / fixed) : INFINITY;
    if (best >= (double)m)
        return m;
    low = best < 1 ? 1 : (int64_t)best;
    if (low < m && lbp_grain_total_ns(m, p, low + 1, cost) < lbp_grain_total_ns(m, p, low, cost))
        low++;
    return low;
}

int64_t lbp_grain_block(int64_t m, int64_t blocks)
{
    if (m < 1)
        return 1;
    if (blocks < 1)
        return m;
    return m / blocks + (m % blocks != 0);
}

void lbp_grain_init(struct lbp_grain *g, int64_t m, uint32_t p)
{
    *g = (struct lbp_grain){.m = m < 1 ? 1 : m, .p = p < 1 ? 1 : p, .small_of = -1, .large_of = -1};
}

void lbp_grain_fix(struct lbp_grain *g, int64_t block)
{
    g->fixed = block;
}

void lbp_grain_ranks(struct lbp_grain *g, uint32_t p)
{
    g->p = p < 1 ? 1 : p;
}

void lbp_grain_flow(struct lbp_grain *g, int64_t gone, int64_t known)
{
    g->sweeps = known > 0 ? known : gone > EXPECTED ? gone : EXPECTED;
}

void lbp_grain_sweep(struct lbp_grain *g, double busy_ns)
{
    double each = busy_ns / (double)g->m;

    if (!isfinite(each) || each <= 0)
        return;
    if (g->iteration_ns <= 0 || each < g->iteration_ns)
        g->iteration_ns = each;
    else
        g->iteration_ns += LEARN * (each - g->iteration_ns);
}

/* The least time, of messages of about this size. */
static void least(double *ns, double *of, double iterations, double seen)
{
    if (*of < 0 || seen < *ns * CREEP) {
        *ns = seen;
        *of = iterations;
    } else {
        *ns *= CREEP;
    }
}

void lbp_grain_message(struct lbp_grain *g, int64_t iterations, double ns)
{
    double k = (double)iterations;

    if (iterations < 0 || !isfinite(ns) || ns < 0)
        return;
    if (g->small_of < 0 || k < g->small_of / APART ||
        (k <= g->small_of * APART && g->small_of > 0) || k == g->small_of)
        least(&g->small_ns, &g->small_of, k, ns);
    else if (k > g->small_of * APART)
        least(&g->large_ns, &g->large_of, k, ns);
}

void lbp_grain_found(struct lbp_grain *g, int64_t block)
{
    if (g->block == 0 && block >= 1)
        g->block = block < g->m ? block : g->m;
}

int lbp_grain_cost(const struct lbp_grain *g, struct lbp_grain_cost *ret)
{
    double incr = 0;

    if (g->iteration_ns <= 0 || g->small_of < 0)
        return -ENODATA;
    if (g->large_of > g->small_of)
        incr = fmax(0, (g->large_ns - g->small_ns) / (g->large_of - g->small_of));
    *ret = (struct lbp_grain_cost){
        .t_seq_ns = g->iteration_ns * (double)g->m * g->p,
        .t_fixed_ns = fmax(0, g->small_ns - incr * g->small_of),
        .t_incr_ns = incr,
        .filled = g->sweeps > 1 ? 2 + ((double)g->p - 2) / (double)g->sweeps : g->p,
    };
    return 0;
}

/* What needs no measurement: a person's block, or one before anything is known.  Returns whether that is all. */
static bool is_given(struct lbp_grain *g, struct lbp_grain_cost *ret_cost)
{
    if (g->fixed > 0) {
        g->block = g->fixed < g->m ? g->fixed : g->m;
        return true;
    }
    if (lbp_grain_cost(g, ret_cost) == 0)
        return false;
    if (g->block == 0)
        g->block = lbp_grain_block(g->m, g->p < 2 ? 1 : (int64_t)BLIND * g->p);
    return true;
}

/* `blocks` are best and take best_ns, the blocks told before told_ns: those stay while the best promise next to nothing. */
static int64_t take(struct lbp_grain *g, int64_t blocks, double best_ns, double told_ns)
{
    if (g->block == 0 || best_ns < (1 - STAY) * told_ns)
        g->block = lbp_grain_block(g->m, blocks);
    return g->block;
}

/* Of the block size that was told. */
static int64_t told_blocks(const struct lbp_grain *g)
{
    return lbp_grain_block(g->m, g->block > 0 ? g->block : g->m);
}

int64_t lbp_grain_choose(struct lbp_grain *g)
{
    struct lbp_grain_cost cost;
    int64_t blocks;

    if (is_given(g, &cost))
        return g->block;
    blocks = lbp_grain_optimal_blocks(g->m, g->p, &cost);
    return take(g, blocks, lbp_grain_total_ns(g->m, g->p, blocks, &cost),
                lbp_grain_total_ns(g->m, g->p, told_blocks(g), &cost));
}

/* A block of so many takes so long in a stage. */
static double in_stage(const struct lbp_grain_stage *stage, uint32_t n, uint32_t i, double blocks,
                       double message_ns)
{
    bool at_end = n > 2 && (i == 0 || i == n - 1);

    return stage[i].busy_ns / blocks + message_ns * (at_end ? AT_END : 1) * stage[i].slow;
}

double lbp_grain_stages_ns(const struct lbp_grain *g, const struct lbp_grain_cost *cost,
                           const struct lbp_grain_stage *stage, uint32_t n, int64_t blocks)
{
    double M = (double)blocks, sum = 0, most = 0, before = 0, pair = 0, pair_sum = 0;
    double lost = 1, most_lost = 1;
    double message = n > 1 ? cost->t_fixed_ns + cost->t_incr_ns * (double)g->m / M : 0;

    for (uint32_t i = 0; i < n; i++) {
        double t = in_stage(stage, n, i, M, message);
        double both = t > before ? M * t + stage[i].lost * before : M * before + lost * t;

        if (both > pair) {
            pair = both;
            pair_sum = t + before;
        }
        if (t > most) {
            most = t;
            most_lost = stage[i].lost;
        }
        sum += t;
        before = t;
        lost = stage[i].lost;
    }
    return g->sweeps < 1 ? M * most + most_lost * (sum - most)
                         : pair + fmax(0, sum - pair_sum) / (double)g->sweeps;
}

/* The number of blocks with the least time, which is convex in it: where one more begins to take longer. */
static int64_t least_blocks(const struct lbp_grain *g, const struct lbp_grain_cost *cost,
                            const struct lbp_grain_stage *stage, uint32_t n)
{
    int64_t low = 1, high = g->m;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (lbp_grain_stages_ns(g, cost, stage, n, middle + 1) <
            lbp_grain_stages_ns(g, cost, stage, n, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t lbp_grain_choose_for(struct lbp_grain *g, const struct lbp_grain_stage *stage, uint32_t n)
{
    struct lbp_grain_cost cost;
    int64_t blocks;

    if (is_given(g, &cost))
        return g->block;
    blocks = least_blocks(g, &cost, stage, n);
    return take(g, blocks, lbp_grain_stages_ns(g, &cost, stage, n, blocks),
                lbp_grain_stages_ns(g, &cost, stage, n, told_blocks(g)));
}
