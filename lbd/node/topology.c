/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's topology by hwloc. */
#include "lbd/node/topology.h"

#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

static uint32_t count(hwloc_topology_t t, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(t, type);

    return n > 0 ? (uint32_t)n : 0;
}

static uint64_t last_cache_bytes(hwloc_topology_t t)
{
    static const hwloc_obj_type_t level[] = {HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
                                             HWLOC_OBJ_L2CACHE};

    for (size_t i = 0; i < sizeof(level) / sizeof(level[0]); i++) {
        hwloc_obj_t cache = hwloc_get_obj_by_type(t, level[i], 0);

        if (cache && cache->attr && cache->attr->cache.size > 0)
            return cache->attr->cache.size;
    }
    return 0;
}

/* A machine's devices are of no interest, and looking at each processor by running on it would disturb it. */
static bool load(hwloc_topology_t *t)
{
    if (hwloc_topology_init(t) < 0)
        return false;
    (void)hwloc_topology_set_components(*t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    (void)hwloc_topology_set_io_types_filter(*t, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (hwloc_topology_load(*t) == 0)
        return true;
    hwloc_topology_destroy(*t);
    return false;
}

/* The n-th logical processor of every core, n ascending. */
static size_t spread(hwloc_topology_t t, const cpu_set_t *allowed, int *ret_cpu)
{
    int ncores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
    size_t n = 0;
    bool more = true;

    for (unsigned round = 0; more; round++) {
        more = false;
        for (int c = 0; c < ncores && n < LBD_TOPOLOGY_CPUS_MAX; c++) {
            hwloc_obj_t core = hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, (unsigned)c);
            int cpu = -1;

            for (unsigned k = 0; k <= round; k++)
                cpu = hwloc_bitmap_next(core->cpuset, cpu);
            if (cpu < 0)
                continue;
            more = true;
            if (cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, allowed))
                ret_cpu[n++] = cpu;
        }
    }
    return n;
}

void lbd_topology_read(struct lbd_topology *ret, int *ret_cpu, size_t *ret_ncpus)
{
    hwloc_topology_t t;
    cpu_set_t allowed;
    size_t n = 0;

    memset(ret, 0, sizeof(*ret));
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        CPU_SET(0, &allowed);
    if (load(&t)) {
        ret->packages = count(t, HWLOC_OBJ_PACKAGE);
        ret->cores = count(t, HWLOC_OBJ_CORE);
        ret->threads = count(t, HWLOC_OBJ_PU);
        ret->numa_nodes = count(t, HWLOC_OBJ_NUMANODE);
        ret->cache_bytes = last_cache_bytes(t);
        n = spread(t, &allowed, ret_cpu);
        hwloc_topology_destroy(t);
    }
    if (n == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE && n < LBD_TOPOLOGY_CPUS_MAX; cpu++)
            if (CPU_ISSET((size_t)cpu, &allowed))
                ret_cpu[n++] = cpu;
    *ret_ncpus = n;
}
