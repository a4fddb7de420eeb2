/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbctl asks for, answered in JSON. */
#include "lbd/commands.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "config.h"
#include "lbd/node/kernel.h"
#include "lbd/past.h"
#include "lbd/present.h"
#include "lbd/retention.h"
#include "lbd/steer.h"

#define RANK_PART 100 /* hosts with their reasons in one answer: 400 bytes each */
#define SILENT_MAX 50 /* nodes without lbd that are named */
#define MOST_BYTES ((size_t)LBW_LOCAL_TEXT_MAX - 4096)
#define DIGITS 6 /* of a number: more than is measured */

static double to_s(int64_t ns)
{
    return (double)(ns / LBX_NS_PER_MS) / 1e3;
}

/* The parts of a host's index, where the controller is in this process and knows them. */
static void add_why(json_t *o, const struct lbd_view *v, const char *name)
{
    const struct lbd_host *h;
    struct lbp_forecast_answer a;
    json_t *why;

    if (!v->controller)
        return;
    h = lbd_hosts_find(lbd_controller_hosts(v->controller), name);
    if (!h || !h->reported)
        return;
    why = json_pack("{sf sf sI sI sI sf sf}", "hardware_index_s", h->report.hardware_s,
                    "workload_index", h->prospect.workload_ratio, "users",
                    (json_int_t)h->report.users, "terminals", (json_int_t)h->report.terminals,
                    "tasks", (json_int_t)h->report.tasks, "fresh_tasks", h->report.fresh_tasks,
                    "external_cpus", h->report.external_cpus);
    if (h->outlook && h->prospect.stable_ns > 0 && lbp_forecast_ask(&h->outlook->forecast, &a)) {
        json_object_set_new(why, "forecast_cpus", json_real(a.value));
        json_object_set_new(why, "error_cpus", json_real(a.error));
        json_object_set_new(why, "predictor", json_string(lbp_predictor_name(a.best)));
    }
    json_object_set_new(o, "why", why);
}

/* From the first-th on, as many as fit into one answer. */
static json_t *make_rank(const struct lbd_view *v, size_t first)
{
    int64_t now_ns = lbx_clock_mono_ns(), age_ns = lbd_ranking_age_ns(v->ranking, now_ns);
    json_t *hosts = json_array(), *o = json_object();
    size_t n = age_ns <= LBD_RANKING_UNUSED_NS ? v->ranking->n : 0, i;

    for (i = first; i < n && i < first + RANK_PART; i++) {
        const struct lbw_local_host *h = &v->ranking->host[i];
        json_t *one =
            json_pack("{ss sf sf sf sf sf sf}", "host", h->host, "index", h->index, "core_speed",
                      h->core_speed, "capacity", h->capacity, "hardware", h->hardware, "stable_s",
                      to_s(h->stable_ns), "age_s", to_s(h->age_ns + age_ns));

        add_why(one, v, h->host);
        json_array_append_new(hosts, one);
    }
    json_object_set_new(o, "age_s", age_ns == INT64_MAX ? json_null() : json_real(to_s(age_ns)));
    json_object_set_new(o, "stale", json_boolean(age_ns > LBD_RANKING_STALE_NS));
    json_object_set_new(o, "hosts", hosts);
    if (i < n)
        json_object_set_new(o, "next", json_integer((json_int_t)i));
    return o;
}

static json_t *make_kernels(const struct lbw_node_report *r)
{
    json_t *list = json_object();

    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        json_object_set_new(list, lbd_kernels[i].name,
                            json_pack("{sf sf sf ss}", "core_hz", r->kernel_ops_hz[i],
                                      "all_cores_hz", r->kernel_all_hz[i], "dispersion",
                                      r->kernel_dispersion[i], "unit",
                                      lbd_kernels[i].least_bytes > 0 ? "B/s" : "op/s"));
    return list;
}

