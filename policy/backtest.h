/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What other bounds would have brought in the recent past as it was recorded.  A step ends with its slowest rank, so that the
 * mean time of steps is not that of mean speeds: where each rank is slow in its turn (a quota that is used up, a load that
 * comes and goes) no bounds help, and here it shows.
 *
 *   slot  a span of steps, as long as a decision's period: how much time each rank took for a unit of work in it
 *
 * Source: ours.
 */
#ifndef LBP_BACKTEST_H
#define LBP_BACKTEST_H

#include <stdint.h>

#define LBP_BACKTEST_SLOTS 32

struct lbp_backtest {
    uint32_t nranks;
    int size, n, next; /* slots: that are kept, that are known, that is written next */
    float *slow;       /* [size][nranks] elapsed time of a unit of work; 0: not measured */
    double steps[LBP_BACKTEST_SLOTS];
    int64_t end_ns[LBP_BACKTEST_SLOTS];
};

struct lbp_backtest_gain {
    int slots;    /* that it was judged by */
    double ratio; /* by which the other bounds would have been faster; negative: slower */
    double error; /* standard error of it, as slots differ; 0 of one slot */
    double steps; /* in these slots */
};

/* Memory for fewer slots when there are very many ranks.  Returns 0 or -ENOMEM. */
int lbp_backtest_init(struct lbp_backtest *b, uint32_t nranks) __attribute__((warn_unused_result));
void lbp_backtest_fini(struct lbp_backtest *b);

/* slow[in] [nranks] elapsed time of a unit of work, > 0; 0: not measured.  O(P). */
void lbp_backtest_add(struct lbp_backtest *b, const double *slow, double steps, int64_t end_ns);

/*
 * The slots that ended after since_ns, with the ranks' work as it is and as it might be.
 * work, other[in]  [nranks] of a step, >= 0
 * speed[in]        [nranks] for ranks that were not measured in a slot, work per elapsed time, > 0
 * O(P x slots), pure.
 */
struct lbp_backtest_gain lbp_backtest_compare(const struct lbp_backtest *b, int64_t since_ns,
                                              const double *work, const double *other,
                                              const double *speed);

#endif
