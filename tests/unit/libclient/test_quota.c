/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank reads of its quota, on planted files: at first, and again after a second. */
#include "libclient/quota.h"

#include <sys/stat.h>

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

#define S INT64_C(1000000000)

static char dir[64];
static struct lbc_quota q;

static void plant(const char *max)
{
    char text[512];

    snprintf(text, sizeof(text), "30 22 0:30 / %s/cg rw shared:2 - cgroup2 none rw\n", dir);
    write_file(dir, "mountinfo", text);
    write_file(dir, "cgroup", "0::/a\n");
    snprintf(text, sizeof(text), "%s/cg", dir);
    ck_assert_int_eq(mkdir(text, 0755), 0);
    snprintf(text, sizeof(text), "%s/cg/a", dir);
    ck_assert_int_eq(mkdir(text, 0755), 0);
    write_file(dir, "cg/a/cpu.max", max);
}

START_TEST(read_again_after_a_second)
{
    uint64_t identity;

    make_folder(dir);
    plant("40000 100000\n");
    ck_assert(lbc_quota_cpus(&q) == 0); /* not read yet */
    lbc_quota_read(&q, dir, 5 * S);
    ck_assert_double_eq_tol(lbc_quota_cpus(&q), .4, 1e-9);
    ck_assert_int_eq(q.group.period_ns, S / 10);
    identity = q.identity;
    ck_assert_uint_ne(identity, 0);
    write_file(dir, "cg/a/cpu.max", "13300 100000\n");
    lbc_quota_read(&q, dir, 6 * S - 1);
    ck_assert_double_eq_tol(lbc_quota_cpus(&q), .4, 1e-9);
    lbc_quota_read(&q, dir, 6 * S);
    ck_assert_double_eq_tol(lbc_quota_cpus(&q), .133, 1e-9);
    ck_assert_uint_eq(q.identity, identity);
    write_file(dir, "cg/a/cpu.max", "max 100000\n");
    lbc_quota_read(&q, dir, 7 * S);
    ck_assert(lbc_quota_cpus(&q) == 0);
    ck_assert_uint_eq(q.identity, 0);
    remove_folder(dir);
}
END_TEST

START_TEST(nothing_to_be_read)
{
    lbc_quota_read(&q, "/nonexistent", S);
    ck_assert(q.found && lbc_quota_cpus(&q) == 0);
    lbc_quota_read(&q, "/nonexistent", 5 * S);
    ck_assert(lbc_quota_cpus(&q) == 0);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("quota");

    tcase_add_test(tc, read_again_after_a_second);
    tcase_add_test(tc, nothing_to_be_read);
    return suite_run("libclient/quota", tc);
}
