/* SPDX-License-Identifier: BSD-3-Clause */
/* The balanced jobs of this host, on the page of metrics. */
#include "lbd/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define SCRAPES_AFTER_END 3
#define ENDED_NS \
    (600 * LBX_NS_PER_S) /* an ended job goes after so long even where nobody scrapes */
#define SILENT_NS (60 * LBX_NS_PER_S) /* a balancer speaks each 5 s */
#define NAME_BYTES 64
#define PASSWD_BYTES 4096

struct job {
    struct job *next;
    uv_work_t lookup; /* the user's name, on a thread: it may come from a directory service */
    struct lbd_jobs *jobs;
    uint32_t jobid, stepid;
    uid_t uid;
    char id[16], step[16];
    char user[NAME_BYTES], account[NAME_BYTES], partition[NAME_BYTES], policy[NAME_BYTES];
    bool looking, named, final, dropped;
    int64_t heard_ns;
    uint64_t scrapes_at_end;
};

struct lbd_jobs {
    uv_loop_t *loop;
    struct lbd_metrics *metrics;
    struct job *first;
    uint64_t scrapes;
};

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
} numbers[] = {
    {"begun_s", LBD_M_LB_JOB_START_TIMESTAMP_SECONDS},
    {"load_balance", LBD_M_LB_JOB_LOAD_BALANCE_RATIO},
    {"efficiency", LBD_M_LB_JOB_PARALLEL_EFFICIENCY_RATIO},
    {"period_s", LBD_M_LB_JOB_PERIOD_SECONDS},
    {"block", LBD_M_LB_JOB_BLOCK_ITERATIONS},
    {"loops", LBD_M_LB_JOB_LOOPS_TOTAL},
    {"moved_bytes", LBD_M_LB_JOB_MOVED_BYTES_TOTAL},
    {"moved_iterations", LBD_M_LB_JOB_MOVED_ITERATIONS_TOTAL},
    {"moving_s", LBD_M_LB_JOB_REDISTRIBUTION_SECONDS_TOTAL},
    {"balancer_cpu_s", LBD_M_LB_JOB_BALANCER_CPU_SECONDS_TOTAL},
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

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int lbd_jobs_create(uv_loop_t *loop, struct lbd_metrics *metrics, struct lbd_jobs **ret)
{
    struct lbd_jobs *j = calloc(1, sizeof(*j));

    if (!j)
        return -ENOMEM;
    j->loop = loop;
    j->metrics = metrics;
    *ret = j;
    return 0;
}

void lbd_jobs_destroy(struct lbd_jobs *j)
{
    if (!j)
        return;
    while (j->first) {
        struct job *job = j->first;

        j->first = job->next;
        free(job);
    }
    free(j);
}

size_t lbd_jobs_count(const struct lbd_jobs *j)
{
    size_t n = 0;

    for (const struct job *job = j->first; job; job = job->next)
        n += !job->dropped;
    return n;
}

static void look_up(uv_work_t *work)
{
    struct job *job = work->data;
    char buf[PASSWD_BYTES];
    struct passwd pw, *found = NULL;

    if (getpwuid_r(job->uid, &pw, buf, sizeof(buf), &found) == 0 && found)
        snprintf(job->user, sizeof(job->user), "%s", pw.pw_name);
    else
        snprintf(job->user, sizeof(job->user), "%u", (unsigned)job->uid);
}

static void show_info(const struct job *job)
{
    const char *labels[] = {job->id,      job->step,      job->user,
                            job->account, job->partition, job->policy};

    if (job->jobs->metrics && job->named && !job->dropped)
        lbd_metrics_set(job->jobs->metrics, LBD_M_LB_JOB_INFO, labels, 1);
}

static void on_looked_up(uv_work_t *work, int status)
{
    struct job *job = work->data;

    job->looking = false;
    job->named = status == 0;
    show_info(job);
}

static struct job *find(struct lbd_jobs *j, uint32_t jobid, uint32_t stepid)
{
    for (struct job *job = j->first; job; job = job->next)
        if (!job->dropped && job->jobid == jobid && job->stepid == stepid)
            return job;
    return NULL;
}

static struct job *add(struct lbd_jobs *j, uid_t uid, uint32_t jobid, uint32_t stepid)
{
    struct job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->jobs = j;
    job->uid = uid;
    job->jobid = jobid;
    job->stepid = stepid;
    snprintf(job->id, sizeof(job->id), "%" PRIu32, jobid);
    snprintf(job->step, sizeof(job->step), "%" PRIu32, stepid);
    job->lookup.data = job;
    job->next = j->first;
    j->first = job;
    return job;
}

static size_t count_of(const struct lbd_jobs *j, uid_t uid)
{
    size_t n = 0;

    for (const struct job *job = j->first; job; job = job->next)
        n += !job->dropped && job->uid == uid;
    return n;
}

/* A finite number >= 0 of an object; false when there is none. */
static bool get_number(const json_t *o, const char *key, double *ret)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_number(v) || !isfinite(json_number_value(v)) || json_number_value(v) < 0)
        return false;
    *ret = json_number_value(v);
    return true;
}

