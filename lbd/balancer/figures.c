/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's figures for the lbd of this host. */
#include "lbd/balancer/figures.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "policy/plus.h"
#include "common/clock.h"
#include "common/text.h"
#include "lbd/balancer/ask.h"
#include "lbd/balancer/loops.h"
#include "wire/placement.h"

#define FIRST_MS 1000
#define EVERY_MS 5000
#define YOUNG \
    12 /* so many times as often as that; then 64 jobs of a user stay within his messages */
#define EVERY_LATER_MS 10000
#define NAME_BYTES 256
#define SETTLED_S 15  /* until then a rank that has told of no work may just not have told yet */
#define HOSTS_MAX 256 /* of larger jobs only so many hosts are told one by one */

struct lbd_figures {
    uv_timer_t timer;
    struct lbd_ask ask;
    const struct lbd_job *job;
    const char *socket, *policy;
    double begun_s;
    int told; /* times, as long as the job is young */
    bool asking, finishing, said_last;
    struct lbw_local_msg request; /* large */
};

struct host {
    const char *name;
    struct lbd_rank_stats sum;
};

static int compare_hosts(const void *a, const void *b)
{
    return strcmp(((const struct host *)a)->name, ((const struct host *)b)->name);
}

/* Sums of the ranks by host: ret[0, *ret_n); whether a rank has computed nothing.  Returns 0 or -ENOMEM. */
static int sum_by_host(const struct lbd_job *job, struct host **ret, size_t *ret_n, bool *ret_idle)
{
    uint32_t nranks = lbd_job_ranks(job);
    struct lbd_rank_stats *rank = calloc(nranks, sizeof(*rank));
    struct host *host = calloc(nranks, sizeof(*host));
    size_t n = 0;

    if (!rank || !host || lbd_loops_rank_stats(lbd_job_loops(job), rank) < 0) {
        free(rank);
        free(host);
        return -ENOMEM;
    }
    *ret_idle = false;
    for (uint32_t r = 0; r < nranks; r++) {
        host[r] = (struct host){lbd_job_host(job, r), rank[r]};
        *ret_idle = *ret_idle || rank[r].compute_ns == 0;
    }
    qsort(host, nranks, sizeof(*host), compare_hosts);
    for (uint32_t r = 0; r < nranks; r++) {
        struct lbd_rank_stats *s = n > 0 ? &host[n - 1].sum : NULL;

        if (!s || strcmp(host[n - 1].name, host[r].name) != 0) {
            host[n++] = host[r];
            continue;
        }
        s->iterations = lbp_plus(s->iterations, host[r].sum.iterations);
        s->compute_ns = lbp_plus(s->compute_ns, host[r].sum.compute_ns);
        s->wait_ns = lbp_plus(s->wait_ns, host[r].sum.wait_ns);
        s->rate_hz += host[r].sum.rate_hz;
        s->share_ratio += host[r].sum.share_ratio;
    }
    free(rank);
    *ret = host;
    *ret_n = n;
    return 0;
}

static json_t *pack_hosts(const struct host *host, size_t n, double *ret_efficiency)
{
    json_t *list = json_array();
    double compute = 0, wait = 0;

    for (size_t i = 0; i < n; i++) {
        const struct lbd_rank_stats *s = &host[i].sum;

        compute += (double)s->compute_ns;
        wait += (double)s->wait_ns;
        if (i < HOSTS_MAX)
            json_array_append_new(
                list, json_pack("{s:s, s:f, s:f, s:I, s:f, s:f}", "host", host[i].name, "share",
                                s->share_ratio, "rate", s->rate_hz, "iterations",
                                (json_int_t)s->iterations, "compute_s", (double)s->compute_ns / 1e9,
                                "wait_s", (double)s->wait_ns / 1e9));
    }
    *ret_efficiency = compute + wait > 0 ? compute / (compute + wait) : 1;
    return list;
}

/* A name of Slurm's, as UTF-8: JSON takes nothing else. */
static const char *env_text(const char *name, char ret[NAME_BYTES])
{
    const char *value = getenv(name);

    lbx_text_clean(value ? value : "", ret, NAME_BYTES);
    return ret;
}

