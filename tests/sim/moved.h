/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a balancer of free-running loops has moved, and what of it came back: the calls of sim/world.c pass through here in programs
 * linked with --wrap=lbp_balance_report,--wrap=lbp_balance_tick.
 */
#ifndef LB_TESTS_SIM_MOVED_H
#define LB_TESTS_SIM_MOVED_H

#include <stddef.h>
#include <stdint.h>

#define MOVED_RANKS_MAX 32

struct moved {
    int64_t moves, iterations; /* that ranks have given away */
    int64_t back;  /* iterations of these that went to a rank that had given them away before */
    int64_t most;  /* of one iteration, how often it went back */
    int64_t plans; /* decisions for new shares */
};

/* From now on count: a loop of n iterations, and at most MOVED_RANKS_MAX ranks.  One loop at a time. */
void moved_begin(int64_t n);

/* The counts since moved_begin, which end. */
struct moved moved_end(void);

#endif
