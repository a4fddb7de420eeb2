/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts as the controller knows them. */
#include "lbd/controller/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/controller/recall.h"
#include "lbd/controller/record.h"
#include "lbd/node/kernel.h"
#include "lbd/ranking.h"

#define HOSTS_MAX ((size_t)65536)
#define UNKNOWN_NS LBD_RANKING_UNUSED_NS

void lbd_hosts_init(struct lbd_hosts *hosts, int64_t load_interval_ns,
                    void (*on_change)(void *data), void *data)
{
    memset(hosts, 0, sizeof(*hosts));
    hosts->load_interval_ns = load_interval_ns;
    hosts->on_change = on_change;
    hosts->data = data;
    lbd_finished_init(&hosts->finished);
}

void lbd_hosts_fini(struct lbd_hosts *hosts)
{
    lbd_running_fini(&hosts->running);
    for (size_t i = 0; i < hosts->n; i++)
        lbd_outlook_destroy(hosts->host[i].outlook);
    free(hosts->host);
}

static struct lbd_host *add_host(struct lbd_hosts *hosts)
{
    if (hosts->n == HOSTS_MAX)
        return NULL;
    if (hosts->n == hosts->size) {
        size_t size = hosts->size ? 2 * hosts->size : 8;
        struct lbd_host *host = realloc(hosts->host, size * sizeof(*host));

        if (!host)
            return NULL;
        hosts->host = host;
        hosts->size = size;
    }
    memset(&hosts->host[hosts->n], 0, sizeof(hosts->host[0]));
    return &hosts->host[hosts->n++];
}

