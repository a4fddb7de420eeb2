/* SPDX-License-Identifier: BSD-3-Clause */
/* common/clock: units and order.  No test says how long anything may take at most. */
#include "common/clock.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

START_TEST(never_goes_back)
{
    int64_t mono = lbx_clock_mono_ns(), thread = lbx_clock_thread_cpu_ns();
    int64_t process = lbx_clock_process_cpu_ns();

    for (int i = 0; i < 10000; i++) {
        int64_t m = lbx_clock_mono_ns(), t = lbx_clock_thread_cpu_ns();
        int64_t p = lbx_clock_process_cpu_ns();

        ck_assert_int_ge(m, mono);
        ck_assert_int_ge(t, thread);
        ck_assert_int_ge(p, process);
        mono = m;
        thread = t;
        process = p;
    }
}
END_TEST

/* Read between two readings of the system's own clock: the unit is right, and so is the clock. */
START_TEST(is_the_clock_it_says)
{
    static const struct {
        clockid_t id;
        int64_t (*read)(void);
    } table[] = {
        {CLOCK_MONOTONIC, lbx_clock_mono_ns},
        {CLOCK_THREAD_CPUTIME_ID, lbx_clock_thread_cpu_ns},
        {CLOCK_PROCESS_CPUTIME_ID, lbx_clock_process_cpu_ns},
    };
    struct timespec a, b;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int64_t ns;

        clock_gettime(table[i].id, &a);
        ns = table[i].read();
        clock_gettime(table[i].id, &b);
        ck_assert_int_ge(ns, a.tv_sec * LBX_NS_PER_S + a.tv_nsec);
        ck_assert_int_le(ns, b.tv_sec * LBX_NS_PER_S + b.tv_nsec);
    }
}
END_TEST

START_TEST(wall_is_of_this_century)
{
    ck_assert_int_gt(lbx_clock_wall_ns() / LBX_NS_PER_S, INT64_C(1577836800)); /* 2020 */
    ck_assert_int_lt(lbx_clock_wall_ns() / LBX_NS_PER_S, INT64_C(4102444800)); /* 2100 */
}
END_TEST

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
    (void)sig;
    alarms++;
}

START_TEST(sleeps_at_least_through_signals)
{
    struct sigaction sa = {.sa_handler = on_alarm};
    struct itimerval every = {{0, 2000}, {0, 2000}}, none = {{0, 0}, {0, 0}};
    int64_t begin_ns;

    ck_assert_int_eq(sigaction(SIGALRM, &sa, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
    begin_ns = lbx_clock_mono_ns();
    lbx_clock_sleep_ns(30 * LBX_NS_PER_MS);
    ck_assert_int_ge(lbx_clock_mono_ns() - begin_ns, 30 * LBX_NS_PER_MS);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &none, NULL), 0);
    ck_assert_int_gt(alarms, 0); /* else nothing was shown */
}
END_TEST

/* A negative time taken for a huge one would hang here, and Check's time limit would end it. */
START_TEST(nothing_or_less_returns)
{
    lbx_clock_sleep_ns(0);
    lbx_clock_sleep_ns(-1);
    lbx_clock_sleep_ns(INT64_MIN);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("clock");

    tcase_add_test(tc, never_goes_back);
    tcase_add_test(tc, is_the_clock_it_says);
    tcase_add_test(tc, wall_is_of_this_century);
    tcase_add_test(tc, sleeps_at_least_through_signals);
    tcase_add_test(tc, nothing_or_less_returns);
    return suite_run("common/clock", tc);
}
