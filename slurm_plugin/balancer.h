/* SPDX-License-Identifier: BSD-3-Clause */
/* The step's balancer: a process of the user's beside global task 0, started and ended by
 * slurmstepd. */
#ifndef LBS_BALANCER_H
#define LBS_BALANCER_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "slurm_plugin/child.h"

#define LBS_DIR_MAX 96
#define LBS_EXIT_NOBODY 3 /* lb-balancer: no rank ever joined */

struct lbs_balancer {
    pid_t pid;             /* 0: none, or ended and reaped */
    char dir[LBS_DIR_MAX]; /* the folder that it makes; "": none */
    struct lbs_user user;
};

/* All strings are borrowed during the call. */
struct lbs_balancer_job {
    const char *path;   /* of lb-balancer */
    const char *policy; /* canonical text */
    const char *socket; /* of lbd */
    uint32_t jobid, stepid, restarts, ntasks;
    const char *const *env; /* NULL-ended NAME=VALUE of the user's step to hand on; may be NULL */
    struct lbs_user user;
};

/*
 * Fork and execute it as the user.
 * ret[out]  untouched on failure; its user borrows job->user.groups
 * Returns 0, -ENOENT or -EACCES (no such program), -EAGAIN or -ENOMEM (no process to be had), with
 * a text.
 */
int lbs_balancer_start(const struct lbs_balancer_job *job, struct lbs_balancer *ret,
                       struct lbx_error *err) __attribute__((warn_unused_result));

/*
 * End it: SIGTERM, and SIGKILL shortly before deadline_ns of lbx_clock_mono_ns when it is still
 * there.  Then it is reaped, and its folder is removed when it could not do so itself.
 * ret_status[out]  as waitpid's; set only when 0 is returned
 * Returns 0, -ECHILD when there is none or slurmstepd has reaped it before, -ETIMEDOUT when it was
 * killed.
 */
int lbs_balancer_end(struct lbs_balancer *b, int64_t deadline_ns, int *ret_status);

/*
 * Ask it to end, and wait until deadline_ns at most.  Returns as lbs_balancer_end, -ETIMEDOUT
 * meaning that it still runs.
 */
int lbs_balancer_ask(struct lbs_balancer *b, int64_t deadline_ns, int *ret_status)
    __attribute__((warn_unused_result));

#endif
