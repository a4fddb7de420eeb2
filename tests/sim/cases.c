/* SPDX-License-Identifier: BSD-3-Clause */
/* The named cases that the simulator's tests share. */
#include "tests/sim/cases.h"

#include <stdlib.h>
#include <string.h>

static void costs(struct sim_case *c, int64_t n, double each_ns)
{
    c->config.n = n;
    c->cost_ns = malloc((size_t)(n + 1) * sizeof(*c->cost_ns));
    if (!c->cost_ns)
        abort();
    for (int64_t i = 0; i < n; i++)
        c->cost_ns[i] = each_ns;
    c->config.cost_ns = c->cost_ns;
}

void case_make(struct sim_case *c, char name, bool weights, int64_t latency_ns, unsigned seed)
{
    static const double a[4] = {.4, .4, .4, .133}, b[4] = {.1, .5, .5, .5}, h[4] = {.4, .4, .4, .4};
    const double *cores = name == 'B' ? b : name == 'H' || name == 'E' ? h : a;

    memset(c, 0, sizeof(*c));
    c->config = (struct sim_config){.nranks = 4,
                                    .host = c->host,
                                    .weights = weights,
                                    .policy = "auto",
                                    .latency_ns = latency_ns,
                                    .move_fixed_ns = 300000,
                                    .row_bytes = 8000,
                                    .row_ns = 8000,
                                    .hook_cpu_ns = 20000,
                                    .move_cpu_ns = 100000,
                                    .passes = 1,
                                    .measured = true};
    for (int i = 0; i < 4; i++) {
        c->host[i].cores = cores[i];
        c->host[i].quota = true;
        c->host[i].phase_ns = rand_r(&seed) % 10000000;
    }
    costs(c, name == 'C' ? 60 : 3000, name == 'C' ? 50e6 : name == 'E' ? 4e6 : 1e6);
    if (name == 'D') {
        for (int i = 0; i < 3000; i++)
            c->cost_ns[i] = (i < 750 ? 9 : 1) * 3e9 / (750 * 9 + 2250);
    }
    if (name == 'E') {
        c->host[3].other_cores = .133;
        c->host[3].flip_ns = 1000000000;
        c->host[3].flip_phase_ns = rand_r(&seed) % 1000000000;
    }
}

void case_free(struct sim_case *c)
{
    free(c->cost_ns);
}
