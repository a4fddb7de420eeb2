/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of simulated ranks round the real balancer (policy/balance.h), in virtual time.  The ranks do what libclient's do:
 * hand themselves chunks, report at hooks, obey at hooks, and wait at the end of a pass.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/setup.h"

#define SIM_RANKS_MAX 131072

struct sim_result {
    int64_t end_ns;            /* of all passes */
    int64_t ideal_ns;          /* all work / all speeds, as they are during it */
    int64_t static_ns;         /* the same first shares without any library */
    double first_ns;           /* static_ns as the balancer estimates it; 0: not known */
    int64_t missing, repeated; /* iterations not executed, or more than once, over all passes */
    int64_t moves, messages, reports, ticks;
    int64_t busy_ns; /* CPU time of the balancer */
    int64_t late_ns; /* the longest that a message has waited for its turn there */
    bool ended;      /* false: hung, or against the protocol (then why says what) */
    const char *why;
};

/* Returns 0 or a negative errno (out of memory, or the balancer's). */
int sim_run(const struct sim_config *config, struct sim_result *ret)
    __attribute__((warn_unused_result));

#endif
