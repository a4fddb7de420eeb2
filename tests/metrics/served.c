/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lbd's page of metrics as it is with many jobs or many hosts, for tests and ./run bench metrics: the very jobs, controller and
 * web server, with figures and reports that are made up.
 *   served host JOBS HOSTS [CHURN_MS]      JOBS of HOSTS hosts each; each CHURN_MS one ends and another begins
 *   served controller HOSTS STATE          HOSTS that report; STATE: a folder for its database
 * Prints its port, and ends when its standard input does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "lbd/expose.h"
#include "lbd/jobs.h"
#include "lbd/metrics/http.h"
#include "lbd/view.h"

#define TEXT_MAX 60000
#define EXPOSE_MS 1000

static uv_loop_t loop;
static struct lbd_metrics *metrics;
static struct lbd_jobs *jobs;
static struct lbd_controller *controller;
static struct lbd_ranking ranking;
static uint32_t njobs, nhosts, first_job = 1;

static void die(const char *what)
{
    fprintf(stderr, "served: %s\n", what);
    exit(1);
}

static void tell(uint32_t jobid, bool final)
{
    static char text[TEXT_MAX];
    struct lbx_error err = {0};
    int n = snprintf(text, sizeof(text),
                     "{\"policy\":\"auto\",\"account\":\"physics\",\"partition\":\"main\",\"begun_"
                     "s\":1768503600,\"final\":%s,"
                     "\"ranks\":%u,\"load_balance\":0.97,\"efficiency\":0.91,\"period_s\":0.5,"
                     "\"block\":12.5,\"loops\":3,"
                     "\"moved\":{\"proportional\":12,\"dry\":4},\"skipped\":{\"below_threshold\":"
                     "120,\"unprofitable\":3,\"filtered\":1,"
                     "\"unstable\":0},\"moved_bytes\":123456789,\"moved_iterations\":120000,"
                     "\"moving_s\":1.25,\"balancer_cpu_s\":0.75,\"hosts\":[",
                     final ? "true" : "false", nhosts);

    for (uint32_t i = 0; i < nhosts && n < TEXT_MAX - 200; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      "%s{\"host\":\"n%04u\",\"share\":%.6f,\"rate\":1234.56,\"iterations\":123456,"
                      "\"compute_s\":123.456,\"wait_s\":1.234}",
                      i ? "," : "", i + 1, 1. / nhosts);
    snprintf(text + n, sizeof(text) - (size_t)n, "]}");
    /* users of their own: none is capped */
    if (lbd_jobs_take(jobs, 100000 + jobid, jobid, 0, text, lbx_clock_mono_ns(), &err) < 0)
        die(err.text);
}

static void on_churn(uv_timer_t *timer)
{
    (void)timer;
    tell(first_job, true);
    tell(first_job + njobs, false);
    first_job++;
    lbd_jobs_expire(jobs, lbd_metrics_pages(metrics), lbx_clock_mono_ns());
}

static void on_tell(uv_timer_t *timer)
{
    (void)timer;
    for (uint32_t i = 0; i < njobs; i++)
        tell(first_job + i, false);
    lbd_jobs_expire(jobs, lbd_metrics_pages(metrics), lbx_clock_mono_ns());
}

static void report_all(void)
{
    struct lbw_node_report r = {.cpus = 32,
                                .hardware = 1.2,
                                .core_speed = 1.1,
                                .capacity = 30,
                                .hardware_s = .83,
                                .workload_ratio = 1.1,
                                .share_ratio = .9,
                                .kernel_ops_hz = {2.8e8, 1.6e8}};
    size_t n;

    strcpy(r.model, "a processor");
    n = lbd_controller_hosts(controller)->n;
    for (uint32_t i = 0; i < n; i++)
        (void)lbd_hosts_report(lbd_controller_hosts(controller), i, &r);
}

static void on_report(uv_timer_t *timer)
{
    (void)timer;
    report_all();
}

/* The few of lbd's figures that need no lbd. */
static void on_expose(uv_timer_t *timer)
{
    (void)timer;
    if (controller)
        lbd_expose_controller(metrics, controller);
}

static void on_input(uv_poll_t *poll, int status, int events)
{
    char c;

    (void)status;
    (void)events;
    if (read(0, &c, 1) <= 0)
        uv_stop(poll->loop);
}

static void make_controller(uint32_t n, const char *state)
{
    struct lbd_controller_settings s = {
        .state = state, .listen_address = "127.0.0.1", .weights = {1, 0, 0, 1}};
    struct lbx_error err = {0};
    char name[16];

    s.max_bytes = INT64_C(1) << 30;
    if (lbd_controller_create(&loop, &s, &ranking, &err, &controller) < 0)
        die(err.text);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "n%05u", i + 1);
        if (lbd_hosts_join(lbd_controller_hosts(controller), name, "boot", 1) == UINT32_MAX)
            die("a host could not join");
    }
}

int main(int argc, char **argv)
{
    bool host = argc >= 4 && strcmp(argv[1], "host") == 0;
    uv_timer_t told, churn, exposed;
    struct lbx_error err = {0};
    struct lbd_http *http = NULL;
    uint64_t churn_ms = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    uv_poll_t input;

    if (!host && !(argc == 4 && strcmp(argv[1], "controller") == 0))
        die("usage: served host JOBS HOSTS [CHURN_MS] | controller HOSTS STATE");
    uv_loop_init(&loop);
    metrics = lbd_metrics_create();
    if (!metrics || lbd_http_start("127.0.0.1", 0, NULL, metrics, &err, &http) < 0)
        die(err.text);
    if (lbd_jobs_create(&loop, metrics, NULL, NULL, &jobs) < 0)
        die("out of memory");
    uv_timer_init(&loop, &told);
    uv_timer_init(&loop, &churn);
    uv_timer_init(&loop, &exposed);
    uv_poll_init(&loop, &input, 0);
    uv_poll_start(&input, UV_READABLE | UV_DISCONNECT, on_input);
    if (host) {
        njobs = (uint32_t)strtoul(argv[2], NULL, 10);
        nhosts = (uint32_t)strtoul(argv[3], NULL, 10);
        uv_timer_start(&told, on_tell, 0, 5000);
        if (churn_ms)
            uv_timer_start(&churn, on_churn, churn_ms, churn_ms);
    } else {
        make_controller((uint32_t)strtoul(argv[2], NULL, 10), argv[3]);
        uv_timer_start(&told, on_report, 0, 10000);
    }
    uv_timer_start(&exposed, on_expose, 0, EXPOSE_MS);
    printf("%u\n", lbd_http_port(http));
    fflush(stdout);
    uv_run(&loop, UV_RUN_DEFAULT);
    lbd_http_stop(http);
    _exit(0); /* what the kernel frees anyway */
}
