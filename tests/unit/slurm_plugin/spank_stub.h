/* SPDX-License-Identifier: BSD-3-Clause */
/* A Slurm to load the plugin into: the functions of spank.h that it calls, their answers chosen and
 * recorded here. */
#ifndef SPANK_STUB_H
#define SPANK_STUB_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STUB_ENV_MAX 32
#define STUB_TEXT_MAX 512

struct stub {
    spank_context_t context;
    uint32_t jobid, stepid, local_tasks, total_tasks;
    bool has_task_0;
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    int ngroups;
    int task_status;
    char env[STUB_ENV_MAX][STUB_TEXT_MAX]; /* NAME=VALUE of the step; "" is free */
    struct spank_option option;            /* as registered; name NULL: none was */
    char log[4096];                        /* what reaches the user, line by line */
    char verbose[4096];                    /* what reaches the log only */
    int fail_call;   /* this call of a spank_ function fails, 1 the next; 0 none */
    int fail_malloc; /* likewise of malloc, calloc and realloc in our own objects */
};

extern struct stub stub;

/* In slurmstepd, job 7 step 1, two of two tasks here, run by the caller, without a groups; nothing
 * fails. */
void stub_reset(void);
const char *stub_getenv(const char *name); /* NULL when the step has none */
void stub_setenv(const char *name, const char *value);

#endif
