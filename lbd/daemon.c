/* SPDX-License-Identifier: BSD-3-Clause */
/* One lbd: its parts put together by role, its loop and its signals. */
#include "lbd/daemon.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <uv.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/commands.h"
#include "lbd/decisions.h"
#include "lbd/expose.h"
#include "lbd/jobs.h"
#include "lbd/node/steps.h"
#include "lbd/notify.h"
#include "lbd/reload.h"
#include "lbd/retention.h"
#include "lbd/rules.h"
#include "lbd/serve.h"
#include "lbd/vacant.h"

#define TIDY_MS 5000

struct lbd {
    const struct lbd_options *options;
    uv_loop_t loop;
    uv_signal_t term, interrupt, hup;
    uv_timer_t watchdog, tidy;
    struct lbx_policyconf conf;
    struct lbd_node *node;
    struct lbd_uplink *uplink;
    struct lbd_controller *controller;
    struct lbd_weights *weights;
    struct lbd_slurmnodes *slurm;
    struct lbd_ranking ranking;
    struct lbd_local_server *server;
    struct lbd_spread *spread;
    struct lbd_vacant *vacant;
    struct lbd_serve *serve; /* NULL: nothing is served */
    uint32_t
        self; /* this host's number at the controller in this process; UINT32_MAX: not joined */
    int64_t started_wall_ns;
    struct lbd_jobs *jobs;
    struct lbd_foreseen foreseen;
    struct lbd_decisions *decisions;
    struct lbd_hands hands;
    struct lbd_reload reload;
    bool stopping;
};

static struct lbd_view view_of(const struct lbd *d)
{
    return (struct lbd_view){.options = d->options,
                             .conf = &d->conf,
                             .node = d->node,
                             .uplink = d->uplink,
                             .controller = d->controller,
                             .weights = d->weights,
                             .slurm = d->slurm,
                             .ranking = &d->ranking,
                             .server = d->server,
                             .spread = d->spread,
                             .started_wall_ns = d->started_wall_ns,
                             .reload_failures = d->reload.failures,
                             .jobs = d->jobs,
                             .foreseen = &d->foreseen,
                             .hands = &d->hands};
}

/* Whether this host is known to the controller in this process. */
static bool join_self(struct lbd *d)
{
    char boot[LBW_NODE_BOOT_MAX];

    if (d->controller && d->self == UINT32_MAX) {
        lbd_uplink_boot_id(boot);
        d->self = lbd_hosts_join(lbd_controller_hosts(d->controller), d->options->host, boot, 0);
    }
    return d->self != UINT32_MAX;
}

static void on_job(void *data, const struct lbw_job *job)
{
    struct lbd *d = data;

    if (d->uplink)
        lbd_uplink_job(d->uplink, job);
    if (join_self(d))
        (void)lbd_hosts_job(lbd_controller_hosts(d->controller), d->self, job);
}

static void on_report(void *data, const struct lbw_node_report *report)
{
    struct lbd *d = data;

    lbd_foreseen_take(&d->foreseen, report, lbx_clock_mono_ns());
    if (d->uplink)
        lbd_uplink_report(d->uplink, report);
    if (join_self(d))
        (void)lbd_hosts_report(lbd_controller_hosts(d->controller), d->self, report);
}

static bool may_command(void *data, uid_t uid)
{
    const struct lbd *d = data;

    for (size_t i = 0; i < d->conf.nusers; i++)
        if (d->conf.user[i] == uid)
            return true;
    return false;
}

static char *command(void *data, uint64_t request, const char *text, struct lbx_error *err)
{
    struct lbd_view v = view_of(data);

    return lbd_command(&v, request, text, err);
}

static int job(void *data, const struct lbd_peer *peer, const char *json, struct lbx_error *err)
{
    struct lbd *d = data;
    const struct lbd_step *step = d->node ? lbd_node_step_of(d->node, peer->pid) : NULL;

    if (!step)
        lbd_jobs_refused(d->jobs, LBD_JOBS_STRANGER);
    if (!step)
        return lbx_error_set(err, -EPERM, "job figures: process %d belongs to no step of this host",
                             (int)peer->pid);
    return lbd_jobs_take(d->jobs, peer->uid, step->jobid, step->stepid, json, lbx_clock_mono_ns(),
                         err);
}

