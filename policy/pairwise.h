/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One move between two ranks, so that both end together:  l = s_i l_j / (s_i + s_j), if l > c s_j s_i / (s_i - s_j).
 * Source: Liu et al. 2000, eq. 1 to 3; past it, in the second form: whole iterations, what is being executed, and the time
 * that the move itself takes are counted.
 */
#ifndef LBP_PAIRWISE_H
#define LBP_PAIRWISE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/profit.h"
#include "policy/view.h"

/*
 * As published.
 * s_i, s_j[in] rates of the taker, which has nothing left, and of the giver, 1/ns;  l_j[in] the giver's iterations;
 * c_ns[in] what a move costs
 * Returns iterations to move; 0 when eq. 1 forbids it.  Pure, O(1).
 */
int64_t lbp_pairwise_liu(double s_i, double s_j, double l_j, double c_ns);

/* A move, or a part of a plan. */
struct lbp_transfer {
    uint32_t from, to;
    double work;   /* reference ns */
    double arrive; /* expected, ns from now */
};

/*
 * The whole number of iterations that, moved from one to the other, lets the later of both end soonest.
 * factor[in]         a transfer between them takes so many times as long as profit has learned, > 0: lbp_pair_cost_factor
 * settle_ns[in]      the pass cannot end sooner after the rows' arrival
 * ret_transfer[out]  work and arrive only; untouched when the gain is 0
 * Returns the gain: by how much sooner the later of both ends, ns, >= 0.  Pure, O(1).
 */
double lbp_pairwise_best(const struct lbp_view *from, const struct lbp_view *to,
                         const struct lbp_profit *profit, double factor, double row_bytes,
                         double settle_ns, struct lbp_transfer *ret_transfer);

#endif
