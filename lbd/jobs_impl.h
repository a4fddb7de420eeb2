/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of the jobs share: taking and telling (jobs.c), showing (jobs_show.c). */
#ifndef LBD_JOBS_IMPL_H
#define LBD_JOBS_IMPL_H

#include <jansson.h>
#include <stdbool.h>

#include "lbd/guard.h"
#include "lbd/jobs.h"

struct job {
    struct job *next;
    uv_work_t lookup; /* the user's name, on a thread: it may come from a directory service */
    struct lbd_jobs *jobs;
    uint32_t jobid, stepid;
    uid_t uid;
    char id[16], step[16];
    char user[LBW_JOB_NAME_MAX], account[LBW_JOB_NAME_MAX], partition[LBW_JOB_NAME_MAX];
    char policy[LBW_JOB_NAME_MAX];
    bool looking, named, final, dropped, told_end;
    json_t *figures;    /* the newest */
    bool full;          /* shown in full: stays so */
    size_t hosts_shown; /* with series */
    int64_t heard_ns;
    uint64_t scrapes_at_end;
};

struct lbd_jobs {
    uv_loop_t *loop;
    struct lbd_metrics *metrics;
    lbd_jobs_told *told;
    void *data;
    struct job *first;
    uint64_t scrapes;
    struct lbd_guard guard; /* messages of each user */
    struct lbd_jobs_stats stats;
    struct lbw_job message; /* large */
};

/* Put a job's figures on the page; its name and user once they are known; take all of it off again. */
void lbd_job_show(struct job *job, const json_t *figures);
void lbd_job_show_info(const struct job *job);
void lbd_job_hide(const struct job *job);

#endif
