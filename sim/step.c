/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated job with a stepped or pipelined loop. */
#include "sim/step_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/adjacent.h"
#include "policy/firsts.h"
#include "policy/registry.h"
#include "policy/votes.h"

#define PATIENCE_NS INT64_C(1000000000) /* as in libclient/init.c */
#define SETTLED 1.05
#define QUOTA_NS 20e6

void sim_step_fail(struct sim_steps *w, const char *why)
{
    if (!w->result.why)
        w->result.why = why;
}

static void trace_plan(const struct sim_steps *w, const struct lbp_stepped_action *a,
                       int64_t now_ns)
{
    printf("%9.3f  plan %" PRIu64 " step %" PRId64 " by %" PRId64 " block %" PRId64 " bounds",
           (double)now_ns / 1e6, a->epoch, w->step, a->at_step, a->block);
    for (uint32_t r = 0; r <= w->c->nranks; r++)
        printf(" %" PRId64, a->bound[r]);
    puts("");
}

/* What was decided last, when that was now. */
static void trace_decision(const struct sim_steps *w, int64_t now_ns)
{
    static const char *const reason[] = {"proportional", "dry",      "below threshold",
                                         "unprofitable", "filtered", "unstable"};
    struct lbp_stepped_stats s;

    lbp_stepped_stats(w->policy, &s);
    if (s.last.at_ns == now_ns)
        printf("%9.3f  decision %s before_ms=%.3f after_ms=%.3f least=%.3f cost_ms=%.3f "
               "benefit_ms=%.3f account_ms=%.3f\n",
               (double)now_ns / 1e6, reason[s.last.reason], s.last.before_ns / 1e6,
               s.last.after_ns / 1e6, s.last.least, s.last.cost_ns / 1e6, s.last.benefit_ns / 1e6,
               s.account_ns / 1e6);
}

static void take_plan(struct sim_steps *w, const struct lbp_stepped_action *a, int64_t now_ns)
{
    if (a->epoch == w->planned) /* once more: some have not told that they applied it */
        return;
    if (a->epoch != w->planned + 1 || w->plan_ns != INT64_MAX)
        sim_step_fail(w, "a plan out of order");
    memcpy(w->next, a->bound, (w->c->nranks + 1) * sizeof(*w->next));
    w->planned = a->epoch;
    w->planned_block = a->block;
    w->plan_ns = now_ns + w->c->latency_ns;
    if (w->c->trace)
        trace_plan(w, a, now_ns);
}

/* What has come to the balancer by now. */
static void balancer(struct sim_steps *w)
{
    while (w->nmail > 0 && w->mail[0].at_ns <= w->now_ns && !w->result.why) {
        struct sim_mail m = sim_step_mail(w);
        struct lbp_stepped_action action[LBP_STEPPED_ACTIONS];
        size_t n = 0;

        w->result.reports++;
        m.r.sample = m.sample;
        if (lbp_stepped_report(w->policy, &m.r, m.at_ns, action, &n) < 0)
            sim_step_fail(w, "the balancer refused a report");
        lbp_firsts_report(w->firsts, &m.r, w->c->pipelined > 0 ? w->block : 0, m.at_ns);
        if (w->c->trace)
            trace_decision(w, m.at_ns);
        if (w->c->decided)
            w->c->decided(w->c->arg, w->policy, m.at_ns);
        for (size_t i = 0; i < n; i++)
            if (action[i].type == LBP_STEPPED_PLAN)
                take_plan(w, &action[i], m.at_ns);
            else if (action[i].type == LBP_STEPPED_INSTRUCT)
                w->period_ns = action[i].period_ns;
            else if (action[i].type == LBP_STEPPED_ANSWER)
                w->answer_ns = m.at_ns + w->c->latency_ns;
    }
}

/*
 * Under sync=yes all ranks have reported in this step, and wait before they vote; so a layout is in force at the very step
 * whose times it was made of.  In libclient an answer that does not come is waited for no longer than PATIENCE_NS.
 */
static void await_answer(struct sim_steps *w, int64_t end)
{
    int64_t was = w->now_ns, asked_ns = end + w->c->latency_ns;

    w->answer_ns = end + PATIENCE_NS;
    w->now_ns = asked_ns;
    balancer(w);
    w->now_ns = w->answer_ns + w->c->latency_ns + w->c->exchange_ns;
    for (uint32_t r = 0; r < w->c->nranks; r++)
        w->start[r] += w->now_ns - was;
}

static double cores(const struct sim_steps *w, int64_t now_ns)
{
    double sum = 0;

    for (uint32_t r = 0; r < w->c->nranks; r++)
        sum += sim_host_cores(&w->rank[r].host, now_ns) * sim_host_hardware(&w->rank[r].host);
    return sum;
}

