/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about the past. */
#include "lbd/past.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define DIGITS 6
#define WORDS_MAX 8
#define TEXT_MAX 256
#define POINTS_MAX 600 /* that fit into one answer */
#define JOBS_MAX 100
#define STEPS_MAX 16 /* of one job, with their hosts */
#define RAW_SECONDS_MAX \
    172800               /* looked through for one answer: 0.1 s or so of the store's thread */
#define RAW_UP_TO_S 7200 /* auto: shorter times are answered by raw reports */
#define FIVE_UP_TO_S (3 * 86400)

/* Who waits for the answer. */
struct waiting {
    struct lbd_local_server *server;
    uint64_t request;
    int64_t to_s; /* as asked; the question may have been cut */
};

static const char *const resolution_name[LBD_RESOLUTIONS] = {"raw", "5m", "1h"};

/* A number of the text, at most most; a time of 0 or less is before now. */
static bool parse_number(const char *text, int64_t least, int64_t most, int64_t *ret)
{
    char *end;
    long long v;

    errno = 0;
    v = strtoll(text, &end, 10);
    if (errno || end == text || *end || v < least || v > most)
        return false;
    *ret = v;
    return true;
}

static bool parse_time(const char *text, int64_t *ret_s)
{
    int64_t v;

    if (!parse_number(text, -(INT64_C(1) << 40), INT64_C(1) << 40, &v))
        return false;
    *ret_s = v > 0 ? v : v + lbx_clock_wall_ns() / LBX_NS_PER_S;
    return true;
}

static bool parse_max(const char *text, size_t most, size_t *ret)
{
    int64_t v = (int64_t)most;

    if (text && !parse_number(text, 1, INT64_MAX, &v))
        return false;
    *ret = (size_t)v < most ? (size_t)v : most;
    return true;
}

static bool parse_resolution(const char *text, struct lbd_ask *a)
{
    int64_t span_s = a->to_s - a->from_s;

    if (strcmp(text, "auto") == 0) {
        a->resolution = span_s <= RAW_UP_TO_S ? LBD_RAW : span_s <= FIVE_UP_TO_S ? LBD_5M : LBD_1H;
        return true;
    }
    for (int i = 0; i < LBD_RESOLUTIONS; i++)
        if (strcmp(text, resolution_name[i]) == 0) {
            a->resolution = (enum lbd_resolution)i;
            return true;
        }
    return false;
}

static bool parse_history(char **word, size_t n, struct lbd_ask *a)
{
    a->what = LBD_ASK_POINTS;
    if (n < 5 || n > 6 || strlen(word[1]) >= sizeof(a->host) || !parse_time(word[2], &a->from_s) ||
        !parse_time(word[3], &a->to_s) || !parse_resolution(word[4], a) ||
        !parse_max(n == 6 ? word[5] : NULL, POINTS_MAX, &a->max))
        return false;
    memcpy(a->host, word[1], strlen(word[1]) + 1);
    if (a->from_s < 0)
        a->from_s = 0;
    return true;
}

static bool parse_jobs(char **word, size_t n, struct lbd_ask *a)
{
    a->what = LBD_ASK_JOBS;
    return n >= 3 && n <= 4 && parse_time(word[1], &a->from_s) && parse_time(word[2], &a->to_s) &&
           parse_max(n == 4 ? word[3] : NULL, JOBS_MAX, &a->max);
}

static bool parse_job(char **word, size_t n, struct lbd_ask *a)
{
    int64_t jobid;

    a->what = LBD_ASK_JOB;
    if (n < 2 || n > 3 || !parse_number(word[1], 0, UINT32_MAX, &jobid) ||
        !parse_max(n == 3 ? word[2] : NULL, STEPS_MAX, &a->max))
        return false;
    a->jobid = (uint32_t)jobid;
    return true;
}

/* Where to ask on, or null: from behind the last point when there may be more. */
static json_t *make_next(const struct lbd_ask *a, int64_t to_s)
{
    int64_t next_s = a->to_s + 1;

    if (a->n == a->max)
        next_s = a->point[a->n - 1].at_s + lbd_resolution_s[a->resolution];
    return next_s <= to_s ? json_integer(next_s) : json_null();
}

static json_t *make_points(const struct lbd_ask *a, int64_t to_s)
{
    json_t *rows = json_array();
    json_t *columns =
        json_pack("[sssssssssss]", "at", "reports", "core_speed", "capacity", "busy_cpus",
                  "external_cpus", "steal_cpus", "pressure", "running", "users", "tasks");

    for (size_t i = 0; i < a->n; i++) {
        const struct lbd_db_point *p = &a->point[i];

        json_array_append_new(rows, json_pack("[IIfffffffff]", (json_int_t)p->at_s,
                                              (json_int_t)p->reports, p->core_speed, p->capacity,
                                              p->busy_cpus, p->external_cpus, p->steal_cpus,
                                              p->pressure_ratio, p->running, p->users, p->tasks));
    }
    return json_pack("{ss ss si so so so}", "host", a->host, "resolution",
                     resolution_name[a->resolution], "resolution_s",
                     lbd_resolution_s[a->resolution], "columns", columns, "rows", rows, "next",
                     make_next(a, to_s));
}

static json_t *make_hosts(const struct lbd_db_job *j)
{
    json_t *hosts = json_array();

    for (size_t i = 0; i < j->nhost; i++) {
        const struct lbd_db_job_host *h = &j->host[i];

        json_array_append_new(hosts,
                              json_pack("{ss sf sI sf sf}", "host", h->host, "share",
                                        h->share_ratio, "iterations", (json_int_t)h->iterations,
                                        "compute_s", h->compute_s, "wait_s", h->wait_s));
    }
    return hosts;
}

