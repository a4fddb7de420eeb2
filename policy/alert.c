/* SPDX-License-Identifier: BSD-3-Clause */
/* When a rank reports. */
#include "policy/alert.h"

#include <math.h>

/* A rank reports at once when its speed differs from what it told by this ratio: a host that a quota throttles scatters by less in
 * LBP_ALERT_NS; */
#define SPEED_CHANGE 0.15
/* or the cost of its iterations by this one. */
#define COST_CHANGE 0.25
/* So many more quick reports follow a change: the filter believes what it sees several times. */
#define QUICK 3
/* Less computing than this is not judged. */
#define JUDGED_NS (0.8 * LBP_ALERT_NS)

void lbp_alert_sample(struct lbp_alert *a, double iterations, double wall_ns, double cpu_ns)
{
    a->iterations += iterations;
    a->wall_ns += wall_ns;
    a->cpu_ns += cpu_ns;
}

static bool has_changed(const struct lbp_alert *a)
{
    double doubt;

    if (a->wall_ns < JUDGED_NS || a->iterations <= 0 || a->told_speed <= 0 || a->told_cost <= 0)
        return false;
    /* what was told of a shorter window is the less sure */
    doubt = a->told_ns < JUDGED_NS ? sqrt(JUDGED_NS / a->told_ns) : 1;
    return fabs(a->cpu_ns / a->wall_ns / a->told_speed - 1) > SPEED_CHANGE * doubt ||
           fabs(a->cpu_ns / a->iterations / a->told_cost - 1) > COST_CHANGE * doubt;
}

bool lbp_alert_due(const struct lbp_alert *a, int64_t since_ns, int64_t period_ns)
{
    if (since_ns >= period_ns)
        return true;
    return since_ns >= LBP_ALERT_NS && (a->quick > 0 || has_changed(a));
}

void lbp_alert_told(struct lbp_alert *a)
{
    if (has_changed(a))
        a->quick = QUICK;
    else if (a->quick > 0)
        a->quick--;
    if (a->wall_ns > 0 && a->iterations > 0) {
        a->told_speed = a->cpu_ns / a->wall_ns;
        a->told_cost = a->cpu_ns / a->iterations;
        a->told_ns = a->wall_ns;
    }
    a->wall_ns = a->cpu_ns = a->iterations = 0;
}
