/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated rank: chunks, hooks, reports, and moves by the rule of wire/rank.h. */
#include "sim/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/period.h"

#define FIRST_REPORT_NS 10000000
#define PATIENCE_NS INT64_C(1000000000) /* as in libclient/init.c */

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void sim_rank_fini(struct sim_rank *r)
{
    lbx_spanset_fini(&r->owned);
    lbx_spanset_fini(&r->left);
    free(r->inbox);
}

void sim_rank_begin(struct sim_world *w, struct sim_rank *r, int64_t at_ns)
{
    r->pass = w->pass;
    r->executed = 0;
    r->low_told = r->dry_told = r->waiting = false;
    r->reported_ns = INT64_MIN;
    r->asks = 0;
    r->busy = true;
    if (r->period_ns == 0) { /* until the first INSTRUCT is there */
        r->period_ns = 50000000;
        r->chunk_ns = 1000000;
        r->final_pass = -1;
    }
    r->due_ns = at_ns + min64(r->period_ns, FIRST_REPORT_NS); /* a pass's first comes soon */
    if (lbx_spanset_copy(&r->owned, &r->left) < 0)
        sim_fail(w, "out of memory");
    sim_post(w, (struct sim_event){.type = SIM_HOOK, .at_ns = at_ns, .rank = r->id});
}

static void keep(struct sim_world *w, struct sim_rank *r, const struct sim_event *e)
{
    if (r->ninbox == r->inbox_size) {
        size_t size = r->inbox_size ? 2 * r->inbox_size : 8;
        struct sim_event *grown = realloc(r->inbox, size * sizeof(*grown));

        if (!grown) {
            sim_fail(w, "out of memory");
            return;
        }
        r->inbox = grown;
        r->inbox_size = size;
    }
    r->inbox[r->ninbox++] = *e;
}

/* due: it is the period's own report, for whose answer the rank waits under sync=yes, as in libclient/report.c. */
static void send_report(struct sim_world *w, struct sim_rank *r, bool dry, bool low, bool due)
{
    struct sim_report *report = calloc(1, sizeof(*report));
    size_t skip = r->left.n > SIM_SPANS ? r->left.n - SIM_SPANS : 0;

    if (!report) {
        sim_fail(w, "out of memory");
        return;
    }
    report->r = (struct lbp_report){.rank = r->id,
                                    .pass = r->pass,
                                    .dry = dry,
                                    .low = low,
                                    .executed = r->executed,
                                    .remaining = lbx_spanset_count(&r->left),
                                    .nspans = r->left.n - skip,
                                    .nsamples = r->nsamples,
                                    .ndone = r->ndone};
    memcpy(report->sample, r->sample, sizeof(r->sample));
    memcpy(report->done, r->done, sizeof(r->done));
    for (size_t i = 0; i < report->r.nspans; i++)
        report->span[i] = r->left.span[skip + i];
    if (w->sync && due && !dry && r->final_pass < r->pass) {
        r->asks = report->r.asks = w->now_ns > 0 ? w->now_ns : 1;
        sim_post(w, (struct sim_event){.type = SIM_PATIENCE,
                                       .at_ns = w->now_ns + PATIENCE_NS,
                                       .rank = r->id,
                                       .asks = r->asks});
    }
    r->nsamples = r->ndone = 0;
    r->reported_ns = w->now_ns;
    if (due || dry || !w->sync)
        r->due_ns = w->now_ns + r->period_ns;
    lbp_alert_told(&r->alert);
    sim_post(w, (struct sim_event){.type = SIM_REPORT,
                                   .at_ns = w->now_ns + w->config->latency_ns,
                                   .rank = r->id,
                                   .report = report});
}

static void tell_done(struct sim_world *w, struct sim_rank *r, uint64_t epoch,
                      enum lbp_done_role role, int64_t iterations, int64_t wall_ns)
{
    r->done[r->ndone++] = (struct lbp_done){.epoch = epoch,
                                            .role = role,
                                            .iterations = iterations,
                                            .bytes = iterations * w->config->row_bytes,
                                            .wall_ns = wall_ns,
                                            .cpu_ns = (int64_t)w->config->move_cpu_ns};
    if (r->ndone == SIM_DONES)
        send_report(w, r, false, false, false);
}

/* A transfer goes at the slower end's pace. */
static double link_between(const struct sim_config *c, uint32_t from, uint32_t to)
{
    return fmax(c->host[from].link > 0 ? c->host[from].link : 1,
                c->host[to].link > 0 ? c->host[to].link : 1);
}

