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
#include "lbd/controller/recall.h"
#include "lbd/controller/record.h"
#include "lbd/controller/sessions.h"
#include "lbd/node/kernel.h"

#define COMMIT_NS LBX_NS_PER_S
#define RANK_SOON_NS (LBX_NS_PER_S / 2)  /* reports that come together make one ranking */
#define SEND_LEAST_NS (2 * LBX_NS_PER_S) /* between two sent to all nodes */
#define SEND_MORE_PER_HOST_NS \
    (20 * LBX_NS_PER_MS) /* a large cluster less often: n hosts get n lines each */
#define HOSTS_MAX ((size_t)65536)
#define UNKNOWN_NS LBD_RANKING_UNUSED_NS

struct lbd_controller {
    uv_loop_t *loop;
    uv_timer_t rank_timer;
    uv_async_t committed;
    struct lbp_index_weights weights;
    struct lbd_ranking *ranking;
    struct lbd_store *store;
    struct lbd_sessions *sessions;
    struct lbd_host *host; /* [n] */
    size_t n, size;
    int64_t load_interval_ns;
    int64_t sent_ns;  /* when the ranking was sent last */
    uint64_t dropped; /* of the store, as last seen */
    uint64_t reports;
    const struct lbd_slurmnodes *slurm;
    struct lbd_finished finished;
    struct lbd_running running;
    struct lbd_decisions *decisions; /* borrowed; NULL: none are kept */
    void (*hear)(void *data, const struct lbw_node_claims *claims);
    void *hear_data;
    bool stopped;
};

static struct lbd_host *add_host(struct lbd_controller *c)
{
    if (c->n == HOSTS_MAX)
        return NULL;
    if (c->n == c->size) {
        size_t size = c->size ? 2 * c->size : 8;
        struct lbd_host *host = realloc(c->host, size * sizeof(*host));

        if (!host)
            return NULL;
        c->host = host;
        c->size = size;
    }
    memset(&c->host[c->n], 0, sizeof(c->host[0]));
    return &c->host[c->n++];
}

/* From the database at start.  A report's age goes by the wall clock here: nothing else survives a restart. */
static void on_stored_host(void *data, const struct lbd_db_host *host, int64_t at_s,
                           const struct lbw_node_report *report)
{
    struct lbd_controller *c = data;
    struct lbd_host *h = add_host(c);
    int64_t age_s = lbx_clock_wall_ns() / LBX_NS_PER_S - at_s;

    if (!h)
        return;
    snprintf(h->name, sizeof(h->name), "%s", host->name);
    snprintf(h->boot, sizeof(h->boot), "%s", host->boot);
    h->reported = at_s > 0 && report->hardware > 0 && report->core_speed > 0 &&
                  report->capacity > 0 && age_s < UNKNOWN_NS / LBX_NS_PER_S;
    h->report = *report;
    h->at_s = at_s;
    h->at_ns = lbx_clock_mono_ns() - (age_s > 0 ? age_s : 0) * LBX_NS_PER_S;
}

static void put_host(struct lbd_controller *c, size_t i)
{
    struct lbd_db_host row = {.seen_s = lbx_clock_wall_ns() / LBX_NS_PER_S};

    memcpy(row.name, c->host[i].name, sizeof(row.name));
    memcpy(row.boot, c->host[i].boot, sizeof(row.boot));
    memcpy(row.model, c->host[i].report.model, sizeof(row.model));
    lbd_store_put_host(c->store, (uint32_t)i, &row);
}

