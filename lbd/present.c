/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about the jobs that run. */
#include "lbd/present.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/text.h"

#define MOST_BYTES ((size_t)LBW_LOCAL_TEXT_MAX - 256)
#define DIGITS 6

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static json_t *text_of(const char *text)
{
    char clean[LBW_JOB_NAME_MAX];

    lbx_text_clean(text, clean, sizeof(clean));
    return json_string(clean);
}

static json_t *reasons(const struct lbw_job *j, int from, int to)
{
    json_t *o = json_object();

    for (int i = from; i < to; i++)
        json_object_set_new(o, lbw_job_reason[i], json_integer((json_int_t)j->decisions[i]));
    return o;
}

static json_t *make_hosts(const struct lbw_job *j)
{
    json_t *list = json_array();

    for (size_t i = 0; i < j->nhost; i++) {
        const struct lbw_job_host *h = &j->host[i];

        json_array_append_new(
            list, json_pack("{ss sf sf sI sf sf}", "host", h->host, "share", h->share, "rate",
                            h->rate_hz, "iterations", (json_int_t)h->iterations, "compute_s",
                            seconds(h->compute_ns), "wait_s", seconds(h->wait_ns)));
    }
    return list;
}

static json_t *make_job(const struct lbd_running_job *r, bool hosts)
{
    const struct lbw_job *j = r->job;
    int64_t age_ns = lbx_clock_mono_ns() - r->at_ns;
    int64_t started_ns = lbx_clock_wall_ns() - age_ns - j->run_ns;
    json_t *o =
        json_pack("{sI sI so so so so sI sI sI sn sf sf sf sf sf sf sI sI sf sf sI so so}", "jobid",
                  (json_int_t)j->jobid, "stepid", (json_int_t)j->stepid, "user", text_of(j->user),
                  "account", text_of(j->account), "partition", text_of(j->partition), "policy",
                  text_of(j->policy), "nhosts", (json_int_t)j->hosts, "ranks", (json_int_t)j->ranks,
                  "started", (json_int_t)(started_ns / LBX_NS_PER_S), "ended", "load_balance",
                  j->load_balance, "efficiency", j->efficiency, "compute_s", seconds(j->compute_ns),
                  "wait_s", seconds(j->wait_ns), "overhead_s", seconds(j->overhead_ns), "saved_s",
                  seconds(j->saved_ns), "moved_bytes", (json_int_t)j->moved_bytes,
                  "moved_iterations", (json_int_t)j->moved_iterations, "period_s",
                  seconds(j->period_ns), "age_s", seconds(age_ns), "loops", (json_int_t)j->loops,
                  "moved", reasons(j, 0, LBW_JOB_REASONS_MOVING), "skipped",
                  reasons(j, LBW_JOB_REASONS_MOVING, LBW_JOB_REASONS));

    if (hosts)
        json_object_set_new(o, "hosts", make_hosts(j));
    return o;
}

/* Those of a job, or of all from the first-th on, as many as fit into one answer. */
static json_t *make_list(const struct lbd_running *r, bool one, uint32_t jobid, size_t first)
{
    json_t *list = json_array(), *o = json_object();
    size_t bytes = 0, i = first;

    for (; i < r->n; i++) {
        json_t *job;

        if (one && r->entry[i].job->jobid != jobid)
            continue;
        job = make_job(&r->entry[i], one);
        bytes += json_dumpb(job, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) + 1;
        if (bytes > MOST_BYTES && json_array_size(list) > 0) {
            json_decref(job);
            break;
        }
        json_array_append_new(list, job);
    }
    json_object_set_new(o, "jobs", list);
    json_object_set_new(o, "next", i < r->n ? json_integer((json_int_t)i) : json_null());
    return o;
}

bool lbd_present_command(const struct lbd_view *v, const char *text, json_t **ret,
                         struct lbx_error *err)
{
    uint32_t jobid = 0;
    size_t first = 0;
    bool one = false;
    int end = 0;

    if (strncmp(text, "running", 7) != 0 || (text[7] && text[7] != ' '))
        return false;
    *ret = NULL;
    if (sscanf(text, "running job %" SCNu32 "%n", &jobid, &end) == 1 && !text[end])
        one = true;
    else if (text[7] && (sscanf(text, "running %zu%n", &first, &end) != 1 || text[end]))
        lbx_error_set(err, -EINVAL, "write running [FIRST] or running job JOBID");
    if (!err->code && !v->controller)
        lbx_error_set(err, -ENOTSUP, "this lbd is no controller: ask there");
    if (!err->code)
        *ret = make_list(lbd_controller_running(v->controller), one, jobid, first);
    return true;
}
