/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.conf: values, defaults, and mistakes told with file, line and reason. */
#include "lbd/conf.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "lbd/rules.h"
#include "tests/unit/suite.h"

static char path[] = "/tmp/lbconf.XXXXXX";
static struct lbx_policyconf conf;
static struct lbx_error err;

static int read_text(const char *text)
{
    FILE *f = fopen(path, "w");
    int rc;

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    memset(&err, 0, sizeof(err));
    rc = lbd_conf_read(path, &conf, &err);
    return rc;
}

START_TEST(an_empty_file_gives_the_defaults)
{
    struct lbx_policyconf plain;

    lbx_policyconf_init(&plain);
    ck_assert_msg(read_text("") == 0, "%s", err.text);
    ck_assert_str_eq(conf.policy, plain.policy);
    ck_assert_int_eq(conf.mode, LBX_MODE_OPT_IN);
    ck_assert_int_eq(conf.load_interval_ns, 10 * LBX_NS_PER_S);
    ck_assert_double_eq(conf.index_task, plain.index_task);
    ck_assert_int_eq(conf.database_bytes_max, INT64_C(2) << 30);
    ck_assert(conf.verify_address && conf.trace);
    ck_assert_uint_eq(conf.npartitions + conf.naccounts + conf.npolicies + conf.nusers, 0);
    lbx_policyconf_fini(&conf);
}
END_TEST

START_TEST(the_narrower_rule_holds)
{
    static const struct {
        const char *partition, *account, *policy;
        uint32_t opt_out, place;
    } cases[] = {
        {"", "", "liu", 0, 1},           {"elsewhere", "unknown", "liu", 0, 1},
        {"debug", "", "none", 0, 0},     {"debug", "physics", "static", 1, 0},
        {"", "physics", "static", 1, 1}, {"", "chemistry", "liu", 0, 1},
    };
    struct lbw_local_scope scope;
    struct lbw_local_rule rule;

    ck_assert_msg(
        read_text("policy = liu\nplacement = weights\n"
                  "partition debug { policy = none placement = off mode = opt-in }\n"
                  "account physics { policy = static mode = opt-out }\n"
                  "account chemistry { mode = opt-in }\n"
                  "limits { policies = {auto, none} least_period = 50ms trace = false }\n") == 0,
        "%s", err.text);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        memset(&scope, 0, sizeof(scope));
        strcpy(scope.partition, cases[i].partition);
        strcpy(scope.account, cases[i].account);
        lbd_rules_for(&conf, &scope, &rule);
        ck_assert_str_eq(rule.policy, cases[i].policy);
        ck_assert_uint_eq(rule.opt_out, cases[i].opt_out);
        ck_assert_uint_eq(rule.place, cases[i].place);
        ck_assert_str_eq(rule.allowed, "auto,none");
        ck_assert_int_eq(rule.least_period_ns, 50 * LBX_NS_PER_MS);
        ck_assert_int_eq(rule.least_chunk_ns, 0);
        ck_assert_uint_eq(rule.trace, 0);
    }
    lbx_policyconf_fini(&conf);
}
END_TEST