/* Give away what remains of the span; returns the CPU time that it takes. */
static double obey(struct sim_world *w, struct sim_rank *r, const struct lbp_action *a)
{
    const struct sim_config *c = w->config;
    struct lbx_spanset part = LBX_SPANSET_EMPTY;
    int64_t k, wall;

    if (a->pass != r->pass || lbx_spanset_intersect(&r->left, a->first, a->last, &part) < 0)
        part.n = 0;
    k = lbx_spanset_count(&part);
    if (k == 0) {
        tell_done(w, r, a->epoch, LBP_REFUSED, 0, 0);
        lbx_spanset_fini(&part);
        return 0;
    }
    if (part.n != 1 || part.span[0].last != a->last)
        sim_fail(w, "what remains of a span is not its end");
    wall = (int64_t)(link_between(c, r->id, a->dest) * (double)(c->move_fixed_ns + k * c->row_ns));
    for (size_t i = 0; i < part.n; i++) {
        struct sim_event rows = {.type = SIM_ROWS,
                                 .at_ns = w->now_ns + c->latency_ns + wall,
                                 .rank = a->dest,
                                 .action = *a,
                                 .wall_ns = wall};

        rows.action.first = part.span[i].first;
        rows.action.last = part.span[i].last;
        if (lbx_spanset_remove(&r->left, rows.action.first, rows.action.last) < 0 ||
            lbx_spanset_remove(&r->owned, rows.action.first, rows.action.last) < 0)
            sim_fail(w, "out of memory");
        sim_post(w, rows);
    }
    tell_done(w, r, a->epoch, LBP_SENT, k, wall + c->latency_ns);
    lbx_spanset_fini(&part);
    return c->move_cpu_ns;
}

/* It waits no longer, and all ranks' periods begin together. */
static void go_on(const struct sim_world *w, struct sim_rank *r)
{
    r->asks = 0;
    r->due_ns = w->now_ns + r->period_ns;
}

/* Everything that came since the last hook; returns CPU time. */
static double read_inbox(struct sim_world *w, struct sim_rank *r)
{
    double cpu = 0;

    for (size_t i = 0; i < r->ninbox; i++) {
        const struct sim_event *e = &r->inbox[i];
        const struct lbp_action *a = &e->action;

        if (e->type == SIM_ROWS) {
            if (lbx_spanset_add(&r->left, a->first, a->last) < 0 ||
                lbx_spanset_add(&r->owned, a->first, a->last) < 0)
                sim_fail(w, "out of memory");
            if (a->pass != r->pass)
                sim_fail(w, "rows of another pass");
            tell_done(w, r, a->epoch, LBP_RECEIVED, a->last - a->first, e->wall_ns);
            r->dry_told = false;
            cpu += w->config->move_cpu_ns;
            continue;
        }
        cpu += w->config->hook_cpu_ns;
        switch (a->type) {
        case LBP_MOVE:
            cpu += obey(w, r, a);
            break;
        case LBP_FINAL:
            if (a->pass > r->final_pass)
                r->final_pass = a->pass;
            if (r->final_pass >= r->pass && r->asks > 0)
                go_on(w, r);
            break;
        case LBP_ANSWER:
            if (a->asks == r->asks)
                go_on(w, r);
            break;
        case LBP_INSTRUCT:
            if (r->reported_ns != INT64_MIN)
                r->due_ns += a->period_ns - r->period_ns;
            r->period_ns = a->period_ns;
            r->low_ns = a->low_ns;
            r->chunk_ns = a->chunk_ns;
            if (a->period_ns <= 0 || a->chunk_ns <= 0 || a->low_ns < 0)
                sim_fail(w, "a bad instruction");
            break;
        }
    }
    r->ninbox = 0;
    return cpu;
}

/* CPU time that the rank's chunk takes. */
static double chunk_cpu(const struct sim_world *w, const struct sim_rank *r)
{
    double work = 0;

    for (int64_t i = r->chunk.first; i < r->chunk.last; i++)
        work += w->config->cost_ns[i];
    return work / sim_host_hardware(&r->host) * sim_host_slower(&r->host, r->chunk_from_ns);
}

