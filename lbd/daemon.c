/* SPDX-License-Identifier: BSD-3-Clause */
/* One lbd: its parts put together by role, its loop and its signals. */
#include "lbd/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uv.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/daemon_impl.h"
#include "lbd/expose.h"
#include "lbd/notify.h"
#include "lbd/vacant.h"

#define TIDY_MS 5000

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

static void expose(void *data, struct lbd_metrics *metrics)
{
    struct lbd *d = data;
    struct lbd_view v = lbd_daemon_view(d);

    lbd_expose(metrics, &v);
}

/* Its balancer is gone: killed, when that was not its last word. */
static void on_speaker_over(void *data, const struct lbd_speaker *k)
{
    struct lbd *d = data;
    char *last = lbd_decisions_end(d->decisions, k->uid, k->jobid, k->stepid);

    lbd_jobs_end(d->jobs, k->jobid, k->stepid);
    if (last && d->uplink)
        lbd_uplink_decisions(d->uplink, k->jobid, k->stepid, k->uid, last);
    free(last);
}

static void on_tidy(uv_timer_t *timer)
{
    struct lbd *d = timer->data;
    struct lbd_metrics *m = lbd_serve_metrics(d->serve);

    lbd_speakers_look(&d->speakers, on_speaker_over, d);
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

    lbx_policyconf_fini(&d->conf);
    d->conf = *conf;
    lbd_daemon_apply(d);
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
    struct lbd_controller_settings controller = lbd_daemon_controller_settings(d);
    struct lbd_node_settings node = lbd_daemon_node_settings(d);
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
    struct lbd_local_sources sources;
    int rc = lbd_reload_read(o, &d->conf, err);

    (void)mkdir(o->state, 0751); /* what cannot be kept there is told where it matters */
    if (rc == 0)
        rc = start_roles(d, err);
    if (rc == 0)
        rc = lbd_spread_create(&d->loop, o->host, d->uplink, d->controller, &d->spread);
    if (rc == 0)
        rc = lbd_vacant_create(&d->loop, o->slurm, on_vacant, d, &d->vacant);
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
    lbd_daemon_answers(d, &sources);
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
    lbd_speakers_fini(&d.speakers);
    lbd_ranking_fini(&d.ranking);
    lbx_policyconf_fini(&d.conf);
    uv_loop_close(&d.loop);
    return rc;
}
