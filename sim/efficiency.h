/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How well a simulated run used its hosts, and what the model of figure 31 says of it.
 * Source: Siegell & Steenkiste 1997, eq. 2 and figure 31 (policy/efficiency.h); how its delays are measured is ours.
 */
#ifndef SIM_EFFICIENCY_H
#define SIM_EFFICIENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/efficiency.h"
#include "sim/host.h"

/*
 * The efficiency of a run: its work over what the hosts had to give from 0 to its end.  What a load takes is competing CPU time.
 * work_ns[in]     reference work of the whole run, >= 0
 * elapsed_ns[in]  > 0
 * host[in]        [nranks]
 * cores[in]       [nranks] of each host without its load, > 0; NULL: all 1
 * Returns 0 or -ENOMEM; *ret_ratio is 0 when nothing was available.  O(nranks), and each ms of it where there is a load.
 */
int sim_efficiency(double work_ns, int64_t elapsed_ns, uint32_t nranks, const struct sim_host *host,
                   const double *cores, double *ret_ratio) __attribute__((warn_unused_result));

/* One host of several has a load that comes and goes: what the model needs to know of a run, which is seen as it goes on. */
struct sim_oscillation {
    uint32_t nranks, rank;       /* rank: whose host it is */
    const struct sim_host *host; /* that one; borrowed */
    int64_t since_ns;            /* accounted until here */
    double equal;         /* 1: that rank has an equal part of the work, 0: what suits the load */
    double on_ns, off_ns; /* that the load was on and off */
    double late_on_ns,
        late_off_ns; /* of these, with a part that suits the other; half way counts half */
    double moving_on_ns, moving_off_ns; /* that nobody computed because of moves */
};

/*
 * host[in]  [nranks] borrowed while *ret is used
 * Returns true when just one of at least two hosts has a load that comes and goes, and all are alike without it.  Pure.
 */
bool sim_oscillation_init(struct sim_oscillation *ret, uint32_t nranks,
                          const struct sim_host *host);

/*
 * From at_ns on the rank has `part` of all work, 0 to 1, for which all stopped during the took_ns before.  The first time at 0.
 */
void sim_oscillation_laid(struct sim_oscillation *o, double part, int64_t at_ns, int64_t took_ns);

/*
 * Instead, of a free-running loop, in which nobody waits for an answer: moves of which each cost cpu_ns of some rank.  Without
 * any, nothing was answered.
 */
void sim_oscillation_free(struct sim_oscillation *o, int64_t end_ns, int64_t moves, double cpu_ns);

/*
 * The model with what was seen until end_ns, the run's end.
 * dedicated[in]        efficiency of the same run on idle hosts
 * ret_model[out]       with the delays and moves that were seen
 * ret_unbalanced[out]  with equal parts and no move
 * Both are 0 when there was not one whole period of the load: the model is of whole ones.
 */
void sim_oscillation_predict(struct sim_oscillation *o, int64_t end_ns, double dedicated,
                             double *ret_model, double *ret_unbalanced);

#endif
