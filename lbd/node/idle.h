/* SPDX-License-Identifier: BSD-3-Clause */
/* Which core is idle: what is measured on one core should have it for itself. */
#ifndef LBD_NODE_IDLE_H
#define LBD_NODE_IDLE_H

#include <stddef.h>
#include <stdint.h>

#include "lbd/node/topology.h"

/* How long each of some logical processors has been idle, as far as it was looked at. */
struct lbd_idle {
    int64_t at_ns;                          /* of the newest look, monotonic; 0: none yet */
    int64_t idle_ns[LBD_TOPOLOGY_CPUS_MAX]; /* since the system's start; -1: not told */
};

/*
 * Look, and pick the processor that was idle most since the look before.
 * stat[in]  text of /proc/stat
 * cpu[in]   [n] the system's numbers, n from 1 to LBD_TOPOLOGY_CPUS_MAX, the same at each look
 * own       index in cpu[] of the one that we have used meanwhile, for own_ns, which counts as idle
 * Returns an index into cpu[]: own, unless another was idle a good deal longer, or at the first look.  Pure.
 */
size_t lbd_idle_pick(struct lbd_idle *idle, const char *stat, int64_t now_ns, const int *cpu,
                     size_t n, size_t own, int64_t own_ns);

/* The same by /proc/stat as it is now; own where it cannot be read. */
size_t lbd_idle_pick_now(struct lbd_idle *idle, const int *cpu, size_t n, size_t own,
                         int64_t own_ns);

#endif