static json_t *pack(const struct lbd_figures *f)
{
    struct lbd_loops_stats s;
    struct host *host;
    char account[NAME_BYTES], partition[NAME_BYTES];
    double efficiency, age_s = (double)lbx_clock_wall_ns() / 1e9 - f->begun_s;
    json_t *hosts, *o;
    bool idle;
    size_t n;

    if (sum_by_host(f->job, &host, &n, &idle) < 0)
        return NULL;
    hosts = pack_hosts(host, n, &efficiency);
    free(host);
    lbd_loops_stats(lbd_job_loops(f->job), &s);
    o = json_pack("{s:s, s:s, s:s, s:f, s:b, s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:f, s:f}",
                  "policy", f->policy, "account", env_text("SLURM_JOB_ACCOUNT", account),
                  "partition", env_text("SLURM_JOB_PARTITION", partition), "begun_s", f->begun_s,
                  "final", f->finishing, "ranks", (json_int_t)lbd_job_ranks(f->job), "efficiency",
                  efficiency, "period_s", (double)s.period_ns / 1e9, "block", s.chunk_iterations,
                  "loops", (json_int_t)s.loops, "moved_bytes", (json_int_t)s.moved_bytes,
                  "moved_iterations", (json_int_t)s.moved_iterations, "moving_s",
                  (double)s.moving_ns / 1e9, "balancer_cpu_s",
                  (double)lbx_clock_process_cpu_ns() / 1e9);
    if (s.load_balance_ratio > 0 && (!idle || f->finishing || age_s > SETTLED_S))
        json_object_set_new(o, "load_balance", json_real(s.load_balance_ratio));
    if (f->finishing && s.foreseen_ns > 0) /* outside of its loops it takes what it takes */
        json_object_set_new(o, "placed_s",
                            json_real((double)lbx_clock_wall_ns() / 1e9 - f->begun_s +
                                      (s.foreseen_ns - s.elapsed_ns) / 1e9));
    json_object_set_new(
        o, "placement",
        json_string(lbw_placement_name(lbw_placement_of(getenv("SLURM_LB_PLACEMENT")))));
    if (s.balance_before_ratio > 0)
        json_object_set_new(o, "balance_before", json_real(s.balance_before_ratio));
    json_object_set_new(o, "saved_s",
                        json_real((s.first_ns - s.elapsed_ns) / 1e9 * lbd_job_ranks(f->job)));
    if (!o) {
        json_decref(hosts);
        return NULL;
    }
    json_object_set_new(o, "hosts", hosts);
    json_object_set_new(o, "moved",
                        json_pack("{s:I, s:I}", "proportional",
                                  (json_int_t)s.decisions[LBP_REASON_PROPORTIONAL], "dry",
                                  (json_int_t)s.decisions[LBP_REASON_DRY]));
    json_object_set_new(o, "skipped",
                        json_pack("{s:I, s:I, s:I, s:I}", "below_threshold",
                                  (json_int_t)s.decisions[LBP_REASON_BELOW_THRESHOLD],
                                  "unprofitable", (json_int_t)s.decisions[LBP_REASON_UNPROFITABLE],
                                  "filtered", (json_int_t)s.decisions[LBP_REASON_FILTERED],
                                  "unstable", (json_int_t)s.decisions[LBP_REASON_UNSTABLE]));
    return o;
}

static void send_figures(struct lbd_figures *f);

/* Whether somebody was there does not matter: figures are a service, not a duty. */
static void on_asked(void *arg, int rc)
{
    struct lbd_figures *f = arg;

    (void)rc;
    f->asking = false;
    if (f->finishing && !f->said_last)
        send_figures(f);
}

static void send_figures(struct lbd_figures *f)
{
    json_t *o;
    size_t n;

    if (f->asking || !lbd_job_loops(f->job))
        return;
    o = pack(f);
    n = o ? json_dumpb(o, f->request.u.text.text, LBW_LOCAL_TEXT_MAX, JSON_COMPACT) : 0;
    json_decref(o);
    if (n == 0 || n > LBW_LOCAL_TEXT_MAX)
        return;
    f->request.u.text.text[n] = '\0';
    f->request.type = LBW_L_JOB;
    f->asking = true;
    f->said_last = f->finishing;
    lbd_ask_begin(&f->ask, f->timer.loop, f->socket, &f->request, on_asked, f);
}

static void on_timer(uv_timer_t *h)
{
    struct lbd_figures *f = h->data;

    if (f->told < YOUNG && ++f->told == YOUNG)
        uv_timer_set_repeat(h, EVERY_LATER_MS);
    send_figures(f);
}

int lbd_figures_create(uv_loop_t *loop, const struct lbd_job *job, const char *socket,
                       const char *policy, struct lbd_figures **ret)
{
    struct lbd_figures *f = calloc(1, sizeof(*f));

    if (!f)
        return -ENOMEM;
    f->job = job;
    f->socket = socket;
    f->policy = policy;
    f->begun_s = (double)lbx_clock_wall_ns() / 1e9;
    uv_timer_init(loop, &f->timer);
    f->timer.data = f;
    uv_timer_start(&f->timer, on_timer, FIRST_MS, EVERY_MS);
    *ret = f;
    return 0;
}

void lbd_figures_finish(struct lbd_figures *f)
{
    if (!f || f->finishing)
        return;
    f->finishing = true;
    send_figures(f); /* while another is on its way the last ones follow it */
    uv_close((uv_handle_t *)&f->timer, NULL);
}

void lbd_figures_destroy(struct lbd_figures *f)
{
    free(f);
}
