/* SPDX-License-Identifier: BSD-3-Clause */
/* When ranks vote on a layout. */
#include "policy/votes.h"

#include <math.h>

/* Votes in a balancing period; one where ranks report in them and wait. */
#define AGAIN 4
/* Steps of a pipelined loop between two votes, at least, but after the first ones, which follow each other; more where a vote is
 * taken later, as it is before the next one is entered. */
#define FLOWING 2
#define FIRSTS 2
/* A pipelined loop's vote is taken no more steps later than this part of those that there have been: it is taken to last about as long
 * again, so a layout is in force for half of that. */
#define DELAY 0.5
/* A pipelined loop's vote is entered within the step, and taken in the exchange after it, where steps are no shorter and the last rank
 * is no further behind. */
#define WITHIN_NS 50e6
#define WITHIN_LAG 0.25
/* A vote is taken so many steps later, as far as that delays no layout by more than this. */
#define LATER 3
#define LATER_NS 25e6
/* Under quotas single steps differ much: there votes of stepped loops are not more often than this, but after so many steps in any
 * case. */
#define APART_NS 100e6
#define APART_STEPS 4
/* In a quarter of a step the balancer has answered the reports of the one before, but in short ones: under a quota it may have to wait
 * for its next period. */
#define ANSWER_NS 12.5e6
/* Exchanges between two votes, at most. */
#define INTERVAL_MAX (INT64_C(1) << 20)

double lbp_votes_lag(uint32_t holders, int64_t block, int64_t elements)
{
    return elements > 0 && holders > 1 ? (holders - 1) * (double)block / (double)elements : 0;
}

/* Whether all ranks of a pipeline enter a vote before the first of them comes to the exchange.  The first steps may be long: their
 * layout is waited for most, and one vote that is taken at once costs short ones little. */
static bool is_within(const struct lbp_votes *v)
{
    bool is_long = v->step_ns <= 0 || v->step_ns >= WITHIN_NS;

    return v->alone && is_long && v->lag <= WITHIN_LAG;
}

/* Steps after the first rank of a pipeline entered a vote that the last one has entered it too; fewer where that is too late for a
 * layout. */
static double behind(const struct lbp_votes *v)
{
    double most = fmin(DELAY * (double)v->exchanges, INTERVAL_MAX);

    return is_within(v) ? 0 : fmax(1, floor(fmin(ceil(v->lag), most)));
}

int64_t lbp_votes_interval(const struct lbp_votes *v)
{
    double most = v->interval < INTERVAL_MAX ? 2 * (double)v->interval : INTERVAL_MAX;
    double k = v->step_ns > 0 ? v->period_ns / (v->waits ? 1 : AGAIN) / v->step_ns : 1;

    if (!v->waits && !v->flows && v->quota && v->step_ns > 0)
        k = fmax(k, fmin(ceil(APART_NS / v->step_ns), APART_STEPS));
    if (!v->waits && v->flows && v->exchanges >= FIRSTS && !is_within(v))
        k = fmax(k, fmax(FLOWING, behind(v) + 1));
    return !(k >= 1) ? 1 : (int64_t)fmin(k, most); /* also what is no number */
}

int64_t lbp_votes_later(const struct lbp_votes *v)
{
    double most = (double)lbp_votes_interval(v) - 1;

    if (v->waits)
        return 0;
    if (v->flows)
        return (int64_t)fmin(behind(v), fmax(most, 1));
    return v->step_ns > 0 ? (int64_t)fmin(fmin(LATER, most), LATER_NS / v->step_ns) : 0;
}

double lbp_votes_early_ns(double step_ns)
{
    return fmin(step_ns / 2, fmax(step_ns / 4, ANSWER_NS));
}
