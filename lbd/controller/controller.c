/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller role. */
#include "lbd/controller/controller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/controller/rank.h"

#define COMMIT_NS LBX_NS_PER_S
#define RANK_SOON_NS (LBX_NS_PER_S / 2)  /* reports that come together make one ranking */
#define SEND_LEAST_NS (2 * LBX_NS_PER_S) /* between two sent to all nodes */
#define SEND_MORE_PER_HOST_NS \
    (20 * LBX_NS_PER_MS) /* a large cluster less often: n hosts get n lines each */

struct lbd_controller {
    uv_loop_t *loop;
    uv_timer_t rank_timer;
    uv_async_t committed;
    struct lbp_index_weights weights;
    struct lbd_ranking *ranking;
    struct lbd_store *store;
    struct lbd_sessions *sessions;
    struct lbd_hosts hosts;
    int64_t sent_ns;                 /* when the ranking was sent last */
    uint64_t dropped;                /* of the store, as last seen */
    struct lbd_decisions *decisions; /* borrowed; NULL: none are kept */
    void (*hear)(void *data, const struct lbw_node_claims *claims);
    void *hear_data;
    bool stopped;
};

static void on_rank_timer(uv_timer_t *timer)
{
    struct lbd_controller *c = timer->data;
    int64_t now_ns = lbx_clock_mono_ns();
    int64_t between_ns = SEND_LEAST_NS + (int64_t)c->hosts.n * SEND_MORE_PER_HOST_NS;

    if (lbd_rank_hosts(c->hosts.host, c->hosts.n, &c->weights, c->ranking, now_ns,
                       lbx_clock_wall_ns() / LBX_NS_PER_S) < 0)
        return;
    if (c->sent_ns == 0 || now_ns - c->sent_ns >= between_ns) {
        lbd_sessions_send_ranking(c->sessions, c->ranking, between_ns / 2);
        c->sent_ns = now_ns;
    } else { /* what is new now is sent when the time has come */
        uv_timer_start(timer, on_rank_timer,
                       (uint64_t)((c->sent_ns + between_ns - now_ns) / LBX_NS_PER_MS + 1), 0);
    }
}

static void rank_soon(struct lbd_controller *c)
{
    uint64_t ms = RANK_SOON_NS / LBX_NS_PER_MS;

    if (c->stopped ||
        (uv_is_active((uv_handle_t *)&c->rank_timer) && uv_timer_get_due_in(&c->rank_timer) <= ms))
        return;
    uv_timer_start(&c->rank_timer, on_rank_timer, ms, 0);
}

static void on_hosts_change(void *data)
{
    rank_soon(data);
}

static void on_stored_host(void *data, const struct lbd_db_host *host, int64_t at_s,
                           const struct lbw_node_report *report)
{
    struct lbd_controller *c = data;

    lbd_hosts_stored(&c->hosts, host, at_s, report);
}

static void on_store_commit(void *data) /* from the store's thread */
{
    struct lbd_controller *c = data;

    uv_async_send(&c->committed);
}

/*
 * Rows that were dropped are asked for again, but only when the database takes rows: before, connections that come and go would
 * be all that is had from it.
 */
static void on_committed(uv_async_t *async)
{
    struct lbd_controller *c = async->data;
    uint64_t dropped, ticket = lbd_store_committed(c->store, &dropped);
    struct lbd_store_stats stats;

    lbd_store_answer(c->store);
    if (dropped == c->dropped) {
        lbd_sessions_acknowledge(c->sessions, ticket);
        return;
    }
    lbd_store_stats(c->store, &stats);
    if (!stats.open || stats.reason[0])
        return;
    c->dropped = dropped;
    lbd_hosts_forget_seqs(&c->hosts); /* what is sent again may be what was dropped */
    lbd_sessions_restart(c->sessions);
}

static int open_store(struct lbd_controller *c, const struct lbd_controller_settings *settings,
                      struct lbx_error *err)
{
    struct lbd_store_settings s = {
        .max_bytes = settings->max_bytes, .keep = settings->keep, .commit_interval_ns = COMMIT_NS};
    int rc;

    snprintf(s.path, sizeof(s.path), "%s/lbd.db", settings->state);
    rc = lbd_store_create(&s, on_stored_host, on_store_commit, c, &c->store);
    return rc < 0 ? lbx_error_set(err, rc, "database thread: %s", strerror(-rc)) : 0;
}

static void on_decisions(void *data, const struct lbw_node_decisions *m)
{
    struct lbd_controller *c = data;
    struct lbx_error err;

    if (c->decisions && lbd_decisions_take(c->decisions, m->uid, m->jobid, m->stepid, m->text,
                                           lbx_clock_mono_ns(), &err) < 0)
        lbx_log(LBX_LOG_DEBUG, "job %u.%u: %s", m->jobid, m->stepid, err.text);
}

