/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host is worth. */
#include "policy/index.h"

#include <math.h>

#define IDLE_CPUS 0.02 /* daemons use so much on an idle host: nobody competes */

double lbp_index_fresh_tasks(const struct lbp_placed *placed, size_t n, double placed_cpus,
                             double cpus, double half_life_ns)
{
    double sum = 0, young = 0;

    for (size_t i = 0; i < n; i++) {
        sum += placed[i].tasks;
        young += placed[i].tasks * exp2(-placed[i].age_ns / half_life_ns);
    }
    return fmax(0, fmin(young, sum - placed_cpus / fmin(1, cpus)));
}

double lbp_index(const struct lbp_index_weights *w, double hardware_s, double workload_ratio,
                 double users, double terminals, double tasks)
{
    return w->scale * hardware_s * workload_ratio *
           (1 + w->user * users + w->terminal * terminals + w->task * tasks);
}

/* How many processes the load is: at least one when there is any. */
static double count_competitors(double cpus, double external_cpus)
{
    if (external_cpus < IDLE_CPUS)
        return 0;
    return ceil(external_cpus / fmin(1, cpus) - .05);
}

double lbp_index_task_share(double cpus, double external_cpus)
{
    double k = count_competitors(cpus, external_cpus);
    double left = k > 0 ? cpus - external_cpus : cpus;

    return fmin(1, fmax(left, cpus / (k + 1)));
}

double lbp_index_job_cpus(double cpus, double external_cpus)
{
    double k = count_competitors(cpus, external_cpus);
    double ntasks = fmax(1, floor(cpus));
    double left = k > 0 ? cpus - external_cpus : cpus;

    return fmin(cpus, fmax(left, cpus * ntasks / (ntasks + k)));
}
