/* SPDX-License-Identifier: BSD-3-Clause */
/* A real run again, from its trace (lbd/balancer/trace.h). */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include <stdio.h>

#include "common/error.h"
#include "sim/options.h"

/*
 * Rebuild the hosts (CPU time per elapsed time of each rank, as it changed during the run) and the costs of the iterations of
 * the trace's first loop, free-running, stepped or pipelined; of stepped and pipelined ones also what a step takes besides
 * computing.  Simulate it with the options' policies (none: with its own), and print the seconds and the efficiency (eq. 2 of
 * Siegell & Steenkiste 1997) that were measured and predicted.
 * Returns 0 or a negative errno with a text: -ENOENT and others of opening, -EPROTO when the trace holds no loop that ran.
 */
int sim_replay(const struct sim_options *o, FILE *out, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
