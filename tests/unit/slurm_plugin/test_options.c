/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's arguments in plugstack.conf, the option --lb, and SLURM_LB in the client. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slurm_plugin/plugin.h"
#include "tests/unit/slurm_plugin/spank_stub.h"
#include "tests/unit/suite.h"

static void fresh(void)
{
    stub_reset();
    memset(&lbs_plugin, 0, sizeof(lbs_plugin));
    ck_assert_int_eq(unsetenv("SLURM_LB"), 0);
}

static int init(spank_context_t context, int argc, char **argv)
{
    stub.context = context;
    return slurm_spank_init(NULL, argc, argv);
}

static int call_option(const char *text, int remote)
{
    ck_assert_ptr_nonnull(stub.option.cb);
    return stub.option.cb(stub.option.val, text, remote);
}

static const struct {
    const char *arg, *named; /* named: what the refusal must contain; NULL: taken */
} argument[] = {
    {"disable", NULL},
    {"policy=liu,period=2", NULL},
    {"policy=off", NULL},
    {"socket=/run/x.sock", NULL},
    {"balancer=/opt/lb-balancer", NULL},
    {"killswitch=/etc/off", NULL},
    {"deadline_ms=1", NULL},
    {"deadline_ms=100", NULL},
    {"deadline_ms=101", "from 1 to 100"},
    {"deadline_ms=0", "from 1 to 100"},
    {"deadline_ms=-5", "from 1 to 100"},
    {"deadline_ms=", "from 1 to 100"},
    {"deadline_ms=5x", "from 1 to 100"},
    {"deadline_ms=99999999999999999999", "from 1 to 100"},
    {"policy=lui", "liu"},
    {"policy=help", "policy=help"},
    {"socket=run/x.sock", "absolute path"},
    {"balancer=", "absolute path"},
    {"killswitch=off", "absolute path"},
    {"polcy=auto", "polcy=auto"},
    {"disable=1", "disable=1"},
    {"", "unknown"},
};

START_TEST(test_argument)
{
    char text[64], *argv[] = {text};
    struct lbs_config c, before;
    struct lbx_error err = {0};

    snprintf(text, sizeof(text), "%s", argument[_i].arg);
    memset(&c, 0x5a, sizeof(c));
    before = c;
    if (!argument[_i].named) {
        ck_assert_int_eq(lbs_config_parse(1, argv, &c, &err), 0);
        return;
    }
    ck_assert_int_eq(lbs_config_parse(1, argv, &c, &err), -EINVAL);
    ck_assert_msg(strstr(err.text, argument[_i].named), "%s", err.text);
    ck_assert_mem_eq(&c, &before, sizeof(c));
}
END_TEST

START_TEST(test_argument_too_long)
{
    static const char *const key[] = {"socket=/", "balancer=/", "killswitch=/", "policy=trace=/"};
    char text[1024], *argv[] = {text};
    struct lbx_error err;
    struct lbs_config c;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text, key[_i], strlen(key[_i]));
    ck_assert_int_eq(lbs_config_parse(1, argv, &c, &err), -EINVAL);
}
END_TEST

START_TEST(test_wrong_argument_switches_off)
{
    char arg[] = "polcy=auto", *argv[] = {arg};

    fresh();
    ck_assert_int_eq(init(S_CTX_LOCAL, 1, argv), ESPANK_SUCCESS);
    ck_assert(lbs_plugin.off);
    ck_assert_ptr_nonnull(strstr(stub.log, "plugstack.conf"));
    ck_assert_ptr_nonnull(strstr(stub.log, "polcy=auto"));
    ck_assert_str_eq(stub.option.name, "lb"); /* else srun --lb would be refused */
    ck_assert_int_eq(call_option("nonsense", 0), 0);
    ck_assert_int_eq(slurm_spank_user_init(NULL, 1, argv), ESPANK_SUCCESS);
    ck_assert_ptr_null(stub_getenv("LB_POLICY"));
}
END_TEST

START_TEST(test_killswitch)
{
    char path[] = "/tmp/lb-killswitch-XXXXXX", arg[64], *argv[] = {arg};
    int fd = mkstemp(path);

    fresh();
    ck_assert_int_ge(fd, 0);
    close(fd);
    snprintf(arg, sizeof(arg), "killswitch=%s", path);
    ck_assert_int_eq(init(S_CTX_LOCAL, 1, argv), ESPANK_SUCCESS);
    ck_assert(lbs_plugin.off);
    ck_assert_str_eq(stub.log, "");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(init(S_CTX_LOCAL, 1, argv), ESPANK_SUCCESS);
    ck_assert(!lbs_plugin.off);
}
END_TEST

START_TEST(test_option)
{
    fresh();
    ck_assert_int_eq(init(S_CTX_LOCAL, 0, NULL), ESPANK_SUCCESS);
    ck_assert_int_eq(stub.option.has_arg, 2);
    ck_assert_int_eq(call_option(NULL, 0), 0);
    ck_assert_int_eq(lbs_plugin.option.wish, LBS_ON);
    ck_assert_int_eq(lbs_plugin.option.params.policy, LBP_AUTO);
    ck_assert_int_eq(call_option("liu,report", 0), 0);
    ck_assert_int_eq(lbs_plugin.option.params.policy, LBP_LIU);
    ck_assert(lbs_plugin.option.params.report);
    ck_assert_int_eq(call_option("off", 0), 0);
    ck_assert_int_eq(lbs_plugin.option.wish, LBS_OFF);
    ck_assert_str_eq(stub.log, "");
    ck_assert_int_lt(call_option("atuo", 0), 0);
    ck_assert_ptr_nonnull(strstr(stub.log, "\"auto\""));
    ck_assert_int_eq(lbs_plugin.option.wish, LBS_OFF);
}
END_TEST

