/* SPDX-License-Identifier: BSD-3-Clause */
/* How often to report and decide. */
#include "policy/period.h"

#include <math.h>

#define F_INTERACT 0.05
#define QUANTUM_SCALE 5.0
#define RANK_NS 1e6 /* of a period, for each rank */

int64_t lbp_period(double t_interact_ns, double t_movement_ns, double workscale, double quantum_ns,
                   uint32_t nranks)
{
    double period = fmax(t_interact_ns / F_INTERACT, t_movement_ns / fmax(workscale, 1));

    period = fmax(period, quantum_ns * QUANTUM_SCALE);
    period = fmin(fmax(period, LBP_PERIOD_MIN_NS), LBP_PERIOD_MAX_NS);
    return (int64_t)fmax(period, RANK_NS * nranks);
}