/* A node has told some: the other nodes hear of them, and who listens here. */
static void on_claims(void *data, const struct lbw_node_claims *claims)
{
    struct lbd_controller *c = data;

    lbd_controller_claims(c, claims);
    if (c->hear)
        c->hear(c->hear_data, claims);
}

static int open_sessions(struct lbd_controller *c, const struct lbd_controller_settings *settings,
                         struct lbx_error *err)
{
    struct lbd_sessions_config config = {.hosts = &c->hosts,
                                         .on_decisions = on_decisions,
                                         .on_claims = on_claims,
                                         .data = c,
                                         .address = settings->listen_address,
                                         .port = settings->listen_port,
                                         .verify_address = settings->verify_address};

    return lbd_sessions_create(c->loop, &config, err, &c->sessions);
}

int lbd_controller_create(uv_loop_t *loop, const struct lbd_controller_settings *settings,
                          struct lbd_ranking *ranking, struct lbx_error *err,
                          struct lbd_controller **ret_controller)
{
    struct lbd_controller *c = calloc(1, sizeof(*c));
    int rc;

    if (!c)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    c->loop = loop;
    c->weights = settings->weights;
    c->ranking = ranking;
    lbd_hosts_init(&c->hosts, settings->load_interval_ns, on_hosts_change, c);
    uv_timer_init(loop, &c->rank_timer);
    rc = uv_async_init(loop, &c->committed, on_committed);
    c->rank_timer.data = c->committed.data = c;
    *ret_controller = c; /* from here on the caller stops and destroys it, also when this fails */
    if (rc < 0)
        return lbx_error_set(err, rc, "event loop: %s", uv_strerror(rc));
    rc = open_store(c, settings, err);
    if (rc < 0)
        return rc;
    lbd_hosts_record(&c->hosts, c->store);
    rc = open_sessions(c, settings, err);
    if (rc == 0 && c->hosts.n > 0)
        rank_soon(c);
    return rc;
}

void lbd_controller_stop(struct lbd_controller *c)
{
    c->stopped = true;
    lbd_sessions_stop(c->sessions);
    lbd_store_destroy(c->store); /* its thread may use the handle until here */
    c->store = c->hosts.store = NULL;
    uv_close((uv_handle_t *)&c->rank_timer, NULL);
    uv_close((uv_handle_t *)&c->committed, NULL);
}

void lbd_controller_destroy(struct lbd_controller *c)
{
    if (!c)
        return;
    lbd_sessions_destroy(c->sessions);
    lbd_hosts_fini(&c->hosts);
    free(c);
}

void lbd_controller_set(struct lbd_controller *c, const struct lbd_controller_settings *settings)
{
    c->weights = settings->weights;
    c->hosts.load_interval_ns = settings->load_interval_ns;
    lbd_store_set(c->store, &settings->keep);
    lbd_sessions_set(c->sessions, settings->verify_address);
    rank_soon(c);
}

void lbd_controller_keep(struct lbd_controller *c, struct lbd_decisions *decisions)
{
    c->decisions = decisions;
}

void lbd_controller_on_claims(struct lbd_controller *c,
                              void (*hear)(void *data, const struct lbw_node_claims *claims),
                              void *data)
{
    c->hear = hear;
    c->hear_data = data;
}

void lbd_controller_claims(struct lbd_controller *c, const struct lbw_node_claims *claims)
{
    if (!c->stopped)
        lbd_sessions_pass_on(c->sessions, claims);
}

const struct lbd_running *lbd_controller_running(struct lbd_controller *c)
{
    lbd_running_expire(&c->hosts.running, lbx_clock_mono_ns());
    return &c->hosts.running;
}

struct lbd_hosts *lbd_controller_hosts(struct lbd_controller *c)
{
    return &c->hosts;
}

struct lbd_store *lbd_controller_store(const struct lbd_controller *c)
{
    return c->store;
}

void lbd_controller_stats(const struct lbd_controller *c, struct lbd_controller_stats *ret)
{
    int64_t now_ns = lbx_clock_mono_ns();

    memset(ret, 0, sizeof(*ret));
    ret->reports = c->hosts.reports;
    for (size_t i = 0; i < c->hosts.n; i++) {
        const struct lbd_host *h = &c->hosts.host[i];

        ret->hosts_fresh += h->reported && now_ns - h->at_ns <= LBD_RANKING_UNUSED_NS;
        ret->connected += h->connected;
    }
    if (c->sessions)
        ret->refused = *lbd_sessions_refused(c->sessions);
}
