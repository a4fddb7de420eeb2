/* SPDX-License-Identifier: BSD-3-Clause */
/* How long plans take to make: for "./run bench plan".  Prints key=value lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "policy/adjacent.h"
#include "policy/plan.h"

#define ROUNDS 15
#define FIRST 16
#define LAST 65536

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Any rank to any: P ranks of drawn speeds with equal work. */
static double any_us(uint32_t nranks, unsigned seed)
{
    struct lbp_view *view = calloc(nranks, sizeof(*view));
    struct lbp_plan_share *scratch = calloc(nranks, sizeof(*scratch));
    struct lbp_plan plan = {
        .transfer = calloc(2 * (size_t)nranks + LBP_PLAN_POLISH, sizeof(*plan.transfer))};
    struct lbp_profit profit;
    double begun = 0;

    if (!view || !scratch || !plan.transfer)
        abort();
    lbp_profit_init(&profit, 1e5, 0);
    for (uint32_t i = 0; i < nranks; i++) {
        double speed = 0.1 + 0.9 * rand_r(&seed) / RAND_MAX;

        view[i] = (struct lbp_view){.present = true,
                                    .measured = true,
                                    .speed = speed,
                                    .own = 1e9,
                                    .movable = 0.99e9,
                                    .unit = 1e6,
                                    .hook = 1e6 / speed};
    }
    begun = now_us();
    lbp_plan_make(view, nranks, &profit, NULL, 8000, true, scratch, &plan);
    begun = now_us() - begun;
    free(view);
    free(scratch);
    free(plan.transfer);
    return begun;
}

/* Blocks that stay blocks: the same, with iterations of uneven cost. */
static double adjacent_us(uint32_t nranks, unsigned seed)
{
    static struct lbp_profile profile;
    struct lbp_adjacent_config c = {.nranks = nranks, .slack = 0.003};
    double *speed = calloc(nranks, sizeof(*speed)), begun;
    int64_t *bound = calloc((size_t)nranks + 1, sizeof(*bound));

    if (!speed || !bound)
        abort();
    lbp_profile_init(&profile, 100 * (int64_t)nranks);
    for (int64_t i = 0; i < 64; i++)
        lbp_profile_add(&profile, profile.n * i / 64, profile.n * (i + 1) / 64,
                        1e3 * (double)(1 + i % 7) * (double)profile.n);
    for (uint32_t i = 0; i < nranks; i++) {
        speed[i] = 0.1 + 0.9 * rand_r(&seed) / RAND_MAX;
        bound[i + 1] = 100 * (int64_t)(i + 1);
    }
    c.speed = speed;
    begun = now_us();
    if (lbp_adjacent_bounds(&c, &profile, bound, bound) < 0)
        abort();
    begun = now_us() - begun;
    free(speed);
    free(bound);
    return begun;
}

static double median(double (*time)(uint32_t, unsigned), uint32_t nranks)
{
    double us[ROUNDS];

    for (unsigned i = 0; i < ROUNDS; i++)
        us[i] = time(nranks, i + 1);
    qsort(us, ROUNDS, sizeof(*us), by_value);
    return us[ROUNDS / 2];
}

int main(void)
{
    for (uint32_t p = FIRST; p <= LAST; p *= 4) {
        printf("plan kind=any ranks=%u median_us=%.1f\n", p, median(any_us, p));
        printf("plan kind=adjacent ranks=%u median_us=%.1f\n", p, median(adjacent_us, p));
    }
    return 0;
}
