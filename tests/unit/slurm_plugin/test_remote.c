/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin in slurmstepd: what the tasks are told, and the balancer's life. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "slurm_plugin/plugin.h"
#include "tests/unit/slurm_plugin/spank_stub.h"

#define NOBODY 65534
#define PATIENCE_NS (20 * LBX_NS_PER_S)  /* until a test gives up; nothing is measured */
#define LIBC_SIGNALS (UINT64_C(3) << 31) /* 32 and 33 are libc's own, and it lets nobody set them */
#define ENDS_ON_TERM "trap 'rm -rf \"$dir\"; exit $status' TERM\n"
#define IGNORES_TERM "trap '' TERM\n"

/* One for all tests, removed at the end: some of them are in no position to remove theirs. */
static char base[] = "/tmp/lb-plugin-XXXXXX";
static char folder[64], balancer[96], about[96];

/*
 * Load the plugin with an lb-balancer that writes its /proc files into `about` and then waits.
 * trap: what it does on SIGTERM; status: what it exits with then.
 */
static void load(const char *trap, int status, const char *option)
{
    char arg[2][128], *argv[] = {arg[0], arg[1]};
    FILE *f;

    snprintf(folder, sizeof(folder), "%s/XXXXXX", base);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chmod(folder, 0777), 0);
    snprintf(balancer, sizeof(balancer), "%s/balancer", folder);
    snprintf(about, sizeof(about), "%s/about", folder);
    f = fopen(balancer, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "#!/bin/sh\ndir=$2 status=%d\n%smkdir -m 700 \"$dir\" || exit 1\n: > "
            "\"$dir/balancer.sock\"\n"
            "{ echo \"args $*\"; env | sed 's/^/env /'; cat /proc/self/status; echo cwd $(pwd); "
            "umask;\n"
            "  ls /proc/$$/fd | sed 's/^/fd /'; } > %s.new\nmv %s.new %s\n"
            "while :; do sleep 0.02; done\n",
            status, trap, about, about, about);
    ck_assert_int_eq(fchmod(fileno(f), 0755), 0);
    ck_assert_int_eq(fclose(f), 0);
    snprintf(arg[0], sizeof(arg[0]), "balancer=%s", balancer);
    snprintf(arg[1], sizeof(arg[1]), "socket=%s/none.sock", folder);
    memset(&lbs_plugin, 0, sizeof(lbs_plugin));
    ck_assert_int_eq(slurm_spank_init(NULL, 2, argv), ESPANK_SUCCESS);
    ck_assert(!lbs_plugin.off);
    if (option)
        ck_assert_int_eq(stub.option.cb(0, option, 1), 0);
}

static bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* The balancer runs, its signals are set, and it has told about itself. */
static void await_balancer(void)
{
    int64_t end_ns = lbx_clock_mono_ns() + PATIENCE_NS;

    while (!exists(about)) {
        ck_assert_msg(lbx_clock_mono_ns() < end_ns, "the balancer never ran");
        lbx_clock_sleep_ns(5 * LBX_NS_PER_MS);
    }
}

static bool tells(const char *line)
{
    char text[512];
    bool found = false;
    FILE *f = fopen(about, "r");

    ck_assert_ptr_nonnull(f);
    while (fgets(text, sizeof(text), f)) {
        text[strcspn(text, "\n")] = '\0';
        found = found || strcmp(text, line) == 0;
    }
    fclose(f);
    return found;
}

static int count(const char *prefix)
{
    char text[512];
    int n = 0;
    FILE *f = fopen(about, "r");

    ck_assert_ptr_nonnull(f);
    while (fgets(text, sizeof(text), f))
        n += strncmp(text, prefix, strlen(prefix)) == 0;
    fclose(f);
    return n;
}

static uint64_t hexadecimal(const char *name)
{
    char text[512];
    uint64_t value = UINT64_MAX;
    FILE *f = fopen(about, "r");

    ck_assert_ptr_nonnull(f);
    while (fgets(text, sizeof(text), f))
        if (strncmp(text, name, strlen(name)) == 0)
            value = strtoull(text + strlen(name), NULL, 16);
    fclose(f);
    return value;
}

static void begin(void)
{
    ck_assert_int_eq(slurm_spank_user_init(NULL, 0, NULL), ESPANK_SUCCESS);
}

