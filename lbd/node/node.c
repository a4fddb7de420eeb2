/* SPDX-License-Identifier: BSD-3-Clause */
/* The node role. */
#include "lbd/node/node.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/jitter.h"
#include "lbd/node/node_impl.h"
#include "lbd/node/uplink.h"

#define SECOND_SAMPLE_MS 1000 /* the first one has nothing to be compared with */
#define RETRY_MOST_NS (600 * LBX_NS_PER_S)
#define RETRY_NS (5 * LBX_NS_PER_S) /* a benchmark that could not run now */
#define BUSY_RATIO \
    .1 /* others use more of the host than this: not idle, no benchmark but the first */
#define HIDDEN_RATIO \
    .7 /* a benchmark that gets less of what it should: a limit that cannot be seen */
#define WAITING_RATIO .2 /* of the time somebody waits for a core: the machine is not idle */
#define HIDDEN_TRIES 3
#define SLOW_TRIES 2
#define NOTICE_MS 100 /* notices that come together make one report */
#define SMOOTHING .5  /* weight of the newest sample of others' load */

static void read_model(char *ret_model, size_t size)
{
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "re");

    snprintf(ret_model, size, "unknown");
    while (f && fgets(line, sizeof(line), f)) {
        char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(ret_model, size, "%.*s", (int)size - 1, colon[1] ? colon + 2 : "");
        break;
    }
    if (f)
        fclose(f);
}

static void report(struct lbd_node *n)
{
    struct lbw_node_report r;

    if (!n->stats.measured)
        return;
    lbd_node_report(n, &r);
    n->on_report(n->data, &r);
}

/*
 * What others use.  While tasks of ours run, the host's use is theirs too: then the last figure without them is kept, but
 * never more than is used in all.
 */
static void update_external(struct lbd_node *n)
{
    struct lbd_node_stats *s = &n->stats;
    bool tasks = n->tasks_seen || n->steps.n > 0;

    n->tasks_seen = n->steps.n > 0;
    if (s->load.first)
        return;
    if (!tasks) {
        n->others_samples++;
        n->others_cpus = s->load.busy_cpus;
    }
    if (tasks)
        s->external_cpus = fmin(s->external_cpus, s->load.busy_cpus);
    else if (!n->external_known)
        s->external_cpus = s->load.busy_cpus;
    else
        s->external_cpus += SMOOTHING * (s->load.busy_cpus - s->external_cpus);
    n->external_known = n->external_known || !tasks;
    s->placed_cpus = n->steps.n > 0 ? fmax(0, s->load.busy_cpus - s->external_cpus) : 0;
}

static void on_load_timer(uv_timer_t *timer)
{
    struct lbd_node *n = timer->data;
    bool first = n->source.at_ns == 0;

    lbd_steps_sweep(&n->steps);
    if (lbd_load_sample(&n->source, &n->stats.load) == 0) {
        n->stats.samples++;
        update_external(n);
        report(n);
    } else {
        n->stats.sample_failures++;
    }
    uv_timer_start(timer, on_load_timer,
                   first ? SECOND_SAMPLE_MS
                         : lbd_jitter_ms(n->settings.load_interval_ns, n->settings.jitter),
                   0);
}

/* A placement is told at once: the next job should go elsewhere. */
static void on_notice_timer(uv_timer_t *timer)
{
    report(timer->data);
}

static void on_bench_timer(uv_timer_t *timer);

static void schedule_bench(struct lbd_node *n, int64_t ns)
{
    uv_timer_start(&n->bench_timer, on_bench_timer, lbd_jitter_ms(ns, n->settings.jitter), 0);
}

/* It could not be done now: less and less often, since looking has its cost, too. */
static void retry_bench(struct lbd_node *n)
{
    n->retry_ns = n->retry_ns == 0 ? RETRY_NS : n->retry_ns * 2;
    if (n->retry_ns > RETRY_MOST_NS)
        n->retry_ns = RETRY_MOST_NS;
    schedule_bench(n, n->retry_ns);
}

static void on_bench_timer(uv_timer_t *timer)
{
    struct lbd_node *n = timer->data;
    struct lbd_load ignored;
    bool busy = n->stats.external_cpus > BUSY_RATIO * n->stats.load.cpus;

    lbd_steps_sweep(&n->steps);
    if (n->steps.n > 0 || (n->stats.bench_runs > 0 && busy) ||
        lbd_load_sample(&n->bench_source, &ignored) < 0 || lbd_runner_start(&n->runner) < 0)
        retry_bench(n);
}

