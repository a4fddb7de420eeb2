/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host is made of, as hwloc tells, and which of it this process may use. */
#ifndef LBD_NODE_TOPOLOGY_H
#define LBD_NODE_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#define LBD_TOPOLOGY_CPUS_MAX 1024

struct lbd_topology {
    uint32_t packages, cores, threads, numa_nodes; /* of the machine; threads: logical processors */
    uint64_t cache_bytes;                          /* one last-level cache; 0 unknown */
};

/*
 * Read the topology, and the logical processors that this process may run on: first one of each core, then the others, so that
 * the first n are the n that hinder each other least.
 * ret_cpu[out]  [LBD_TOPOLOGY_CPUS_MAX] the system's numbers;  ret_ncpus[out] how many, >= 1
 * Where hwloc cannot tell, the affinity mask alone is used and *ret has zeros.  Takes some milliseconds; keeps no memory.
 */
void lbd_topology_read(struct lbd_topology *ret, int *ret_cpu, size_t *ret_ncpus);

#endif
