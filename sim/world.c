/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of simulated ranks round the real balancer: events in virtual time. */
#include "sim/world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/apportion.h"
#include "sim/rank.h"

#define EVENTS_MAX INT64_C(20000000) /* then it is said to hang */

static void trace_action(const struct sim_world *w, const struct lbp_action *a)
{
    static const char *const name[] = {"MOVE", "INSTRUCT", "FINAL", "ANSWER"};

    printf("%9.3f  %s rank=%u dest=%u pass=%" PRId64 " [%" PRId64 ",%" PRId64 ") period=%.1f\n",
           (double)w->now_ns / 1e6, name[a->type], a->rank, a->dest, a->pass, a->first, a->last,
           (double)a->period_ns / 1e6);
}

/* A message of the balancer leaves when its turn has come. */
static void say(struct sim_world *w, struct sim_event event)
{
    w->server.said_ns[event.rank] = w->now_ns;
    event.at_ns = sim_server_take(&w->server, w->now_ns) + w->config->latency_ns;
    w->messages++;
    sim_post(w, event);
}

/* Send the balancer's actions on their way. */
static void carry_out(struct sim_world *w)
{
    for (size_t i = 0; i < w->actions.n; i++) {
        const struct lbp_action *a = &w->actions.action[i];
        struct sim_event event = {.type = SIM_ACTION, .rank = a->rank, .action = *a};

        if (w->config->trace)
            trace_action(w, a);
        if (a->type == LBP_MOVE && (w->final_pass >= a->pass || a->dest >= w->config->nranks))
            sim_fail(w, "a move after final, or to nobody");
        if (a->type == LBP_FINAL) {
            if (a->pass > w->final_pass + 1)
                sim_fail(w, "final out of order");
            if (a->pass > w->final_pass) /* else it is said once more */
                w->final_pass = a->pass;
            for (uint32_t r = 0; r < w->config->nranks; r++) {
                event.rank = r;
                say(w, event);
            }
            continue;
        }
        say(w, event);
        if (a->type == LBP_MOVE) { /* its destination is told to expect rows */
            w->moves++;
            w->messages++;
            sim_server_take(&w->server, w->now_ns);
        }
    }
    w->actions.n = 0;
}

static void trace_report(const struct sim_world *w, const struct lbp_report *r)
{
    double cpu = 0, wall = 0;

    for (size_t i = 0; i < r->nsamples; i++) {
        cpu += (double)r->sample[i].cpu_ns;
        wall += (double)r->sample[i].wall_ns;
    }
    printf("%9.3f  report rank=%u pass=%" PRId64 " executed=%" PRId64 " remaining=%" PRId64
           "%s%s rate=%.3f done=%zu\n",
           (double)w->now_ns / 1e6, r->rank, r->pass, r->executed, r->remaining,
           r->dry ? " dry" : "", r->low ? " low" : "", wall > 0 ? cpu / wall : 0, r->ndone);
}

static void balancer_event(struct sim_world *w, struct sim_event *e)
{
    int ret = 0;
    int64_t wake;

    if (e->type == SIM_TICK) {
        if (w->tick_ns != e->at_ns)
            return; /* superseded */
        w->tick_ns = INT64_MAX;
        w->ticks++;
        ret = lbp_balance_tick(w->balance, w->now_ns, &w->actions);
    } else {
        struct lbp_report r = e->report->r;

        r.span = e->report->span;
        r.sample = e->report->sample;
        r.done = e->report->done;
        w->reports++;
        w->messages++;
        if (w->config->trace)
            trace_report(w, &r);
        ret = lbp_balance_report(w->balance, &r, w->now_ns, &w->actions);
    }
    if (ret < 0)
        sim_fail(w, "the balancer refused a report");
    carry_out(w);
    wake = lbp_balance_wake_ns(w->balance);
    if (wake < w->now_ns)
        wake = w->now_ns;
    if (wake == w->tick_ns)
        return;
    w->tick_ns = wake;
    if (wake != INT64_MAX)
        sim_post(w, (struct sim_event){.type = SIM_TICK, .at_ns = wake});
}