static int decisions(void *data, const struct lbd_peer *peer, const char *json,
                     struct lbx_error *err)
{
    struct lbd *d = data;
    const struct lbd_step *step = d->node ? lbd_node_step_of(d->node, peer->pid) : NULL;
    int rc;

    if (!step)
        return lbx_error_set(err, -EPERM, "decisions: process %d belongs to no step of this host",
                             (int)peer->pid);
    rc = lbd_decisions_take(d->decisions, peer->uid, step->jobid, step->stepid, json,
                            lbx_clock_mono_ns(), err);
    if (d->uplink && rc != -EINVAL && rc != -EBUSY)
        lbd_uplink_decisions(d->uplink, step->jobid, step->stepid, peer->uid, json);
    return rc;
}

static char *explain(void *data, uid_t uid, bool all, const char *text, struct lbx_error *err)
{
    struct lbd *d = data;

    return lbd_decisions_answer(d->decisions, uid, all, text, lbx_clock_mono_ns(), err);
}

static int64_t load_interval_ns(void *data)
{
    const struct lbd *d = data;

    return d->conf.load_interval_ns;
}

static void rule(void *data, const struct lbw_local_scope *scope, struct lbw_local_rule *ret_rule)
{
    const struct lbd *d = data;

    lbd_rules_for(&d->conf, scope, ret_rule);
}

static struct lbp_index_weights weights_of(const struct lbx_policyconf *c)
{
    return (struct lbp_index_weights){c->index_scale, c->index_user, c->index_terminal,
                                      c->index_task};
}

static struct lbd_node_settings node_settings(const struct lbd *d)
{
    return (struct lbd_node_settings){.load_interval_ns = d->conf.load_interval_ns,
                                      .benchmark_interval_ns = d->conf.benchmark_interval_ns,
                                      .jitter = d->conf.jitter_ratio,
                                      .weights = weights_of(&d->conf)};
}

static struct lbd_controller_settings controller_settings(const struct lbd *d)
{
    struct lbd_controller_settings s = {.state = d->options->state,
                                        .listen_address = d->options->listen.host,
                                        .listen_port = d->options->listen.port,
                                        .weights = weights_of(&d->conf),
                                        .max_bytes = d->conf.database_bytes_max,
                                        .verify_address = d->conf.verify_address,
                                        .load_interval_ns = d->conf.load_interval_ns};

    lbd_retention(&d->conf, d->options->state, &s.keep);
    return s;
}

static void probe(void *data, int64_t interval_ns)
{
    struct lbd *d = data;

    if (interval_ns > 0)
        d->conf.load_interval_ns = interval_ns;
    lbd_node_probe(d->node, interval_ns);
}

static void set_weights(void *data, const struct lbp_index_weights *w)
{
    struct lbd *d = data;
    struct lbd_node_settings node;
    struct lbd_controller_settings controller;

    d->conf.index_scale = w->scale;
    d->conf.index_user = w->user;
    d->conf.index_terminal = w->terminal;
    d->conf.index_task = w->task;
    node = node_settings(d);
    controller = controller_settings(d);
    if (d->node)
        lbd_node_set(d->node, &node);
    if (d->controller)
        lbd_controller_set(d->controller, &controller);
}

static void expose(void *data, struct lbd_metrics *metrics)
{
    struct lbd *d = data;
    struct lbd_view v = view_of(d);

    lbd_expose(metrics, &v);
}

static void on_tidy(uv_timer_t *timer)
{
    struct lbd *d = timer->data;
    struct lbd_metrics *m = lbd_serve_metrics(d->serve);

    lbd_jobs_expire(d->jobs, m ? lbd_metrics_pages(m) : 0, lbx_clock_mono_ns());
}

