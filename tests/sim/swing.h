/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated jobs as those of `./run bench oscillate`: the same programs and hosts, under a load that comes and goes inside a host's quota. */
#ifndef TESTS_SIM_SWING_H
#define TESTS_SIM_SWING_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/step.h"

#define RANKS 4
#define ITERATIONS 2000

struct program {
    const char *name;
    enum lbp_stepped_kind kind;
    int64_t n, steps;
    int64_t legs; /* of a pass; 0: one */
    double cpu_s; /* that all takes */
};

/* What a message along a pipeline costs, ns of the host's CPU.  Real ranks are busy so long; some machines are slower. */
#define MESSAGE 6000
#define DEAR_MESSAGE 20000
static double message_ns = MESSAGE;

static inline double draw(unsigned *seed, double from, double to)
{
    return from + (to - from) * (double)rand_r(seed) / RAND_MAX;
}

/* A job: its configuration refers to the rest, so that it must not be copied. */
struct job {
    struct sim_host host[RANKS];
    double cost[ITERATIONS];
    double told[RANKS];
    struct sim_step_config config;
};

/* Four hosts of 0.3 cores by quota, about as they are told, and a program. */
static inline void set_up(struct job *j, const struct program *p, const char *policy,
                          unsigned *seed)
{
    j->config = (struct sim_step_config){.kind = p->kind,
                                         .nranks = RANKS,
                                         .host = j->host,
                                         .n = p->n,
                                         .cost_ns = j->cost,
                                         .steps = p->steps,
                                         .told = j->told,
                                         .policy = policy,
                                         .latency_ns = 300000,
                                         .move_fixed_ns = 700000,
                                         .row_bytes = 8 * p->n,
                                         .row_ns = 30000,
                                         .hook_cpu_ns = 50000,
                                         .move_cpu_ns = 400000,
                                         .pipelined = p->kind == LBP_DOACROSS ? p->n : 0,
                                         .legs = p->legs,
                                         .shift_fixed_ns = message_ns,
                                         .shift_incr_ns = message_ns / 5000,
                                         .cpu_noise = 0.03,
                                         .parts = p->kind == LBP_DOACROSS ? 1 : 4,
                                         .seed = *seed};
    for (int64_t i = 0; i < p->n; i++)
        j->cost[i] = p->cpu_s * 1e9 / (double)(p->steps * p->n);
    for (int r = 0; r < RANKS; r++) {
        j->host[r] = (struct sim_host){.cores = 0.3,
                                       .quota = true,
                                       .quota_cores = 0.3,
                                       .phase_ns = (int64_t)draw(seed, 0, 10e6)};
        j->told[r] = 0.3 * draw(seed, 0.95, 1.05);
    }
}

/* Its time over that with the first shares. */
static inline double run(struct job *j, struct sim_step_result *ret)
{
    if (sim_step_run(&j->config, ret) < 0 || !ret->ended) {
        fprintf(stderr, "seed %u: %s\n", j->config.seed, ret->why ? ret->why : "cannot be run");
        abort();
    }
    return (double)ret->end_ns / (double)ret->static_ns;
}

/* The load is on the first host. */
static inline double swing(const struct program *p, const char *policy, double period_s,
                           double duty, bool uneven, unsigned seed, bool trace,
                           struct sim_step_result *ret)
{
    static struct job j;

    set_up(&j, p, policy, &seed);
    j.config.trace = trace;
    if (period_s > 0) {
        j.host[0].other_cores = 0.15;
        j.host[0].inside = true;
        j.host[0].uneven = uneven ? 2 * seed + 1 : 0;
        j.host[0].duty = duty;
        j.host[0].flip_ns = (int64_t)(period_s / 2 * 1e9);
        j.host[0].flip_phase_ns = (int64_t)draw(&seed, 0, period_s * 1e9);
    }
    return run(&j, ret);
}

/* Of as many seeds as a test draws: others, to see what is true of more than those. */
static inline unsigned first_seed(void)
{
    return getenv("SIM_FIRST") ? (unsigned)atoi(getenv("SIM_FIRST")) : 1;
}

#endif
