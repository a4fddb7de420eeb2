/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's figures as series of the page. */
#include "lbd/jobfigures.h"
#include "lbd/jobs_impl.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SERIES_OF_JOB 18   /* beside those of its hosts */
#define SERIES_IN_BRIEF 10 /* at most */

/* Every metric of a job: its first two labels are jobid and stepid. */
static const enum lbd_metric shown[] = {
    LBD_M_LB_JOB_INFO,
    LBD_M_LB_JOB_NODES,
    LBD_M_LB_JOB_START_TIMESTAMP_SECONDS,
    LBD_M_LB_JOB_LOAD_BALANCE_RATIO,
    LBD_M_LB_JOB_PARALLEL_EFFICIENCY_RATIO,
    LBD_M_LB_JOB_PERIOD_SECONDS,
    LBD_M_LB_JOB_BLOCK_ITERATIONS,
    LBD_M_LB_JOB_LOOPS_TOTAL,
    LBD_M_LB_JOB_REDISTRIBUTIONS_TOTAL,
    LBD_M_LB_JOB_REDISTRIBUTIONS_SKIPPED_TOTAL,
    LBD_M_LB_JOB_MOVED_BYTES_TOTAL,
    LBD_M_LB_JOB_MOVED_ITERATIONS_TOTAL,
    LBD_M_LB_JOB_REDISTRIBUTION_SECONDS_TOTAL,
    LBD_M_LB_JOB_BALANCER_CPU_SECONDS_TOTAL,
    LBD_M_LB_JOB_SHARE_RATIO,
    LBD_M_LB_JOB_RATE_ITERATIONS_PER_SECOND,
    LBD_M_LB_JOB_ITERATIONS_TOTAL,
    LBD_M_LB_JOB_COMPUTE_SECONDS_TOTAL,
    LBD_M_LB_JOB_WAIT_SECONDS_TOTAL,
};

/* Metrics of a job that are one number of the message. */
static const struct {
    const char *key;
    enum lbd_metric metric;
    bool brief; /* shown of every job */
} numbers[] = {
    {"begun_s", LBD_M_LB_JOB_START_TIMESTAMP_SECONDS, false},
    {"load_balance", LBD_M_LB_JOB_LOAD_BALANCE_RATIO, true},
    {"efficiency", LBD_M_LB_JOB_PARALLEL_EFFICIENCY_RATIO, true},
    {"period_s", LBD_M_LB_JOB_PERIOD_SECONDS, false},
    {"block", LBD_M_LB_JOB_BLOCK_ITERATIONS, false},
    {"loops", LBD_M_LB_JOB_LOOPS_TOTAL, false},
    {"moved_bytes", LBD_M_LB_JOB_MOVED_BYTES_TOTAL, false},
    {"moved_iterations", LBD_M_LB_JOB_MOVED_ITERATIONS_TOTAL, false},
    {"moving_s", LBD_M_LB_JOB_REDISTRIBUTION_SECONDS_TOTAL, false},
    {"balancer_cpu_s", LBD_M_LB_JOB_BALANCER_CPU_SECONDS_TOTAL, false},
};

/* Likewise of a host of a job. */
static const struct {
    const char *key;
    enum lbd_metric metric;
} host_numbers[] = {
    {"share", LBD_M_LB_JOB_SHARE_RATIO},
    {"rate", LBD_M_LB_JOB_RATE_ITERATIONS_PER_SECOND},
    {"iterations", LBD_M_LB_JOB_ITERATIONS_TOTAL},
    {"compute_s", LBD_M_LB_JOB_COMPUTE_SECONDS_TOTAL},
    {"wait_s", LBD_M_LB_JOB_WAIT_SECONDS_TOTAL},
};

void lbd_job_show_info(const struct job *job)
{
    const char *labels[] = {job->id,      job->step,      job->user,
                            job->account, job->partition, job->policy};

    if (job->jobs->metrics && job->named && !job->dropped)
        lbd_metrics_set(job->jobs->metrics, LBD_M_LB_JOB_INFO, labels, 1);
}

