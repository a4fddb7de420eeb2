/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampling the load: each source with planted files. */
#include "lbd/node/load.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmpx.h>

#include "common/clock.h"
#include "lbd/jitter.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

#define HOUR 360000 /* ticks: so much that our own time is nothing beside it */

static char dir[64];
static struct lbd_load_source source;
static struct lbd_load load;

static void folder(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    ck_assert_int_eq(mkdir(path, 0755), 0);
}

/* user, nice, system, idle, iowait, irq, softirq, steal */
static void plant_stat(long user, long system, long idle, long steal, int running)
{
    char text[512];

    snprintf(text, sizeof(text),
             "cpu  %ld 0 %ld %ld 0 0 0 %ld 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\nintr 1 2 3\nctxt 5\n"
             "procs_running %d\nprocs_blocked 1\n",
             user, system, idle, steal, running);
    write_file(dir, "stat", text);
}

static void plant_pressure(const char *name, double avg10)
{
    char text[256];

    snprintf(text, sizeof(text),
             "some avg10=%.2f avg60=1.00 avg300=1.00 total=1000\nfull avg10=0.00 avg60=0.00 "
             "avg300=0.00 total=0\n",
             avg10);
    write_file(dir, name, text);
}

static void sample(void)
{
    ck_assert_int_eq(lbd_load_sample(&source, &load), 0);
}

static void set_up(void)
{
    make_folder(dir);
    folder("self");
    folder("pressure");
    ck_assert_int_eq(sysconf(_SC_CLK_TCK), 100);
}

static void tear_down(void)
{
    lbd_load_fini(&source);
    remove_folder(dir);
}

START_TEST(the_machine_is_seen)
{
    plant_stat(0, 0, 0, 0, 1);
    plant_pressure("pressure/cpu", 25);
    lbd_load_init(&source, dir);
    sample();
    ck_assert(load.first);
    ck_assert(!load.probed);
    ck_assert_double_eq(load.busy_cpus, 0);
    plant_stat(2 * HOUR, HOUR, 5 * HOUR, 6 * HOUR, 7);
    sample();
    ck_assert(!load.first);
    ck_assert_double_gt(load.busy_cpus, 0);
    ck_assert_double_eq_tol(load.steal_cpus / load.busy_cpus, 2, 1e-3); /* apart from each other */
    ck_assert_double_eq_tol(load.pressure_ratio, .25, 1e-9);
    ck_assert_uint_eq(load.running, 7);
    ck_assert(!load.probed);
    plant_stat(HOUR, HOUR, HOUR, HOUR, 7); /* counters that fall are no negative load */
    sample();
    ck_assert_double_eq(load.busy_cpus, 0);
    ck_assert_double_eq(load.steal_cpus, 0);
}
END_TEST

START_TEST(garbage_is_no_pressure)
{
    static const char *const text[] = {"some avg10=nan", "some avg10=-3", "some avg10=101", "full",
                                       ""};

    plant_stat(0, 0, 0, 0, 1);
    lbd_load_init(&source, dir);
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        write_file(dir, "pressure/cpu", text[i]);
        sample();
        ck_assert_double_eq(load.pressure_ratio, 0);
    }
}
END_TEST

static void mounted(const char *type, const char *options)
{
    char line[512];

    snprintf(line, sizeof(line), "30 22 0:30 / %s/cg rw shared:2 - %s none %s\n", dir, type,
             options);
    write_file(dir, "self/mountinfo", line);
    folder("cg");
    folder("cg/host");
}

START_TEST(a_host_in_a_control_group_is_the_group)
{
    write_file(dir, "self/cgroup", "0::/host\n");
    mounted("cgroup2", "rw");
    write_file(dir, "cg/host/cpu.max", "50000 100000\n");
    write_file(dir, "cg/host/cpu.stat", "usage_usec 0\nthrottled_usec 0\n");
    plant_pressure("cg/host/cpu.pressure", 40);
    plant_pressure("pressure/cpu", 90);
    plant_stat(0, 0, 0, 0, 1);
    lbd_load_init(&source, dir);
    sample();
    ck_assert_double_eq_tol(load.cpus, .5, 1e-9);
    plant_stat(0, 0, 0, HOUR, 1);
    write_file(dir, "cg/host/cpu.stat",
               "usage_usec 7200000000\nthrottled_usec 99999999999\n"); /* two hours */
    sample();
    ck_assert_double_eq_tol(load.busy_cpus / load.steal_cpus, 2, 1e-3); /* not the machine's 0 */
    ck_assert_double_eq_tol(load.pressure_ratio, .4, 1e-9);             /* nor its 90 % */
    ck_assert_double_eq(load.throttled_ratio, 1);
    ck_assert(!load.probed);
}
END_TEST