/*
 * What the benchmark got of the host against what it should have got.  Less is a limit that cannot be seen from here (a virtual
 * machine's, say) only where nobody waited for a core meanwhile: else it is the others on this machine.  A low ratio is measured
 * again soon, and the best counts.
 */
static double find_hidden_ratio(struct lbd_node *n, double share)
{
    struct lbd_load l;
    double ratio;

    if (lbd_load_sample(&n->bench_source, &l) < 0)
        return 1;
    ratio = share / lbp_index_task_share(l.cpus, l.busy_cpus);
    if (!n->external_known && n->steps.n == 0) {
        n->stats.external_cpus = l.busy_cpus;
        n->external_known = true;
    }
    if (ratio >= HIDDEN_RATIO || l.busy_cpus > BUSY_RATIO * l.cpus || l.waiting_ratio < 0 ||
        l.waiting_ratio > WAITING_RATIO) {
        n->hidden_tries = 0;
        return 1;
    }
    if (n->hidden_tries++ > 0)
        ratio = fmax(ratio, n->hidden_ratio);
    return ratio;
}

/*
 * Hold it against the host's history.  One slow benchmark may have had bad luck: only when the next one is slow, too, the host is
 * said to be.  Returns whether to measure again soon.
 */
static bool judge_health(struct lbd_node *n, const struct lbd_bench_result *result)
{
    struct lbd_health_verdict v;
    bool was_slow = n->stats.health.slow;

    lbd_health_judge(&n->health, result, &v);
    n->slow_tries = v.slow ? n->slow_tries + 1 : 0;
    if (v.slow && n->slow_tries < SLOW_TRIES && !was_slow)
        return true;
    n->stats.health = v;
    if (v.slow && !was_slow)
        lbx_log(LBX_LOG_WARNING, "%s is slower than it was: %s at %.2f of what is usual here",
                n->host, lbd_kernels[v.kernel].name, v.ratio);
    if (!v.slow && was_slow)
        lbx_log(LBX_LOG_INFO, "%s is as fast as it was again", n->host);
    if (v.slow)
        return false;
    lbd_health_add(&n->health, result);
    if (n->health_path[0] && lbd_health_write(n->health_path, &n->health) < 0)
        lbx_log(LBX_LOG_DEBUG, "%s: not written", n->health_path);
    return false;
}

static void on_bench_done(struct lbd_runner *r, int rc, const struct lbd_bench_result *result)
{
    struct lbd_node *n = r->data;
    bool again;

    if (rc < 0) {
        n->stats.bench_cancelled += rc == -ECANCELED;
        n->stats.bench_failures += rc != -ECANCELED && rc != -EBUSY;
        if (rc != -ECANCELED && rc != -EBUSY)
            lbx_log(LBX_LOG_WARNING, "benchmark failed: %s", strerror(-rc));
        retry_bench(n);
        return;
    }
    n->retry_ns = 0;
    n->stats.bench = *result;
    n->stats.bench_runs++;
    n->stats.bench_wall_ns = lbx_clock_wall_ns();
    n->bench_mono_ns = lbx_clock_mono_ns();
    n->hidden_ratio = find_hidden_ratio(n, result->share);
    n->stats.measured = true;
    again = judge_health(n, result);
    lbx_log(
        LBX_LOG_INFO,
        "measured %s: hardware %.3f of a reference core, %.2f cores, share %.2f in %.2f s, quantum "
        "%.1f ms",
        n->host, result->hardware, n->stats.load.cpus, result->share, (double)result->wall_ns / 1e9,
        (double)result->quantum_ns / 1e6);
    report(n);
    if (again || (n->hidden_tries > 0 && n->hidden_tries < HIDDEN_TRIES)) {
        schedule_bench(n, 6 * RETRY_NS);
        return;
    }
    n->hidden_tries = 0;
    schedule_bench(n, n->settings.benchmark_interval_ns);
}

