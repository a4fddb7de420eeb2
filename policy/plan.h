/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proportional plan: each rank's remaining work in proportion to its speed.  Internal to policy/.
 * Source: Siegell & Steenkiste 1997, section 2; the polish by pairs, for iterations that are few and long, is ours.
 */
#ifndef LBP_PLAN_H
#define LBP_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "policy/pair_cost.h"
#include "policy/pairwise.h"
#include "policy/view.h"

#define LBP_PLAN_POLISH 16 /* steps at most */

struct lbp_plan {
    struct lbp_transfer *transfer; /* [n], room for 2 nranks + LBP_PLAN_POLISH */
    size_t n;
    double before_ns, after_ns; /* projected end of the last rank without and with the plan */
};

/* One rank's surplus (> 0) or want (< 0) of work. */
struct lbp_plan_share {
    uint32_t rank;
    double over;
};

/*
 * view[in,out]  [nranks], as lbp_view_make filled it; afterwards as if the plan had been carried out
 * pairs[in]     which pairs of ranks are dearer than others; NULL: they are alike; of more than 1024 ranks in the polish only
 * scratch[out]  [nranks]
 * ret[out]      transfer must have its room
 * polish[in]    also remove by pairs what whole iterations leave uneven
 * Pure, O(P).
 */
void lbp_plan_make(struct lbp_view *view, uint32_t nranks, const struct lbp_profit *profit,
                   const struct lbp_pair_cost *pairs, double row_bytes, bool polish,
                   struct lbp_plan_share *scratch, struct lbp_plan *ret);

#endif
