/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring the host: how long a repetition is, the workers, the topology, and a host against its own history. */
#include "lbd/node/bench.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "common/clock.h"
#include "lbd/node/health.h"
#include "lbd/node/idle.h"
#include "lbd/node/load.h"
#include "lbd/node/quantum.h"
#include "lbd/node/worker.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

#define MS INT64_C(1000000)

START_TEST(a_repetition_exceeds_quantum_and_period)
{
    static const struct {
        int64_t quantum_ns, period_ns;
        double quota_cpus, ncpus;
        int64_t expected_ns;
    } table[] = {
        {0, 0, INFINITY, 4, LBD_BENCH_LEAST_NS},
        {3 * MS, 0, INFINITY, 4, LBD_BENCH_LEAST_NS},
        {40 * MS, 0, INFINITY, 4, 80 * MS},
        {3 * MS, 100 * MS, .5, 2, 60 * MS}, /* 1.2 periods of .5 of a core */
        {3 * MS, 50 * MS, 1.5, 2, 60 * MS}, /* one thread is stopped with the others at most */
        {3 * MS, 100 * MS, 2, 2, LBD_BENCH_LEAST_NS}, /* a quota that limits nothing */
        {3 * MS, 10 * MS, .06, 2, LBD_BENCH_LEAST_NS},
        {500 * MS, 0, INFINITY, 1, LBD_BENCH_MOST_NS},
        {0, 1000 * MS, 1, 2, LBD_BENCH_MOST_NS},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        ck_assert_int_eq(lbd_bench_repetition_ns(table[i].quantum_ns, table[i].period_ns,
                                                 table[i].quota_cpus, table[i].ncpus),
                         table[i].expected_ns);
}
END_TEST

static uint64_t count_up(void *area, size_t area_bytes, uint64_t seed)
{
    uint64_t *counter = area;

    ck_assert_uint_eq(area_bytes, 4096);
    for (int i = 0; i < 1000; i++)
        seed = seed * 6364136223846793005u + ++*counter;
    return seed;
}

static const struct lbd_kernel counting = {"counting", 1, 1000, 4096, 0, count_up};

START_TEST(workers_work_alone_and_together)
{
    atomic_bool cancel = false;
    struct lbd_work w = {&counting, 4096, 1000, &cancel};
    int cpu[2] = {0, 0};
    cpu_set_t set;
    double hz[3] = {0};

    ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    for (int c = CPU_SETSIZE - 1; c >= 0; c--)
        if (CPU_ISSET((size_t)c, &set)) {
            cpu[1] = cpu[0];
            cpu[0] = c;
        }
    ck_assert_int_eq(lbd_worker_alone(&w, -1, 3, hz), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_double_gt(hz[i], 0);
    hz[0] = hz[1] = hz[2] = 0;
    ck_assert_int_eq(lbd_worker_all(&w, cpu, 2, 3, hz), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_double_gt(hz[i], 0);
    cancel = true;
    ck_assert_int_eq(lbd_worker_alone(&w, cpu[0], 3, hz), -ECANCELED);
    ck_assert_int_eq(lbd_worker_all(&w, cpu, 2, 3, hz), -ECANCELED);
}
END_TEST

static cpu_set_t seen_cpus; /* that a kernel might have run on */

static uint64_t look_round(void *area, size_t area_bytes, uint64_t seed)
{
    (void)area;
    (void)area_bytes;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(seen_cpus), &seen_cpus), 0);
    return seed + 1;
}

START_TEST(one_core_is_one_core)
{
    static const struct lbd_kernel looking = {"looking", 1, 1, 0, 0, look_round};
    atomic_bool cancel = false;
    struct lbd_work w = {&looking, 0, 1000, &cancel};
    cpu_set_t before, after;
    double hz;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    for (int c = 0; c < CPU_SETSIZE; c++) {
        if (!CPU_ISSET((size_t)c, &before))
            continue;
        ck_assert_int_eq(lbd_worker_alone(&w, c, 1, &hz), 0);
        ck_assert_int_eq(CPU_COUNT(&seen_cpus), 1);
        ck_assert(CPU_ISSET((size_t)c, &seen_cpus));
        ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
        ck_assert(CPU_EQUAL(&before, &after));
    }
    ck_assert_int_eq(lbd_worker_alone(&w, -1, 1, &hz), 0);
    ck_assert(CPU_EQUAL(&before, &seen_cpus));
}
END_TEST

/* Idle time of cpus 0, 1, 2 and 7, in hundredths of a second. */
static const char *stat_of(int a, int b, int c, int d)
{
    static char text[512];

    snprintf(text, sizeof(text),
             "cpu  7 2 3 4 99999 6 7 8 9 10\ncpu0 9 9 9 %d 0 1 1 1 0 0\ncpu1 9 9 9 %d 0 1 1 1 0 0\n"
             "cpu2 9 9 9 0 %d 1 1 1 0 0\ncpu7 9 9 9 %d 0 1 1 1 0 0\nintr 5\nctxt 7\n",
             a, b, c, d);
    return text;
}

START_TEST(the_core_that_is_idle_is_taken)
{
    static const int cpu[] = {2, 0, 7};
    struct lbd_idle idle = {0};
    int64_t s = LBX_NS_PER_S;

    if (sysconf(_SC_CLK_TCK) != 100)
        return;
    ck_assert_uint_eq(lbd_idle_pick(&idle, stat_of(0, 0, 0, 0), s, cpu, 3, 1, 0), 1); /* unknown */
    ck_assert_uint_eq(lbd_idle_pick(&idle, stat_of(10, 100, 20, 90), 2 * s, cpu, 3, 1, 0), 2);
    ck_assert_uint_eq(lbd_idle_pick(&idle, stat_of(110, 100, 20, 90), 3 * s, cpu, 3, 2, 0), 1);
    /* what is waiting for a disk is idle, too */
    ck_assert_uint_eq(lbd_idle_pick(&idle, stat_of(110, 100, 120, 90), 4 * s, cpu, 3, 1, 0), 0);
    /* our own time is no reason to go, nor is a little */
    ck_assert_uint_eq(
        lbd_idle_pick(&idle, stat_of(210, 200, 120, 190), 5 * s, cpu, 3, 0, s - s / 10), 0);
    ck_assert_uint_eq(
        lbd_idle_pick(&idle, stat_of(310, 300, 120, 290), 6 * s, cpu, 3, 0, s - s / 3), 1);
    /* nothing told, no time, a processor that is not there any more */
    ck_assert_uint_eq(lbd_idle_pick(&idle, "", 7 * s, cpu, 3, 2, 0), 2);
    ck_assert_uint_eq(lbd_idle_pick(&idle, stat_of(900, 900, 900, 900), 8 * s, cpu, 3, 2, 0), 2);
    ck_assert_uint_eq(lbd_idle_pick(&idle, stat_of(999, 999, 999, 999), 8 * s, cpu, 3, 2, 0), 2);
    ck_assert_uint_eq(lbd_idle_pick(&idle, "cpu0 1 1 1 1090 0\ncpu7 1 1 1", 9 * s, cpu, 3, 2, 0),
                      1);
}
END_TEST

START_TEST(every_kernel_does_its_work)
{
    for (int i = 0; i < LBD_KERNELS; i++) {
        const struct lbd_kernel *k = &lbd_kernels[i];
        size_t bytes = k->least_bytes;
        uint8_t *area = bytes ? calloc(1, bytes) : NULL;
        uint64_t all = 0;

        ck_assert(!bytes || area);
        for (uint64_t call = 0; call < 40; call++) /* beyond the end of triad's arrays and round */
            all |= k->run(area, bytes, call * k->batch_ops + 5);
        ck_assert_uint_ne(all, 0);
        free(area);
    }
}
END_TEST

START_TEST(what_is_cancelled_leaves_no_result)
{
    struct lbd_bench_result r = {.hardware = 77};
    atomic_bool cancel = true;
    int64_t ns = 5;

    ck_assert_int_eq(lbd_bench_run(&cancel, &r), -ECANCELED);
    ck_assert_double_eq(r.hardware, 77);
    ck_assert_int_eq(lbd_quantum_measure(0, &cancel, &ns), -ECANCELED);
    ck_assert_int_eq(ns, 5);
}
END_TEST

START_TEST(the_cpus_are_those_allowed)
{
    static int cpu[LBD_TOPOLOGY_CPUS_MAX];
    struct lbd_topology t;
    cpu_set_t set, seen;
    size_t n;

    CPU_ZERO(&seen);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    lbd_topology_read(&t, cpu, &n);
    for (size_t i = 0; i < n; i++)
        CPU_SET((size_t)cpu[i], &seen);
    ck_assert(CPU_EQUAL(&set, &seen));
    ck_assert_uint_eq(n, (size_t)CPU_COUNT(&set)); /* none twice */
    ck_assert_uint_ge(t.threads, t.cores);
}
END_TEST

START_TEST(a_probe_stays_within_the_host)
{
    double cpus = lbd_load_probe(.5);

    ck_assert_double_ge(cpus, 0);
    ck_assert_double_le(cpus, .5);
}
END_TEST

static struct lbd_bench_result benchmark(double scale, int slow_kernel, double slow)
{
    struct lbd_bench_result r = {.hardware = scale};

    for (int i = 0; i < LBD_KERNELS; i++)
        r.kernel[i].ops_hz = 1e9 * (i + 1) * scale * (i == slow_kernel ? slow : 1);
    return r;
}

START_TEST(a_host_is_held_against_its_own_history)
{
    struct lbd_health h = {.model = "x"};
    struct lbd_health_verdict v;
    struct lbd_bench_result bad = benchmark(1, 4, .6), usual = benchmark(1, -1, 1);

    for (int i = 0; i < LBD_HEALTH_LEAST; i++) {
        lbd_health_judge(&h, &bad, &v);
        ck_assert(!v.slow);
        ck_assert_double_eq(v.ratio, 1);
        usual = benchmark(1 + .02 * i, -1, 1);
        lbd_health_add(&h, &usual);
    }
    lbd_health_judge(&h, &bad, &v);
    ck_assert(v.slow);
    ck_assert_int_eq(v.kernel, 4);
    ck_assert_double_eq_tol(v.ratio, .6 / 1.02, 1e-9);
    bad = benchmark(.8, -1, 1); /* all of it: heat */
    lbd_health_judge(&h, &bad, &v);
    ck_assert(v.slow);
    bad = benchmark(.9, -1, 1);
    lbd_health_judge(&h, &bad, &v);
    ck_assert(!v.slow);
    for (int i = 0; i < LBD_HEALTH_MAX; i++) {
        usual = benchmark(.5, -1, 1);
        lbd_health_add(&h, &usual);
    }
    ck_assert_uint_eq(h.n, LBD_HEALTH_MAX);
    lbd_health_judge(&h, &usual, &v); /* all of the old ones are gone */
    ck_assert_double_eq_tol(v.ratio, 1, 1e-9);
}
END_TEST

START_TEST(the_history_comes_back)
{
    struct lbd_health h = {.model = "Some (R) CPU"}, back;
    struct lbd_bench_result r = benchmark(1, -1, 1);
    char dir[64], path[128], text[4096];
    size_t n, whole = 0;
    FILE *f;

    make_folder(dir);
    snprintf(path, sizeof(path), "%s/benchmarks", dir);
    lbd_health_read(path, h.model, &back);
    ck_assert_uint_eq(back.n, 0);
    for (int i = 0; i < 5; i++)
        lbd_health_add(&h, &r);
    ck_assert_int_eq(lbd_health_write(path, &h), 0);
    lbd_health_read(path, h.model, &back);
    ck_assert_mem_eq(&h, &back, sizeof(h));
    lbd_health_read(path, "another", &back);
    ck_assert_uint_eq(back.n, 0);
    f = fopen(path, "r");
    n = fread(text, 1, sizeof(text), f);
    fclose(f);
    for (size_t cut = 0; cut < n; cut++) { /* a damaged file never gives a number that is none */
        f = fopen(path, "w");
        fwrite(text, 1, cut, f);
        fclose(f);
        lbd_health_read(path, h.model, &back);
        ck_assert_uint_lt(back.n, 5);
        whole = back.n > whole ? back.n : whole;
        for (size_t i = 0; i < back.n; i++)
            ck_assert_double_eq(back.hz[i][LBD_KERNELS - 1], h.hz[0][LBD_KERNELS - 1]);
    }
    ck_assert_uint_eq(whole, 4);
    ck_assert_int_eq(lbd_health_write("/nonexistent/x", &h), -ENOENT);
    remove_folder(dir);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("bench");

    tcase_add_test(tc, a_repetition_exceeds_quantum_and_period);
    tcase_add_test(tc, workers_work_alone_and_together);
    tcase_add_test(tc, one_core_is_one_core);
    tcase_add_test(tc, the_core_that_is_idle_is_taken);
    tcase_add_test(tc, every_kernel_does_its_work);
    tcase_add_test(tc, what_is_cancelled_leaves_no_result);
    tcase_add_test(tc, the_cpus_are_those_allowed);
    tcase_add_test(tc, a_probe_stays_within_the_host);
    tcase_add_test(tc, a_host_is_held_against_its_own_history);
    tcase_add_test(tc, the_history_comes_back);
    return suite_run("lbd/bench", tc);
}
