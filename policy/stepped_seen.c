/* SPDX-License-Identifier: BSD-3-Clause */
/* The balancer's mind for one STEPPED or DOACROSS loop: what can be seen of it. */
#include <math.h>

#include "policy/stepped_impl.h"

int64_t lbp_stepped_block(const struct lbp_stepped *s)
{
    return s->config.pipelined > 0 ? s->grain.block : 0;
}

void lbp_stepped_stats(const struct lbp_stepped *s, struct lbp_stepped_stats *ret)
{
    double sum = 0, most = 0;

    *ret = (struct lbp_stepped_stats){.epoch = s->epoch,
                                      .moved_iterations = s->moved_iterations,
                                      .moved_bytes = s->moved_bytes,
                                      .account_ns = s->account_ns,
                                      .period_ns = s->period_ns,
                                      .block = lbp_stepped_block(s),
                                      .last = s->last};
    for (int i = 0; i < LBP_REASONS; i++)
        ret->decisions[i] = s->decisions[i];
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        sum += s->rank[i].step_wall_ns;
        most = fmax(most, s->rank[i].step_wall_ns);
    }
    ret->load_balance_ratio = most > 0 ? sum / s->config.nranks / most : 1;
}

void lbp_stepped_ranks(const struct lbp_stepped *s, double *ret_speed, double *ret_share)
{
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        if (ret_speed)
            ret_speed[i] = lbp_filter_value(&s->rank[i].filter);
        if (ret_share)
            ret_share[i] =
                s->config.n > 0 ? (double)(s->told[i + 1] - s->told[i]) / (double)s->config.n : 0;
    }
}

bool lbp_stepped_decided(struct lbp_stepped *s, struct lbp_decision *ret)
{
    const struct lbp_stepped_decision *d = &s->last;
    bool done = d->reason == LBP_REASON_PROPORTIONAL;
    int64_t n = 0;

    for (int i = 0; i < LBP_REASONS; i++)
        n += s->decisions[i];
    if (n == s->told_decisions)
        return false;
    s->told_decisions = n;
    *ret = (struct lbp_decision){
        .kind = LBP_DECIDED_STEPS,
        .done = done,
        .reason = d->reason,
        .detail = d->detail,
        .pass = s->step,
        .before_ns = d->before_ns,
        .after_ns = d->after_ns,
        .gain_ratio = d->before_ns > 0 ? 1 - d->after_ns / d->before_ns : 0,
        .needed_ratio = d->least,
        .threshold_ratio = d->threshold,
        .noise_ratio = d->noise,
        .cost_ns = d->cost_ns,
        .unmeasured_ns = d->unmeasured_ns,
        .benefit_ns = d->benefit_ns,
        .stable_ns = lbp_horizon_ns(&s->profit.horizon, d->at_ns),
        .account_ns = s->account_ns,
        .period_ns = s->period_ns,
        .from = UINT32_MAX,
        .to = UINT32_MAX,
        .moves = done,
        .iterations = done ? s->last_moved : 0,
    };
    return true;
}

void lbp_stepped_seen(struct lbp_stepped *s, struct lbp_seen *ret)
{
    double mean = lbp_profile_learned(&s->profile) ? lbp_profile_mean(&s->profile) : 0;
    double scale = mean > 0 ? 1e9 / mean : 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];
        double iterations = (double)(s->bound[i + 1] - s->bound[i]);

        ret[i] = (struct lbp_seen){
            .raw_hz = r->now_wall > 0 ? r->now_work / r->now_wall * scale : 0,
            .filtered_hz = lbp_filter_known(&r->filter) ? lbp_filter_value(&r->filter) * scale : 0,
            .share_ratio = s->config.n > 0 ? iterations / (double)s->config.n : 0};
    }
}
