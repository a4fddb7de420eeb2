/* SPDX-License-Identifier: BSD-3-Clause */
/* The balancer's mind: its state, and which policy decides. */
#include "policy/balance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "policy/balance_impl.h"
#include "policy/period.h"

/* A chunk is to take so long: once handed out it cannot be moved. */
#define CHUNK_NS 1000000
/* The period of siegell and liu before anything is measured: seed 000, section 5.2.4; seed 002, step 1. */
#define PUBLISHED_NS INT64_C(1000000000)
/* The gain that a plan must bring, ratio, as published: tfract, seed 000, section 6.2. */
#define THRESHOLD 0.1
/* The period of policies that move nothing. */
#define WATCHED_NS INT64_C(500000000)
/* A move of which nobody has told anything for so long did not arrive. */
#define LOST_NS INT64_C(3000000000)
/* A rank reports when it has less than this left to do, before it is told otherwise. */
#define FIRST_LOW_NS INT64_C(30000000)

static bool config_valid(const struct lbp_balance_config *c)
{
    if (c->nranks == 0 || c->n < 0 || c->row_bytes < 0 || c->t_interact_ns < 0 ||
        c->stable_ns < 0 || c->params.policy < 0 || c->params.policy >= LBP_POLICIES)
        return false;
    for (uint32_t i = 0; c->weight && i < c->nranks; i++)
        if (!isfinite(c->weight[i]) || c->weight[i] < 0)
            return false;
    for (uint32_t i = 0; c->hardware && i < c->nranks; i++)
        if (!isfinite(c->hardware[i]) || c->hardware[i] <= 0)
            return false;
    return true;
}

int lbp_balance_create(const struct lbp_balance_config *config, int64_t now_ns,
                       struct lbp_balance **ret, struct lbx_error *err)
{
    struct lbp_balance *b;
    double threshold = config->params.threshold;

    if (!config_valid(config))
        return lbx_error_set(err, -EINVAL, "a balancer needs ranks >= 1, n >= 0 and weights >= 0");
    b = calloc(1, sizeof(*b));
    if (!b || lbp_model_init(&b->model, config, now_ns) < 0)
        goto out;
    b->params = config->params;
    lbp_threshold_init(&b->threshold, threshold >= 0 ? threshold : THRESHOLD,
                       threshold < 0 && config->params.policy == LBP_AUTO);
    b->view = calloc(config->nranks, sizeof(*b->view));
    b->share = calloc(config->nranks, sizeof(*b->share));
    b->asked = calloc(config->nranks, sizeof(*b->asked));
    b->refused = calloc(config->nranks, sizeof(*b->refused));
    b->asks = calloc(config->nranks, sizeof(*b->asks));
    b->plan.transfer =
        calloc(2 * (size_t)config->nranks + LBP_PLAN_POLISH, sizeof(*b->plan.transfer));
    if (!b->view || !b->share || !b->asked || !b->refused || !b->asks || !b->plan.transfer)
        goto out;
    b->epoch = config->first_epoch;
    b->planned_ns = INT64_MIN;
    b->decided_ns = INT64_MIN;
    b->workscale = 5;
    b->wake_ns = INT64_MAX;
    b->period_ns = config->params.period_ns > 0        ? config->params.period_ns
                   : config->params.policy == LBP_AUTO ? lbp_period(0, 0, 1, 0, config->nranks)
                   : lbp_policy_is_published(config->params.policy) ? PUBLISHED_NS
                                                                    : WATCHED_NS;
    *ret = b;
    return 0;
out:
    lbp_balance_destroy(b);
    return lbx_error_set(err, -ENOMEM, "out of memory");
}

void lbp_balance_destroy(struct lbp_balance *b)
{
    if (!b)
        return;
    lbp_model_fini(&b->model);
    free(b->view);
    free(b->share);
    free(b->asked);
    free(b->refused);
    free(b->asks);
    free(b->plan.transfer);
    free(b);
}

static bool moves_nothing(const struct lbp_balance *b)
{
    return b->params.policy == LBP_STATIC || b->params.policy == LBP_NONE || b->model.nranks == 1;
}

static int decide(struct lbp_balance *b, int64_t now_ns, enum lbp_event event,
                  struct lbp_actions *out)
{
    const struct lbp_model *m = &b->model;

    if (moves_nothing(b)) { /* the pass is final as soon as anybody reports of it */
        b->wake_ns = INT64_MAX;
        return m->begun_ns == INT64_MIN ? 0 : lbp_act_final(b, out);
    }
    if (b->params.policy == LBP_LIU)
        return lbp_liu_decide(b, now_ns, out);
    return lbp_auto_decide(b, now_ns, event, out);
}

int lbp_balance_join(struct lbp_balance *b, uint32_t rank, int64_t first, int64_t last,
                     int64_t now_ns, struct lbp_actions *out)
{
    int64_t chunk = b->params.chunk_ns > 0 ? b->params.chunk_ns : CHUNK_NS;
    bool quick = b->params.policy == LBP_AUTO && b->params.period_ns < 0 && !moves_nothing(b);
    int ret = lbp_model_join(&b->model, rank, first, last, now_ns);

    b->said.n = 0;
    b->said.left_out = 0;
    if (ret < 0)
        return ret;
    /* where nothing moves, a rank that is low at once reports at once, and FINAL is there long
     * before the end */
    return lbp_act_instruct(b, rank, quick ? LBP_PERIOD_QUICK_NS : b->period_ns,
                            moves_nothing(b) ? PUBLISHED_NS : FIRST_LOW_NS, chunk, now_ns, out);
}