/* From the database at start.  A report's age goes by the wall clock here: nothing else survives a restart. */
void lbd_hosts_stored(struct lbd_hosts *hosts, const struct lbd_db_host *host, int64_t at_s,
                      const struct lbw_node_report *report)
{
    struct lbd_host *h = add_host(hosts);
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

static void put_host(struct lbd_hosts *hosts, size_t i)
{
    struct lbd_db_host row = {.seen_s = lbx_clock_wall_ns() / LBX_NS_PER_S};

    memcpy(row.name, hosts->host[i].name, sizeof(row.name));
    memcpy(row.boot, hosts->host[i].boot, sizeof(row.boot));
    memcpy(row.model, hosts->host[i].report.model, sizeof(row.model));
    lbd_store_put_host(hosts->store, (uint32_t)i, &row);
}

void lbd_hosts_record(struct lbd_hosts *hosts, struct lbd_store *store)
{
    hosts->store = store;
    for (size_t i = 0; i < hosts->n; i++)
        put_host(hosts, i);
}

static void put_event(struct lbd_hosts *hosts, uint32_t index, const char *what, const char *detail)
{
    if (hosts->store)
        lbd_store_put_event(hosts->store, index, lbx_clock_wall_ns() / LBX_NS_PER_S, what, detail);
}

void lbd_hosts_slurm(struct lbd_hosts *hosts, const struct lbd_slurmnodes *nodes)
{
    hosts->slurm = nodes;
    for (size_t i = 0; i < hosts->n; i++) {
        enum lbd_slurm_state state = lbd_slurmnodes_state(nodes, hosts->host[i].name);

        if (state == hosts->host[i].slurm)
            continue;
        if (hosts->host[i].slurm != LBD_SLURM_UNKNOWN || state != LBD_SLURM_UP)
            put_event(hosts, (uint32_t)i, "slurm", lbd_slurm_state_name[state]);
        hosts->host[i].slurm = state;
        hosts->on_change(hosts->data);
    }
}

struct lbd_host *lbd_hosts_find(const struct lbd_hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (strcmp(hosts->host[i].name, name) == 0)
            return &hosts->host[i];
    return NULL;
}

uint32_t lbd_hosts_join(struct lbd_hosts *hosts, const char *name, const char *boot,
                        uint64_t instance)
{
    struct lbd_host *h = lbd_hosts_find(hosts, name);
    uint32_t index;

    if (!h) {
        h = add_host(hosts);
        if (!h)
            return UINT32_MAX;
        snprintf(h->name, sizeof(h->name), "%s", name);
        h->slurm = lbd_slurmnodes_state(hosts->slurm, name);
    }
    index = (uint32_t)(h - hosts->host);
    if (h->boot[0] && strcmp(h->boot, boot) != 0) {
        h->reported = false; /* another system since then: what was known is void */
        put_event(hosts, index, "rebooted", boot);
    }
    if (h->instance != instance)
        h->last_seq = 0;
    snprintf(h->boot, sizeof(h->boot), "%s", boot);
    h->instance = instance;
    h->connected = true;
    put_host(hosts, index);
    put_event(hosts, index, "joined", "");
    return index;
}

void lbd_hosts_leave(struct lbd_hosts *hosts, uint32_t index, const char *why)
{
    hosts->host[index].connected = false;
    put_event(hosts, index, "left", why);
}

static void on_recall(void *data, uint32_t index, enum lbd_resolution resolution,
                      const struct lbd_db_point *point, size_t n)
{
    struct lbd_hosts *hosts = data;
    struct lbd_host *h = &hosts->host[index];

    lbd_outlook_remember(h->outlook, resolution, point, n);
}

/* A host that has become slower than it was, or is itself again. */
static void note_health(struct lbd_hosts *hosts, uint32_t index, const struct lbw_node_report *was,
                        const struct lbw_node_report *is)
{
    bool slow = is->slow_ratio < 1;
    char detail[96] = "";

    if (slow == (was->slow_ratio > 0 && was->slow_ratio < 1))
        return;
    if (slow)
        snprintf(detail, sizeof(detail), "%s at %.2f of its history",
                 lbd_kernels[is->slow_kernel].name, is->slow_ratio);
    put_event(hosts, index, slow ? "slower" : "recovered", detail);
    if (slow)
        lbx_log(LBX_LOG_WARNING, "host %s is slower than it was: %s", hosts->host[index].name,
                detail);
}

/* Feed the host's forecast, which begins with what the database remembers of it. */
static void look_out(struct lbd_hosts *hosts, uint32_t index)
{
    struct lbd_host *h = &hosts->host[index];

    if (!h->outlook) {
        h->outlook = lbd_outlook_create(hosts->load_interval_ns, h->report.cpus);
        if (!h->outlook)
            return;
        lbd_recall_start(hosts->store, h->name, hosts, index, on_recall);
    }
    /* not by the row's second, which is ahead where reports come more often */
    lbd_outlook_report(h->outlook, h->instance, lbx_clock_wall_ns() - h->report.age_ns, &h->report);
}

uint64_t lbd_hosts_report(struct lbd_hosts *hosts, uint32_t index,
                          const struct lbw_node_report *report)
{
    struct lbd_host *h = &hosts->host[index];
    int64_t now_s = lbx_clock_wall_ns() / LBX_NS_PER_S;
    bool new_model = strcmp(h->report.model, report->model) != 0;

    if (!hosts->store)
        return 0;
    hosts->reports++;
    if (report->seq > 0 && report->seq <= h->last_seq)
        return h->last_ticket; /* had, but perhaps not on disk yet */
    h->last_seq = report->seq;
    note_health(hosts, index, &h->report, report);
    h->report = *report;
    h->reported = true;
    h->at_ns = lbx_clock_mono_ns() - report->age_ns;
    now_s -= report->age_ns / LBX_NS_PER_S;
    /* its second is the row's key: two reports in one, or a clock set back a little, must not cover a row */
    if (now_s <= h->at_s && now_s > h->at_s - 60)
        now_s = h->at_s + 1;
    h->at_s = now_s;
    if (new_model)
        put_host(hosts, index);
    look_out(hosts, index);
    hosts->on_change(hosts->data);
    h->last_ticket = lbd_store_put_report(hosts->store, index, h->at_s, report);
    return h->last_ticket;
}

uint64_t lbd_hosts_job(struct lbd_hosts *hosts, uint32_t index, const struct lbw_job *job)
{
    struct lbd_host *h = &hosts->host[index];

    if (!hosts->store)
        return 0;
    if (job->seq > 0 && job->seq <= h->last_seq)
        return h->last_ticket;
    lbd_running_take(&hosts->running, index, job, lbx_clock_mono_ns());
    if (!job->ended)
        return 0;
    h->last_seq = job->seq;
    lbd_finished_add(&hosts->finished, job);
    h->last_ticket = lbd_record_job(hosts->store, h->instance, job);
    return h->last_ticket;
}

void lbd_hosts_forget_seqs(struct lbd_hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        hosts->host[i].last_seq = 0;
}