START_TEST(everything_is_read)
{
    ck_assert_msg(
        read_text("policy = \"liu,report\"\nmode = opt-out\nplacement = weights\n"
                  "lbctl_users = {\"root\", \"12345\"}\n"
                  "partition \"debug\" { policy = none placement = off }\n"
                  "partition long { mode = opt-in }\n"
                  "account physics { policy = \"auto,period=1s\" }\n"
                  "limits { policies = {auto, none} least_period = 50ms\n"
                  "  least_chunk = 1ms trace = false }\n"
                  "probe { load_interval = 1m benchmark_interval = 2h jitter = .5 }\n"
                  "index { scale = 10 user = 1 terminal = 2 task = 3 }\n"
                  "retention { raw = 2d five_minutes = 10d hours = 1y size = 400M jobs = 3d }\n"
                  "database { backup = \"/b\" backup_hour = 23 backups = 7\n"
                  "  snapshot = off snapshot_interval = 10m }\n"
                  "controller { verify_address = false }\n") == 0,
        "%s", err.text);
    ck_assert_str_eq(conf.policy, "liu,report");
    ck_assert_int_eq(conf.mode, LBX_MODE_OPT_OUT);
    ck_assert_int_eq(conf.placement, LBX_PLACE_WEIGHTS);
    ck_assert_uint_eq(conf.nusers, 2);
    ck_assert_uint_eq(conf.user[0], 0);
    ck_assert_uint_eq(conf.user[1], 12345);
    ck_assert_uint_eq(conf.npartitions, 2);
    ck_assert_str_eq(conf.partition[0].name, "debug");
    ck_assert_str_eq(conf.partition[0].policy, "none");
    ck_assert_int_eq(conf.partition[0].mode, LBX_MODE_UNSET);
    ck_assert_int_eq(conf.partition[0].placement, LBX_PLACE_OFF);
    ck_assert_int_eq(conf.partition[1].mode, LBX_MODE_OPT_IN);
    ck_assert_uint_eq(conf.naccounts, 1);
    ck_assert_str_eq(conf.account[0].policy, "auto,period=1s");
    ck_assert_uint_eq(conf.npolicies, 2);
    ck_assert_str_eq(conf.allowed[1], "none");
    ck_assert_int_eq(conf.least_period_ns, 50 * LBX_NS_PER_MS);
    ck_assert_int_eq(conf.least_chunk_ns, LBX_NS_PER_MS);
    ck_assert(!conf.trace && !conf.verify_address);
    ck_assert_int_eq(conf.load_interval_ns, 60 * LBX_NS_PER_S);
    ck_assert_int_eq(conf.benchmark_interval_ns, 7200 * LBX_NS_PER_S);
    ck_assert_double_eq(conf.jitter_ratio, .5);
    ck_assert_double_eq(conf.index_scale, 10);
    ck_assert_double_eq(conf.index_task, 3);
    ck_assert_int_eq(conf.keep_1h_ns, 365 * 86400 * LBX_NS_PER_S);
    ck_assert_int_eq(conf.database_bytes_max, 400 << 20);
    ck_assert_int_eq(conf.keep_jobs_ns, 3 * 86400 * LBX_NS_PER_S);
    ck_assert_str_eq(conf.backup, "/b");
    ck_assert_int_eq(conf.backup_hour, 23);
    ck_assert_int_eq(conf.backups, 7);
    ck_assert_str_eq(conf.snapshot, "off");
    ck_assert_int_eq(conf.snapshot_interval_ns, 600 * LBX_NS_PER_S);
    lbx_policyconf_fini(&conf);
}
END_TEST