static json_t *make_job(const struct lbd_db_job *j, bool hosts)
{
    json_t *o = json_pack("{sI sI ss ss ss ss sI sI sI sI sf sf sf sf sf sf sI sI}", "jobid",
                          (json_int_t)j->jobid, "stepid", (json_int_t)j->stepid, "user", j->user,
                          "account", j->account, "partition", j->partition, "policy", j->policy,
                          "nhosts", (json_int_t)j->hosts, "ranks", (json_int_t)j->ranks, "started",
                          (json_int_t)j->started_s, "ended", (json_int_t)j->ended_s, "load_balance",
                          j->load_balance, "efficiency", j->efficiency, "compute_s", j->compute_s,
                          "wait_s", j->wait_s, "overhead_s", j->overhead_s, "saved_s", j->saved_s,
                          "moved_bytes", (json_int_t)j->moved_bytes, "moves", (json_int_t)j->moves);

    json_object_set_new(o, "load_balance_before",
                        j->balance_before < 0 ? json_null() : json_real(j->balance_before));
    json_object_set_new(o, "predicted_s",
                        j->predicted_s > 0 ? json_real(j->predicted_s) : json_null());
    if (hosts)
        json_object_set_new(o, "hosts", make_hosts(j));
    return o;
}

/* As many as fit into one answer. */
static json_t *make_jobs(const struct lbd_ask *a)
{
    json_t *jobs = json_array();
    size_t bytes = 0, n = 0;

    for (; n < a->n; n++) {
        json_t *o = make_job(&a->job[n], a->what == LBD_ASK_JOB);
        size_t size = json_dumpb(o, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) + 1;

        if (bytes + size > LBW_LOCAL_TEXT_MAX - 64 && n > 0) {
            json_decref(o);
            break;
        }
        bytes += size;
        json_array_append_new(jobs, o);
    }
    return json_pack("{so sb}", "jobs", jobs, "more", n < a->n || a->n == a->max);
}

static void on_read(struct lbd_ask *a)
{
    struct waiting *w = a->data;
    struct lbx_error err = {0};
    json_t *o = NULL;
    char *json = NULL;

    if (a->rc == 0) {
        o = a->what == LBD_ASK_POINTS ? make_points(a, w->to_s) : make_jobs(a);
        json = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
        json_decref(o);
    }
    if (a->rc == -ENOENT)
        lbx_error_set(&err, a->rc, "host '%s' has never reported", a->host);
    else if (a->rc == -ENODATA)
        lbx_error_set(&err, a->rc, "the controller has no database: see lbctl status");
    else if (!json)
        lbx_error_set(&err, a->rc < 0 ? a->rc : -ENOMEM, "the history could not be read: %s",
                      strerror(a->rc < 0 ? -a->rc : ENOMEM));
    lbd_local_server_answer(w->server, w->request, json, &err);
    free(json);
    free(w);
    lbd_ask_destroy(a);
}

static int send_question(const struct lbd_view *v, uint64_t request, struct lbd_ask *a)
{
    struct waiting *w = malloc(sizeof(*w));
    int rc;

    if (!w)
        return -ENOMEM;
    *w = (struct waiting){v->server, request, a->to_s};
    if (a->what == LBD_ASK_POINTS && a->resolution == LBD_RAW &&
        a->to_s - a->from_s > RAW_SECONDS_MAX)
        a->to_s = a->from_s + RAW_SECONDS_MAX;
    a->data = w;
    a->done = on_read;
    rc = lbd_store_ask(lbd_controller_store(v->controller), a);
    if (rc < 0)
        free(w);
    return rc;
}

bool lbd_past_command(const struct lbd_view *v, uint64_t request, const char *text,
                      struct lbx_error *err)
{
    static const struct {
        const char *name, *use;
        bool (*parse)(char **word, size_t n, struct lbd_ask *a);
    } commands[] = {{"history", "history HOST FROM TO raw|5m|1h|auto [MAX]", parse_history},
                    {"jobs", "jobs FROM TO [MAX]", parse_jobs},
                    {"job", "job JOBID [MAX]", parse_job}};
    char copy[TEXT_MAX], *word[WORDS_MAX], *save = NULL;
    struct lbd_ask *a;
    size_t n = 0, i = 0;
    int rc;

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *w = strtok_r(copy, " ", &save); w && n < WORDS_MAX; w = strtok_r(NULL, " ", &save))
        word[n++] = w;
    while (i < 3 && (n == 0 || strcmp(word[0], commands[i].name) != 0))
        i++;
    if (i == 3)
        return false;
    if (!v->controller) {
        lbx_error_set(err, -ENOTSUP, "this lbd is no controller: ask there");
        return true;
    }
    a = calloc(1, sizeof(*a));
    if (a && (strlen(text) >= TEXT_MAX || !commands[i].parse(word, n, a))) {
        lbx_error_set(err, -EINVAL, "write %s", commands[i].use);
        free(a);
        return true;
    }
    rc = a ? send_question(v, request, a) : -ENOMEM;
    if (rc < 0)
        lbd_ask_destroy(a);
    lbx_error_set(err, rc < 0 ? rc : -EINPROGRESS, "%s",
                  rc == -EBUSY ? "too many ask for history: try again"
                               : strerror(rc < 0 ? -rc : EINPROGRESS));
    return true;
}