/* In brief, what has never happened is not said. */
static void show_reasons(const struct job *job, const json_t *o, enum lbd_metric metric)
{
    static const char *const known[] = {"proportional", "dry",      "below_threshold",
                                        "unprofitable", "filtered", "unstable"};
    double value;

    for (size_t i = 0; i < COUNT(known); i++)
        if (lbd_jobfigures_number(o, known[i], &value) && (job->full || value > 0))
            lbd_metrics_set(job->jobs->metrics, metric,
                            (const char *const[]){job->id, job->step, known[i]}, value);
}

/* Whether there is room to show a job in full: once it is shown so it stays so, another one follows when it has ended. */
static bool may_be_full(const struct job *job)
{
    size_t all = 0, own = 0;

    for (const struct job *o = job->jobs->first; o; o = o->next) {
        all += o->full && !o->dropped;
        own += o->full && !o->dropped && o->uid == job->uid;
    }
    return job->full || (all < LBD_JOBS_FULL_MAX && own < LBD_JOBS_FULL_PER_USER_MAX);
}

/* How many hosts of a job may have series: all, or what its user's other jobs leave; none of one that is shown in brief. */
static size_t hosts_allowed(const struct job *job, size_t n)
{
    size_t used = 0, left;

    if (!job->full)
        return 0;
    for (const struct job *o = job->jobs->first; o; o = o->next)
        if (!o->dropped && o->uid == job->uid)
            used += (o->full ? SERIES_OF_JOB : SERIES_IN_BRIEF) +
                    (o == job ? 0 : COUNT(host_numbers) * o->hosts_shown);
    left = used < LBD_JOBS_SERIES_PER_USER_MAX
               ? (LBD_JOBS_SERIES_PER_USER_MAX - used) / COUNT(host_numbers)
               : 0;
    n = n < LBD_JOBS_HOSTS_MAX ? n : LBD_JOBS_HOSTS_MAX;
    return n < left ? n : left;
}

static void show_hosts(struct job *job, const json_t *hosts)
{
    size_t n = json_array_size(hosts), allowed = hosts_allowed(job, n);
    double value;

    if (allowed < job->hosts_shown) /* of those that it showed already */
        allowed = job->hosts_shown < n ? job->hosts_shown : n;
    job->jobs->stats.refused[LBD_JOBS_SERIES] += allowed < n;
    job->hosts_shown = allowed;
    lbd_metrics_set(job->jobs->metrics, LBD_M_LB_JOB_NODES,
                    (const char *const[]){job->id, job->step}, (double)n);
    for (size_t i = 0; i < allowed; i++) {
        const json_t *h = json_array_get(hosts, i);
        const char *name = json_string_value(json_object_get(h, "host"));
        const char *labels[] = {job->id, job->step, name};

        for (size_t k = 0; name && k < COUNT(host_numbers); k++)
            if (lbd_jobfigures_number(h, host_numbers[k].key, &value))
                lbd_metrics_set(job->jobs->metrics, host_numbers[k].metric, labels, value);
    }
}

void lbd_job_show(struct job *job, const json_t *o)
{
    double value;

    if (!job->jobs->metrics)
        return;
    job->full = may_be_full(job);
    for (size_t i = 0; i < COUNT(numbers); i++)
        if ((job->full || numbers[i].brief) && lbd_jobfigures_number(o, numbers[i].key, &value))
            lbd_metrics_set(job->jobs->metrics, numbers[i].metric,
                            (const char *const[]){job->id, job->step}, value);
    show_reasons(job, json_object_get(o, "moved"), LBD_M_LB_JOB_REDISTRIBUTIONS_TOTAL);
    show_reasons(job, json_object_get(o, "skipped"), LBD_M_LB_JOB_REDISTRIBUTIONS_SKIPPED_TOTAL);
    show_hosts(job, json_object_get(o, "hosts"));
}

void lbd_job_hide(const struct job *job)
{
    for (size_t i = 0; job->jobs->metrics && i < COUNT(shown); i++)
        lbd_metrics_drop(job->jobs->metrics, shown[i], (const char *const[]){job->id, job->step},
                         2);
}
