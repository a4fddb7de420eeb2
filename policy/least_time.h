/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least time in which something can be done, when all there is to ask is whether it can be done in a given time.
 * Source: ours.
 */
#ifndef LBP_LEAST_TIME_H
#define LBP_LEAST_TIME_H

#include <stdbool.h>

/*
 * feasible[in]  can it be done in t ns?  If in t, then in all longer times too; in some finite time it can
 * arg[in]       passed to it
 * from_ns[in]   in less it cannot be done; > 0, or 0 where that is enough.  The answer is mostly near it
 * Returns a time in which it can be done, at most 0.1 % above the least.  Asks some 10 times near from_ns, at most 20 times
 * more than it takes to double up to the least.  Pure if feasible is.
 */
double lbp_least_time(bool (*feasible)(void *arg, double t), void *arg, double from_ns);

#endif