/* Ended: [first, last) took so long; pieces one after another are put together, as liblb does. */
static void end_chunk(struct sim_world *w, struct sim_rank *r)
{
    struct lbp_sample *s = r->nsamples ? &r->sample[r->nsamples - 1] : NULL;
    double cpu = chunk_cpu(w, r);

    if (r->chunk.first == r->chunk.last)
        return;
    for (int64_t i = r->chunk.first; i < r->chunk.last; i++)
        w->count[i]++;
    r->executed += r->chunk.last - r->chunk.first;
    lbp_alert_sample(&r->alert, (double)(r->chunk.last - r->chunk.first),
                     (double)(w->now_ns - r->chunk_from_ns), cpu);
    r->seen_cpu_ns = r->seen_cpu_ns * 0.9 + cpu;
    r->seen_wall_ns = r->seen_wall_ns * 0.9 + (double)(w->now_ns - r->chunk_from_ns);
    r->seen_iterations = r->seen_iterations * 0.9 + (double)(r->chunk.last - r->chunk.first);
    if (!s || s->last != r->chunk.first) {
        if (r->nsamples == SIM_SAMPLES)
            memmove(r->sample, r->sample + 1, --r->nsamples * sizeof(*r->sample));
        s = &r->sample[r->nsamples++];
        *s = (struct lbp_sample){r->chunk.first, r->chunk.first, 0, 0};
    }
    s->last = r->chunk.last;
    s->cpu_ns += (int64_t)cpu;
    s->wall_ns += w->now_ns - r->chunk_from_ns;
    r->chunk.first = r->chunk.last = 0;
}

/*
 * About chunk_ns of CPU time, or more while much remains; at least one iteration, at most a quarter of what remains
 * (rounded up).
 */
static int64_t chunk_size(const struct sim_rank *r, int64_t remaining)
{
    double each = r->seen_iterations > 0 ? r->seen_cpu_ns / r->seen_iterations : 0;
    double wall = r->seen_iterations > 0 ? r->seen_wall_ns / r->seen_iterations : 0;
    double want = each > 0 ? (double)r->chunk_ns / each : 1;
    int64_t k = want < 1 ? 1 : want > 1e12 ? INT64_C(1000000000000) : (int64_t)want;

    if (wall > 0)
        k = max64(k, (int64_t)(fmin((double)remaining * wall / LBP_HOOKS_LEFT,
                                    lbp_hook_most_ns(r->period_ns)) /
                               wall));
    k = min64(k, (remaining + 3) / 4);
    return k > 0 ? k : 1;
}

static bool has_alert(const struct sim_world *w, const struct sim_rank *r)
{
    return !w->sync && r->reported_ns != INT64_MIN &&
           lbp_alert_due(&r->alert, w->now_ns - r->reported_ns, INT64_MAX);
}

/* Between two chunks: read, report if due, go on, or wait. */
static void hook(struct sim_world *w, struct sim_rank *r)
{
    double cpu = 0, lasts;
    int64_t remaining, from;
    bool low, dry, due;

    end_chunk(w, r);
    cpu = read_inbox(w, r);
    if (r->asks > 0)
        return;
    remaining = lbx_spanset_count(&r->left);
    dry = remaining == 0;
    lasts = r->seen_iterations > 0 ? (double)remaining * r->seen_wall_ns / r->seen_iterations
                                   : INFINITY;
    low = !r->low_told && !dry && lasts < (double)r->low_ns;
    due = w->now_ns >= r->due_ns;
    if ((dry && !r->dry_told) || low || r->ndone > 0 || (!dry && (due || has_alert(w, r)))) {
        r->low_told = r->low_told || low;
        r->dry_told = dry;
        send_report(w, r, dry, low, due);
        cpu += w->config->hook_cpu_ns;
    }
    r->busy = !dry && r->asks == 0;
    if (r->asks > 0)
        return;
    if (dry) {
        if (r->final_pass >= r->pass && !r->waiting) {
            r->waiting = true;
            w->waiting++;
        }
        return;
    }
    if (r->waiting)
        sim_fail(w, "iterations for a rank that waits at the end");
    r->chunk.first = r->left.span[0].first;
    r->chunk.last = min64(r->chunk.first + chunk_size(r, remaining), r->left.span[0].last);
    if (lbx_spanset_remove(&r->left, r->chunk.first, r->chunk.last) < 0)
        sim_fail(w, "out of memory");
    from = sim_host_run(&r->host, w->now_ns, cpu);
    r->chunk_from_ns = from;
    sim_post(w, (struct sim_event){.type = SIM_HOOK,
                                   .at_ns = sim_host_run(&r->host, from, chunk_cpu(w, r)),
                                   .rank = r->id});
}

void sim_rank_event(struct sim_world *w, struct sim_rank *r, struct sim_event *e)
{
    if (e->type == SIM_HOOK) {
        hook(w, r);
        return;
    }
    if (e->type == SIM_PATIENCE && (r->asks == 0 || e->asks != r->asks))
        return;
    if (e->type == SIM_PATIENCE)
        go_on(w, r);
    else
        keep(w, r, e);
    if (!r->busy && !r->waiting)
        hook(w, r); /* it waits in select: awake at once */
}
