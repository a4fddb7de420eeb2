/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts that a new job can have at once, best ones by rank: who asks waits a little for Slurm, which lbd asks in turn. */
#include "lbd/local_server_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define WAIT_MOST_NS (LBX_NS_PER_S / 10)

static int compare_hosts(const void *a, const void *b)
{
    return strcmp(((const struct lbw_local_host *)a)->host,
                  ((const struct lbw_local_host *)b)->host);
}

/* Those of the partition behind commas, to be freed; NULL when memory is short. */
static char *names_of(const struct lbd_vacant_host *host, size_t n, const char *partition)
{
    char *names = malloc(n * sizeof(host->name) + 1), *end = names;

    for (size_t i = 0; names && i < n; i++) {
        size_t len = strlen(host[i].name);

        if (!lbd_vacant_is_in(&host[i], partition))
            continue;
        if (end > names)
            *end++ = ',';
        memcpy(end, host[i].name, len);
        end += len;
    }
    if (names)
        *end = '\0';
    return names;
}

/* The ranked ones, in Slurm's order. */
static void join(const struct lbd_vacant_host *host, size_t n, const char *partition,
                 struct lbw_local_hosts *ranked, struct lbw_local_idle *idle)
{
    idle->n = 0;
    qsort(ranked->host, ranked->n, sizeof(ranked->host[0]), compare_hosts);
    for (size_t i = 0; i < n && idle->n < LBW_LOCAL_HOSTS_MAX; i++) {
        struct lbw_local_idle_host *h = &idle->host[idle->n];
        struct lbw_local_host key;
        const struct lbw_local_host *found;

        memcpy(key.host, host[i].name, sizeof(key.host));
        found = bsearch(&key, ranked->host, ranked->n, sizeof(key), compare_hosts);
        if (!found || !lbd_vacant_is_in(&host[i], partition))
            continue;
        memset(h, 0, sizeof(*h));
        memcpy(h->host, host[i].name, sizeof(h->host));
        h->cpus = host[i].cpus;
        h->core_speed = found->core_speed;
        h->capacity = found->capacity;
        idle->n++;
    }
}

static int collect(struct lbd_local_client *c, int64_t now_ns)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_hosts *ranked = malloc(sizeof(*ranked));
    struct lbw_local_idle *idle = &s->msg.u.idle;
    const struct lbd_vacant_host *host;
    char *names = NULL;
    size_t n;
    int rc = -ENOMEM;

    host = lbd_vacant_list(s->sources.vacant, &n);
    if (ranked)
        names = names_of(host, n, c->idle.partition);
    if (names)
        rc = lbd_ranking_among(s->sources.ranking, names, now_ns, ranked);
    if (rc == 0) {
        s->msg.type = LBW_L_IDLE_HOSTS;
        idle->age_ns = now_ns - lbd_vacant_at_ns(s->sources.vacant);
        idle->generation = 0;
        join(host, n, c->idle.partition, ranked, idle);
        if (s->sources.spread)
            lbd_spread_look(s->sources.spread, c->peer.uid,
                            s->sources.load_interval_ns(s->sources.data), idle);
    }
    free(names);
    free(ranked);
    return rc;
}

/* With what is known now. */
static int answer(struct lbd_local_client *c, int64_t now_ns)
{
    struct lbd_local_server *s = c->server;
    int64_t at_ns = lbd_vacant_at_ns(s->sources.vacant);
    int rc;

    if (at_ns == 0 || now_ns - at_ns > LBD_VACANT_UNUSED_NS)
        return lbd_local_send_text(c, LBW_L_ERROR, LBW_LOCAL_NO_IDLE);
    rc = collect(c, now_ns);
    if (rc < 0)
        return lbd_local_send_text(c, LBW_L_ERROR, strerror(-rc));
    rc = lbd_local_send(c);
    lbd_local_count_placement(s, c->idle.asked_ns);
    return rc;
}

static void on_waited(uv_timer_t *timer)
{
    lbd_local_answer_waiting(timer->data);
}

void lbd_local_answer_waiting(struct lbd_local_server *s)
{
    int64_t now_ns = lbx_clock_mono_ns(), next_ns = INT64_MAX;
    struct lbd_local_client *following;

    for (struct lbd_local_client *c = s->clients; c; c = following) {
        following = c->next; /* clients go only when the loop turns */
        if (c->idle.until_ns == 0 || c->conn.closing)
            continue;
        if (now_ns < c->idle.until_ns &&
            !lbd_vacant_has_answered(s->sources.vacant, c->idle.since_ns)) {
            if (c->idle.until_ns < next_ns)
                next_ns = c->idle.until_ns;
            continue;
        }
        c->idle.until_ns = 0;
        if (answer(c, now_ns) == 0)
            lbd_conn_pause(&c->conn, false);
    }
    if (next_ns != INT64_MAX && !uv_is_closing((uv_handle_t *)&s->idle_wait)) {
        uv_update_time(s->loop);
        uv_timer_start(&s->idle_wait, on_waited, (uint64_t)((next_ns - now_ns) / LBX_NS_PER_MS) + 1,
                       0);
    }
}

int lbd_local_answer_idle(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_idle_question question = s->msg.u.idle_question;
    int64_t now_ns = lbx_clock_mono_ns();

    if (!s->sources.vacant)
        return lbd_local_send_text(c, LBW_L_ERROR, LBW_LOCAL_NO_IDLE);
    if (lbd_ranking_age_ns(s->sources.ranking, now_ns) > LBD_RANKING_UNUSED_NS)
        return lbd_local_refuse_ranking(c, now_ns);
    memcpy(c->idle.partition, question.partition, sizeof(c->idle.partition));
    c->idle.asked_ns = now_ns;
    c->idle.since_ns = lbd_vacant_want(s->sources.vacant, now_ns);
    if (question.wait_ns > 0 && !lbd_vacant_has_answered(s->sources.vacant, c->idle.since_ns)) {
        c->idle.until_ns =
            now_ns + (question.wait_ns < WAIT_MOST_NS ? question.wait_ns : WAIT_MOST_NS);
        lbd_conn_pause(&c->conn, true); /* the next question waits for this answer */
        lbd_local_answer_waiting(s);
        return 0;
    }
    return answer(c, now_ns);
}
