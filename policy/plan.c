/* SPDX-License-Identifier: BSD-3-Clause */
/* The proportional plan: each rank's remaining work in proportion to its speed. */
#include "policy/plan.h"

#include <math.h>
#include <stdlib.h>

/* Of more ranks than this the order of matching is not worth a sort, nor their links a look at each. */
#define SORTED 1024
/* Of more ranks than this fewer pairs are looked for: each takes a look at all ranks. */
#define POLISH_RANKS 2048
/* Ratio of the remaining time: a pair that gains less is not worth a move. */
#define POLISH_GAIN 0.002

static int by_over(const void *a, const void *b)
{
    const struct lbp_plan_share *x = a, *y = b;

    if (x->over != y->over)
        return x->over < y->over ? 1 : -1;
    return x->rank < y->rank ? -1 : 1;
}

static double last_end(const struct lbp_view *view, uint32_t nranks)
{
    double last = 0;

    for (uint32_t i = 0; i < nranks; i++)
        if (view[i].present)
            last = fmax(last, lbp_view_end(&view[i]));
    return last;
}

static double arrival(const struct lbp_view *from, const struct lbp_profit *profit, double factor,
                      double row_bytes, double work)
{
    return from->hook + factor * lbp_profit_transfer_ns(profit, row_bytes * work / from->unit);
}

/*
 * Surpluses to the front of share, wants to the back: of few ranks by size, the greatest outermost; of many by rank, so that
 * matching goes through memory in order.  Returns how many.
 */
static size_t sort(const struct lbp_view *view, uint32_t nranks, double work_per_speed,
                   struct lbp_plan_share *share)
{
    size_t n = 0, front = 0, back;

    for (uint32_t i = 0; i < nranks; i++)
        n += view[i].present;
    back = n;
    for (uint32_t i = 0; i < nranks; i++) {
        const struct lbp_view *v = &view[i];
        double over = v->own + v->incoming - v->speed * work_per_speed;

        if (v->present)
            share[over > 0 ? front++ : --back] = (struct lbp_plan_share){i, over};
    }
    if (n <= SORTED)
        qsort(share, n, sizeof(*share), by_over);
    return n;
}

/* Match the outermost surplus with the outermost want until either side is empty. */
static void match(struct lbp_view *view, struct lbp_plan_share *share, size_t n,
                  const struct lbp_profit *profit, const struct lbp_pair_cost *pairs,
                  double row_bytes, struct lbp_plan *plan)
{
    size_t give = 0, take = n;

    while (take > give + 1) {
        struct lbp_plan_share *g = &share[give], *t = &share[take - 1];
        struct lbp_view *from = &view[g->rank];
        double could = fmin(g->over, from->movable), work, factor;

        if (!(from->unit > 0) || could < from->unit / 2) {
            give++;
            continue;
        }
        if (-t->over < from->unit / 2) {
            take--;
            continue;
        }
        work = round(fmin(could, -t->over) / from->unit) * from->unit;
        factor = lbp_pair_cost_factor(pairs, profit, g->rank, t->rank);
        plan->transfer[plan->n++] = (struct lbp_transfer){
            g->rank, t->rank, work, arrival(from, profit, factor, row_bytes, work)};
        lbp_view_give(from, &view[t->rank], work, plan->transfer[plan->n - 1].arrive);
        g->over -= work;
        t->over += work;
        /* one of both is satisfied now, to half an iteration: the checks above pass it over */
    }
}

/* Let the last to end give to the first to end as long as that helps. */
static void polish(struct lbp_view *view, uint32_t nranks, const struct lbp_profit *profit,
                   const struct lbp_pair_cost *pairs, double row_bytes, struct lbp_plan *plan)
{
    /* each step looks at all ranks; of very many the last to end are too many for a few steps to help */
    int steps =
        nranks > POLISH_RANKS ? (int)(LBP_PLAN_POLISH * POLISH_RANKS / nranks) : LBP_PLAN_POLISH;

    for (int step = 0; step < steps; step++) {
        int64_t from = -1, to = -1;
        struct lbp_transfer t;

        for (uint32_t i = 0; i < nranks; i++) {
            if (!view[i].present)
                continue;
            if (from < 0 || lbp_view_end(&view[i]) > lbp_view_end(&view[from]))
                from = i;
            if (to < 0 || lbp_view_end(&view[i]) + view[i].unit / view[i].speed <
                              lbp_view_end(&view[to]) + view[to].unit / view[to].speed)
                to = i;
        }
        if (from < 0 || from == to ||
            lbp_pairwise_best(&view[from], &view[to], profit,
                              lbp_pair_cost_factor(pairs, profit, (uint32_t)from, (uint32_t)to),
                              row_bytes, 0, &t) <= POLISH_GAIN * plan->before_ns)
            return;
        t.from = (uint32_t)from;
        t.to = (uint32_t)to;
        plan->transfer[plan->n++] = t;
        lbp_view_give(&view[from], &view[to], t.work, t.arrive);
    }
}

void lbp_plan_make(struct lbp_view *view, uint32_t nranks, const struct lbp_profit *profit,
                   const struct lbp_pair_cost *pairs, double row_bytes, bool polished,
                   struct lbp_plan_share *scratch, struct lbp_plan *ret)
{
    double work = 0, speed = 0;
    size_t n;

    ret->n = 0;
    ret->before_ns = last_end(view, nranks);
    for (uint32_t i = 0; i < nranks; i++)
        if (view[i].present) {
            work += view[i].own + view[i].incoming;
            speed += view[i].speed;
        }
    n = sort(view, nranks, work / speed, scratch);
    if (n > 1) {
        match(view, scratch, n, profit, n <= SORTED ? pairs : NULL, row_bytes, ret);
        if (polished)
            polish(view, nranks, profit, pairs, row_bytes, ret);
    }
    ret->after_ns = last_end(view, nranks);
}
