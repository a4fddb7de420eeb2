/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding our control group and its quota, on planted files. */
#include "common/cgroup.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

static char dir[64];
static struct lbx_cgroup group, other;

static void folder(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    ck_assert_int_eq(mkdir(path, 0755), 0);
}

static void mounted(const char *root, const char *point, const char *type, const char *options)
{
    char line[512];

    snprintf(line, sizeof(line),
             "22 1 0:20 / / rw shared:1 - ext4 disk rw\n"
             "30 22 0:30 %s %s/%s rw shared:2 - %s none %s\n",
             root, dir, point, type, options);
    write_file(dir, "mountinfo", line);
}

START_TEST(version_2_takes_the_tightest_above)
{
    uint64_t identity;
    int64_t ns;

    make_folder(dir);
    write_file(dir, "cgroup", "0::/a/b/c\n");
    mounted("/", "cg", "cgroup2", "rw,nsdelegate");
    folder("cg");
    folder("cg/a");
    folder("cg/a/b");
    folder("cg/a/b/c");
    write_file(dir, "cg/a/cpu.max", "40000 100000\n");
    write_file(dir, "cg/a/b/cpu.max", "max 100000\n");
    write_file(dir, "cg/a/b/c/cpu.max", "200000 100000\n");
    write_file(dir, "cg/a/cpu.stat", "usage_usec 1234\nuser_usec 1000\nthrottled_usec 77\n");
    ck_assert_int_eq(lbx_cgroup_find(dir, &group), 0);
    ck_assert_int_eq(group.period_ns, 100000000);
    ck_assert_int_eq(lbx_cgroup_throttled(&group, &ns), 0);
    ck_assert_int_eq(ns, 77000);
    ck_assert_int_eq(group.version, 2);
    ck_assert_double_eq_tol(group.quota_cpus, .4, 1e-9);
    ck_assert_int_eq(lbx_cgroup_usage(&group, &ns), 0);
    ck_assert_int_eq(ns, 1234000);
    identity = lbx_cgroup_identity(&group);
    ck_assert_uint_ne(identity, 0);
    write_file(dir, "cg/a/b/cpu.max", "30000 100000\n"); /* tighter: another group */
    lbx_cgroup_refresh(&group);
    ck_assert_uint_ne(lbx_cgroup_identity(&group), 0);
    ck_assert_uint_ne(lbx_cgroup_identity(&group), identity);
    write_file(dir, "cgroup", "0::/a/b\n"); /* who is elsewhere below it has the same */
    ck_assert_int_eq(lbx_cgroup_find(dir, &other), 0);
    ck_assert_uint_eq(lbx_cgroup_identity(&other), lbx_cgroup_identity(&group));
    write_file(dir, "cg/a/b/cpu.max", "max 100000\n");
    write_file(dir, "cg/a/cpu.max", "max 100000\n");
    lbx_cgroup_refresh(&group);
    ck_assert_double_eq_tol(group.quota_cpus, 2, 1e-9);
    remove_folder(dir);
}
END_TEST

START_TEST(version_1_with_a_root_that_is_not_the_top)
{
    int64_t ns;

    make_folder(dir);
    write_file(dir, "cgroup", "4:memory:/other\n3:cpu,cpuacct:/jail/host\n0::/\n");
    mounted("/jail", "cg", "cgroup", "rw,cpu,cpuacct");
    folder("cg");
    folder("cg/host");
    write_file(dir, "cg/cpu.cfs_quota_us", "-1\n");
    write_file(dir, "cg/cpu.cfs_period_us", "100000\n");
    write_file(dir, "cg/host/cpu.cfs_quota_us", "1330\n");
    write_file(dir, "cg/host/cpu.cfs_period_us", "10000\n");
    ck_assert_int_eq(lbx_cgroup_find(dir, &group), 0);
    ck_assert_int_eq(group.version, 1);
    ck_assert_double_eq_tol(group.quota_cpus, .133, 1e-9);
    ck_assert_int_eq(group.period_ns, 10000000);
    ck_assert_int_eq(lbx_cgroup_throttled(&group, &ns), -ENOENT);
    write_file(dir, "cg/host/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 555\n");
    ck_assert_int_eq(lbx_cgroup_throttled(&group, &ns), 0);
    ck_assert_int_eq(ns, 555);
    ck_assert_int_lt(lbx_cgroup_usage(&group, &ns), 0); /* accounted elsewhere */
    write_file(dir, "cg/host/cpuacct.usage", "987654321\n");
    ck_assert_int_eq(lbx_cgroup_usage(&group, &ns), 0);
    ck_assert_int_eq(ns, 987654321);
    remove_folder(dir);
}
END_TEST

START_TEST(without_a_quota_there_is_none)
{
    int64_t ns;

    make_folder(dir);
    write_file(dir, "cgroup", "1:cpuset:/x\n0::/\n");
    mounted("/", "cg", "cgroup2", "rw");
    folder("cg");
    ck_assert_int_eq(lbx_cgroup_find(dir, &group), 0);
    ck_assert(isinf(group.quota_cpus));
    ck_assert_int_eq(group.period_ns, 0);
    ck_assert_int_lt(lbx_cgroup_usage(&group, &ns), 0);
    ck_assert_int_eq(lbx_cgroup_throttled(&group, &ns), -ENOENT);
    ck_assert_uint_eq(lbx_cgroup_identity(&group), 0);
    write_file(dir, "cg/cpu.max", "garbage\n");
    lbx_cgroup_refresh(&group);
    ck_assert(isinf(group.quota_cpus));
    remove_folder(dir);
}
END_TEST

START_TEST(garbage_is_no_group)
{
    static const char *const bad[] = {"", "::::\n", "0:\n", "x", "0::/../../..\n"};

    make_folder(dir);
    write_file(dir, "mountinfo", "a b c\n - \n1 2 3 - cgroup2\n1 2 3 4 5 - cgroup2\n");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        write_file(dir, "cgroup", bad[i]);
        lbx_cgroup_find(dir, &group);
        ck_assert(isinf(group.quota_cpus));
    }
    remove_folder(dir);
    ck_assert_int_lt(lbx_cgroup_find("/nonexistent", &group), 0);
    ck_assert(isinf(group.quota_cpus));
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("cgroup");

    tcase_add_test(tc, version_2_takes_the_tightest_above);
    tcase_add_test(tc, version_1_with_a_root_that_is_not_the_top);
    tcase_add_test(tc, without_a_quota_there_is_none);
    tcase_add_test(tc, garbage_is_no_group);
    return suite_run("common/cgroup", tc);
}
