/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that keep a block distribution: rank r owns [bound[r], bound[r + 1]).  As published only neighbours exchange iterations,
 * and what goes farther is passed on by those in between (lbp_adjacent_stop); policy auto goes from the old bounds to the new ones at
 * once.
 * Source: Siegell & Steenkiste 1997, section 2.1; bounds that let the slowest end soonest with the least to move are ours.
 */
#ifndef LBP_ADJACENT_H
#define LBP_ADJACENT_H

#include <stddef.h>
#include <stdint.h>

#include "policy/profile.h"

struct lbp_adjacent_config {
    uint32_t nranks;     /* >= 1 */
    const double *speed; /* [nranks] work per elapsed ns, finite, >= 0, not all 0 */
    int64_t
        min_iterations; /* a rank owns none or at least so many (the width of a halo); 0 and 1: no limit */
    double slack; /* ratio, >= 0: by so much the slowest may end later if that saves moves */
};

/*
 * New bounds: the time of the slowest rank, work / speed, is within slack of the least that whole iterations allow (of a
 * plan in which the limits of min_iterations are met rank by rank), and within that the bounds stay as near to the old ones
 * as can be.
 * profile[in]     its n is the loop's; what iterations cost
 * old[in]         [nranks + 1] ascending from 0 to n
 * ret_bound[out]  [nranks + 1]; untouched on failure; may be old; caller owns
 * Returns 0, -EINVAL, -ENOMEM.  Pure, O((P + bins) x 24).
 */
int lbp_adjacent_bounds(const struct lbp_adjacent_config *config, struct lbp_profile *profile,
                        const int64_t *old, int64_t *ret_bound) __attribute__((warn_unused_result));

/* The slowest rank's time, ns; INFINITY when a rank of speed 0 owns work.  Pure, O(P). */
double lbp_adjacent_time_ns(struct lbp_profile *profile, const double *speed, uint32_t nranks,
                            const int64_t *bound);

/*
 * The next distribution on a way that passes no neighbour: each bound goes towards its target as far as the bounds before and after
 * it are now.  So a rank gets rows from its neighbours only, and what goes farther is passed on by those in between, next time; at
 * most nranks - 1 of these lead to the target.
 * at, target[in]  [nranks + 1], ascending, same ends
 * ret_bound[out]  [nranks + 1], not one of these: the target itself where a rank would own fewer than min_iterations, and not none,
 *                 on the way
 * Pure, O(P).
 */
void lbp_adjacent_stop(const int64_t *at, const int64_t *target, uint32_t nranks,
                       int64_t min_iterations, int64_t *ret_bound);

/*
 * What the moves of one rank weigh: iterations in and out, straight from the old owner to the new one, the most of any rank.
 * All wait for it in stepped loops.
 * Pure, O(P).
 */
int64_t lbp_adjacent_most(const int64_t *old, const int64_t *new_bound, uint32_t nranks);

/* The same where neighbours pass on what goes farther: it counts for each rank that it comes by. */
int64_t lbp_adjacent_most_passed(const int64_t *old, const int64_t *new_bound, uint32_t nranks);

#endif