static json_t *make_host(const struct lbd_host *h, int64_t now_ns)
{
    const struct lbw_node_report *r = &h->report;
    json_t *o;

    if (!h->reported)
        return json_pack("{ss sb sn ss}", "host", h->name, "connected", h->connected, "age_s",
                         "slurm", lbd_slurm_state_name[h->slurm]);
    o = json_pack(
        "{ss sb sf ss sf sf sf sf sf sf sf sf sf sf sI sI sI}", "host", h->name, "connected",
        h->connected, "age_s", to_s(now_ns - h->at_ns), "model", r->model, "cpus", r->cpus, "index",
        h->index, "hardware", r->hardware, "core_speed", r->core_speed, "capacity", r->capacity,
        "hardware_index_s", r->hardware_s, "workload_index", r->workload_ratio, "external_cpus",
        r->external_cpus, "busy_cpus", r->busy_cpus, "pressure", r->pressure_ratio, "users",
        (json_int_t)r->users, "terminals", (json_int_t)r->terminals, "tasks", (json_int_t)r->tasks);
    json_object_update_new(
        o, json_pack("{sf sf sf sf sI sI sI sI}", "fresh_tasks", r->fresh_tasks, "placed_cpus",
                     r->placed_cpus, "steal_cpus", r->steal_cpus, "throttled", r->throttled_ratio,
                     "running", (json_int_t)r->running, "packages", (json_int_t)r->packages,
                     "cores", (json_int_t)r->cores, "numa_nodes", (json_int_t)r->numa_nodes));
    if (r->slow_ratio > 0 && r->slow_ratio < 1)
        json_object_set_new(o, "slow",
                            json_pack("{ss sf}", "kernel", lbd_kernels[r->slow_kernel].name,
                                      "ratio", r->slow_ratio));
    json_object_set_new(o, "slurm", json_string(lbd_slurm_state_name[h->slurm]));
    json_object_set_new(o, "benchmark_age_s", json_real(to_s(r->bench_age_ns + now_ns - h->at_ns)));
    json_object_set_new(o, "kernels", make_kernels(r));
    return o;
}

static json_t *make_predictors(const struct lbp_forecast *f)
{
    json_t *list = json_array();

    for (int p = 0; p < LBP_PREDICTORS; p++) {
        double value, error;

        if (lbp_forecast_one(f, (enum lbp_predictor)p, &value, &error))
            json_array_append_new(list, json_pack("{ss sf sf}", "name",
                                                  lbp_predictor_name((enum lbp_predictor)p),
                                                  "external_cpus", value, "error_cpus", error));
    }
    return list;
}

static json_t *make_forecast(const struct lbd_view *v, const char *name, struct lbx_error *err)
{
    const struct lbd_host *h = NULL;
    struct lbp_forecast_answer a;
    json_t *o;

    if (!v->controller) {
        lbx_error_set(err, -ENOTSUP, "this lbd is no controller: ask there");
        return NULL;
    }
    h = lbd_hosts_find(lbd_controller_hosts(v->controller), name);
    if (!h) {
        lbx_error_set(err, -ENOENT, "host '%.64s' is not known: see lbctl hosts", name);
        return NULL;
    }
    if (!h->outlook || !lbp_forecast_ask(&h->outlook->forecast, &a)) {
        lbx_error_set(err, -ENODATA, "nothing has been seen of the load of %s yet", h->name);
        return NULL;
    }
    o = json_pack("{ss sf sf ss sf sI sf}", "host", h->name, "external_cpus", a.value, "error_cpus",
                  a.error, "predictor", lbp_predictor_name(a.best), "stable_s", a.stable_ns / 1e9,
                  "samples", (json_int_t)h->outlook->forecast.samples, "age_s",
                  to_s(lbx_clock_wall_ns() - h->outlook->forecast.at_ns));
    json_object_set_new(o, "ahead_samples", json_integer((json_int_t)h->outlook->forecast.ahead));
    json_object_set_new(o, "core_speed", json_real(h->prospect.core_speed));
    json_object_set_new(o, "capacity", json_real(h->prospect.capacity));
    json_object_set_new(o, "now_external_cpus", json_real(h->report.external_cpus));
    json_object_set_new(o, "predictors", make_predictors(&h->outlook->forecast));
    return o;
}

