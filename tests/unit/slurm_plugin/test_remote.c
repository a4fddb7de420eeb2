/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin in slurmstepd: what the tasks and the user are told, and failures of what it calls. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "slurm_plugin/plugin.h"
#include "tests/unit/slurm_plugin/fixture.h"
#include "tests/unit/slurm_plugin/spank_stub.h"

START_TEST(test_told)
{
    char dir[STUB_TEXT_MAX], line[STUB_TEXT_MAX + 64];

    stub_reset();
    stub_setenv("SLURM_JOB_PARTITION", "long");
    stub_setenv("SECRET", "of the user");
    stub_setenv("SLURM_LB_PLACEMENT", "no_room");
    load(ENDS_ON_TERM, 0, "liu,report");
    begin();
    ck_assert_str_eq(stub_getenv("LB_POLICY"), "liu,report");
    ck_assert_ptr_null(stub_getenv("LB_HOST_SPEED"));
    ck_assert_ptr_nonnull(stub_getenv("LB_BALANCER_DIR"));
    snprintf(dir, sizeof(dir), "%s", stub_getenv("LB_BALANCER_DIR"));
    snprintf(line, sizeof(line), "/tmp/slurm-lb.%u.7.1.", (unsigned)geteuid());
    ck_assert_int_eq(strncmp(dir, line, strlen(line)), 0);
    ck_assert_uint_eq(strlen(dir), strlen(line) + 16);
    await_balancer();
    snprintf(line, sizeof(line), "args --dir %s --nranks 2 --policy liu,report", dir);
    ck_assert(tells(line));
    ck_assert(tells("env LB_POLICY=liu,report"));
    ck_assert(tells("env SLURM_JOB_ID=7"));
    ck_assert(tells("env SLURM_STEP_ID=1"));
    ck_assert(tells("env SLURM_JOB_PARTITION=long"));
    ck_assert(tells("env SLURM_LB_PLACEMENT=no_room"));
    ck_assert_ptr_null(stub_getenv("SLURM_LB_PLACEMENT")); /* nothing for the tasks */
    ck_assert_int_eq(count("env SECRET"), 0);
    ck_assert_int_eq(count("env HOME"), 0);
    lbs_plugin.config.deadline_ns = PATIENCE_NS; /* on a loaded machine the shell is slow to end */
    end_tasks();
    ck_assert(!exists(dir));
    assert_no_child();
    end_step();
    ck_assert_str_eq(stub.log, "");
}
END_TEST

/* Whether the balancer was told of so many ranks. */
static bool serves(int nranks)
{
    char line[STUB_TEXT_MAX + 64];

    snprintf(line, sizeof(line), "args --dir %s --nranks %d --policy auto",
             stub_getenv("LB_BALANCER_DIR"), nranks);
    return tells(line);
}

/* A component of a heterogeneous step: its balancer serves all ranks, and is not missed when those of another are joined. */
START_TEST(test_component)
{
    stub_reset();
    stub_setenv("SLURM_HET_SIZE", "2");
    stub_setenv("SLURM_NTASKS", "5");
    load(ENDS_ON_TERM, 3, "auto"); /* nobody joined */
    begin();
    await_balancer();
    ck_assert(serves(5));
    end_tasks();
    end_step();
    ck_assert_str_eq(stub.log, "");
}
END_TEST

static const struct {
    const char *size, *ntasks;
} het_case[] = {{NULL, "5"}, {"2", NULL},          {"2", "x"},
                {"2", "1"},  {"2", "99999999999"}, {"2", "-3"}};

START_TEST(test_no_component)
{
    stub_reset();
    if (het_case[_i].size)
        stub_setenv("SLURM_HET_SIZE", het_case[_i].size);
    if (het_case[_i].ntasks)
        stub_setenv("SLURM_NTASKS", het_case[_i].ntasks);
    load(ENDS_ON_TERM, 0, "auto");
    begin();
    await_balancer();
    ck_assert(serves(2));
    end_tasks();
    end_step();
}
END_TEST

static const struct {
    uint32_t stepid;
    const char *option, *variable;
    bool task_0;
    const char *policy; /* in LB_POLICY; NULL: it must not be set */
    bool balancer;
} step_case[] = {
    {0, "", NULL, true, "auto", true},
    {0, "", NULL, false, "auto", false}, /* another host */
    {0, NULL, "liu", true, "liu", true},
    {0, "static", "liu", true, "static", true},
    {0, "off", "liu", true, "off", false},
    {0, NULL, "off", true, "off", false},
    {0, NULL, "nonsense", true, NULL, false},
    {0, NULL, NULL, true, NULL, false},
    {0xfffffffb, "auto", NULL, true, NULL, false}, /* batch script */
    {0xfffffffc, "auto", NULL, true, NULL, false}, /* extern */
    {0xfffffffa, "auto", NULL, true, NULL, false}, /* interactive */
};

START_TEST(test_step)
{
    const char *policy;

    stub_reset();
    stub.stepid = step_case[_i].stepid;
    stub.has_task_0 = step_case[_i].task_0;
    if (step_case[_i].variable)
        stub_setenv("SLURM_LB", step_case[_i].variable);
    load(ENDS_ON_TERM, 0, step_case[_i].option);
    begin();
    policy = stub_getenv("LB_POLICY");
    if (step_case[_i].policy)
        ck_assert_str_eq(policy, step_case[_i].policy);
    else
        ck_assert_ptr_null(policy);
    ck_assert_int_eq(stub_getenv("LB_BALANCER_DIR") != NULL, step_case[_i].balancer);
    if (step_case[_i].balancer)
        await_balancer();
    else
        assert_no_child();
    lbs_plugin.config.deadline_ns =
        PATIENCE_NS; /* as one that dies at the deadline may be found dead after it */
    end_tasks();
    end_step();
    assert_no_child();
}
END_TEST

