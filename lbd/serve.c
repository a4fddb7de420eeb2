/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbd serves to people. */
#include "lbd/serve.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/metrics/http.h"
#include "lbd/targets.h"

#define ASK_NS (3 * LBX_NS_PER_S)
#define TARGETS_OLD_NS (60 * LBX_NS_PER_S)

struct lbd_serve {
    const struct lbd_options *options;
    struct lbd_metrics *metrics;
    struct lbd_http *http;
    uv_timer_t timer;
    void (*expose)(void *data, struct lbd_metrics *metrics);
    void *data;

    uv_work_t ask; /* Slurm for its nodes */
    bool asking, stopped;
    int64_t asked_ns; /* 0: never */
    char *targets;
    struct lbx_error err;
};

/* On a thread of the pool: Slurm may take its time. */
static void ask(uv_work_t *work)
{
    struct lbd_serve *s = work->data;

    s->err = (struct lbx_error){0};
    if (lbd_targets_make(s->options, lbx_clock_mono_ns() + ASK_NS, &s->targets, &s->err) < 0)
        s->targets = NULL;
}

static void on_asked(uv_work_t *work, int status)
{
    struct lbd_serve *s = work->data;

    s->asking = false;
    if (status == 0 && !s->stopped)
        lbd_http_set_targets(s->http, s->targets, s->err.text);
    free(s->targets);
    s->targets = NULL;
}

/* At start and then when somebody asks: where nobody does, Slurm is left alone. */
static void refresh_targets(struct lbd_serve *s)
{
    int64_t now_ns = lbx_clock_mono_ns();

    if (!s->options->controller || s->asking ||
        (s->asked_ns != 0 &&
         (now_ns - s->asked_ns < TARGETS_OLD_NS || !lbd_http_targets_asked(s->http))))
        return;
    s->asked_ns = now_ns;
    s->asking = uv_queue_work(s->timer.loop, &s->ask, ask, on_asked) == 0;
}

static void on_timer(uv_timer_t *timer)
{
    struct lbd_serve *s = timer->data;

    s->expose(s->data, s->metrics);
    refresh_targets(s);
}

struct lbd_serve *lbd_serve_create(uv_loop_t *loop, const struct lbd_options *options,
                                   void (*expose)(void *data, struct lbd_metrics *metrics),
                                   void *data)
{
    struct lbd_serve *s = options->metrics_on ? calloc(1, sizeof(*s)) : NULL;
    struct lbx_error err = {0};

    if (!s)
        return NULL;
    s->options = options;
    s->expose = expose;
    s->data = data;
    s->ask.data = s;
    s->metrics = lbd_metrics_create();
    if (!s->metrics || lbd_http_start(options->metrics.host, options->metrics.port, options->web,
                                      s->metrics, &err, &s->http) < 0) {
        lbx_log(LBX_LOG_WARNING, "no /metrics: %s", s->metrics ? err.text : "out of memory");
        lbd_metrics_destroy(s->metrics);
        free(s);
        return NULL;
    }
    lbd_http_set_targets(s->http, NULL,
                         options->controller ? "Slurm has not been asked yet\n"
                                             : "the controller's lbd knows, this one does not\n");
    uv_timer_init(loop, &s->timer);
    s->timer.data = s;
    uv_timer_start(&s->timer, on_timer, 0, LBD_SERVE_EXPOSE_MS);
    return s;
}

void lbd_serve_stop(struct lbd_serve *s)
{
    if (!s || s->stopped)
        return;
    s->stopped = true;
    uv_close((uv_handle_t *)&s->timer, NULL);
    lbd_http_stop(s->http);
}

void lbd_serve_destroy(struct lbd_serve *s)
{
    if (!s)
        return;
    lbd_metrics_destroy(s->metrics);
    free(s);
}

struct lbd_metrics *lbd_serve_metrics(struct lbd_serve *s)
{
    return s ? s->metrics : NULL;
}

int lbd_serve_reload(struct lbd_serve *s, struct lbx_error *err)
{
    return s ? lbd_http_reload(s->http, err) : 0;
}
