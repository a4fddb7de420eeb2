/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of stepped and pipelined loops that the simulator's tests share. */
#ifndef LB_TESTS_SIM_STEP_CASES_H
#define LB_TESTS_SIM_STEP_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/step.h"

#define RANKS 16

struct step_case {
    struct sim_step_config config;
    struct sim_host host[RANKS];
    double *cost_ns;
    bool steady;
};

/* From `from` to `to`, evenly. */
double step_case_uniform(unsigned *seed, double from, double to);

/* Equal hosts of one core, 100 steps, moves that are cheap; without costs. */
void step_case_defaults(struct step_case *c, enum lbp_stepped_kind kind, uint32_t nranks,
                        unsigned seed);

/* n iterations of step_ns in all; kind 0: even, 1: rising, 2: the first quarter is dear, 3: drawn.  c->cost_ns is the caller's. */
void step_case_costs(struct step_case *c, int64_t n, double step_ns, int kind, unsigned seed);

/* Hosts, loads, quotas, network and loop are drawn. */
void step_case_draw(struct step_case *c, unsigned seed);

/*
 * What chance has no part in: the time of a drawn case over that of fixed shares, in the mean of so many runs in each of which
 * all loads come at other moments, drawn from the seed, too.
 */
double step_case_mean_of_moments(void (*draw)(struct step_case *c, unsigned seed), unsigned seed,
                                 const char *policy, int moments);

#endif
