/* SPDX-License-Identifier: BSD-3-Clause */
/* The balanced jobs of this host, on the page of metrics. */
#include "lbd/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/text.h"
#include "lbd/jobfigures.h"
#include "lbd/jobs_impl.h"

#define SCRAPES_AFTER_END 3
#define ENDED_NS \
    (600 * LBX_NS_PER_S) /* an ended job goes after so long even where nobody scrapes */
#define SILENT_NS (60 * LBX_NS_PER_S) /* a balancer speaks each 10 s, at first each 5 s */
#define PASSWD_BYTES 4096
#define RATE_HZ 10.0 /* messages of one user: 64 jobs speak 6.4 times a second */
#define BURST 128.0

static void free_job(struct job *job)
{
    json_decref(job->figures);
    free(job);
}

int lbd_jobs_create(uv_loop_t *loop, struct lbd_metrics *metrics, lbd_jobs_told *told, void *data,
                    struct lbd_jobs **ret)
{
    struct lbd_jobs *j = calloc(1, sizeof(*j));

    if (!j)
        return -ENOMEM;
    j->loop = loop;
    j->metrics = metrics;
    j->told = told;
    j->data = data;
    lbd_guard_init(&j->guard, UINT32_MAX, UINT32_MAX, RATE_HZ, BURST);
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
        free_job(job);
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
        lbx_text_clean(pw.pw_name, job->user, sizeof(job->user));
    else
        snprintf(job->user, sizeof(job->user), "%u", (unsigned)job->uid);
}

/* Tell the controller; not before it is known whose job it is, and of its end only once. */
static void tell(struct job *job, bool ended)
{
    struct lbd_jobs *j = job->jobs;
    struct lbw_job *m = &j->message;

    if (!j->told || job->looking || !job->figures || job->told_end)
        return;
    memset(m, 0, offsetof(struct lbw_job, host));
    lbd_jobfigures_fill(job->figures, lbx_clock_wall_ns(), m);
    m->ended = ended;
    m->jobid = job->jobid;
    m->stepid = job->stepid;
    memcpy(m->user, job->user, sizeof(m->user));
    job->told_end = ended;
    j->told(j->data, m);
}

static void on_looked_up(uv_work_t *work, int status)
{
    struct job *job = work->data;

    job->looking = false;
    job->named = status == 0;
    lbd_job_show_info(job);
    if (status == 0)
        tell(job, job->final || job->dropped);
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

static void drop(struct job *job)
{
    job->dropped = true;
    tell(job, true); /* as far as was heard */
    lbd_job_hide(job);
}

/* Of a user with many short jobs one that has ended makes room before its time.  Returns false: all of them run. */
static bool drop_ended(struct lbd_jobs *j, uid_t uid)
{
    struct job *oldest = NULL;

    for (struct job *job = j->first; job; job = job->next)
        if (!job->dropped && job->final && job->uid == uid)
            oldest = job; /* new ones are put first */
    if (oldest)
        drop(oldest);
    return oldest != NULL;
}

static int take(struct lbd_jobs *j, uid_t uid, uint32_t jobid, uint32_t stepid, const json_t *o,
                int64_t now_ns, struct lbx_error *err)
{
    struct job *job = find(j, jobid, stepid);

    if (!job && count_of(j, uid) >= LBD_JOBS_PER_USER_MAX && !drop_ended(j, uid)) {
        lbd_jobs_refused(j, LBD_JOBS_TOO_MANY);
        return lbx_error_set(err, -EDQUOT, "job figures: more than %d jobs of uid %u",
                             LBD_JOBS_PER_USER_MAX, (unsigned)uid);
    }
    if (!job) {
        job = add(j, uid, jobid, stepid);
        if (!job)
            return lbx_error_set(err, -ENOMEM, "job figures: no memory");
        lbd_jobfigures_text(o, "policy", job->policy);
        lbd_jobfigures_text(o, "account", job->account);
        lbd_jobfigures_text(o, "partition", job->partition);
        job->looking = uv_queue_work(j->loop, &job->lookup, look_up, on_looked_up) == 0;
    }
    job->heard_ns = now_ns;
    if (json_is_true(json_object_get(o, "final")) && !job->final) {
        job->final = true;
        job->scrapes_at_end = j->scrapes;
    }
    json_decref(job->figures);
    job->figures = json_incref((json_t *)(uintptr_t)o);
    lbd_job_show(job, o);
    tell(job, job->final);
    return 0;
}

void lbd_jobs_refused(struct lbd_jobs *j, enum lbd_jobs_refusal why)
{
    j->stats.refused[why]++;
}

void lbd_jobs_stats(const struct lbd_jobs *j, struct lbd_jobs_stats *ret)
{
    *ret = j->stats;
    ret->jobs = lbd_jobs_count(j);
}

static bool may_speak(struct lbd_jobs *j, uid_t uid, int64_t now_ns)
{
    if (!lbd_guard_enter(&j->guard, uid, now_ns)) /* counts connections: here each message is one */
        return false;
    lbd_guard_leave(&j->guard, uid);
    return lbd_guard_message(&j->guard, uid, now_ns);
}

int lbd_jobs_take(struct lbd_jobs *j, uid_t uid, uint32_t jobid, uint32_t stepid, const char *json,
                  int64_t now_ns, struct lbx_error *err)
{
    json_error_t why;
    json_t *o;
    int rc;

    j->stats.messages++;
    if (!may_speak(j, uid, now_ns)) {
        lbd_jobs_refused(j, LBD_JOBS_RATE);
        return lbx_error_set(err, -EBUSY, "job figures: more than %d messages a second of uid %u",
                             (int)RATE_HZ, (unsigned)uid);
    }
    o = json_loads(json, JSON_REJECT_DUPLICATES, &why);
    if (!o)
        lbd_jobs_refused(j, LBD_JOBS_GARBAGE);
    if (!o)
        return lbx_error_set(err, -EINVAL, "job figures: %s at byte %d", why.text, why.position);
    if (!json_is_object(o) || !json_is_string(json_object_get(o, "policy")) ||
        !json_is_array(json_object_get(o, "hosts"))) {
        json_decref(o);
        lbd_jobs_refused(j, LBD_JOBS_GARBAGE);
        return lbx_error_set(err, -EINVAL,
                             "job figures: an object with policy and hosts is needed");
    }
    rc = take(j, uid, jobid, stepid, o, now_ns, err);
    json_decref(o);
    return rc;
}

void lbd_jobs_end(struct lbd_jobs *j, uint32_t jobid, uint32_t stepid)
{
    struct job *job = find(j, jobid, stepid);

    if (job && !job->final)
        drop(job);
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
            drop(job);
        }
        if (!job->dropped || job->looking) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        free_job(job);
    }
}