/* From the first-th on, as many as fit into one answer. */
/* Nodes of Slurm whose lbd has never been heard of, as many as a person reads. */
static json_t *make_silent(const struct lbd_view *v, const struct lbd_host *host, size_t nhost)
{
    json_t *list = json_array();
    const struct lbd_slurmnode *node;
    size_t n, k;

    node = lbd_slurmnodes_list(v->slurm, &n);
    for (size_t i = 0; i < n && json_array_size(list) < SILENT_MAX; i++) {
        for (k = 0; k < nhost && strcmp(host[k].name, node[i].name) != 0; k++)
            continue;
        if (k == nhost)
            json_array_append_new(list, json_string(node[i].name));
    }
    return list;
}

static json_t *make_hosts(const struct lbd_view *v, size_t first, struct lbx_error *err)
{
    json_t *hosts, *o;
    const struct lbd_host *h;
    int64_t now_ns = lbx_clock_mono_ns();
    size_t n, i, bytes = 0;

    if (!v->controller) {
        lbx_error_set(err, -ENOTSUP,
                      "this lbd is no controller: ask there, or use rank for what is known here");
        return NULL;
    }
    hosts = json_array();
    h = lbd_controller_hosts(v->controller)->host;
    n = lbd_controller_hosts(v->controller)->n;
    for (i = first; i < n && bytes < MOST_BYTES; i++) {
        o = make_host(&h[i], now_ns);
        bytes += json_dumpb(o, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) + 1;
        json_array_append_new(hosts, o);
    }
    o = json_object();
    json_object_set_new(o, "hosts", hosts);
    json_object_set_new(o, "next", i < n ? json_integer((json_int_t)i) : json_null());
    if (first == 0)
        json_object_set_new(o, "without_lbd", make_silent(v, h, n));
    return o;
}

static json_t *make_node(const struct lbd_node *node)
{
    struct lbd_node_stats s;

    lbd_node_stats(node, &s);
    return json_pack(
        "{sb sf sf sf sf sI sf sI sI sf sf sf sI s{sI sI sI sI sI} sb}", "measured", s.measured,
        "hardware", s.bench.hardware, "share", s.bench.share, "cpus", s.load.cpus, "external_cpus",
        s.external_cpus, "tasks", (json_int_t)s.tasks, "fresh_tasks", s.fresh_tasks, "samples",
        (json_int_t)s.samples, "benchmarks", (json_int_t)s.bench_runs, "quantum_s",
        (double)s.bench.quantum_ns / 1e9, "quota_period_s", (double)s.bench.quota_period_ns / 1e9,
        "scaling", s.bench.scaling_ratio, "benchmark_cpus", (json_int_t)s.bench.ncpus, "topology",
        "packages", (json_int_t)s.bench.topology.packages, "cores",
        (json_int_t)s.bench.topology.cores, "threads", (json_int_t)s.bench.topology.threads,
        "numa_nodes", (json_int_t)s.bench.topology.numa_nodes, "cache_bytes",
        (json_int_t)s.bench.topology.cache_bytes, "slow", s.health.slow);
}

static json_t *make_uplink(const struct lbd_view *v)
{
    struct lbd_uplink_stats s;

    lbd_uplink_stats(v->uplink, &s);
    return json_pack("{ss si sb sI sI sI sI ss}", "controller", v->options->controller_at.host,
                     "port", v->options->controller_at.port, "connected", s.connected, "failures",
                     (json_int_t)s.failures, "pending", (json_int_t)s.pending, "dropped",
                     (json_int_t)s.dropped, "acknowledged", (json_int_t)s.acknowledged, "reason",
                     s.reason);
}