static void stop(struct lbd *d)
{
    if (d->stopping)
        return;
    d->stopping = true;
    lbd_notify("STOPPING=1");
    uv_close((uv_handle_t *)&d->term, NULL);
    uv_close((uv_handle_t *)&d->interrupt, NULL);
    uv_close((uv_handle_t *)&d->hup, NULL);
    uv_close((uv_handle_t *)&d->watchdog, NULL);
    uv_close((uv_handle_t *)&d->tidy, NULL);
    lbd_reload_stop(&d->reload);
    if (d->server)
        lbd_local_server_stop(d->server);
    lbd_spread_stop(d->spread);
    if (d->node)
        lbd_node_stop(d->node);
    if (d->uplink)
        lbd_uplink_stop(d->uplink);
    if (d->controller)
        lbd_controller_stop(d->controller);
    if (d->weights)
        lbd_weights_stop(d->weights);
    lbd_slurmnodes_stop(d->slurm);
    lbd_vacant_stop(d->vacant);
}

static void on_read_again(void *data, struct lbx_policyconf *conf)
{
    struct lbd *d = data;
    struct lbd_node_settings node;
    struct lbd_controller_settings controller;

    lbx_policyconf_fini(&d->conf);
    d->conf = *conf;
    node = node_settings(d);
    controller = controller_settings(d);
    if (d->node && !d->stopping)
        lbd_node_set(d->node, &node);
    if (d->controller && !d->stopping)
        lbd_controller_set(d->controller, &controller);
}

static void on_reload_stopped(void *data)
{
    struct lbd *d = data;

    lbd_serve_stop(d->serve); /* a reload uses it */
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct lbd *d = handle->data;

    if (signum == SIGHUP) {
        lbd_reload_start(&d->reload);
        return;
    }
    lbx_log(LBX_LOG_INFO, "stopping");
    stop(d);
}

static void on_watchdog(uv_timer_t *timer)
{
    (void)timer;
    lbd_notify("WATCHDOG=1");
}

static void init_handles(struct lbd *d)
{
    uint64_t watchdog_ms = lbd_notify_watchdog_ms();

    signal(SIGPIPE, SIG_IGN);
    uv_signal_init(&d->loop, &d->term);
    uv_signal_init(&d->loop, &d->interrupt);
    uv_signal_init(&d->loop, &d->hup);
    uv_timer_init(&d->loop, &d->watchdog);
    uv_timer_init(&d->loop, &d->tidy);
    d->term.data = d->interrupt.data = d->hup.data = d->tidy.data = d;
    uv_signal_start(&d->term, on_signal, SIGTERM);
    uv_signal_start(&d->interrupt, on_signal, SIGINT);
    uv_signal_start(&d->hup, on_signal, SIGHUP);
    if (watchdog_ms > 0)
        uv_timer_start(&d->watchdog, on_watchdog, watchdog_ms, watchdog_ms);
}

static void on_slurm_list(void *data)
{
    struct lbd *d = data;

    if (!d->stopping)
        lbd_hosts_slurm(lbd_controller_hosts(d->controller), d->slurm);
}

static void on_vacant(void *data)
{
    struct lbd *d = data;

    if (!d->stopping && d->server)
        lbd_local_server_vacant(d->server);
}

static int start_roles(struct lbd *d, struct lbx_error *err)
{
    const struct lbd_options *o = d->options;
    struct lbd_controller_settings controller = controller_settings(d);
    struct lbd_node_settings node = node_settings(d);
    int rc = 0;

    if (o->controller)
        rc = lbd_controller_create(&d->loop, &controller, &d->ranking, err, &d->controller);
    if (rc == 0 && o->controller) {
        struct lbd_weights_settings weights = {
            .state = o->state, .helper = o->slurm, .conf = &d->conf, .ranking = &d->ranking};

        rc = lbd_weights_create(&d->loop, &weights, &d->weights);
        if (rc < 0)
            return lbx_error_set(err, rc, "node weights: %s", strerror(-rc));
        rc = lbd_slurmnodes_create(&d->loop, o->slurm, on_slurm_list, d, &d->slurm);
        if (rc < 0)
            return lbx_error_set(err, rc, "list of Slurm's nodes: %s", strerror(-rc));
    }
    if (rc == 0 && !o->controller) {
        rc = lbd_uplink_create(&d->loop, &o->controller_at, o->host, &d->ranking, &d->uplink);
        if (rc < 0)
            return lbx_error_set(err, rc, "connection to the controller: %s", strerror(-rc));
    }
    if (rc == 0 && o->node) {
        rc = lbd_node_create(&d->loop, o->host, o->state, &node, on_report, d, &d->node);
        if (rc < 0)
            return lbx_error_set(err, rc, "node role: %s", strerror(-rc));
    }
    return rc;
}

