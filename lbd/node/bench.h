/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring the host: each kernel several times, each repetition long enough in CPU time to go through scheduling quanta and
 * quota periods.  CPU time says how fast the hardware is, elapsed time what the host lets a process have of it.
 */
#ifndef LBD_NODE_BENCH_H
#define LBD_NODE_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lbd/node/kernel.h"

#define LBD_BENCH_REPETITIONS 5
#define LBD_BENCH_REPETITION_NS INT64_C(30000000) /* of CPU time, at least */

struct lbd_bench_kernel_result {
    double ops_hz;           /* per CPU second, median of the repetitions */
    double dispersion_ratio; /* (largest - smallest) / median */
};

struct lbd_bench_result {
    struct lbd_bench_kernel_result kernel[LBD_KERNELS];
    double hardware; /* speed of a core when it is had alone, reference cores */
    double share;    /* CPU time / elapsed time of the whole, 0 to 1 */
    double
        hardware_s; /* BEC's HI: CPU seconds of a standard piece of work (1 s on a reference core) */
    int64_t cpu_ns, wall_ns;
};

/*
 * Run all kernels in the calling thread; takes about 0.5 s of CPU time.
 * cancel[in]  looked at every millisecond or so of CPU time
 * Returns 0, -ECANCELED, or -ENOMEM; *ret is untouched then.
 */
int lbd_bench_run(const atomic_bool *cancel, struct lbd_bench_result *ret)
    __attribute__((warn_unused_result));

#endif
