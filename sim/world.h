/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of simulated ranks round the real balancer (policy/balance.h), in virtual time.  The ranks do what libclient's do:
 * hand themselves chunks, report at hooks, obey at hooks, and wait at the end of a pass.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/balance.h"
#include "sim/host.h"

#define SIM_RANKS_MAX 131072

struct sim_config {
    uint32_t nranks;             /* one on each host */
    const struct sim_host *host; /* [nranks] */
    int64_t n;
    const double *cost_ns; /* [n] CPU time of each iteration */
    bool weights;          /* the hosts' speeds are known at the start: shares and prior */
    const double
        *told; /* [nranks] instead: the speeds that the ranks' lbds told; NULL: as `weights` says */
    const char *policy;        /* as for lbp_params_parse */
    int64_t latency_ns;        /* of a message, one way */
    int64_t move_fixed_ns;     /* of a transfer of rows, besides its latency */
    int64_t row_bytes, row_ns; /* of each row in it */
    double hook_cpu_ns;        /* CPU time that a report or an instruction costs a rank */
    double move_cpu_ns;        /* and a move at each end */
    int passes;
    bool measured; /* t_interact is told to the balancer */
    bool trace;    /* print what happens */
};

struct sim_result {
    int64_t end_ns;            /* of all passes */
    int64_t ideal_ns;          /* all work / all speeds, as they are during it */
    int64_t static_ns;         /* the same first shares without any library */
    double first_ns;           /* static_ns as the balancer estimates it; 0: not known */
    int64_t missing, repeated; /* iterations not executed, or more than once, over all passes */
    int64_t moves, messages, reports, ticks;
    bool ended; /* false: hung, or against the protocol (then why says what) */
    const char *why;
};

/* Returns 0 or a negative errno (out of memory, or the balancer's). */
int sim_run(const struct sim_config *config, struct sim_result *ret)
    __attribute__((warn_unused_result));

#endif