/* What an lbd before us has measured on this very system. */
static void take_saved(struct lbd_node *n, const char *state)
{
    struct lbd_runner *r = &n->runner;
    struct lbd_saved saved;
    int64_t age_ns;

    lbd_uplink_boot_id(r->saved.boot);
    memcpy(r->saved.model, n->stats.model, sizeof(r->saved.model));
    if (snprintf(n->health_path, sizeof(n->health_path), "%s/benchmarks", state) >=
        (int)sizeof(n->health_path))
        n->health_path[0] = '\0';
    lbd_health_read(n->health_path, n->stats.model, &n->health);
    if (snprintf(r->path, sizeof(r->path), "%s/benchmark", state) >= (int)sizeof(r->path)) {
        r->path[0] = '\0';
        return;
    }
    if (lbd_saved_read(r->path, &saved) < 0 || strcmp(saved.boot, r->saved.boot) != 0 ||
        strcmp(saved.model, r->saved.model) != 0)
        return;
    age_ns = lbx_clock_wall_ns() - saved.at_ns;
    n->stats.bench = saved.result;
    n->stats.bench_wall_ns = saved.at_ns;
    n->bench_mono_ns = lbx_clock_mono_ns() - (age_ns > 0 ? age_ns : 0);
    n->stats.measured = true;
}

int lbd_node_create(uv_loop_t *loop, const char *host, const char *state,
                    const struct lbd_node_settings *settings,
                    void (*on_report)(void *data, const struct lbw_node_report *report), void *data,
                    struct lbd_node **ret_node)
{
    struct lbd_node *n = calloc(1, sizeof(*n));
    int rc;

    if (!n)
        return -ENOMEM;
    n->loop = loop;
    n->settings = *settings;
    n->on_report = on_report;
    n->data = data;
    n->hidden_ratio = 1;
    snprintf(n->host, sizeof(n->host), "%s", host);
    n->stats.health.ratio = 1;
    read_model(n->stats.model, sizeof(n->stats.model));
    rc = lbd_runner_init(&n->runner, loop, on_bench_done, n);
    if (rc < 0) {
        free(n);
        return rc;
    }
    take_saved(n, state);
    lbd_load_init(&n->source, "/proc");
    lbd_load_init(&n->bench_source, "/proc");
    n->stats.load.cpus = lbd_load_cpus(&n->source);
    uv_timer_init(loop, &n->load_timer);
    uv_timer_init(loop, &n->bench_timer);
    uv_timer_init(loop, &n->notice_timer);
    n->load_timer.data = n->bench_timer.data = n->notice_timer.data = n;
    uv_timer_start(&n->load_timer, on_load_timer, 0, 0);
    uv_timer_start(&n->bench_timer, on_bench_timer, 1, 0);
    *ret_node = n;
    return 0;
}

void lbd_node_stop(struct lbd_node *n)
{
    lbd_runner_close(&n->runner);
    uv_close((uv_handle_t *)&n->load_timer, NULL);
    uv_close((uv_handle_t *)&n->bench_timer, NULL);
    uv_close((uv_handle_t *)&n->notice_timer, NULL);
}

void lbd_node_destroy(struct lbd_node *n)
{
    if (!n)
        return;
    lbd_steps_fini(&n->steps);
    lbd_load_fini(&n->source);
    lbd_load_fini(&n->bench_source);
    free(n);
}

void lbd_node_set(struct lbd_node *n, const struct lbd_node_settings *settings)
{
    n->settings = *settings;
    if (n->source.at_ns != 0)
        uv_timer_start(&n->load_timer, on_load_timer,
                       lbd_jitter_ms(settings->load_interval_ns, settings->jitter), 0);
}

const struct lbd_step *lbd_node_step_of(const struct lbd_node *n, pid_t pid)
{
    return lbd_steps_of(&n->steps, pid);
}

int lbd_node_notice(struct lbd_node *n, const struct lbw_local_notice *notice, pid_t pid)
{
    uv_timer_start(&n->notice_timer, on_notice_timer, NOTICE_MS, 0);
    if (!notice->begin) {
        lbd_steps_end(&n->steps, notice->jobid, notice->stepid);
        return 0;
    }
    n->tasks_seen = true;
    lbd_runner_cancel(&n->runner);
    return lbd_steps_begin(&n->steps, notice->jobid, notice->stepid, notice->ntasks, pid);
}

void lbd_node_probe(struct lbd_node *n, int64_t interval_ns)
{
    if (interval_ns > 0)
        n->settings.load_interval_ns = interval_ns;
    uv_timer_start(&n->load_timer, on_load_timer, 0, 0);
    n->retry_ns = 0;
    uv_timer_start(&n->bench_timer, on_bench_timer, 1, 0);
}
