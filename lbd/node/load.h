/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampling the host's load without disturbing it: what others use of the processors, the run queue, stall information,
 * users.  The host is the control group with a quota where we are in one, else the machine.
 */
#ifndef LBD_NODE_LOAD_H
#define LBD_NODE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cgroup.h"

struct lbd_load {
    double cpus;       /* cores that the host has: affinity, online, quota */
    double busy_cpus;  /* cores used by everybody but this daemon, since the sample before */
    double steal_cpus; /* cores taken by the hypervisor */
    double
        pressure_ratio; /* PSI: share of the time in which somebody waited for a core, last 10 s; 0 where unknown */
    double
        waiting_ratio; /* the same of the whole machine, since the sample before; -1 where unknown */
    double
        throttled_ratio; /* share of the time in which the quota had stopped the group, summed over its
                               cores, at most 1; 0 where unknown */
    uint32_t running;    /* processes in the run queue of the machine */
    uint32_t users, terminals; /* logged in; distinct users, all terminals */
    bool first;                /* no sample before: the shares are unknown, 0 */
    bool probed; /* busy_cpus is what a short run of our own suggests: nothing else tells */
};

struct lbd_procs;

struct lbd_load_source {
    const char *proc; /* borrowed */
    struct lbx_cgroup cgroup;
    int64_t at_ns, busy_ns, steal_ns, own_ns, waiting_us; /* of the sample before; at_ns 0: none */
    int64_t throttled_ns;
    struct lbd_procs *procs; /* where only /proc/PID/stat tells; owned */
    unsigned unprobed;       /* samples since the last run of our own */
    double probed_cpus;      /* what it suggested */
};

/* proc: "/proc", or a folder like it for tests, borrowed as long as s lives. */
void lbd_load_init(struct lbd_load_source *s, const char *proc);
void lbd_load_fini(struct lbd_load_source *s);

/*
 * Take a sample.  Where the kernel does not tell what is used, a short run of our own does, every sixth time.
 * Returns 0 or a negative errno (*ret untouched).
 */
int lbd_load_sample(struct lbd_load_source *s, struct lbd_load *ret)
    __attribute__((warn_unused_result));

/* What others use of so many cores (> 0), by what share a run of 6 ms of CPU time gets; takes 100 ms at most. */
double lbd_load_probe(double cpus);

/* Cores that this process may use now: affinity and quota. */
double lbd_load_cpus(struct lbd_load_source *s);

#endif
