/* SPDX-License-Identifier: BSD-3-Clause */
/* The decisions for the lbd of this host. */
#include "lbd/balancer/tell.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "lbd/balancer/ask.h"

#define QUIET_TURNS 4 /* decisions to leave all as it is can wait for so many of them */
#define AT_ONCE 40    /* decisions in a message: about 1 KB each with 16 ranks */
#define HOSTS_MAX 64
#define FAILURES_MAX 3 /* one after another: nobody is there */

struct lbd_tell {
    uv_timer_t timer;
    struct lbd_ask ask;
    const struct lbd_explain *explain;
    const struct lbd_job *job;
    const char *socket, *policy;
    int64_t begun_s;
    uint64_t next, after; /* the first not told; the one after those on their way */
    bool asking, finishing, said_last, alive; /* alive: it has answered */
    int failures, turns;                      /* turns: since something was told */
    struct lbw_local_msg request;             /* large */
};

static json_t *pack(struct lbd_tell *t, uint64_t first, uint64_t next)
{
    json_t *hosts = json_array(), *list = json_array();
    uint32_t nranks = lbd_job_ranks(t->job);

    for (uint32_t r = 0; r < nranks && r < HOSTS_MAX; r++)
        json_array_append_new(hosts, json_string(lbd_job_host(t->job, r)));
    for (t->after = first; t->after < next && t->after < first + AT_ONCE; t->after++)
        json_array_append_new(list, lbd_explain_json(t->explain, t->after));
    return json_pack("{s:I, s:s, s:I, s:o, s:b, s:o}", "begun_s", (json_int_t)t->begun_s, "policy",
                     t->policy, "ranks", (json_int_t)nranks, "hosts", hosts, "final",
                     t->finishing && t->after == next, "decisions", list);
}

static void tell(struct lbd_tell *t);

static void on_asked(void *arg, int rc)
{
    struct lbd_tell *t = arg;

    t->asking = false;
    t->failures = rc < 0 ? t->failures + 1 : 0;
    if (rc == 0)
        t->next = t->after;
    t->alive = t->alive || rc == 0;
    /* At the end one that has answered before is asked again; else a job does not wait for it. */
    if (t->finishing && (rc < 0 ? t->alive && t->failures < FAILURES_MAX : !t->said_last))
        tell(t);
}

static void tell(struct lbd_tell *t)
{
    uint64_t first, next;
    json_t *o;
    size_t n;

    lbd_explain_range(t->explain, &first, &next);
    if (t->next > first)
        first = t->next;
    if (t->asking || lbd_job_ranks(t->job) == 0 || (first == next && !t->finishing))
        return;
    o = pack(t, first, next);
    n = o ? json_dumpb(o, t->request.u.text.text, LBW_LOCAL_TEXT_MAX,
                       JSON_COMPACT | JSON_REAL_PRECISION(6))
          : 0;
    json_decref(o);
    if (n == 0 || n > LBW_LOCAL_TEXT_MAX)
        return;
    t->request.u.text.text[n] = '\0';
    t->request.type = LBW_L_DECISIONS;
    t->said_last = t->finishing && t->after == next;
    t->asking = true;
    lbd_ask_begin(&t->ask, t->timer.loop, t->socket, &t->request, on_asked, t);
}

/* Nothing has been done, and there is room for what was left. */
static bool can_wait(const struct lbd_tell *t)
{
    uint64_t first, next;

    lbd_explain_range(t->explain, &first, &next);
    if (t->next > first)
        first = t->next;
    return t->next > 0 && next - first < AT_ONCE && !lbd_explain_done(t->explain, first, next);
}

static void on_timer(uv_timer_t *h)
{
    struct lbd_tell *t = h->data;

    if (t->failures >= FAILURES_MAX) {
        uv_timer_stop(h);
    } else if (++t->turns >= QUIET_TURNS || !can_wait(t)) {
        t->turns = 0;
        tell(t);
    }
}

int lbd_tell_create(uv_loop_t *loop, const struct lbd_explain *explain, const struct lbd_job *job,
                    const char *socket, const char *policy, struct lbd_tell **ret)
{
    struct lbd_tell *t = calloc(1, sizeof(*t));

    if (!t)
        return -ENOMEM;
    t->explain = explain;
    t->job = job;
    t->socket = socket;
    t->policy = policy;
    t->begun_s = lbx_clock_wall_ns() / LBX_NS_PER_S;
    uv_timer_init(loop, &t->timer);
    t->timer.data = t;
    uv_timer_start(&t->timer, on_timer, LBD_JOB_BEAT_MS, LBD_JOB_BEAT_MS);
    *ret = t;
    return 0;
}

void lbd_tell_finish(struct lbd_tell *t)
{
    if (!t || t->finishing)
        return;
    t->finishing = true;
    t->failures = 0;
    tell(t); /* while others are on their way the last ones follow them */
    uv_close((uv_handle_t *)&t->timer, NULL);
}

void lbd_tell_destroy(struct lbd_tell *t)
{
    free(t);
}