static json_t *make_controller(struct lbd_controller *c)
{
    struct lbd_controller_stats s;
    struct lbd_store_stats d;

    lbd_controller_stats(c, &s);
    lbd_store_stats(lbd_controller_store(c), &d);
    return json_pack("{sI sI sI s{sb ss sI sI sI sI sI sI sI sI ss}}", "hosts",
                     (json_int_t)s.hosts_fresh, "connected", (json_int_t)s.connected, "reports",
                     (json_int_t)s.reports, "database", "open", d.open, "reason", d.reason, "rows",
                     (json_int_t)d.rows, "dropped", (json_int_t)d.dropped, "resets",
                     (json_int_t)d.resets, "size_bytes", (json_int_t)d.size_bytes, "waiting",
                     (json_int_t)d.waiting, "means_until", (json_int_t)d.means_s, "backup_at",
                     (json_int_t)d.backup_s, "snapshot_at", (json_int_t)d.snapshot_s, "copy_reason",
                     d.keep_reason);
}

static json_t *make_status(const struct lbd_view *v)
{
    struct lbd_local_stats s;
    size_t here, far;
    json_t *o =
        json_pack("{ss ss si sf}", "version", PACKAGE_VERSION, "host", v->options->host, "pid",
                  (int)getpid(), "up_s", to_s(lbx_clock_wall_ns() - v->started_wall_ns));

    lbd_local_server_stats(v->server, &s);
    json_object_set_new(o, "socket",
                        json_pack("{ss sI sI sI sI}", "path", v->options->socket, "requests",
                                  (json_int_t)s.requests, "connections", (json_int_t)s.connections,
                                  "refused", (json_int_t)s.refused, "bad", (json_int_t)s.bad));
    json_object_set_new(o, "policy_conf",
                        json_pack("{ss sI}", "path", v->options->config, "reload_failures",
                                  (json_int_t)v->reload_failures));
    lbd_spread_count(v->spread, &here, &far);
    json_object_set_new(
        o, "claims", json_pack("{sI sI}", "here", (json_int_t)here, "elsewhere", (json_int_t)far));
    if (v->node)
        json_object_set_new(o, "node", make_node(v->node));
    if (v->uplink)
        json_object_set_new(o, "uplink", make_uplink(v));
    if (v->controller)
        json_object_set_new(o, "controller", make_controller(v->controller));
    return o;
}

