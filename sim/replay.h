/* SPDX-License-Identifier: BSD-3-Clause */
/* A real run again, from its trace (lbd/balancer/trace.h). */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include <stdio.h>

#include "common/error.h"
#include "sim/options.h"

/*
 * Rebuild the hosts (CPU time per elapsed time of each rank's samples) and the costs of the iterations of the trace's first
 * loop, simulate it with the options' policies, and print the seconds that were measured and predicted.
 * Lines that are cut, unknown events and other loops are passed over.
 * Returns 0 or a negative errno with a text: -ENOENT and others of opening, -EPROTO when the trace holds no loop that ran.
 */
int sim_replay(const struct sim_options *o, FILE *out, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
