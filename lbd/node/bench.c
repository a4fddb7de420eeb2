/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring the host. */
#include "lbd/node/bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/cgroup.h"
#include "common/clock.h"
#include "lbd/node/idle.h"
#include "lbd/node/quantum.h"
#include "lbd/node/worker.h"

#define ALL_REPETITIONS 3
#define AREA_MOST ((size_t)64 << 20) /* of all threads together */
#define AREA_ALIGN ((size_t)1 << 20)
#define LOOK_NS (50 * LBX_NS_PER_MS) /* at who is idle, before the first core is chosen */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* hz[in,out] is sorted. */
static void judge(double *hz, size_t n, double *ret_median, double *ret_dispersion)
{
    qsort(hz, n, sizeof(hz[0]), compare_doubles);
    *ret_median = hz[n / 2];
    *ret_dispersion = (hz[n - 1] - hz[0]) / hz[n / 2];
}

static size_t area_bytes(const struct lbd_kernel *k, uint64_t cache_bytes, size_t nthreads)
{
    size_t wanted = k->caches * (cache_bytes < AREA_MOST ? (size_t)cache_bytes : AREA_MOST);

    if (wanted > AREA_MOST)
        wanted = AREA_MOST;
    wanted = wanted / nthreads / AREA_ALIGN * AREA_ALIGN;
    return wanted > k->least_bytes ? wanted : k->least_bytes;
}

int64_t lbd_bench_repetition_ns(int64_t quantum_ns, int64_t quota_period_ns, double quota_cpus,
                                double ncpus)
{
    double ns = 2 * (double)quantum_ns;

    if (quota_cpus < ncpus)
        ns = fmax(ns, 1.2 * (double)quota_period_ns * fmin(1, quota_cpus));
    return (int64_t)fmin(fmax(ns, (double)LBD_BENCH_LEAST_NS), (double)LBD_BENCH_MOST_NS);
}

/* What decides how it is measured. */
struct site {
    int cpu[LBD_TOPOLOGY_CPUS_MAX];
    size_t ncpus;   /* to be used at once */
    size_t allowed; /* all of them */
    size_t own;     /* index of the one that is used alone */
    struct lbd_idle idle;
    const atomic_bool *cancel;
};

static int look(struct site *s, struct lbd_bench_result *r)
{
    struct lbx_cgroup g;
    size_t allowed;
    int rc;

    lbd_topology_read(&r->topology, s->cpu, &allowed);
    s->allowed = allowed;
    s->own = lbd_idle_pick_now(&s->idle, s->cpu, allowed, allowed - 1, 0);
    lbx_clock_sleep_ns(LOOK_NS);
    s->own = lbd_idle_pick_now(&s->idle, s->cpu, allowed, s->own, 0);
    lbx_cgroup_find("/proc/self", &g);
    r->quota_period_ns = g.period_ns;
    s->ncpus = allowed;
    if (g.quota_cpus < (double)allowed)
        s->ncpus = (size_t)fmax(1, ceil(g.quota_cpus - .01));
    r->ncpus = (uint32_t)s->ncpus;
    rc = lbd_quantum_measure(s->cpu[s->own], s->cancel, &r->quantum_ns);
    if (rc == -EAGAIN)
        rc = 0; /* the least will do */
    r->repetition_ns =
        lbd_bench_repetition_ns(r->quantum_ns, r->quota_period_ns, g.quota_cpus, (double)allowed);
    return rc;
}

static struct lbd_work work_of(const struct site *s, const struct lbd_bench_result *r, int i,
                               size_t nthreads)
{
    return (struct lbd_work){.kernel = &lbd_kernels[i],
                             .area_bytes =
                                 area_bytes(&lbd_kernels[i], r->topology.cache_bytes, nthreads),
                             .repetition_ns = r->repetition_ns,
                             .cancel = s->cancel};
}

/* Each kernel has the core that was idle most while the one before ran: others come and go. */
static int run_alone(struct site *s, struct lbd_bench_result *r)
{
    int64_t cpu_ns = lbx_clock_thread_cpu_ns(), wall_ns = lbx_clock_mono_ns(), used_ns = cpu_ns;
    double hz[LBD_BENCH_REPETITIONS];

    r->hardware_s = 0;
    for (int i = 0; i < LBD_KERNELS; i++) {
        struct lbd_work w = work_of(s, r, i, 1);
        int rc;

        if (i > 0)
            s->own = lbd_idle_pick_now(&s->idle, s->cpu, s->allowed, s->own,
                                       lbx_clock_thread_cpu_ns() - used_ns);
        else /* the quantum's time is nobody's */
            (void)lbd_idle_pick_now(&s->idle, s->cpu, s->allowed, s->own, 0);
        used_ns = lbx_clock_thread_cpu_ns();
        rc = lbd_worker_alone(&w, s->cpu[s->own], LBD_BENCH_REPETITIONS, hz);
        if (rc < 0)
            return rc;
        judge(hz, LBD_BENCH_REPETITIONS, &r->kernel[i].ops_hz, &r->kernel[i].dispersion_ratio);
        r->hardware_s += lbd_kernels[i].reference_ops_hz / r->kernel[i].ops_hz / LBD_KERNELS;
    }
    r->cpu_ns = lbx_clock_thread_cpu_ns() - cpu_ns;
    r->wall_ns = lbx_clock_mono_ns() - wall_ns;
    r->hardware = 1 / r->hardware_s;
    r->share = fmin(1, (double)r->cpu_ns / (double)r->wall_ns);
    return 0;
}

static int run_all(const struct site *s, struct lbd_bench_result *r)
{
    double hz[ALL_REPETITIONS], log_sum = 0;

    r->scaling_ratio = 1;
    for (int i = 0; i < LBD_KERNELS; i++) {
        struct lbd_bench_kernel_result *k = &r->kernel[i];
        struct lbd_work w = work_of(s, r, i, s->ncpus);
        int rc = 0;

        if (s->ncpus == 1) {
            k->all_ops_hz = k->ops_hz;
            k->all_dispersion_ratio = k->dispersion_ratio;
            continue;
        }
        rc = lbd_worker_all(&w, s->cpu, s->ncpus, ALL_REPETITIONS, hz);
        if (rc == -EAGAIN) /* a limit on threads: what one core does is known all the same */
            return 0;
        if (rc < 0)
            return rc;
        judge(hz, ALL_REPETITIONS, &k->all_ops_hz, &k->all_dispersion_ratio);
        log_sum += log(k->all_ops_hz / ((double)s->ncpus * k->ops_hz));
    }
    r->scaling_ratio = fmin(1, exp(log_sum / LBD_KERNELS));
    return 0;
}

int lbd_bench_run(const atomic_bool *cancel, struct lbd_bench_result *ret)
{
    struct lbd_bench_result r = {.hardware = 1};
    struct site *s = calloc(1, sizeof(*s)); /* too large for the thread's stack */
    int rc = s ? 0 : -ENOMEM;

    if (s)
        s->cancel = cancel;
    if (rc == 0)
        rc = look(s, &r);
    if (rc == 0)
        rc = run_alone(s, &r);
    if (rc == 0)
        rc = run_all(s, &r);
    free(s);
    if (rc == 0)
        *ret = r;
    return rc;
}
