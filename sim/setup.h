/* SPDX-License-Identifier: BSD-3-Clause */
/* What a simulated job with a DOALL loop is made of. */
#ifndef SIM_SETUP_H
#define SIM_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/host.h"

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
    int64_t balancer_ns; /* CPU time that a message, heard or said, costs the balancer; 0: none */
    int64_t beat_ns;     /* and a beat to a rank */
    int passes;
    bool measured; /* t_interact is told to the balancer */
    bool trace;    /* print what happens */
};

#endif
