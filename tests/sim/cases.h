/* SPDX-License-Identifier: BSD-3-Clause */
/* The named cases that the simulator's tests share. */
#ifndef TEST_SIM_CASES_H
#define TEST_SIM_CASES_H

#include "sim/world.h"

#define CASE_RANKS_MAX 64

struct sim_case {
    struct sim_config config;
    struct sim_host host[CASE_RANKS_MAX];
    double *cost_ns; /* owned */
};

/*
 * A to E, as tests/sim/test_cases.c says, or 'H': four equal hosts; cores are had in 10 ms quotas, with phases by seed.
 * Free with case_free.
 */
void case_make(struct sim_case *c, char name, bool weights, int64_t latency_ns, unsigned seed);
void case_free(struct sim_case *c);

#endif