START_TEST(test_option_remote_never_fails)
{
    fresh();
    ck_assert_int_eq(init(S_CTX_REMOTE, 0, NULL), ESPANK_SUCCESS);
    ck_assert_int_eq(call_option("atuo", 1), 0);
    ck_assert_int_eq(call_option("help", 1), 0);
    ck_assert_int_eq(lbs_plugin.option.wish, LBS_UNSET);
    ck_assert_str_eq(stub.log, "");
    ck_assert_ptr_nonnull(strstr(stub.verbose, "atuo"));
}
END_TEST

/* Exits with 0: this test is run expecting that, and 9 is what it returns when it does not. */
START_TEST(test_help_exits)
{
    fresh();
    ck_assert_int_eq(init(_i == 0 ? S_CTX_LOCAL : S_CTX_ALLOCATOR, 0, NULL), ESPANK_SUCCESS);
    if (!freopen("/dev/null", "w", stdout))
        _exit(8);
    (void)call_option("help", 0);
    _exit(9);
}
END_TEST

/* Of each key the line has what the parser accepts. */
START_TEST(test_help_tells_ranges)
{
    char path[] = "/tmp/lb-help-XXXXXX", line[512], begin[64], range[64];
    int fd = mkstemp(path), status;
    size_t nkeys, found = 0;
    const struct lbp_key_info *key = lbp_key_table(&nkeys);
    pid_t pid;
    FILE *f;

    ck_assert_int_ge(fd, 0);
    fresh();
    ck_assert_int_eq(init(S_CTX_LOCAL, 0, NULL), ESPANK_SUCCESS);
    pid = fork();
    if (pid == 0) {
        if (dup2(fd, STDOUT_FILENO) < 0)
            _exit(8);
        (void)call_option("help", 0);
        _exit(9);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        if (found == nkeys)
            break;
        snprintf(begin, sizeof(begin), "  %s%s", key[found].name, *key[found].unit ? "=" : " ");
        if (strncmp(line, begin, strlen(begin)) != 0)
            continue;
        lbp_key_range(&key[found], range, sizeof(range));
        ck_assert_msg(strstr(line, range) && (*range == '\0' || strstr(range, " to ")), "%s", line);
        ck_assert_ptr_nonnull(strstr(line, key[found].summary));
        found++;
    }
    ck_assert_int_eq((int)found, (int)nkeys);
    fclose(f);
    close(fd);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(test_environment_wrong_exits)
{
    fresh();
    ck_assert_int_eq(init(_i == 0 ? S_CTX_LOCAL : S_CTX_ALLOCATOR, 0, NULL), ESPANK_SUCCESS);
    ck_assert_int_eq(setenv("SLURM_LB", "satic", 1), 0);
    (void)slurm_spank_init_post_opt(NULL, 0, NULL);
    _exit(9);
}
END_TEST

START_TEST(test_environment)
{
    fresh();
    ck_assert_int_eq(init(S_CTX_LOCAL, 0, NULL), ESPANK_SUCCESS);
    ck_assert_int_eq(setenv("SLURM_LB", "static", 1), 0);
    ck_assert_int_eq(slurm_spank_init_post_opt(NULL, 0, NULL), ESPANK_SUCCESS);
    /* the option comes first, and a wrong SLURM_LB is not looked at */
    ck_assert_int_eq(setenv("SLURM_LB", "satic", 1), 0);
    ck_assert_int_eq(call_option("off", 0), 0);
    ck_assert_int_eq(slurm_spank_init_post_opt(NULL, 0, NULL), ESPANK_SUCCESS);
    /* nor is it in slurmstepd */
    fresh();
    ck_assert_int_eq(setenv("SLURM_LB", "satic", 1), 0);
    ck_assert_int_eq(init(S_CTX_REMOTE, 0, NULL), ESPANK_SUCCESS);
    ck_assert_int_eq(slurm_spank_init_post_opt(NULL, 0, NULL), ESPANK_SUCCESS);
    ck_assert_str_eq(stub.log, "");
}
END_TEST

int main(void)
{
    TCase *t = suite_case("all");

    tcase_add_loop_test(t, test_argument, 0, (int)(sizeof(argument) / sizeof(*argument)));
    tcase_add_loop_test(t, test_argument_too_long, 0, 4);
    tcase_add_test(t, test_wrong_argument_switches_off);
    tcase_add_test(t, test_killswitch);
    tcase_add_test(t, test_option);
    tcase_add_test(t, test_option_remote_never_fails);
    tcase_add_loop_exit_test(t, test_help_exits, 0, 0, 2);
    tcase_add_test(t, test_help_tells_ranges);
    tcase_add_loop_exit_test(t, test_environment_wrong_exits, 1, 0, 2);
    tcase_add_test(t, test_environment);
    return suite_run("slurm_plugin/options", t);
}
