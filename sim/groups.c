/* SPDX-License-Identifier: BSD-3-Clause */
/* Several balancers: a job for each. */
#include "sim/groups.h"

#include <errno.h>

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add(struct sim_result *sum, const struct sim_result *r)
{
    sum->end_ns = most(sum->end_ns, r->end_ns);
    sum->static_ns = most(sum->static_ns, r->static_ns);
    sum->first_ns = r->first_ns > sum->first_ns ? r->first_ns : sum->first_ns;
    sum->missing += r->missing;
    sum->repeated += r->repeated;
    sum->moves += r->moves;
    sum->messages += r->messages;
    sum->reports += r->reports;
    sum->ticks = most(sum->ticks, r->ticks);
    sum->busy_ns = most(sum->busy_ns, r->busy_ns);
    sum->late_ns = most(sum->late_ns, r->late_ns);
    sum->ended = r->ended;
    sum->why = r->why;
}

int sim_groups_run(const struct sim_config *config, uint32_t groups, struct sim_result *ret,
                   int64_t *ret_apart_ns)
{
    struct sim_result sum = {.ended = true};
    int64_t apart = 0;
    double work = 0;

    if (groups == 1) {
        int rc = sim_run(config, ret);

        if (rc == 0)
            *ret_apart_ns = ret->ideal_ns;
        return rc;
    }
    if (groups < 1 || groups > config->nranks || config->passes != 1)
        return -EINVAL;
    for (uint32_t g = 0; g < groups && sum.ended; g++) {
        uint32_t rank = (uint32_t)((uint64_t)config->nranks * g / groups);
        uint32_t end = (uint32_t)((uint64_t)config->nranks * (g + 1) / groups);
        int64_t first = (int64_t)((double)config->n * rank / config->nranks);
        int64_t last = (int64_t)((double)config->n * end / config->nranks);
        struct sim_config c = *config;
        struct sim_result r;
        int rc;

        c.nranks = end - rank;
        c.host += rank;
        c.told = c.told ? c.told + rank : NULL;
        c.n = last - first;
        c.cost_ns += first;
        rc = sim_run(&c, &r);
        if (rc < 0)
            return rc;
        add(&sum, &r);
        apart = most(apart, r.ideal_ns);
    }
    for (int64_t i = 0; i < config->n; i++)
        work += config->cost_ns[i];
    sum.ideal_ns = sim_host_ideal(config->host, (int)config->nranks, 0, work);
    *ret = sum;
    *ret_apart_ns = apart;
    return 0;
}