/* A step started within a step inherits what was said of the outer one. */
START_TEST(test_stale_environment)
{
    stub_reset();
    stub_setenv("LB_BALANCER_DIR", "/tmp/outer");
    stub_setenv("LB_HOST_SPEED", "1:1:1");
    load(ENDS_ON_TERM, 0, NULL);
    begin();
    ck_assert_ptr_null(stub_getenv("LB_BALANCER_DIR"));
    ck_assert_ptr_null(stub_getenv("LB_HOST_SPEED"));
    end_tasks();
    end_step();
}
END_TEST

/* The balancer's folder is another: a trace is told to it from the root. */
START_TEST(test_trace)
{
    char deep[400], expected[STUB_TEXT_MAX];

    stub_reset();
    load(ENDS_ON_TERM, 0, "auto,trace=t/x");
    stub.has_task_0 = false;
    ck_assert_int_eq(chdir(folder), 0);
    begin();
    snprintf(expected, sizeof(expected), "auto,trace=%s/t/x", folder);
    ck_assert_str_eq(stub_getenv("LB_POLICY"), expected);
    end_step();
    load(ENDS_ON_TERM, 0, "auto,trace=/t/x");
    begin();
    ck_assert_str_eq(stub_getenv("LB_POLICY"), "auto,trace=/t/x");
    end_step();
    /* where the name would become too long, or two keys, it stays as it is */
    memset(deep, 'd', sizeof(deep));
    snprintf(deep + 100, sizeof(deep) - 100, "%s", _i == 0 ? ",report" : "");
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(mkdir(deep, 0700), 0);
        ck_assert_int_eq(chdir(deep), 0);
        if (_i == 0)
            break;
    }
    load(ENDS_ON_TERM, 0, "auto,trace=t/x");
    begin();
    ck_assert_str_eq(stub_getenv("LB_POLICY"), "auto,trace=t/x");
    end_step();
}
END_TEST

static const struct {
    int exit_status, task_status;
    bool said;
} nobody_case[] = {
    {3, 0, true},         {3, 1 << 8, true}, /* the program failed by itself */
    {3, SIGKILL, false}, /* cancelled: nobody knows whether it would have joined */
    {0, 0, false},        {-SIGTERM, 0, true}, /* ended before it listened */
    {-SIGKILL, 0, false},
};

START_TEST(test_nobody_joined)
{
    stub_reset();
    stub.task_status = nobody_case[_i].task_status;
    if (nobody_case[_i].exit_status >= 0)
        load(ENDS_ON_TERM, nobody_case[_i].exit_status, "auto");
    else
        load(nobody_case[_i].exit_status == -SIGTERM ? "" : KILLED_ON_TERM, 0, "auto");
    begin();
    await_balancer();
    lbs_plugin.config.deadline_ns = PATIENCE_NS; /* on a loaded machine the shell is slow to end */
    end_tasks();
    ck_assert_int_eq(strstr(stub.log, "lb_init") != NULL, nobody_case[_i].said);
    end_step();
    ck_assert_int_eq(stub.log[0] != '\0', nobody_case[_i].said);
}
END_TEST

/*
 * Each call into Slurm fails in turn, and each allocation: the hooks succeed, and nothing stays behind.  Check allocates
 * too, so that nothing is asserted meanwhile.  Returns what is left of the count.
 */
static int run_failing(int *countdown, int nth)
{
    int rc, left;

    stub_reset();
    load(ENDS_ON_TERM, 0, "auto");
    *countdown = nth;
    rc = slurm_spank_user_init(NULL, 0, NULL);
    rc |= slurm_spank_task_post_fork(NULL, 0, NULL);
    rc |= slurm_spank_task_exit(NULL, 0, NULL);
    rc |= slurm_spank_task_exit(NULL, 0, NULL);
    lbs_plugin.config.deadline_ns = LBX_NS_PER_S;
    rc |= slurm_spank_exit(NULL, 0, NULL);
    left = *countdown;
    *countdown = 0;
    ck_assert_int_eq(rc, ESPANK_SUCCESS);
    assert_no_child();
    return left;
}

START_TEST(test_failing_calls)
{
    int nth = 1;

    while (run_failing(&stub.fail_call, nth) == 0)
        nth++;
    ck_assert_int_gt(nth, 10);
}
END_TEST

START_TEST(test_failing_malloc)
{
    int nth = 1;

    while (run_failing(&stub.fail_malloc, nth) == 0)
        nth++;
    ck_assert_int_gt(nth, 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("slurm_plugin/remote");
    TCase *t = tcase_create("all");

    suite_add_tcase(s, t);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_told);
    tcase_add_loop_test(t, test_step, 0, (int)(sizeof(step_case) / sizeof(*step_case)));
    tcase_add_test(t, test_component);
    tcase_add_loop_test(t, test_no_component, 0, (int)(sizeof(het_case) / sizeof(*het_case)));
    tcase_add_test(t, test_stale_environment);
    tcase_add_loop_test(t, test_trace, 0, 2);
    tcase_add_loop_test(t, test_nobody_joined, 0,
                        (int)(sizeof(nobody_case) / sizeof(*nobody_case)));
    tcase_add_test(t, test_failing_calls);
    tcase_add_test(t, test_failing_malloc);
    return run_suite(s);
}
