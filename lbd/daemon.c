/* SPDX-License-Identifier: BSD-3-Clause */
/* One lbd. */
#include "lbd/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/local_server.h"
#include "lbd/node/node.h"
#include "lbd/notify.h"
#include "lbd/ranking.h"

struct lbd {
    const struct lbd_options *options;
    uv_loop_t loop;
    uv_signal_t term, interrupt, hup;
    uv_timer_t watchdog;
    struct lbd_node *node;
    struct lbd_ranking ranking;
    struct lbd_local_server *server;
};

static void on_report(void *data, const struct lbw_node_report *report)
{
    (void)data;
    (void)report;
}

static bool may_command(void *data, uid_t uid)
{
    (void)data;
    (void)uid;
    return false;
}

static char *command(void *data, const char *text, struct lbx_error *err)
{
    (void)data;
    lbx_error_set(err, -ENOSYS, "command '%s' is unknown", text);
    return NULL;
}

static int job(void *data, const struct lbd_peer *peer, const char *json, struct lbx_error *err)
{
    (void)data;
    (void)peer;
    (void)json;
    (void)err;
    return 0;
}

static void stop(struct lbd *d)
{
    lbd_notify("STOPPING=1");
    uv_close((uv_handle_t *)&d->term, NULL);
    uv_close((uv_handle_t *)&d->interrupt, NULL);
    uv_close((uv_handle_t *)&d->hup, NULL);
    uv_close((uv_handle_t *)&d->watchdog, NULL);
    if (d->server)
        lbd_local_server_stop(d->server);
    if (d->node)
        lbd_node_stop(d->node);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct lbd *d = handle->data;

    if (signum == SIGHUP)
        return;
    lbx_log(LBX_LOG_INFO, "stopping");
    stop(d);
}

static void on_watchdog(uv_timer_t *timer)
{
    (void)timer;
    lbd_notify("WATCHDOG=1");
}

static void watch_signals(struct lbd *d)
{
    uint64_t watchdog_ms = lbd_notify_watchdog_ms();

    signal(SIGPIPE, SIG_IGN);
    uv_signal_init(&d->loop, &d->term);
    uv_signal_init(&d->loop, &d->interrupt);
    uv_signal_init(&d->loop, &d->hup);
    uv_timer_init(&d->loop, &d->watchdog);
    d->term.data = d->interrupt.data = d->hup.data = d;
    uv_signal_start(&d->term, on_signal, SIGTERM);
    uv_signal_start(&d->interrupt, on_signal, SIGINT);
    uv_signal_start(&d->hup, on_signal, SIGHUP);
    if (watchdog_ms > 0)
        uv_timer_start(&d->watchdog, on_watchdog, watchdog_ms, watchdog_ms);
}

static int start(struct lbd *d, struct lbx_error *err)
{
    struct lbd_node_settings settings = {.load_interval_ns = 10 * LBX_NS_PER_S,
                                         .benchmark_interval_ns = 6 * 3600 * LBX_NS_PER_S,
                                         .jitter = .1};
    struct lbd_local_sources sources = {.ranking = &d->ranking,
                                        .may_command = may_command,
                                        .command = command,
                                        .job = job,
                                        .data = d};
    int rc;

    lbp_index_weights_init(&settings.weights);
    if (d->options->node) {
        rc = lbd_node_create(&d->loop, d->options->host, &settings, on_report, d, &d->node);
        if (rc < 0)
            return lbx_error_set(err, rc, "node role: %s", strerror(-rc));
    }
    sources.node = d->node;
    return lbd_local_server_create(&d->loop, d->options->socket, &sources, err, &d->server);
}

int lbd_daemon_run(const struct lbd_options *options, struct lbx_error *err)
{
    struct lbd d = {.options = options};
    int rc = uv_loop_init(&d.loop);

    if (rc < 0)
        return lbx_error_set(err, rc, "event loop: %s", strerror(-rc));
    watch_signals(&d);
    rc = start(&d, err);
    if (rc == 0) {
        lbx_log(LBX_LOG_INFO, "lbd of host %s listens at %s", options->host, options->socket);
        lbd_notify("READY=1");
    } else {
        stop(&d);
    }
    uv_run(&d.loop, UV_RUN_DEFAULT);
    lbd_local_server_destroy(d.server);
    lbd_node_destroy(d.node);
    lbd_ranking_fini(&d.ranking);
    uv_loop_close(&d.loop);
    return rc;
}
