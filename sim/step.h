/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of simulated ranks with a STEPPED or DOACROSS loop round the real balancer (policy/stepped.h), in virtual time: all
 * ranks go through their blocks, wait for each other, and apply a plan between two steps when all have heard of it.  A pass of a
 * pipelined loop may have legs, between which nobody waits: to the balancer each is a step, as in libclient/joint.h.
 */
#ifndef SIM_STEP_H
#define SIM_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/stepped.h"
#include "sim/host.h"

#define SIM_STEP_PARTS 8

struct sim_step_config {
    enum lbp_stepped_kind kind;
    uint32_t nranks;             /* one on each host */
    const struct sim_host *host; /* [nranks] */
    int64_t n;
    const double *
        cost_ns; /* [n] reference work of each iteration in a step; for DOACROSS: of a whole sweep */
    int64_t steps; /* passes */
    bool steps_told;
    bool weights; /* the hosts' speeds are known at the start: first bounds and prior */
    const double
        *told; /* [nranks] instead: the speeds that the ranks' lbds told; NULL: as `weights` says */
    const char *policy;    /* as for lbp_params_parse */
    int64_t latency_ns;    /* of a message to or from the balancer, and of the barrier */
    int64_t exchange_ns;   /* of the exchange or barrier after each step, besides the latency */
    int64_t move_fixed_ns; /* of a transfer of rows, besides its latency */
    int64_t row_bytes, row_ns;
    double hook_cpu_ns; /* CPU time that a report costs a rank */
    double move_cpu_ns; /* and a move at each end */
    int64_t min_iterations;
    int64_t pipelined;      /* DOACROSS: m */
    int64_t legs;           /* DOACROSS: of a pass; 0: one, as under sync=yes and siegell */
    int64_t block;          /* DOACROSS: > 0: this block size, whatever the balancer says */
    int64_t shift_fixed_ns; /* of a message between neighbours */
    double shift_incr_ns;   /* and each pipelined iteration in it */
    double cpu_noise;       /* the CPU time of a block is measured wrongly by up to this ratio */
    int parts;              /* of a block that are timed apart in a report, 0 to SIM_STEP_PARTS */
    double cold;            /* > 0: the very first step costs so many times as much CPU time */
    bool quotas_untold;     /* ranks do not tell the balancer of their hosts' quotas */
    unsigned seed;
    bool trace; /* print what is decided */
    /* Called after each report that the balancer took; may be NULL. */
    void (*decided)(void *arg, struct lbp_stepped *s, int64_t now_ns);
    /* Called at 0, and after each move: the balanced ranks have these bounds, [nranks + 1], from at_ns on, and stopped for the
     * took_ns before; may be NULL. */
    void (*laid)(void *arg, const int64_t *bound, int64_t at_ns, int64_t took_ns);
    /* sim_step_told: the bounds of a step, [nranks + 1], borrowed until the next call. */
    const int64_t *(*bounds)(void *arg, int64_t step);
    void *arg;
};

struct sim_step_result {
    int64_t end_ns, ideal_ns, static_ns;
    int64_t legs, plans, reports, moved_iterations, block;
    int64_t last_plan_ns;
    int64_t
        reversals; /* plans in which a bound goes back over half of the way that the plan before took it */
    int64_t
        settled_ns; /* since then every step took at most 1.05 of what whole iterations allow; of steady loads */
    int64_t period_ns;
    int64_t decisions[LBP_REASONS];
    double account_ns;
    double first_ns; /* that it would have taken with the first bounds, as is said to the user */
    double first_balance_ratio; /* with them, mean / max of the computing in a step */
    bool ended;
    const char *why;
};

/* Returns 0 or a negative errno. */
int sim_step_run(const struct sim_step_config *config, struct sim_step_result *ret)
    __attribute__((warn_unused_result));

/* Without a balancer, with the bounds that config->bounds tells for each step; only ret's end_ns and ideal_ns. */
int sim_step_told(const struct sim_step_config *config, struct sim_step_result *ret)
    __attribute__((warn_unused_result));

#endif
