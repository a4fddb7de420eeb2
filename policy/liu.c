/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy liu: when a rank has run dry, one move from the slowest by remaining time, if it pays.
 * Source: Liu et al. 2000, section 2: rates and remaining iterations as last reported, a move costs 10 ms; between a pair that
 * has shown to be dearer or cheaper than the others, so many times that: c_ij of eq. 1.
 */
#include <math.h>

#include "policy/balance_impl.h"

#define COST_NS 10e6

static int64_t left_iterations(const struct lbp_rank *r)
{
    return lbx_spanset_count(&r->left) + r->untold;
}

/* The rank with the longest remaining time; nranks when none has any. */
static uint32_t slowest(const struct lbp_model *m)
{
    uint32_t which = m->nranks;
    double longest = 0;

    for (uint32_t j = 0; j < m->nranks; j++) {
        const struct lbp_rank *r = &m->rank[j];
        double time;

        if (!lbp_model_present(m, r) || r->left.n == 0 || !(r->rate > 0))
            continue;
        time = (double)left_iterations(r) / r->rate;
        if (time > longest) {
            longest = time;
            which = j;
        }
    }
    return which;
}

static int ask(struct lbp_balance *b, uint32_t i, int64_t now_ns, struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;
    uint32_t j = slowest(m);
    struct lbp_decision d = {
        .kind = LBP_DECIDED_PAIR, .reason = LBP_REASON_DRY, .from = j, .to = i};
    size_t begin = out->n;
    double cost;
    int64_t l;
    int ret;

    b->asked[i] = true;
    if (j == m->nranks || j == i)
        return 0;
    cost = d.cost_ns = COST_NS * lbp_pair_cost_factor(&m->pair_cost, &m->profit, j, i);
    l = lbp_pairwise_liu(m->rank[i].rate, m->rank[j].rate, (double)left_iterations(&m->rank[j]),
                         cost);
    d.before_ns = (double)left_iterations(&m->rank[j]) / m->rank[j].rate;
    d.after_ns = ((double)left_iterations(&m->rank[j]) - (double)l) / m->rank[j].rate;
    d.benefit_ns = d.before_ns - d.after_ns;
    d.gain_ratio = d.before_ns > 0 ? 1 - d.after_ns / d.before_ns : 0;
    if (l == 0) {
        b->decisions[LBP_REASON_UNPROFITABLE]++;
        d.reason = LBP_REASON_UNPROFITABLE;
        lbp_act_say(b, &d);
        return 0;
    }
    ret = lbp_act_move(b, &(struct lbp_transfer){.from = j, .to = i, .arrive = cost}, l,
                       LBP_REASON_DRY, now_ns, out);
    if (ret == 0)
        lbp_act_say_moves(b, &d, out, begin);
    return ret;
}

/* Nobody is left who might ask, or there is nothing to ask for. */
static bool is_final(const struct lbp_balance *b)
{
    const struct lbp_model *m = &b->model;
    uint32_t working = 0;
    bool much = false;

    if (m->flights > 0 || !lbp_model_all_present(m))
        return false;
    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct lbp_rank *r = &m->rank[i];

        if (!r->dry)
            working++;
        if (left_iterations(r) > 0 &&
            !(r->rate > 0 && (double)left_iterations(r) / r->rate <= COST_NS))
            much = true;
    }
    return working <= 1 || !much;
}

int lbp_liu_decide(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;

    b->wake_ns = INT64_MAX; /* it acts on reports only */
    if (m->njoined < m->nranks)
        return 0;
    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct lbp_rank *r = &m->rank[i];
        bool waits = lbp_model_present(m, r) && r->dry && !r->in;

        if (!waits)
            b->asked[i] = false;
        if (waits && !b->asked[i]) {
            int ret = ask(b, i, now_ns, out);

            if (ret < 0)
                return ret;
        }
    }
    return is_final(b) ? lbp_act_final(b, out) : 0;
}
