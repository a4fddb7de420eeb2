/* SPDX-License-Identifier: BSD-3-Clause */
/* How far this host's load is from what was forecast for it. */
#include "lbd/node/foreseen.h"

#include <math.h>

#define CHANGE_LEAST .05 /* cores: less is what daemons do */

static const double bounds[LBD_FORESEEN_BUCKETS - 1] = {.01, .03, .1, .3, 1, 3, 10};

void lbd_foreseen_take(struct lbd_foreseen *f, const struct lbw_node_report *r, int64_t now_ns)
{
    struct lbp_forecast_answer said;
    double error;
    int i = 0;

    if (r->samples == 0 || r->samples == f->samples)
        return;
    f->samples = r->samples;
    if (f->forecast.ahead == 0)
        lbp_forecast_init(&f->forecast, 1, CHANGE_LEAST);
    if (lbp_forecast_ask(&f->forecast, &said)) {
        error = fabs(said.value - r->others_cpus);
        while (i < LBD_FORESEEN_BUCKETS - 1 && error > bounds[i])
            i++;
        f->counts[i]++;
        f->sum_cpus += error;
    }
    lbp_forecast_add(&f->forecast, now_ns, r->others_cpus);
}
