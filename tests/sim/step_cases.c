/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of stepped and pipelined loops, drawn from a seed. */
#include "tests/sim/step_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double step_case_uniform(unsigned *seed, double from, double to)
{
    return from + (to - from) * (double)rand_r(seed) / RAND_MAX;
}

static int pick(unsigned *seed, int n)
{
    return (int)((unsigned)rand_r(seed) % (unsigned)n);
}

void step_case_costs(struct step_case *c, int64_t n, double step_ns, int kind, unsigned seed)
{
    double sum = 0;

    c->config.n = n;
    c->cost_ns = calloc((size_t)n + 1, sizeof(*c->cost_ns));
    if (!c->cost_ns)
        abort();
    c->config.cost_ns = c->cost_ns;
    for (int64_t i = 0; i < n; i++) {
        double x = (double)i / (double)n;

        sum += c->cost_ns[i] = kind == 0   ? 1
                               : kind == 1 ? 0.1 + x
                               : kind == 2 ? (x < 0.25 ? 9 : 1)
                                           : step_case_uniform(&seed, 0.5, 1.5);
    }
    for (int64_t i = 0; i < n; i++)
        c->cost_ns[i] *= step_ns / sum;
}

void step_case_defaults(struct step_case *c, enum lbp_stepped_kind kind, uint32_t nranks,
                        unsigned seed)
{
    memset(c, 0, sizeof(*c));
    c->steady = true;
    c->config = (struct sim_step_config){.kind = kind,
                                         .nranks = nranks,
                                         .host = c->host,
                                         .policy = "auto",
                                         .latency_ns = 100000,
                                         .move_fixed_ns = 300000,
                                         .row_bytes = 8000,
                                         .row_ns = 8000,
                                         .hook_cpu_ns = 20000,
                                         .move_cpu_ns = 100000,
                                         .steps = 100,
                                         .pipelined = kind == LBP_DOACROSS ? 1000 : 0,
                                         .shift_fixed_ns = 100000,
                                         .shift_incr_ns = 8,
                                         .cpu_noise = 0.01,
                                         .seed = seed};
    for (uint32_t i = 0; i < nranks; i++)
        c->host[i] = (struct sim_host){.cores = 1};
}

void step_case_draw(struct step_case *c, unsigned seed)
{
    uint32_t nranks = 1 + (uint32_t)pick(&seed, RANKS);
    enum lbp_stepped_kind kind = pick(&seed, 3) ? LBP_STEPPED : LBP_DOACROSS;
    unsigned other;
    bool slow_quota, quota_flips, equal = pick(&seed, 3) == 0, quota = pick(&seed, 3) == 0,
                                  flips = pick(&seed, 2) == 0;
    double step_ns = pow(10, step_case_uniform(&seed, 5.5, 8.3)) * nranks,
           base = step_case_uniform(&seed, 0.2, 1);

    step_case_defaults(c, kind, nranks, seed);
    other = seed; /* so that the cases stay those they were */
    slow_quota = quota && pick(&other, 3) == 0;
    c->config.quotas_untold = getenv("SIM_UNTOLD") != NULL; /* what it brings that they are told */
    quota_flips = pick(&other, 2);
    c->config.weights = pick(&seed, 2);
    c->config.steps_told = pick(&seed, 2);
    c->config.latency_ns = (int64_t)pow(10, step_case_uniform(&seed, 4.3, 6));
    c->config.move_fixed_ns = (int64_t)pow(10, step_case_uniform(&seed, 4.5, 6.5));
    c->config.row_bytes = pick(&seed, 3) ? (int64_t)pow(10, step_case_uniform(&seed, 1, 6)) : 0;
    c->config.row_ns = c->config.row_bytes;
    c->config.parts = pick(&seed, 3) ? pick(&seed, SIM_STEP_PARTS + 1) : 0;
    c->config.min_iterations = pick(&seed, 2) ? pick(&seed, 5) : 0;
    c->config.cpu_noise = step_case_uniform(&seed, 0, 0.03);
    c->config.steps = (int64_t)(step_case_uniform(&seed, 0.5e9, 20e9) * nranks / step_ns) + 1;
    if (c->config.steps > 3000)
        c->config.steps = 3000;
    for (uint32_t i = 0; i < nranks; i++) {
        struct sim_host *h = &c->host[i];

        h->cores = equal ? base : step_case_uniform(&seed, 0.1, 1);
        h->hardware = pick(&seed, 3) ? 1 : step_case_uniform(&seed, 0.5, 2);
        h->quota = quota;
        h->quota_ns = slow_quota ? 100000000 : 0;
        h->quota_cores = quota_flips ? 0 : h->cores; /* else a load in the same quota */
        h->phase_ns = pick(&seed, 10000000);
        if (flips && pick(&seed, 2)) {
            h->other_cores = h->cores * step_case_uniform(&seed, 0.1, 0.9);
            h->flip_ns = (int64_t)pow(10, step_case_uniform(&seed, 7.7, 10));
            h->flip_phase_ns = (int64_t)step_case_uniform(&seed, 0, (double)h->flip_ns);
            h->flip_once = pick(&seed, 2);
            c->steady = false;
        }
    }
    step_case_costs(c, 1 + (int64_t)pow(10, step_case_uniform(&seed, 0.5, 3.5)), step_ns,
                    pick(&seed, 4), seed);
}

double step_case_mean_of_moments(void (*draw)(struct step_case *c, unsigned seed), unsigned seed,
                                 const char *policy, int moments)
{
    unsigned random = seed;
    double sum = 0;

    for (int i = 0; i < moments; i++) {
        struct step_case c;
        struct sim_step_result r;

        draw(&c, seed);
        c.config.policy = policy;
        for (uint32_t h = 0; h < c.config.nranks; h++)
            c.host[h].flip_phase_ns =
                (int64_t)step_case_uniform(&random, 0, (double)c.host[h].flip_ns);
        if (sim_step_run(&c.config, &r) < 0 || !r.ended) {
            fprintf(stderr, "seed %u: %s\n", seed, r.why ? r.why : "cannot be run");
            abort();
        }
        sum += (double)r.end_ns / (double)r.static_ns;
        free(c.cost_ns);
    }
    return sum / moments;
}
