/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring the host: each kernel several times, each repetition longer than the scheduling quantum and the quota's period, both
 * of them measured, so that what others and quotas take of the host shows in its elapsed time.  CPU time says how fast the
 * hardware is.  Then the same on all cores at once: what they take from each other.
 */
#ifndef LBD_NODE_BENCH_H
#define LBD_NODE_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lbd/node/kernel.h"
#include "lbd/node/topology.h"

#define LBD_BENCH_REPETITIONS 5
#define LBD_BENCH_LEAST_NS INT64_C(20000000) /* of CPU time, a repetition */
#define LBD_BENCH_MOST_NS INT64_C(100000000)

struct lbd_bench_kernel_result {
    double ops_hz;           /* per CPU second, median of the repetitions */
    double dispersion_ratio; /* (largest - smallest) / median */
    double
        all_ops_hz; /* per CPU second of one core, summed over all cores at work; 0 not to be had */
    double all_dispersion_ratio; /* likewise */
};

struct lbd_bench_result {
    struct lbd_bench_kernel_result kernel[LBD_KERNELS];
    double hardware; /* speed of a core when it is had alone, reference cores: 1 / hardware_s */
    double
        hardware_s; /* BEC's HI: user and system time of a standard piece of work, as much of each
                          kernel as takes a reference core 1 s in all */
    double share;   /* CPU time / elapsed time, 0 to 1: the inverse of BEC's WI */
    double scaling_ratio;    /* what each core still does when all are at work, 0 to 1 */
    int64_t cpu_ns, wall_ns; /* of the part on one core */
    int64_t quantum_ns;      /* of the scheduler; 0: not seen */
    int64_t quota_period_ns; /* of the control group; 0: none */
    int64_t repetition_ns;   /* of CPU time, chosen by the two */
    uint32_t ncpus;          /* cores that the part on all cores used */
    struct lbd_topology topology;
};

/*
 * CPU time that a repetition needs to go through two quanta, and through a period of the quota where that is for less than all
 * processors.  All ns, 0 unknown; quota_cpus INFINITY without one.  Between the two limits above.
 */
int64_t lbd_bench_repetition_ns(int64_t quantum_ns, int64_t quota_period_ns, double quota_cpus,
                                double ncpus);

/*
 * Run all kernels, in the calling thread on the core that is idle most, then on as many as the affinity and the quota allow, each
 * thread pinned.
 * cancel[in]  looked at every millisecond or so of CPU time
 * Returns 0, -ECANCELED, or -ENOMEM; *ret is untouched then.
 */
int lbd_bench_run(const atomic_bool *cancel, struct lbd_bench_result *ret)
    __attribute__((warn_unused_result));

#endif
