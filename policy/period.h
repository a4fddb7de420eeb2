/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often to report and decide: max(t_interact / f_interact, t_movement / workscale, quantum x quantumscale), within
 * bounds.  The quantum is not assumed but measured, from the scatter of the speeds.
 * Source: Siegell & Steenkiste 1997, section 5.2; bounds ours.
 */
#ifndef LBP_PERIOD_H
#define LBP_PERIOD_H

#include <stdint.h>

#define LBP_PERIOD_QUICK_NS \
    INT64_C(20000000)                        /* while little is known, and near the end of a pass */
#define LBP_PERIOD_MIN_NS INT64_C(100000000) /* ten messages a second and rank */
#define LBP_PERIOD_MAX_NS INT64_C(1000000000)

/*
 * Elapsed between a rank's hooks while much remains, by what a hook costs there, up to lbp_hook_most_ns; a rank comes by at least
 * LBP_HOOKS_LEFT times before it runs dry.
 */
#define LBP_HOOK_NS 10e6
#define LBP_HOOKS_LEFT 32

/*
 * period_ns[in]  that the rank reports in, as it was told: the longer, the less is at stake
 * Returns ns, 25e6 to 50e6: a change of speed, which takes 100 ms to be seen, is told the later by no more than that.
 */
double lbp_hook_most_ns(int64_t period_ns);

/*
 * t_interact_ns[in]  round trip rank - balancer
 * t_movement_ns[in]  elapsed time of the recent moves, mean;  workscale[in] decisions between two moves, >= 1
 * quantum_ns[in]     time slice or period of a quota, as it shows in the speeds
 * nranks[in]         one balancer hears all of them: at most 1000 messages a second
 * Returns ns.  Pure, O(1).
 */
int64_t lbp_period(double t_interact_ns, double t_movement_ns, double workscale, double quantum_ns,
                   uint32_t nranks);

/*
 * How soon after a new layout of a stepped loop its ranks report: half a period, where five steps are in it.  Bounds that were made
 * of what had just begun to change are put right the sooner.
 * period_ns[in]  that they report in;  step_ns[in] a step, > 0
 * Returns ns, at most period_ns.  Pure, O(1).
 */
int64_t lbp_period_after_layout(int64_t period_ns, double step_ns);

#define LBP_PERIOD_PUBLISHED_MAX_NS \
    (60 * LBP_PERIOD_MAX_NS) /* ours: a wild measurement ends no balancing */

/*
 * The same as published, for policy siegell: a quantum of 100 ms, ten of them, and no upper bound that matters; so 1 s, but
 * where talking or moving is very dear.  Section 5.2.4.
 */
int64_t lbp_period_published(double t_interact_ns, double t_movement_ns, double workscale);

#endif