/* Version 1 with accounts elsewhere: what the group's processes used. */
START_TEST(processes_are_added_up)
{
    static const char format[] =
        "7 (a ) b) S 1 1 1 0 -1 4194304 1 2 3 4 %ld %ld 0 0 20 0 1 0 %d 1 1\n";
    char text[256];

    write_file(dir, "self/cgroup", "3:cpu:/host\n");
    mounted("cgroup", "rw,cpu");
    write_file(dir, "cg/host/cpu.cfs_quota_us", "50000\n");
    write_file(dir, "cg/host/cpu.cfs_period_us", "100000\n");
    write_file(dir, "cg/host/cgroup.procs", "7\n8\n");
    folder("7");
    snprintf(text, sizeof(text), format, 100L, 200L, 5);
    write_file(dir, "7/stat", text);
    plant_stat(0, 0, 0, 0, 1);
    plant_pressure("pressure/cpu", 90);
    lbd_load_init(&source, dir);
    sample();
    snprintf(text, sizeof(text), format, 100L + HOUR, 200L + HOUR, 5);
    write_file(dir, "7/stat", text);
    plant_stat(0, 0, 0, HOUR, 1);
    sample();
    ck_assert_double_eq_tol(load.busy_cpus / load.steal_cpus, 2, 1e-3);
    ck_assert_double_eq(load.pressure_ratio, 0); /* the machine's says nothing of this host */
    snprintf(text, sizeof(text), format, (long)HOUR, 0L, 6); /* another process of that number */
    write_file(dir, "7/stat", text);
    plant_stat(0, 0, 0, 2 * HOUR, 1);
    sample();
    ck_assert_double_eq_tol(load.busy_cpus / load.steal_cpus, 1, 1e-3);
    ck_assert(!load.probed);
}
END_TEST

START_TEST(where_nothing_tells_a_probe_does)
{
    unsigned probes = 0;

    lbd_load_init(&source, dir); /* no stat */
    for (int i = 0; i < 12; i++) {
        sample();
        ck_assert(load.probed);
        ck_assert_double_ge(load.busy_cpus, 0);
        ck_assert_double_le(load.busy_cpus, load.cpus);
        probes += source.probed_cpus >= 0 && load.busy_cpus == source.probed_cpus &&
                  source.unprobed % 6 == 1;
    }
    ck_assert_uint_eq(probes, 2); /* each sixth time */
    ck_assert_uint_eq(source.unprobed, 12);
    plant_stat(0, 0, 0, 0, 1);
    sample();
    ck_assert(!load.probed);
}
END_TEST

static void log_in(const char *user, const char *line, short type)
{
    struct utmpx u = {.ut_type = type, .ut_pid = getpid()};

    memcpy(u.ut_user, user, strlen(user));
    memcpy(u.ut_line, line, strlen(line));
    memcpy(u.ut_id, line + strlen(line) - 1, 1);
    setutxent();
    ck_assert_ptr_nonnull(pututxline(&u));
    endutxent();
}

START_TEST(users_and_terminals_are_counted)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/utmp", dir);
    write_file(dir, "utmp", "");
    ck_assert_int_eq(utmpxname(path), 0);
    plant_stat(0, 0, 0, 0, 1);
    lbd_load_init(&source, dir);
    sample();
    ck_assert_uint_eq(load.users, 0);
    log_in("ada", "pts/1", USER_PROCESS);
    log_in("ada", "pts/2", USER_PROCESS);
    log_in("bob", "pts/3", USER_PROCESS);
    log_in("LOGIN", "tty4", LOGIN_PROCESS);
    sample();
    ck_assert_uint_eq(load.users, 2);
    ck_assert_uint_eq(load.terminals, 3);
    log_in("", "pts/2", DEAD_PROCESS);
    sample();
    ck_assert_uint_eq(load.users, 2);
    ck_assert_uint_eq(load.terminals, 2);
}
END_TEST

START_TEST(intervals_are_stretched_at_random)
{
    int64_t least = INT64_MAX, most = 0, ns = 10 * LBX_NS_PER_S;

    for (int i = 0; i < 1000; i++) {
        int64_t v = lbd_jitter_ns(ns, .2);

        ck_assert_int_ge(v, ns);
        ck_assert_int_lt(v, ns + ns / 5);
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    ck_assert_int_gt(most - least, ns / 10); /* 1,000 in one half: never */
    ck_assert_int_eq(lbd_jitter_ns(ns, 0), ns);
    ck_assert_uint_eq(lbd_jitter_ms(1, 0), 1);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("load");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, the_machine_is_seen);
    tcase_add_test(tc, garbage_is_no_pressure);
    tcase_add_test(tc, a_host_in_a_control_group_is_the_group);
    tcase_add_test(tc, processes_are_added_up);
    tcase_add_test(tc, where_nothing_tells_a_probe_does);
    tcase_add_test(tc, users_and_terminals_are_counted);
    tcase_add_test(tc, intervals_are_stretched_at_random);
    return suite_run("lbd/load", tc);
}
