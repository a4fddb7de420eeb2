/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that lives until a test ends it. */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static inline pid_t begin_child(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

static inline void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

#endif
