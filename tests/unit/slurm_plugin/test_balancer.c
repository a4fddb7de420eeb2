/* SPDX-License-Identifier: BSD-3-Clause */
/* The balancer that the plugin starts: what it is, and how it ends. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "slurm_plugin/plugin.h"
#include "tests/unit/slurm_plugin/fixture.h"
#include "tests/unit/slurm_plugin/spank_stub.h"

START_TEST(test_left_clean)
{
    int fd = dup(0), high = fcntl(0, F_DUPFD, 200); /* as slurmstepd's, inheritable */
    sigset_t all, old;

    ck_assert(fd > 2 && high == 200);
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
    /* the shell keeps what is its own at 10 and above */
    for (int i = 0; i < 10; i++) {
        char number[] = {(char)('0' + i), '\0'};

        ck_assert_msg(tells(number) == (i < 3), "descriptor %d", i);
    }
    ck_assert(tells("10"));
    ck_assert(!tells("200"));
    end_tasks();
    end_step();
    close(fd);
    close(high);
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
    lbs_plugin.config.deadline_ns =
        6 * LBX_NS_PER_S; /* a third of it to kill, reap and tidy, however busy the machine */
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
    assert_no_child();
    end_tasks();
    ck_assert_ptr_nonnull(strstr(stub.log, balancer));
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

int main(void)
{
    Suite *s = suite_create("slurm_plugin/balancer");
    TCase *t = tcase_create("all");

    if (geteuid() != 0)
        fprintf(stderr, "SKIP of becoming the user: not root\n");
    suite_add_tcase(s, t);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_left_clean);
    tcase_add_test(t, test_stubborn);
    tcase_add_test(t, test_exit_alone);
    tcase_add_test(t, test_reaped_by_slurmstepd);
    tcase_add_loop_test(t, test_no_balancer, 0, 2);
    tcase_add_test(t, test_becomes_user);
    tcase_add_loop_test(t, test_cannot_become_user, 0, 2);
    return run_suite(s);
}
