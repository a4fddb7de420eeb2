/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that keep a block distribution: rank r owns [bound[r], bound[r + 1]); only neighbours exchange iterations, and what
 * goes farther is passed on by those in between.
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

/* Iterations [first, last) go from one rank to its neighbour. */
struct lbp_adjacent_move {
    uint32_t from, to;
    int64_t first, last;
    uint32_t round; /* 0: the giver owns all of it; else some comes to it in earlier rounds */
};

/*
 * The moves that lead from old bounds to new ones, at most one over each bound, ordered by round.  A rank that carries out
 * its moves in ascending rounds, receiving before giving, always has what it gives, and no two wait for each other.
 * old, new_bound[in]  [nranks + 1], ascending, same ends
 * ret_move[out]       room for nranks - 1; the last one's round + 1 is the number of rounds
 * Returns how many.  Pure, O(P log P).
 */
size_t lbp_adjacent_moves(const int64_t *old, const int64_t *new_bound, uint32_t nranks,
                          struct lbp_adjacent_move *ret_move);

/*
 * What the moves of one rank weigh: iterations in and out, straight from the old owner to the new one, the most of any rank.
 * All wait for it in stepped loops.
 * Pure, O(P).
 */
int64_t lbp_adjacent_most(const int64_t *old, const int64_t *new_bound, uint32_t nranks);

#endif
