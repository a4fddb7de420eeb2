/* SPDX-License-Identifier: BSD-3-Clause */
/* How often to report and decide. */
#include "policy/period.h"

#include <math.h>

/* As published: interaction may take this part of a period, which lasts so many quanta. */
#define F_INTERACT 0.05
#define QUANTUM_SCALE 5.0
/* After a new layout ranks report when so many steps were made, if that is later than half a period. */
#define LAYOUT_STEPS 5
/* So much of a period for each rank, ns: one balancer hears all of them. */
#define RANK_NS 1e6
/* The quantum of the workstations of 1995, and how many of them make a period. */
#define PUBLISHED_QUANTUM_NS 100e6
#define PUBLISHED_SCALE 10.0

/* A rank comes by at least so many times in a report's period, within these bounds of elapsed time. */
#define HOOKS 16
#define HOOK_NEAR_NS 25e6
#define HOOK_FAR_NS 50e6

double lbp_hook_most_ns(int64_t period_ns)
{
    return fmin(fmax((double)period_ns / HOOKS, HOOK_NEAR_NS), HOOK_FAR_NS);
}

int64_t lbp_period(double t_interact_ns, double t_movement_ns, double workscale, double quantum_ns,
                   uint32_t nranks)
{
    double period = fmax(t_interact_ns / F_INTERACT, t_movement_ns / fmax(workscale, 1));

    period = fmax(period, quantum_ns * QUANTUM_SCALE);
    period = fmin(fmax(period, LBP_PERIOD_MIN_NS), LBP_PERIOD_MAX_NS);
    return (int64_t)fmax(period, RANK_NS * nranks);
}

int64_t lbp_period_after_layout(int64_t period_ns, double step_ns)
{
    double ns = fmax((double)period_ns / 2, LAYOUT_STEPS * step_ns);

    return (int64_t)fmin(ns, (double)period_ns);
}

int64_t lbp_period_published(double t_interact_ns, double t_movement_ns, double workscale)
{
    double period = fmax(t_interact_ns / F_INTERACT, t_movement_ns / fmax(workscale, 1));

    period = fmax(period, PUBLISHED_QUANTUM_NS * PUBLISHED_SCALE);
    return (int64_t)fmin(period, LBP_PERIOD_PUBLISHED_MAX_NS);
}
