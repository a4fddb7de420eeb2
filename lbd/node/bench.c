/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring the host. */
#include "lbd/node/bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/clock.h"

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One repetition: operations per CPU second, or 0 when cancelled. */
static double repeat(const struct lbd_kernel *k, void *area, const atomic_bool *cancel)
{
    static _Atomic uint64_t sink; /* the compiler must believe that results matter */
    int64_t start_ns = lbx_clock_thread_cpu_ns(), used_ns;
    uint64_t ops = 0;

    do {
        if (atomic_load_explicit(cancel, memory_order_relaxed))
            return 0;
        atomic_store_explicit(&sink, k->run(area, ops + (uint64_t)start_ns), memory_order_relaxed);
        ops += k->batch_ops;
        used_ns = lbx_clock_thread_cpu_ns() - start_ns;
    } while (used_ns < LBD_BENCH_REPETITION_NS);
    return (double)ops * 1e9 / (double)used_ns;
}

static int run_kernel(const struct lbd_kernel *k, const atomic_bool *cancel,
                      struct lbd_bench_kernel_result *ret)
{
    double hz[LBD_BENCH_REPETITIONS];
    void *area = NULL;
    int rc = 0;

    if (k->memory_bytes > 0) {
        /* mapped, so that it is given back when done; populated, so that page faults are not measured */
        area = mmap(NULL, k->memory_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (area == MAP_FAILED)
            return -ENOMEM;
    }
    for (int i = 0; i < LBD_BENCH_REPETITIONS && rc == 0; i++) {
        hz[i] = repeat(k, area, cancel);
        if (hz[i] <= 0)
            rc = -ECANCELED;
    }
    if (area)
        munmap(area, k->memory_bytes);
    if (rc < 0)
        return rc;
    qsort(hz, LBD_BENCH_REPETITIONS, sizeof(hz[0]), compare_doubles);
    ret->ops_hz = hz[LBD_BENCH_REPETITIONS / 2];
    ret->dispersion_ratio = (hz[LBD_BENCH_REPETITIONS - 1] - hz[0]) / ret->ops_hz;
    return 0;
}

int lbd_bench_run(const atomic_bool *cancel, struct lbd_bench_result *ret)
{
    struct lbd_bench_result r = {.hardware = 1};
    int64_t cpu_ns = lbx_clock_thread_cpu_ns(), wall_ns = lbx_clock_mono_ns();
    double log_sum = 0;

    for (int i = 0; i < LBD_KERNELS; i++) {
        int rc = run_kernel(&lbd_kernels[i], cancel, &r.kernel[i]);

        if (rc < 0)
            return rc;
        log_sum += log(r.kernel[i].ops_hz / lbd_kernels[i].reference_ops_hz);
    }
    r.cpu_ns = lbx_clock_thread_cpu_ns() - cpu_ns;
    r.wall_ns = lbx_clock_mono_ns() - wall_ns;
    r.hardware = exp(log_sum / LBD_KERNELS);
    r.hardware_s = 1 / r.hardware;
    r.share = fmin(1, (double)r.cpu_ns / (double)r.wall_ns);
    *ret = r;
    return 0;
}