START_TEST(mistakes_are_told_with_line_and_reason)
{
    static const struct {
        const char *text;
        int line;
        const char *reason;
    } t[] = {
        {"policy = auto\npolicy = atuo\n", 2, "auto"},
        {"\n\nmode = sometimes\n", 3, "opt-in"},
        {"placment = on\n", 1, "placment"},
        {"# one\n\n# three\npolicy = auto # and more\nplacment = on\n", 5, "placment"},
        {"lbctl_users = {\"#root\"} # \"\nplacment = on\n", 1, "#root"},
        {"placement = maybe\n", 1, "weights"},
        {"probe {\n load_interval = 10x\n}\n", 2, "10s"},
        {"probe {\n load_interval = 0s\n}\n", 2, "above 0"},
        {"probe { jitter = 2 }\n", 1, "0 to 1"},
        {"index {\n\n scale = 0\n}\n", 3, "above"},
        {"index { task = -1 }\n", 1, "at least"},
        {"index { task = nan }\n", 1, "at least"},
        {"index { task = heavy }\n", 1, "task"},
        {"retention { size = 3X }\n", 1, "400M"},
        {"retention { jobs = soon }\n", 1, "30d"},
        {"database {\n backup = here\n}\n", 2, "full path"},
        {"database { snapshot = \"\" }\n", 1, "or off"},
        {"database { backup_hour = 24 }\n", 1, "0 to 23"},
        {"database { backups = 0 }\n", 1, "1 to 366"},
        {"lbctl_users = {nobody-of-that-name}\n", 1, "no user"},
        {"limits { policies = {auto, best} }\n", 1, "best"},
        {"partition a {\n policy = \"auto,perod=1s\"\n}\n", 2, "period"},
        {"policy = \"auto,grain=0\"\n", 1, "out of range"},
        {"account a {\n policy = \"auto,profit=-1\"\n}\n", 2, "no ratio"},
        {"policy = \"auto,sync\"\n", 1, "needs a value"},
        {"partition a { }\npartition a { }\n", 2, "a"},
        {"partition \"\" { }\n", 1, "1 to 63"},
        {"policy = \"auto\n", 0, ""},
        {"probe {\n", 0, ""},
        {"}\n", 1, ""},
        {"controller { verify_address = perhaps }\n", 1, "verify_address"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct lbx_policyconf before;
        char where[64];

        memset(&conf, 0x5a, sizeof(conf));
        before = conf;
        ck_assert_msg(read_text(t[i].text) < 0, "accepted: %s", t[i].text);
        ck_assert_mem_eq(&before, &conf, sizeof(conf));
        snprintf(where, sizeof(where), t[i].line ? "%s:%d:" : "%s:", path, t[i].line);
        ck_assert_msg(strncmp(err.text, where, strlen(where)) == 0 && strstr(err.text, t[i].reason),
                      "for '%s': %s (expected line %d and '%s')", t[i].text, err.text, t[i].line,
                      t[i].reason);
    }
}
END_TEST

START_TEST(unreadable_files_are_told)
{
    ck_assert_int_eq(lbd_conf_read("/nonexistent/policy.conf", &conf, &err), -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/policy.conf"));
    ck_assert_int_lt(lbd_conf_read("/tmp", &conf, &err), 0);
}
END_TEST

START_TEST(the_example_is_good)
{
    char example[512];

    snprintf(example, sizeof(example), "%s/packaging/policy.conf",
             getenv("top_srcdir") ? getenv("top_srcdir") : ".");
    ck_assert_msg(lbd_conf_read(example, &conf, &err) == 0, "%s", err.text);
    lbx_policyconf_fini(&conf);
}
END_TEST

START_TEST(times_and_sizes)
{
    static const char *const bad[] = {"", "s", "-1s", "0", "1 s", "1ss", "nan", "inf", "1e30y"};
    int64_t v;

    ck_assert_int_eq(lbx_confvalue_duration("1.5", &v), 0);
    ck_assert_int_eq(v, 1500 * LBX_NS_PER_MS);
    ck_assert_int_eq(lbx_confvalue_duration("2y", &v), 0);
    ck_assert_int_eq(v, 730 * 86400 * LBX_NS_PER_S);
    ck_assert_int_eq(lbx_confvalue_size("1.5K", &v), 0);
    ck_assert_int_eq(v, 1536);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(lbx_confvalue_duration(bad[i], &v), -EINVAL);
        ck_assert_int_eq(lbx_confvalue_size(bad[i], &v), -EINVAL);
    }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("conf");
    int failed, fd = mkstemp(path);

    if (fd < 0)
        return EXIT_FAILURE;
    close(fd);
    tcase_add_test(tc, an_empty_file_gives_the_defaults);
    tcase_add_test(tc, the_narrower_rule_holds);
    tcase_add_test(tc, everything_is_read);
    tcase_add_test(tc, mistakes_are_told_with_line_and_reason);
    tcase_add_test(tc, unreadable_files_are_told);
    tcase_add_test(tc, the_example_is_good);
    tcase_add_test(tc, times_and_sizes);
    failed = suite_run("lbd/conf", tc);
    unlink(path);
    return failed;
}