static void end_tasks(void)
{
    for (uint32_t i = 0; i < stub.local_tasks; i++)
        ck_assert_int_eq(slurm_spank_task_exit(NULL, 0, NULL), ESPANK_SUCCESS);
}

static void end_step(void)
{
    ck_assert_int_eq(slurm_spank_exit(NULL, 0, NULL), ESPANK_SUCCESS);
}

static void assert_no_child(void)
{
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}

START_TEST(test_told)
{
    char dir[STUB_TEXT_MAX], line[STUB_TEXT_MAX + 64];

    stub_reset();
    stub_setenv("SLURM_JOB_PARTITION", "long");
    stub_setenv("SECRET", "of the user");
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
    ck_assert_int_eq(count("env SECRET"), 0);
    ck_assert_int_eq(count("env HOME"), 0);
    end_tasks();
    ck_assert(!exists(dir));
    assert_no_child();
    end_step();
    ck_assert_str_eq(stub.log, "");
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

START_TEST(test_left_clean)
{
    int fd = dup(0), high = fcntl(0, F_DUPFD, 200); /* as slurmstepd's, inheritable */
    sigset_t all, old;

    ck_assert(fd > 2 && high >= 200);
    stub_reset();
    load(ENDS_ON_TERM, 0, "auto");
    signal(SIGUSR1, SIG_IGN);
    sigfillset(&all);
    ck_assert_int_eq(sigprocmask(SIG_SETMASK, &all, &old), 0);
    begin();
    ck_assert_int_eq(sigprocmask(SIG_SETMASK, &old, NULL), 0);
    await_balancer();
    ck_assert(tells("cwd /"));
    ck_assert(tells("0077"));
    ck_assert(tells("NoNewPrivs:\t1"));
    ck_assert(tells("SigBlk:\t0000000000000000"));
    ck_assert_uint_eq(hexadecimal("SigIgn:") & ~LIBC_SIGNALS, 0);
    ck_assert(tells("fd 0") && tells("fd 1") && tells("fd 2"));
    ck_assert(!tells("fd 200"));
    ck_assert_int_le(count("fd "),
                     3 + 2); /* the shell's script, and what it has put aside for its { } */
    end_tasks();
    end_step();
    close(fd);
    close(high);
}
END_TEST

static const struct {
    int exit_status, task_status;
    bool said;
} nobody_case[] = {
    {3, 0, true},
    {3, 1 << 8, true},   /* the program failed by itself */
    {3, SIGKILL, false}, /* cancelled: nobody knows whether it would have joined */
    {0, 0, false},
};

START_TEST(test_nobody_joined)
{
    stub_reset();
    stub.task_status = nobody_case[_i].task_status;
    load(ENDS_ON_TERM, nobody_case[_i].exit_status, "auto");
    begin();
    await_balancer();
    lbs_plugin.config.deadline_ns = PATIENCE_NS; /* on a loaded machine the shell is slow to end */
    end_tasks();
    ck_assert_int_eq(strstr(stub.log, "lb.h") != NULL, nobody_case[_i].said);
    end_step();
    ck_assert_int_eq(stub.log[0] != '\0', nobody_case[_i].said);
}
END_TEST

START_TEST(test_stubborn)
{
    char dir[STUB_TEXT_MAX];

    stub_reset();
    load(IGNORES_TERM, 0, "auto");
    begin();
    snprintf(dir, sizeof(dir), "%s", stub_getenv("LB_BALANCER_DIR"));
    await_balancer();
    end_tasks();
    ck_assert(exists(dir));
    lbs_plugin.config.deadline_ns = LBX_NS_PER_S; /* enough to reap and tidy under a sanitizer */
    end_step();
    assert_no_child();
    ck_assert(!exists(dir));
}
END_TEST

/* Tasks that were never started, as when another plugin fails: only the exit hook comes. */
START_TEST(test_exit_alone)
{
    stub_reset();
    load(ENDS_ON_TERM, 0, "auto");
    begin();
    await_balancer();
    lbs_plugin.config.deadline_ns = PATIENCE_NS;
    end_step();
    assert_no_child();
}
END_TEST

/* slurmstepd waits for any child; the number of a reaped one belongs to a stranger. */
START_TEST(test_reaped_by_slurmstepd)
{
    pid_t pid;

    stub_reset();
    load("exit 0\n", 0, "auto");
    begin();
    pid = waitpid(-1, NULL, 0);
    ck_assert_int_gt(pid, 0);
    end_tasks();
    end_step();
    ck_assert_str_eq(stub.log, "");
}
END_TEST

START_TEST(test_no_balancer)
{
    stub_reset();
    load(ENDS_ON_TERM, 0, "auto");
    ck_assert_int_eq(_i == 0 ? unlink(balancer) : chmod(balancer, 0644), 0);
    begin();
    ck_assert_str_eq(stub_getenv("LB_POLICY"), "auto");
    ck_assert_ptr_null(stub_getenv("LB_BALANCER_DIR"));
    ck_assert_ptr_nonnull(strstr(stub.log, balancer));
    assert_no_child();
    end_tasks();
    end_step();
}
END_TEST

/* As in slurm_spank_user_init: the effective ids are the user's, the real and saved ones root's. */
START_TEST(test_becomes_user)
{
    gid_t groups[] = {NOBODY, 4242};

    if (geteuid() != 0)
        return; /* told by main */
    stub_reset();
    stub.uid = stub.gid = NOBODY;
    stub.groups = groups;
    stub.ngroups = 2;
    load(ENDS_ON_TERM, 0, "auto");
    ck_assert_int_eq(setegid(NOBODY), 0);
    ck_assert_int_eq(seteuid(NOBODY), 0);
    begin();
    ck_assert_uint_eq(geteuid(), NOBODY);
    await_balancer();
    ck_assert(tells("Uid:\t65534\t65534\t65534\t65534"));
    ck_assert(tells("Gid:\t65534\t65534\t65534\t65534"));
    ck_assert(tells("Groups:\t4242 65534 "));
    ck_assert(tells("CapEff:\t0000000000000000"));
    ck_assert(tells("CapPrm:\t0000000000000000"));
    ck_assert_int_eq(seteuid(0), 0);
    end_tasks();
    end_step();
    assert_no_child();
}
END_TEST

/* Where the ids cannot be dropped nothing is executed. */
START_TEST(test_cannot_become_user)
{
    if (geteuid() != 0)
        return;
    stub_reset();
    load("exit 0\n", 0, "auto");
    stub.uid = _i == 0 ? 4242 : 0;
    stub.gid = _i == 1 ? 4242 : 0;
    ck_assert_int_eq(setgid(NOBODY), 0);
    ck_assert_int_eq(setuid(NOBODY), 0);
    begin();
    ck_assert_ptr_nonnull(stub_getenv("LB_BALANCER_DIR"));
    ck_assert_int_gt(waitpid(-1, &stub.task_status, 0), 0);
    ck_assert(WIFEXITED(stub.task_status));
    ck_assert_int_eq(WEXITSTATUS(stub.task_status), 127);
    ck_assert(!exists(about));
    end_tasks();
    end_step();
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
    SRunner *r;
    char text[64];
    int failed;

    if (geteuid() != 0)
        fprintf(stderr, "SKIP of becoming the user: not root\n");
    if (!mkdtemp(base) || chmod(base, 0755) < 0)
        return 99;
    suite_add_tcase(s, t);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_told);
    tcase_add_loop_test(t, test_step, 0, (int)(sizeof(step_case) / sizeof(*step_case)));
    tcase_add_test(t, test_stale_environment);
    tcase_add_loop_test(t, test_trace, 0, 2);
    tcase_add_test(t, test_left_clean);
    tcase_add_loop_test(t, test_nobody_joined, 0,
                        (int)(sizeof(nobody_case) / sizeof(*nobody_case)));
    tcase_add_test(t, test_stubborn);
    tcase_add_test(t, test_exit_alone);
    tcase_add_test(t, test_reaped_by_slurmstepd);
    tcase_add_loop_test(t, test_no_balancer, 0, 2);
    tcase_add_test(t, test_becomes_user);
    tcase_add_loop_test(t, test_cannot_become_user, 0, 2);
    tcase_add_test(t, test_failing_calls);
    tcase_add_test(t, test_failing_malloc);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    snprintf(text, sizeof(text), "rm -rf %s", base);
    if (system(text) != 0)
        fprintf(stderr, "%s is left\n", base);
    return failed != 0;
}