static json_t *make_rules(const struct lbx_conf_rule *rule, size_t n)
{
    static const char *const mode[] = {"opt-in", "opt-out"};
    static const char *const placement[] = {"off", "on", "weights"};
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *o = json_pack("{ss}", "name", rule[i].name);

        if (rule[i].policy[0])
            json_object_set_new(o, "policy", json_string(rule[i].policy));
        if (rule[i].mode != LBX_MODE_UNSET)
            json_object_set_new(o, "mode", json_string(mode[rule[i].mode]));
        if (rule[i].placement != LBX_PLACE_UNSET)
            json_object_set_new(o, "placement", json_string(placement[rule[i].placement]));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *make_policy(const struct lbx_policyconf *c, const char *state)
{
    static const char *const placement[] = {"off", "on", "weights"};
    struct lbd_keep_settings keep;
    json_t *allowed = json_array();

    lbd_retention(c, state, &keep);
    for (size_t i = 0; i < c->npolicies; i++)
        json_array_append_new(allowed, json_string(c->allowed[i]));
    return json_pack(
        "{ss ss ss so so s{so sf sf sb} s{sf sf sf} s{sf sf sf sf} s{sf sf sf sf sf sf sI} s{ss si "
        "si ss sf}}",
        "policy", c->policy, "mode", c->mode == LBX_MODE_OPT_OUT ? "opt-out" : "opt-in",
        "placement", placement[c->placement], "partitions",
        make_rules(c->partition, c->npartitions), "accounts", make_rules(c->account, c->naccounts),
        "limits", "policies", allowed, "least_period_s", to_s(c->least_period_ns), "least_chunk_s",
        to_s(c->least_chunk_ns), "trace", c->trace, "probe", "load_interval_s",
        to_s(c->load_interval_ns), "benchmark_interval_s", to_s(c->benchmark_interval_ns), "jitter",
        c->jitter_ratio, "index", "scale", c->index_scale, "user", c->index_user, "terminal",
        c->index_terminal, "task", c->index_task, "retention", "raw_s", to_s(c->keep_raw_ns),
        "five_minutes_s", to_s(c->keep_5m_ns), "hours_s", to_s(c->keep_1h_ns), "benchmarks_s",
        to_s(c->keep_benchmarks_ns), "jobs_s", to_s(c->keep_jobs_ns), "events_s",
        to_s(c->keep_events_ns), "size_bytes", (json_int_t)c->database_bytes_max, "database",
        "backup", keep.backup[0] ? keep.backup : "off", "backup_hour", c->backup_hour, "backups",
        c->backups, "snapshot", keep.snapshot[0] ? keep.snapshot : "off", "snapshot_interval_s",
        to_s(c->snapshot_interval_ns));
}

static json_t *make_node_weights(const struct lbd_view *v, bool restore, struct lbx_error *err)
{
    const struct lbd_weighted *node;
    const char *error;
    json_t *nodes, *o;
    size_t n;
    bool on;

    if (!v->weights) {
        lbx_error_set(err, -ENOTSUP, "this lbd is no controller: ask there");
        return NULL;
    }
    if (restore)
        lbd_weights_restore(v->weights);
    node = lbd_weights_list(v->weights, &n, &on, &error);
    nodes = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            nodes, json_pack("{ss sI sI sI sI sb}", "host", node[i].name, "weight",
                             (json_int_t)node[i].weight, "wanted", (json_int_t)node[i].wanted,
                             "site", (json_int_t)node[i].site, "bucket", (json_int_t)node[i].bucket,
                             "managed", node[i].managed));
    o = json_pack("{sb ss}", "on", on, "error", error);
    json_object_set_new(o, "nodes", nodes);
    return o;
}

char *lbd_command(const struct lbd_view *v, uint64_t request, const char *text,
                  struct lbx_error *err)
{
    json_t *o = NULL;
    char *json;

    if (lbd_past_command(v, request, text, err))
        return NULL;
    if (lbd_present_command(v, text, &o, err) || lbd_steer_command(v, text, &o, err))
        ;
    else if (strcmp(text, "rank") == 0 || strncmp(text, "rank ", 5) == 0)
        o = make_rank(v, strtoul(text + 4, NULL, 10));
    else if (strcmp(text, "hosts") == 0 || strncmp(text, "hosts ", 6) == 0)
        o = make_hosts(v, strtoul(text + 5, NULL, 10), err);
    else if (strcmp(text, "status") == 0)
        o = make_status(v);
    else if (strncmp(text, "forecast ", 9) == 0)
        o = make_forecast(v, text + 9, err);
    else if (strcmp(text, "policy") == 0)
        o = make_policy(v->conf, v->options->state);
    else if (strcmp(text, "weights nodes") == 0 || strcmp(text, "weights restore") == 0)
        o = make_node_weights(v, strcmp(text, "weights restore") == 0, err);
    else
        lbx_error_set(
            err, -EINVAL,
            "command '%.100s' is unknown: hosts, rank, forecast, probe, weights, status, policy, "
            "history, jobs, job, running",
            text);
    if (!o) {
        if (!err->code)
            lbx_error_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    json = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    json_decref(o);
    if (!json)
        lbx_error_set(err, -ENOMEM, "the answer could not be written");
    return json;
}