static int start(struct lbd *d, struct lbx_error *err)
{
    const struct lbd_options *o = d->options;
    struct lbd_local_sources sources = {.ranking = &d->ranking,
                                        .may_command = may_command,
                                        .command = command,
                                        .load_interval_ns = load_interval_ns,
                                        .rule = rule,
                                        .job = job,
                                        .decisions = decisions,
                                        .explain = explain,
                                        .data = d};
    int rc = lbd_reload_read(o, &d->conf, err);

    d->hands = (struct lbd_hands){probe, set_weights, d};
    (void)mkdir(o->state, 0751); /* what cannot be kept there is told where it matters */
    if (rc == 0)
        rc = start_roles(d, err);
    if (rc == 0)
        rc = lbd_spread_create(&d->loop, o->host, d->uplink, d->controller, &d->spread);
    if (rc == 0)
        rc = lbd_vacant_create(&d->loop, o->slurm, on_vacant, d, &d->vacant);
    sources.vacant = d->vacant;
    sources.node = d->node;
    sources.spread = d->spread;
    if (rc == 0)
        d->serve = d->reload.serve = lbd_serve_create(&d->loop, o, expose, d);
    if (rc == 0)
        rc = lbd_jobs_create(&d->loop, lbd_serve_metrics(d->serve), on_job, d, &d->jobs);
    if (rc == 0)
        uv_timer_start(&d->tidy, on_tidy, TIDY_MS, TIDY_MS);
    if (rc == 0)
        rc = lbd_decisions_create(o->state, &d->decisions);
    if (rc == 0 && d->controller)
        lbd_controller_keep(d->controller, d->decisions);
    if (rc == 0)
        rc = lbd_local_server_create(&d->loop, o->socket, &sources, err, &d->server);
    return rc;
}

int lbd_daemon_run(const struct lbd_options *options, struct lbx_error *err)
{
    struct lbd d = {.options = options, .self = UINT32_MAX, .started_wall_ns = lbx_clock_wall_ns()};
    int rc = uv_loop_init(&d.loop);

    if (rc < 0)
        return lbx_error_set(err, rc, "event loop: %s", uv_strerror(rc));
    d.reload = (struct lbd_reload){.loop = &d.loop,
                                   .options = options,
                                   .take = on_read_again,
                                   .stopped = on_reload_stopped,
                                   .data = &d};
    init_handles(&d);
    rc = start(&d, err);
    if (rc == 0) {
        lbx_log(LBX_LOG_INFO, "host %s, socket %s", options->host, options->socket);
        lbd_notify("READY=1");
    } else {
        stop(&d);
    }
    uv_run(&d.loop, UV_RUN_DEFAULT);
    lbd_local_server_destroy(d.server);
    lbd_spread_destroy(d.spread);
    lbd_node_destroy(d.node);
    lbd_uplink_destroy(d.uplink);
    lbd_controller_destroy(d.controller);
    lbd_weights_destroy(d.weights);
    lbd_slurmnodes_destroy(d.slurm);
    lbd_vacant_destroy(d.vacant);
    lbd_jobs_destroy(d.jobs);
    lbd_serve_destroy(d.serve);
    lbd_decisions_destroy(d.decisions);
    lbd_ranking_fini(&d.ranking);
    lbx_policyconf_fini(&d.conf);
    uv_loop_close(&d.loop);
    return rc;
}