/* What a step takes at best at these speeds, but for one iteration and a period of a quota; and the pipeline's filling. */
static double best_step(const struct sim_steps *w, int64_t from)
{
    const struct sim_step_config *c = w->c;
    double best = (w->before[c->n] / cores(w, from) + w->longest) / (double)w->legs;
    double block = (double)sim_step_block(w), elements = (double)sim_step_elements(w);
    double blocks = c->pipelined > 0 ? ceil(elements / block) : 1;

    if (c->host[0].quota)
        best += QUOTA_NS;
    if (c->kind != LBP_DOACROSS)
        return best;
    return best * (1 + (c->nranks - 1) / blocks) +
           (blocks + c->nranks) * ((double)c->shift_fixed_ns + c->shift_incr_ns * block);
}

bool sim_step_is_flowing(const struct sim_steps *w)
{
    return w->c->kind == LBP_DOACROSS && !w->sync;
}

/* What all ranks propose in a vote.  Under sync=yes they vote in each step: who is due reports in it. */
static void propose(struct sim_steps *w, int64_t step_ns)
{
    struct lbp_votes v = {
        .flows = sim_step_is_flowing(w),
        .waits = w->sync,
        .quota = w->rank[0].quota_cpus > 0,
        .alone = true,
        .lag = lbp_votes_lag(sim_step_holders(w), sim_step_block(w), w->c->pipelined / w->legs),
        .period_ns = (double)w->period_ns,
        .step_ns = fmax((double)step_ns, 1),
        .exchanges = w->step,
        .interval = w->interval};

    w->proposed_interval = w->sync ? 1 : lbp_votes_interval(&v);
    w->proposed_later = lbp_votes_later(&v);
}

/* A step has ended, which took so long: does a layout come into force? */
static bool is_agreed(struct sim_steps *w, int64_t step_ns)
{
    bool agreed = false;

    /* a vote may be taken and the next entered in one step, and taken at once */
    for (int i = 0; i < 2; i++) {
        if (w->asked && w->step >= w->asked_step + w->later) {
            agreed = agreed || w->voted;
            w->asked = false;
            w->interval = w->proposed_interval;
            w->later = w->proposed_later;
        }
        if (w->asked || w->step < w->asked_step + w->interval)
            break;
        w->asked = true;
        w->voted = w->plan_ns <= w->now_ns && !agreed;
        w->asked_step = w->step;
        propose(w, step_ns);
    }
    return agreed;
}

static void loop(struct sim_steps *w)
{
    const struct sim_step_config *c = w->c;

    for (w->step = 0; w->step < c->steps * w->legs && !w->result.why; w->step++) {
        int64_t from = w->now_ns, end;
        bool asked;

        if (w->told)
            memcpy(w->bound, c->bounds(c->arg, w->step), (c->nranks + 1) * sizeof(*w->bound));
        end = c->kind == LBP_DOACROSS ? sim_step_pipeline(w) : sim_step_barrier(w);

        if ((double)(end - from) > SETTLED * best_step(w, from))
            w->result.settled_ns = end;
        if (c->trace && w->policy)
            printf("%9.3f  step %" PRId64 " took %.3f ms\n", (double)end / 1e6, w->step,
                   (double)(end - from) / 1e6);
        w->step_ns =
            w->step_ns > 0 ? (w->step_ns + (double)(end - from)) / 2 : (double)(end - from);
        asked = sim_step_report(w, end) && w->sync;
        w->now_ns = end + c->latency_ns + c->exchange_ns;
        if (!w->policy)
            continue;
        if (asked)
            await_answer(w, end);
        else
            balancer(w);
        if (is_agreed(w, end - from) && w->step + 1 < c->steps * w->legs)
            sim_step_apply(w);
    }
    w->result.ended = !w->result.why;
    w->result.end_ns = w->now_ns;
}