/* A report waits for its turn, when the balancer's time counts. */
static void hear(struct sim_world *w, struct sim_event *e)
{
    struct sim_event heard = *e;

    heard.type = SIM_HEARD;
    heard.at_ns = sim_server_take(&w->server, w->now_ns);
    w->server.waits[e->rank] = e->report->r.dry;
    e->report = NULL;
    if (heard.at_ns > w->now_ns) {
        sim_post(w, heard);
        return;
    }
    balancer_event(w, &heard);
    free(heard.report);
}

/* All ranks are in the barrier: the next pass begins, or all is over. */
static void leave_barrier(struct sim_world *w)
{
    w->waiting = 0;
    if (++w->pass == w->config->passes) {
        w->ended = true;
        return;
    }
    for (uint32_t i = 0; i < w->config->nranks; i++)
        sim_rank_begin(w, &w->rank[i], w->now_ns + w->config->latency_ns);
}

static void loop(struct sim_world *w)
{
    for (int64_t count = 0; w->nevents > 0 && !w->ended && !w->why; count++) {
        struct sim_event e = sim_next(w);

        w->now_ns = e.at_ns;
        if (count > EVENTS_MAX)
            sim_fail(w, "too many events");
        if (e.type == SIM_REPORT)
            hear(w, &e);
        else if (e.type == SIM_TICK || e.type == SIM_HEARD)
            balancer_event(w, &e);
        else
            sim_rank_event(w, &w->rank[e.rank], &e);
        free(e.report);
        if (w->waiting == w->config->nranks)
            leave_barrier(w);
    }
    if (!w->ended)
        sim_fail(w, "hung: nothing will happen any more");
}

static int start(struct sim_world *w, const int64_t *share)
{
    const struct sim_config *c = w->config;
    int64_t first = 0;

    for (uint32_t i = 0; i < c->nranks; i++) {
        struct sim_rank *r = &w->rank[i];
        int ret;

        r->id = i;
        r->host = c->host[i];
        r->host.period = -1;
        lbx_spanset_init(&r->owned);
        lbx_spanset_init(&r->left);
        ret = lbx_spanset_add(&r->owned, first, first + share[i]);
        if (ret == 0)
            ret = lbp_balance_join(w->balance, i, first, first + share[i], 0, &w->actions);
        if (ret < 0)
            return ret;
        first += share[i];
    }
    carry_out(w);
    for (uint32_t i = 0; i < c->nranks; i++)
        sim_rank_begin(w, &w->rank[i], 0);
    return 0;
}

/* The bare loop: each rank does its share, and all wait for each other after each pass. */
static int64_t static_end(const struct sim_config *c, const int64_t *share)
{
    struct sim_host *host = calloc(c->nranks, sizeof(*host));
    int64_t now = 0;

    if (!host)
        return 0;
    memcpy(host, c->host, c->nranks * sizeof(*host));
    for (uint32_t i = 0; i < c->nranks; i++)
        host[i].period = -1;
    for (int pass = 0; pass < c->passes; pass++) {
        int64_t first = 0, end = now;

        for (uint32_t i = 0; i < c->nranks; i++) {
            double work = 0;
            int64_t done;

            for (int64_t k = first; k < first + share[i]; k++)
                work += c->cost_ns[k];
            first += share[i];
            done = sim_host_run(&host[i], now, work / sim_host_hardware(&host[i]));
            end = done > end ? done : end;
        }
        now = end + (pass + 1 < c->passes ? c->latency_ns : 0);
    }
    free(host);
    return now;
}

