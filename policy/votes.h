/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the ranks of a stepped or pipelined loop vote on whether all have a new layout, and when they take what they voted.
 * Where a vote is taken at once all wait in it for the slowest rank of that step: what single steps take does not even out,
 * and a pipeline, whose ranks are a part of a step behind each other, runs empty.  So votes are some steps apart, and are taken
 * some steps after they were entered.  Ranks propose both by this, and the least of all proposals holds.
 * Source: ours; what it brings is measured in docs/internals/stepped.md.
 */
#ifndef LBP_VOTES_H
#define LBP_VOTES_H

#include <stdbool.h>
#include <stdint.h>

struct lbp_votes {
    bool flows; /* a pipelined loop */
    bool waits; /* key sync: ranks report in votes, and wait for the answer */
    bool quota; /* a stepped loop's rank runs under a CPU quota */
    bool alone; /* no other loop is open: a rank may enter a vote in the step before the exchange */
    double lag; /* of a pipelined loop: the last rank is so many steps behind the first, >= 0 */
    double period_ns;  /* of balancing */
    double step_ns;    /* of late, >= 0; 0: not known yet */
    int64_t exchanges; /* between steps, before this one */
    int64_t interval;  /* from the last vote to this one, >= 1, as all agreed */
};

/* How many steps the last of so many ranks in a pipeline is behind the first, by the pipeline's filling alone: ratio, >= 0; 0 where
 * the loop has no elements to flow.  block[in] elements handed on at once.  Pure, O(1). */
double lbp_votes_lag(uint32_t holders, int64_t block, int64_t elements);

/* Exchanges from this vote to the next one, >= 1 and no more than twice what it was before.  Pure, O(1). */
int64_t lbp_votes_interval(const struct lbp_votes *v);

/*
 * Exchanges after the next vote was entered that it is taken: less than the interval, but in a pipelined loop at least one.  There it
 * is as many as the last rank is behind the first, but no more than half of the exchanges that there have been.  0 where ranks
 * wait, and in a pipelined loop whose steps are so long, or not known yet, that the last rank enters the vote in time within the
 * step.  Pure, O(1).
 */
int64_t lbp_votes_later(const struct lbp_votes *v);

/*
 * Elapsed since an exchange when a rank may enter the vote of the next one, where that is taken there: not before the balancer has
 * answered, and early enough that nobody waits for who is late.
 * step_ns[in]  of late, >= 0
 * Returns ns, a quarter to a half of a step.  Pure, O(1).
 */
double lbp_votes_early_ns(double step_ns);

#endif