static void on_rank_timer(uv_timer_t *timer)
{
    struct lbd_controller *c = timer->data;
    int64_t now_ns = lbx_clock_mono_ns();
    int64_t between_ns = SEND_LEAST_NS + (int64_t)c->n * SEND_MORE_PER_HOST_NS;

    if (lbd_rank_hosts(c->host, c->n, &c->weights, c->ranking, now_ns,
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
    for (size_t i = 0; i < c->n; i++)
        c->host[i].last_seq = 0; /* what is sent again may be what was dropped */
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
    c->load_interval_ns = settings->load_interval_ns;
    c->ranking = ranking;
    lbd_finished_init(&c->finished);
    uv_timer_init(loop, &c->rank_timer);
    rc = uv_async_init(loop, &c->committed, on_committed);
    c->rank_timer.data = c->committed.data = c;
    *ret_controller = c; /* from here on the caller stops and destroys it, also when this fails */
    if (rc < 0)
        return lbx_error_set(err, rc, "event loop: %s", uv_strerror(rc));
    rc = open_store(c, settings, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < c->n; i++)
        put_host(c, i);
    rc = lbd_sessions_create(loop, c, settings->listen_address, settings->listen_port,
                             settings->verify_address, err, &c->sessions);
    if (rc == 0 && c->n > 0)
        rank_soon(c);
    return rc;
}

void lbd_controller_stop(struct lbd_controller *c)
{
    c->stopped = true;
    lbd_sessions_stop(c->sessions);
    lbd_store_destroy(c->store); /* its thread may use the handle until here */
    c->store = NULL;
    uv_close((uv_handle_t *)&c->rank_timer, NULL);
    uv_close((uv_handle_t *)&c->committed, NULL);
}

void lbd_controller_destroy(struct lbd_controller *c)
{
    if (!c)
        return;
    lbd_sessions_destroy(c->sessions);
    lbd_running_fini(&c->running);
    for (size_t i = 0; i < c->n; i++)
        lbd_outlook_destroy(c->host[i].outlook);
    free(c->host);
    free(c);
}

void lbd_controller_set(struct lbd_controller *c, const struct lbd_controller_settings *settings)
{
    c->weights = settings->weights;
    c->load_interval_ns = settings->load_interval_ns;
    lbd_store_set(c->store, &settings->keep);
    lbd_sessions_set(c->sessions, settings->verify_address);
    rank_soon(c);
}

static void put_event(struct lbd_controller *c, uint32_t index, const char *what,
                      const char *detail)
{
    if (c->store)
        lbd_store_put_event(c->store, index, lbx_clock_wall_ns() / LBX_NS_PER_S, what, detail);
}

void lbd_controller_slurm(struct lbd_controller *c, const struct lbd_slurmnodes *nodes)
{
    c->slurm = nodes;
    for (size_t i = 0; i < c->n; i++) {
        enum lbd_slurm_state state = lbd_slurmnodes_state(nodes, c->host[i].name);

        if (state == c->host[i].slurm)
            continue;
        if (c->host[i].slurm != LBD_SLURM_UNKNOWN || state != LBD_SLURM_UP)
            put_event(c, (uint32_t)i, "slurm", lbd_slurm_state_name[state]);
        c->host[i].slurm = state;
        rank_soon(c);
    }
}

uint32_t lbd_controller_join(struct lbd_controller *c, const char *name, const char *boot,
                             uint64_t instance)
{
    struct lbd_host *h = NULL;
    uint32_t index;

    for (size_t i = 0; i < c->n && !h; i++)
        if (strcmp(c->host[i].name, name) == 0)
            h = &c->host[i];
    if (!h) {
        h = add_host(c);
        if (!h)
            return UINT32_MAX;
        snprintf(h->name, sizeof(h->name), "%s", name);
        h->slurm = lbd_slurmnodes_state(c->slurm, name);
    }
    index = (uint32_t)(h - c->host);
    if (h->boot[0] && strcmp(h->boot, boot) != 0) {
        h->reported = false; /* another system since then: what was known is void */
        put_event(c, index, "rebooted", boot);
    }
    if (h->instance != instance)
        h->last_seq = 0;
    snprintf(h->boot, sizeof(h->boot), "%s", boot);
    h->instance = instance;
    h->connected = true;
    put_host(c, index);
    put_event(c, index, "joined", "");
    return index;
}

void lbd_controller_leave(struct lbd_controller *c, uint32_t index, const char *why)
{
    c->host[index].connected = false;
    put_event(c, index, "left", why);
}

static void on_recall(void *data, uint32_t index, enum lbd_resolution resolution,
                      const struct lbd_db_point *point, size_t n)
{
    struct lbd_controller *c = data;
    struct lbd_host *h = &c->host[index];

    lbd_outlook_remember(h->outlook, resolution, point, n);
}

/* A host that has become slower than it was, or is itself again. */
static void note_health(struct lbd_controller *c, uint32_t index, const struct lbw_node_report *was,
                        const struct lbw_node_report *is)
{
    bool slow = is->slow_ratio < 1;
    char detail[96] = "";

    if (slow == (was->slow_ratio > 0 && was->slow_ratio < 1))
        return;
    if (slow)
        snprintf(detail, sizeof(detail), "%s at %.2f of its history",
                 lbd_kernels[is->slow_kernel].name, is->slow_ratio);
    put_event(c, index, slow ? "slower" : "recovered", detail);
    if (slow)
        lbx_log(LBX_LOG_WARNING, "host %s is slower than it was: %s", c->host[index].name, detail);
}

/* Feed the host's forecast, which begins with what the database remembers of it. */
static void look_out(struct lbd_controller *c, uint32_t index)
{
    struct lbd_host *h = &c->host[index];

    if (!h->outlook) {
        h->outlook = lbd_outlook_create(c->load_interval_ns, h->report.cpus);
        if (!h->outlook)
            return;
        lbd_recall_start(c->store, h->name, c, index, on_recall);
    }
    /* not by the row's second, which is ahead where reports come more often */
    lbd_outlook_report(h->outlook, h->instance, lbx_clock_wall_ns() - h->report.age_ns, &h->report);
}

uint64_t lbd_controller_report(struct lbd_controller *c, uint32_t index,
                               const struct lbw_node_report *report)
{
    struct lbd_host *h = &c->host[index];
    int64_t now_s = lbx_clock_wall_ns() / LBX_NS_PER_S;
    bool new_model = strcmp(h->report.model, report->model) != 0;

    if (!c->store)
        return 0;
    c->reports++;
    if (report->seq > 0 && report->seq <= h->last_seq)
        return h->last_ticket; /* had, but perhaps not on disk yet */
    h->last_seq = report->seq;
    note_health(c, index, &h->report, report);
    h->report = *report;
    h->reported = true;
    h->at_ns = lbx_clock_mono_ns() - report->age_ns;
    now_s -= report->age_ns / LBX_NS_PER_S;
    /* its second is the row's key: two reports in one, or a clock set back a little, must not cover a row */
    if (now_s <= h->at_s && now_s > h->at_s - 60)
        now_s = h->at_s + 1;
    h->at_s = now_s;
    if (new_model)
        put_host(c, index);
    look_out(c, index);
    rank_soon(c);
    h->last_ticket = lbd_store_put_report(c->store, index, h->at_s, report);
    return h->last_ticket;
}

void lbd_controller_keep(struct lbd_controller *c, struct lbd_decisions *decisions)
{
    c->decisions = decisions;
}

void lbd_controller_decisions(struct lbd_controller *c, const struct lbw_node_decisions *m)
{
    struct lbx_error err;

    if (c->decisions && lbd_decisions_take(c->decisions, m->uid, m->jobid, m->stepid, m->text,
                                           lbx_clock_mono_ns(), &err) < 0)
        lbx_log(LBX_LOG_DEBUG, "job %u.%u: %s", m->jobid, m->stepid, err.text);
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

void lbd_controller_heard(struct lbd_controller *c, const struct lbw_node_claims *claims)
{
    lbd_controller_claims(c, claims);
    if (c->hear)
        c->hear(c->hear_data, claims);
}

uint64_t lbd_controller_job(struct lbd_controller *c, uint32_t index, const struct lbw_job *job)
{
    struct lbd_host *h = &c->host[index];

    if (!c->store)
        return 0;
    if (job->seq > 0 && job->seq <= h->last_seq)
        return h->last_ticket;
    lbd_running_take(&c->running, index, job, lbx_clock_mono_ns());
    if (!job->ended)
        return 0;
    h->last_seq = job->seq;
    lbd_finished_add(&c->finished, job);
    h->last_ticket = lbd_record_job(c->store, h, job);
    return h->last_ticket;
}

const struct lbd_running *lbd_controller_running(struct lbd_controller *c)
{
    lbd_running_expire(&c->running, lbx_clock_mono_ns());
    return &c->running;
}

const struct lbd_finished *lbd_controller_finished(const struct lbd_controller *c)
{
    return &c->finished;
}

const struct lbd_host *lbd_controller_hosts(const struct lbd_controller *c, size_t *ret_n)
{
    *ret_n = c->n;
    return c->host;
}

struct lbd_store *lbd_controller_store(const struct lbd_controller *c)
{
    return c->store;
}

void lbd_controller_stats(const struct lbd_controller *c, struct lbd_controller_stats *ret)
{
    int64_t now_ns = lbx_clock_mono_ns();

    memset(ret, 0, sizeof(*ret));
    ret->reports = c->reports;
    for (size_t i = 0; i < c->n; i++) {
        ret->hosts_fresh += c->host[i].reported && now_ns - c->host[i].at_ns <= UNKNOWN_NS;
        ret->connected += c->host[i].connected;
    }
    lbd_sessions_stats(c->sessions, ret);
}