static void finish(struct sim_world *w, const int64_t *share, struct sim_result *ret)
{
    const struct sim_config *c = w->config;
    double work = 0;

    *ret = (struct sim_result){.end_ns = w->now_ns,
                               .static_ns = static_end(c, share),
                               .first_ns = lbp_balance_first_ns(w->balance, NULL) * c->passes,
                               .moves = w->moves,
                               .messages = w->messages,
                               .reports = w->reports,
                               .ticks = w->ticks,
                               .busy_ns = w->server.busy_ns,
                               .late_ns = w->server.late_ns,
                               .ended = w->ended && !w->why,
                               .why = w->why};
    for (int64_t i = 0; i < c->n; i++) {
        work += c->cost_ns[i];
        if (w->count[i] < c->passes)
            ret->missing += c->passes - w->count[i];
        else
            ret->repeated += w->count[i] - c->passes;
    }
    ret->ideal_ns = sim_host_ideal(c->host, (int)c->nranks, 0, work * c->passes);
}

static int make_balance(struct sim_world *w, const double *weight)
{
    const struct sim_config *c = w->config;
    struct lbp_balance_config config = {.nranks = c->nranks,
                                        .n = c->n,
                                        .row_bytes = c->row_bytes,
                                        .weight = weight,
                                        .t_interact_ns = c->measured ? 2 * c->latency_ns : 0,
                                        .first_epoch = 1};
    double *hardware = calloc(c->nranks, sizeof(*hardware));
    int ret = hardware ? lbp_params_parse(&config.params, c->policy, NULL) : -ENOMEM;

    for (uint32_t i = 0; hardware && i < c->nranks; i++)
        hardware[i] = sim_host_hardware(&c->host[i]);
    config.hardware = hardware;
    w->sync = config.params.sync;
    if (ret == 0)
        ret = lbp_balance_create(&config, 0, &w->balance, NULL);
    free(hardware);
    return ret;
}

int sim_run(const struct sim_config *config, struct sim_result *ret_result)
{
    struct sim_world w = {.config = config,
                          .server = {.message_ns = config->balancer_ns,
                                     .beat_ns = config->beat_ns,
                                     .nranks = config->nranks},
                          .final_pass = -1,
                          .tick_ns = INT64_MAX};
    double *weight = calloc(config->nranks, sizeof(*weight));
    int64_t *share = calloc(config->nranks, sizeof(*share));
    bool known;
    int ret = -ENOMEM;

    if (config->nranks < 1 || config->nranks > SIM_RANKS_MAX || config->n < 0)
        goto out;
    w.rank = calloc(config->nranks, sizeof(*w.rank));
    w.server.said_ns = calloc(config->nranks, sizeof(*w.server.said_ns));
    w.server.waits = calloc(config->nranks, sizeof(*w.server.waits));
    w.count = calloc((size_t)config->n + 1, sizeof(*w.count));
    if (!weight || !share || !w.rank || !w.count || !w.server.said_ns || !w.server.waits)
        goto out;
    for (uint32_t i = 0; i < config->nranks; i++)
        weight[i] = config->told
                        ? config->told[i]
                        : sim_host_cores(&config->host[i], 0) * sim_host_hardware(&config->host[i]);
    known = config->told || config->weights;
    ret = lbp_apportion(config->n, known ? weight : NULL, config->nranks, share);
    if (ret == 0)
        ret = make_balance(&w, known ? weight : NULL);
    if (ret == 0)
        ret = start(&w, share);
    if (ret < 0)
        goto out;
    loop(&w);
    finish(&w, share, ret_result);
out:
    while (w.nevents > 0)
        free(sim_next(&w).report);
    for (uint32_t i = 0; w.rank && i < config->nranks; i++)
        sim_rank_fini(&w.rank[i]);
    lbp_actions_fini(&w.actions);
    lbp_balance_destroy(w.balance);
    free(w.event);
    free(w.server.said_ns);
    free(w.server.waits);
    free(w.rank);
    free(w.count);
    free(weight);
    free(share);
    return ret;
}
