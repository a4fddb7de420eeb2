/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the job steps that have ended. */
#include "lbd/controller/finished.h"

#include <math.h>
#include <string.h>

#include "policy/registry.h"

static const double bounds[LBD_FINISHED_BUCKETS - 1] = {.01, .03, .1,  .3, .5, .7,
                                                        .8,  .9,  .95, 1,  2};

static const char *known_name(const char *policy)
{
    const struct lbp_policy_info *table;
    size_t n;

    table = lbp_policy_table(&n);
    for (size_t i = 0; i < n && i < LBD_FINISHED_POLICIES - 1; i++)
        if (strcmp(table[i].name, policy) == 0)
            return table[i].name;
    return "other";
}

static void count(uint64_t counts[LBD_FINISHED_BUCKETS], double *sum, double value)
{
    int i = 0;

    while (i < LBD_FINISHED_BUCKETS - 1 && value > bounds[i])
        i++;
    counts[i]++;
    *sum += value;
}

void lbd_finished_init(struct lbd_finished *f)
{
    const struct lbp_policy_info *table;
    size_t n;

    memset(f, 0, sizeof(*f));
    table = lbp_policy_table(&n);
    for (f->n = 0; f->n < n && f->n < LBD_FINISHED_POLICIES - 1; f->n++)
        f->policy[f->n].name = table[f->n].name;
}

void lbd_finished_add(struct lbd_finished *f, const struct lbw_job *job)
{
    const char *name = known_name(job->policy);
    size_t i = 0;
    struct lbd_finished_policy *p;

    while (i < f->n && f->policy[i].name != name)
        i++;
    if (i == f->n)
        f->policy[f->n++].name = name;
    p = &f->policy[i];
    p->jobs++;
    if (job->placement < LBW_PLACEMENTS)
        p->placement[job->placement]++;
    if (job->saved_ns > 0)
        p->saved_s += (double)job->saved_ns / 1e9;
    count(p->balance, &p->balance_sum, job->load_balance);
    if (job->placed_ns > 0 && job->run_ns > 0)
        count(p->error, &p->error_sum,
              fabs((double)job->placed_ns - (double)job->run_ns) / (double)job->run_ns);
}
