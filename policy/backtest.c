/* SPDX-License-Identifier: BSD-3-Clause */
/* What other bounds would have brought in the recent past. */
#include "policy/backtest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_BYTES 8388608
#define SLOTS_MIN 4

int lbp_backtest_init(struct lbp_backtest *b, uint32_t nranks)
{
    size_t row = (size_t)nranks * sizeof(*b->slow), most = SIZE_MAX_BYTES / (row > 0 ? row : 1);

    memset(b, 0, sizeof(*b));
    b->nranks = nranks;
    b->size = most < SLOTS_MIN            ? SLOTS_MIN
              : most < LBP_BACKTEST_SLOTS ? (int)most
                                          : LBP_BACKTEST_SLOTS;
    b->slow = calloc((size_t)b->size, row);
    return b->slow ? 0 : -ENOMEM;
}

void lbp_backtest_fini(struct lbp_backtest *b)
{
    free(b->slow);
    b->slow = NULL;
}

void lbp_backtest_add(struct lbp_backtest *b, const double *slow, double steps, int64_t end_ns)
{
    float *row = b->slow + (size_t)b->next * b->nranks;

    if (!(steps > 0))
        return;
    for (uint32_t r = 0; r < b->nranks; r++)
        row[r] = (float)slow[r];
    b->steps[b->next] = steps;
    b->end_ns[b->next] = end_ns;
    b->next = (b->next + 1) % b->size;
    b->n += b->n < b->size;
}

/* The longest rank's time in a slot. */
static double longest(const struct lbp_backtest *b, int slot, const double *work,
                      const double *speed)
{
    const float *row = b->slow + (size_t)slot * b->nranks;
    double most = 0;

    for (uint32_t r = 0; r < b->nranks; r++) {
        double t = work[r] <= 0 ? 0 : row[r] > 0 ? work[r] * (double)row[r] : work[r] / speed[r];

        most = t > most ? t : most;
    }
    return most;
}

struct lbp_backtest_gain lbp_backtest_compare(const struct lbp_backtest *b, int64_t since_ns,
                                              const double *work, const double *other,
                                              const double *speed)
{
    struct lbp_backtest_gain g = {.slots = 0};
    double sum = 0, sum_other = 0, squares = 0, now[LBP_BACKTEST_SLOTS], then[LBP_BACKTEST_SLOTS],
           steps[LBP_BACKTEST_SLOTS];

    for (int i = 0; i < b->n; i++) {
        if (b->end_ns[i] <= since_ns)
            continue;
        now[g.slots] = longest(b, i, work, speed);
        then[g.slots] = longest(b, i, other, speed);
        steps[g.slots] = b->steps[i];
        g.steps += b->steps[i];
        sum += b->steps[i] * now[g.slots];
        sum_other += b->steps[i] * then[g.slots];
        g.slots++;
    }
    if (g.slots == 0 || !(sum > 0))
        return g;
    g.ratio = 1 - sum_other / sum;
    /* the ratio of two sums: by the scatter of what is left of each slot */
    for (int i = 0; i < g.slots; i++) {
        double off = steps[i] * ((1 - g.ratio) * now[i] - then[i]);

        squares += off * off;
    }
    if (g.slots > 1)
        g.error = sqrt(squares * g.slots / (g.slots - 1)) / sum;
    return g;
}