static void get_text(const json_t *o, const char *key, char ret[NAME_BYTES])
{
    const char *text = json_string_value(json_object_get(o, key));

    snprintf(ret, NAME_BYTES, "%s", text ? text : "");
}

static void show_reasons(const struct job *job, const json_t *o, enum lbd_metric metric)
{
    static const char *const known[] = {"proportional", "dry",      "below_threshold",
                                        "unprofitable", "filtered", "unstable"};
    double value;

    for (size_t i = 0; i < COUNT(known); i++)
        if (get_number(o, known[i], &value))
            lbd_metrics_set(job->jobs->metrics, metric,
                            (const char *const[]){job->id, job->step, known[i]}, value);
}

static void show_hosts(const struct job *job, const json_t *hosts)
{
    size_t n = json_array_size(hosts);
    double value;

    lbd_metrics_set(job->jobs->metrics, LBD_M_LB_JOB_NODES,
                    (const char *const[]){job->id, job->step}, (double)n);
    for (size_t i = 0; i < n && i < LBD_JOBS_HOSTS_MAX; i++) {
        const json_t *h = json_array_get(hosts, i);
        const char *name = json_string_value(json_object_get(h, "host"));
        const char *labels[] = {job->id, job->step, name};

        for (size_t k = 0; name && k < COUNT(host_numbers); k++)
            if (get_number(h, host_numbers[k].key, &value))
                lbd_metrics_set(job->jobs->metrics, host_numbers[k].metric, labels, value);
    }
}

static void show(const struct job *job, const json_t *o)
{
    double value;

    if (!job->jobs->metrics)
        return;
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (get_number(o, numbers[i].key, &value))
            lbd_metrics_set(job->jobs->metrics, numbers[i].metric,
                            (const char *const[]){job->id, job->step}, value);
    show_reasons(job, json_object_get(o, "moved"), LBD_M_LB_JOB_REDISTRIBUTIONS_TOTAL);
    show_reasons(job, json_object_get(o, "skipped"), LBD_M_LB_JOB_REDISTRIBUTIONS_SKIPPED_TOTAL);
    show_hosts(job, json_object_get(o, "hosts"));
}

static int take(struct lbd_jobs *j, uid_t uid, uint32_t jobid, uint32_t stepid, const json_t *o,
                int64_t now_ns, struct lbx_error *err)
{
    struct job *job = find(j, jobid, stepid);

    if (!job && count_of(j, uid) >= LBD_JOBS_PER_USER_MAX)
        return lbx_error_set(err, -EDQUOT, "job figures: more than %d jobs of uid %u",
                             LBD_JOBS_PER_USER_MAX, (unsigned)uid);
    if (!job) {
        job = add(j, uid, jobid, stepid);
        if (!job)
            return lbx_error_set(err, -ENOMEM, "job figures: no memory");
        get_text(o, "policy", job->policy);
        get_text(o, "account", job->account);
        get_text(o, "partition", job->partition);
        job->looking = uv_queue_work(j->loop, &job->lookup, look_up, on_looked_up) == 0;
    }
    job->heard_ns = now_ns;
    if (json_is_true(json_object_get(o, "final")) && !job->final) {
        job->final = true;
        job->scrapes_at_end = j->scrapes;
    }
    show(job, o);
    return 0;
}

int lbd_jobs_take(struct lbd_jobs *j, uid_t uid, uint32_t jobid, uint32_t stepid, const char *json,
                  int64_t now_ns, struct lbx_error *err)
{
    json_error_t why;
    json_t *o = json_loads(json, JSON_REJECT_DUPLICATES, &why);
    int rc;

    if (!o)
        return lbx_error_set(err, -EINVAL, "job figures: %s at byte %d", why.text, why.position);
    if (!json_is_object(o) || !json_is_string(json_object_get(o, "policy")) ||
        !json_is_array(json_object_get(o, "hosts"))) {
        json_decref(o);
        return lbx_error_set(err, -EINVAL,
                             "job figures: an object with policy and hosts is needed");
    }
    rc = take(j, uid, jobid, stepid, o, now_ns, err);
    json_decref(o);
    return rc;
}

static bool is_over(const struct job *job, uint64_t scrapes, int64_t now_ns)
{
    int64_t silent_ns = now_ns - job->heard_ns;

    if (job->final)
        return scrapes >= job->scrapes_at_end + SCRAPES_AFTER_END || silent_ns >= ENDED_NS;
    return silent_ns >= SILENT_NS;
}

void lbd_jobs_expire(struct lbd_jobs *j, uint64_t scrapes, int64_t now_ns)
{
    j->scrapes = scrapes;
    for (struct job **at = &j->first; *at;) {
        struct job *job = *at;

        if (!job->dropped && is_over(job, scrapes, now_ns)) {
            job->dropped = true;
            for (size_t i = 0; j->metrics && i < COUNT(shown); i++)
                lbd_metrics_drop(j->metrics, shown[i], (const char *const[]){job->id, job->step},
                                 2);
        }
        if (!job->dropped || job->looking) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        free(job);
    }
}