/*
 * Under sync=yes a decision is by this period's reports of all: by those that wait, while whoever takes no part, or has
 * nothing left and will be heard of when it has, holds up nobody.
 */
static bool all_asked(const struct lbp_balance *b)
{
    const struct lbp_model *m = &b->model;

    if (b->nasks == 0) /* as ever without sync=yes; else each report would cost O(P) */
        return false;
    for (uint32_t i = 0; i < m->nranks; i++)
        if (b->asks[i] == 0 && lbp_model_present(m, &m->rank[i]) && !m->rank[i].dry)
            return false;
    return true;
}

static int answer_all(struct lbp_balance *b, struct lbp_actions *out)
{
    int ret = 0;

    for (uint32_t i = 0; i < b->model.nranks && ret == 0; i++) {
        if (b->asks[i] == 0)
            continue;
        ret = lbp_act_answer(i, b->asks[i], out);
        if (ret < 0)
            break;
        b->asks[i] = 0;
        b->nasks--;
    }
    return ret;
}

int lbp_balance_report(struct lbp_balance *b, const struct lbp_report *r, int64_t now_ns,
                       struct lbp_actions *out)
{
    const struct lbp_model *m = &b->model;
    int64_t pass = m->pass;
    bool done = false, urgent;
    int ret = lbp_model_report(&b->model, r, now_ns, &done);

    b->said.n = 0;
    b->said.left_out = 0;
    if (ret == -EALREADY)
        return r->asks > 0 ? lbp_act_answer(r->rank, r->asks, out) : 0;
    if (ret < 0)
        return ret;
    b->nasks += (r->asks > 0) - (b->asks[r->rank] > 0);
    b->asks[r->rank] = r->asks;
    if (r->dry && m->flights > 0 && lbp_model_forget(&b->model, now_ns, LOST_NS))
        done = true;
    if (r->dry && r->pass < m->pass && now_ns - b->final_ns > LOST_NS) {
        b->final_ns = now_ns;
        ret = lbp_act_final_again(r->pass, out);
        return ret == 0 && all_asked(b) ? answer_all(b, out) : ret;
    }
    urgent = done || r->dry || r->low || (r->asks > 0 && all_asked(b));
    if (r->asks == 0 || urgent || moves_nothing(b))
        ret = decide(b, now_ns, urgent ? LBP_EVENT_URGENT : LBP_EVENT_REPORT, out);
    if (m->pass > pass)
        b->final_ns = now_ns;
    return ret == 0 && all_asked(b) ? answer_all(b, out) : ret;
}

int lbp_balance_tick(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    int64_t pass = b->model.pass;
    int ret;

    b->said.n = 0;
    b->said.left_out = 0;
    ret = decide(b, now_ns, LBP_EVENT_TICK, out);
    if (b->model.pass > pass)
        b->final_ns = now_ns;
    return ret;
}

int64_t lbp_balance_wake_ns(const struct lbp_balance *b)
{
    return b->wake_ns;
}

void lbp_balance_stats(const struct lbp_balance *b, struct lbp_balance_stats *ret)
{
    *ret = (struct lbp_balance_stats){.next_epoch = b->epoch,
                                      .moved_iterations = b->model.moved_iterations,
                                      .moved_bytes = b->model.moved_bytes,
                                      .load_balance_ratio = lbp_model_load_balance(&b->model),
                                      .period_ns = b->period_ns,
                                      .chunk_ns =
                                          b->params.chunk_ns > 0 ? b->params.chunk_ns : CHUNK_NS};
    for (int i = 0; i < LBP_REASONS; i++)
        ret->decisions[i] = b->decisions[i];
}

void lbp_balance_ranks(const struct lbp_balance *b, double *ret_speed, double *ret_share)
{
    const struct lbp_model *m = &b->model;

    for (uint32_t i = 0; i < m->nranks; i++) {
        if (ret_speed)
            ret_speed[i] = lbp_filter_value(&m->rank[i].speed);
        if (ret_share)
            ret_share[i] =
                m->n > 0 ? (double)lbx_spanset_count(&m->rank[i].owned) / (double)m->n : 0;
    }
}

const struct lbp_decisions *lbp_balance_decisions(const struct lbp_balance *b)
{
    return &b->said;
}

void lbp_balance_seen(struct lbp_balance *b, struct lbp_seen *ret)
{
    struct lbp_model *m = &b->model;
    double mean = lbp_profile_learned(&m->profile) ? lbp_profile_mean(&m->profile) : 0;
    double scale = mean > 0 ? 1e9 / mean : 0;

    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct lbp_rank *r = &m->rank[i];

        ret[i] = (struct lbp_seen){
            .raw_hz = r->raw * scale,
            .filtered_hz = lbp_filter_known(&r->speed) ? lbp_filter_value(&r->speed) * scale : 0,
            .share_ratio = m->n > 0 ? (double)lbx_spanset_count(&r->owned) / (double)m->n : 0};
    }
}

double lbp_balance_first_ns(struct lbp_balance *b, double *ret_balance_ratio)
{
    struct lbp_model *m = &b->model;
    double longest = 0, sum = 0;

    if (!lbp_profile_learned(&m->profile))
        return 0;
    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct lbp_rank *r = &m->rank[i];
        double work = lbp_profile_work(&m->profile, r->first, r->last);

        if (r->last == r->first)
            continue;
        if (!(r->work_sum > 0) || !(r->wall_sum > 0))
            return 0;
        longest = fmax(longest, work * r->wall_sum / r->work_sum);
        sum += work * r->wall_sum / r->work_sum;
    }
    if (longest > 0 && ret_balance_ratio)
        *ret_balance_ratio = sum / m->nranks / longest;
    return longest;
}
