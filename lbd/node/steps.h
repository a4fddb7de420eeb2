/* SPDX-License-Identifier: BSD-3-Clause */
/* The job steps that run tasks on this host, as the plugin's notices tell; steps whose slurmstepd is gone are forgotten. */
#ifndef LBD_NODE_STEPS_H
#define LBD_NODE_STEPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LBD_STEPS_MAX 1024

struct lbd_step {
    uint32_t jobid, stepid, ntasks;
    pid_t pid;        /* who gave notice, 0 unknown */
    int64_t begun_ns; /* monotonic */
    uint64_t started; /* of that process, so that its number may be used again */
};

struct lbd_steps {
    size_t n;
    struct lbd_step *step; /* [n], grown as needed */
    size_t size;
};

void lbd_steps_fini(struct lbd_steps *s); /* NULL is fine */

/* Tasks begin; told twice it counts once.  Returns 0, -ENOSPC (too many), -ENOMEM. */
int lbd_steps_begin(struct lbd_steps *s, uint32_t jobid, uint32_t stepid, uint32_t ntasks,
                    pid_t pid) __attribute__((warn_unused_result));

/* Tasks ended; unknown steps are no error. */
void lbd_steps_end(struct lbd_steps *s, uint32_t jobid, uint32_t stepid);

/* Forget steps whose process is gone. */
void lbd_steps_sweep(struct lbd_steps *s);

/* The step whose notifier is pid or started it; NULL when there is none.  Borrowed until the next change. */
const struct lbd_step *lbd_steps_of(const struct lbd_steps *s, pid_t pid);

/* All tasks of all steps. */
uint32_t lbd_steps_tasks(const struct lbd_steps *s);

/* Start time of a process in clock ticks since boot, 0 when there is none. */
uint64_t lbd_steps_started(pid_t pid);

#endif