static int begin(struct sim_steps *w, bool bare)
{
    const struct sim_step_config *c = w->c;
    double *weight = calloc(2 * (size_t)c->nranks, sizeof(*weight));
    struct lbp_stepped_config config = {.kind = c->kind,
                                        .nranks = c->nranks,
                                        .n = c->n,
                                        .row_bytes = c->row_bytes,
                                        .min_iterations = c->min_iterations,
                                        .pipelined = c->pipelined,
                                        .t_interact_ns = 2 * c->latency_ns,
                                        .first_epoch = 1};
    int ret;

    if (!weight)
        return -ENOMEM;
    for (uint32_t r = 0; r < c->nranks; r++) {
        weight[r] =
            c->told ? c->told[r] : sim_host_cores(&c->host[r], 0) * sim_host_hardware(&c->host[r]);
        weight[c->nranks + r] = sim_host_hardware(&c->host[r]);
        w->rank[r].host = c->host[r];
        w->rank[r].host.period = -1;
        w->rank[r].r.shift_iterations = -1;
    }
    config.weight = c->weights || c->told ? weight : NULL;
    config.hardware = weight + c->nranks;
    ret = lbp_stepped_first(c->n, c->nranks, config.weight, c->min_iterations, w->bound);
    memcpy(w->undo, w->bound, (c->nranks + 1) * sizeof(*w->undo));
    if (ret == 0)
        ret = lbp_params_parse(&config.params, c->policy, NULL);
    w->sync = !bare && config.params.sync;
    w->published = !bare && lbp_policy_is_published(config.params.policy);
    if (config.params.sync || lbp_policy_is_published(config.params.policy))
        w->legs = 1; /* as the library has it */
    config.steps = c->steps_told ? c->steps * w->legs : 0;
    w->interval = 1;
    w->asked_step = -1;
    w->later = sim_step_is_flowing(w);
    if (ret == 0 && !bare)
        ret = lbp_stepped_create(&config, w->bound, 0, &w->policy, NULL);
    if (ret == 0 && !bare)
        ret = lbp_firsts_create(c->nranks, w->bound, config.hardware, c->pipelined, !w->sync,
                                &w->firsts);
    free(weight);
    return ret;
}

static int run(const struct sim_step_config *c, bool bare, bool told,
               struct sim_step_result *ret_result)
{
    struct sim_steps w = {
        .c = c, .told = told, .plan_ns = INT64_MAX, .period_ns = 10000000, .seed = c->seed};
    size_t ranks = c->nranks;
    int ret = -ENOMEM;

    w.rank = calloc(ranks, sizeof(*w.rank));
    w.before = calloc((size_t)c->n + 1, sizeof(*w.before));
    w.bound = calloc(3 * (ranks + 1), sizeof(*w.bound));
    w.ready = calloc(2 * ranks, sizeof(*w.ready));
    w.blocks = calloc((size_t)c->pipelined + 1, sizeof(*w.blocks));
    if (!w.rank || !w.before || !w.bound || !w.ready || !w.blocks)
        goto out;
    w.next = w.bound + ranks + 1;
    w.undo = w.next + ranks + 1;
    w.start = w.ready + ranks;
    w.legs = c->kind == LBP_DOACROSS && c->legs > 1 ? c->legs : 1;
    w.block = c->block > 0 ? c->block : c->pipelined / (8 * (int64_t)ranks) + 1;
    for (int64_t i = 0; i < c->n; i++) {
        w.before[i + 1] = w.before[i] + c->cost_ns[i];
        for (size_t r = 0; r < ranks; r++)
            w.longest = fmax(w.longest, c->cost_ns[i] / c->host[r].cores);
    }
    ret = begin(&w, bare);
    if (ret < 0)
        goto out;
    if (c->laid && w.policy)
        c->laid(c->arg, w.bound, 0, 0);
    loop(&w);
    *ret_result = w.result;
    ret_result->block = w.block;
    ret_result->legs = w.legs;
    ret_result->period_ns = w.period_ns;
    ret_result->ideal_ns =
        sim_host_ideal(c->host, (int)ranks, 0, w.before[c->n] * (double)c->steps);
    if (w.policy) {
        struct lbp_stepped_stats stats;
        struct lbp_firsts_answer firsts;

        lbp_firsts_ask(w.firsts, &firsts);
        ret_result->first_ns = (double)ret_result->end_ns + firsts.saved_ns;
        ret_result->first_balance_ratio = firsts.balance_ratio;

        lbp_stepped_stats(w.policy, &stats);
        memcpy(ret_result->decisions, stats.decisions, sizeof(stats.decisions));
        ret_result->account_ns = stats.account_ns;
    }
out:
    lbp_stepped_destroy(w.policy);
    lbp_firsts_destroy(w.firsts);
    free(w.rank);
    free(w.before);
    free(w.bound);
    free(w.ready);
    free(w.blocks);
    free(w.mail);
    return ret;
}

static int check(const struct sim_step_config *c)
{
    return c->nranks < 1 || c->parts < 0 || c->parts > SIM_STEP_PARTS || c->n < 0 || c->steps < 0 ||
                   (c->kind == LBP_DOACROSS && (c->pipelined < 1 || c->legs > c->pipelined))
               ? -EINVAL
               : 0;
}

int sim_step_told(const struct sim_step_config *config, struct sim_step_result *ret)
{
    int rc = check(config);

    return rc < 0 ? rc : config->bounds ? run(config, true, true, ret) : -EINVAL;
}

int sim_step_run(const struct sim_step_config *config, struct sim_step_result *ret)
{
    struct sim_step_result bare;
    int rc = check(config);

    if (rc == 0)
        rc = run(config, true, false, &bare);
    if (rc == 0)
        rc = run(config, false, false, ret);
    if (rc == 0)
        ret->static_ns = bare.end_ns;
    return rc;
}
