/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job whose ranks have several balancers: each hears the ranks of one group, and moves nothing to another.  It is what a tree
 * of balancers does without its root.
 */
#ifndef SIM_GROUPS_H
#define SIM_GROUPS_H

#include "sim/world.h"

/*
 * config: its ranks and their equal parts of the iterations are divided into so many groups, 1 to config->nranks; one pass when
 *     that is more than 1
 * ret: of all together; ticks, busy_ns and late_ns of the balancer that has most of each
 * ret_apart_ns[out]: when the last group would be done at the soonest, all groups being apart: a root that evens them out
 *     without any cost saves at most this, less the ideal
 * Returns 0 or a negative errno; the first group that did not end as it must is the last that was run.
 */
int sim_groups_run(const struct sim_config *config, uint32_t groups, struct sim_result *ret,
                   int64_t *ret_apart_ns) __attribute__((warn_unused_result));

#endif
