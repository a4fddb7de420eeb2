/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies auto and siegell: periodic proportional plans, and the order of a decision's parts; those of the end of a pass are in
 * auto_end.c, those of the pace in auto_pace.c. Source: Siegell & Steenkiste 1997, figure 21.
 */
#include "policy/auto.h"

#include <math.h>

#include "policy/period.h"

/* The first plan waits so long for all ranks' first reports. */
#define FIRST_NS 40e6
/* A gain must exceed so many times the error of the speeds. */
#define NOISE 1.5
/* A plan is put off while its rows are light: one takes no more than this part of its iteration's time to be brought; */
#define LIGHT 0.01
/* nobody is dry before so many times as long as rows take to arrive; */
#define PUT_OFF 8
/* and its gain is less than so many times the threshold. */
#define PATIENCE 2.0
/* Of more ranks than this plain reports are answered only when something is due. */
#define MANY 16

double lbp_auto_lead(const struct lbp_balance *b, const struct lbp_view *from)
{
    return from->hook + lbp_profit_transfer_ns(&b->model.profit, (double)b->model.row_bytes);
}

static uint32_t known(const struct lbp_model *m)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->nranks; i++)
        n += lbp_filter_known(&m->rank[i].speed);
    return n;
}

static double worst_error(const struct lbp_balance *b)
{
    double error = 0;

    for (uint32_t i = 0; i < b->model.nranks; i++)
        if (b->view[i].present)
            error = fmax(error, b->view[i].error);
    return error;
}

/*
 * What the plan's moves cost the ranks: CPU time, and for auto half of the elapsed time of an empty move, which is what waking,
 * waiting for a quota and settling take of both ends; spread over the ranks.
 */
static double plan_cost(const struct lbp_balance *b)
{
    double cost = 0;

    for (size_t i = 0; i < b->plan.n; i++)
        cost += b->model.profit.cpu_ns + (lbp_auto_published(b) ? 0 : b->model.profit.fixed_ns / 2);
    return cost / fmax(1, b->model.nranks / 2.0);
}

/* What is projected, and what it has to reach. */
static struct lbp_decision project(const struct lbp_balance *b, double gain, double noise,
                                   int64_t now_ns)
{
    const struct lbp_profit *p = &b->model.profit;

    return (struct lbp_decision){
        .kind = LBP_DECIDED_PLAN,
        .reason = LBP_REASON_PROPORTIONAL,
        .before_ns = b->plan.before_ns,
        .after_ns = b->plan.after_ns,
        .gain_ratio = gain,
        .needed_ratio = fmax(b->threshold.now, noise),
        .threshold_ratio = b->threshold.now,
        .noise_ratio = noise,
        .cost_ns = plan_cost(b),
        .benefit_ns = lbp_profit_benefit_ns(p, gain, b->plan.before_ns, now_ns),
        .stable_ns = lbp_horizon_ns(&p->horizon, now_ns),
        .from = UINT32_MAX,
        .to = UINT32_MAX,
    };
}

/* The plan is not carried out. */
static int refuse(struct lbp_balance *b, struct lbp_decision *d, enum lbp_reason reason)
{
    d->reason = reason;
    b->decisions[reason]++;
    lbp_act_say(b, d);
    return 0;
}

/* When the first of the ranks will be dry. */
static double first_end(const struct lbp_balance *b)
{
    double first = INFINITY;

    for (uint32_t i = 0; i < b->model.nranks; i++)
        if (b->view[i].present)
            first = fmin(first, lbp_view_end(&b->view[i]));
    return first;
}

/*
 * A gain that is not large can be had later as well, as long as rows are light and nobody will be dry soon: much of it is
 * errors of the speeds, and gone by then.  first[in]: first_end before the plan.
 */
static bool can_wait(const struct lbp_balance *b, double gain, double noise, double first)
{
    double row_ns = b->model.profit.byte_ns * (double)b->model.row_bytes;

    if (lbp_auto_published(b) || b->params.threshold >= 0 ||
        gain >= PATIENCE * fmax(b->threshold.full, noise))
        return false;
    for (size_t i = 0; i < b->plan.n; i++) {
        const struct lbp_transfer *t = &b->plan.transfer[i];
        const struct lbp_view *from = &b->view[t->from];

        if (first < PUT_OFF * t->arrive || row_ns > LIGHT * from->unit / from->speed)
            return false;
    }
    return true;
}

static int proportional(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;
    size_t begin = out->n;
    struct lbp_decision d;
    double gain, noise, first = first_end(b);
    bool waits;

    b->planned_ns = now_ns;
    b->planned_known = known(m);
    b->since_moves++;
    lbp_plan_make(b->view, m->nranks, &m->profit, &m->pair_cost, (double)m->row_bytes,
                  !lbp_auto_published(b), b->share, &b->plan);
    gain = b->plan.before_ns > 0 ? 1 - b->plan.after_ns / b->plan.before_ns : 0;
    noise = lbp_auto_published(b) ? 0 : NOISE * worst_error(b);
    d = project(b, gain, noise, now_ns);
    waits = b->plan.n > 0 && can_wait(b, gain, noise, first);
    if (waits)
        d.needed_ratio = PATIENCE * fmax(b->threshold.full, noise);
    if (b->plan.n == 0 || waits || !lbp_threshold_pass(&b->threshold, gain, noise))
        return refuse(b, &d,
                      gain > 0 && gain >= d.threshold_ratio ? LBP_REASON_FILTERED
                                                            : LBP_REASON_BELOW_THRESHOLD);
    if (!lbp_profit_pays(&m->profit, gain, b->plan.before_ns, d.cost_ns, now_ns))
        return refuse(b, &d,
                      lbp_horizon_unstable(&m->profit.horizon, now_ns) ? LBP_REASON_UNSTABLE
                                                                       : LBP_REASON_UNPROFITABLE);
    for (size_t i = 0; i < b->plan.n; i++) {
        int ret = lbp_act_move(b, &b->plan.transfer[i], 0, LBP_REASON_PROPORTIONAL, now_ns, out);

        if (ret < 0)
            return ret;
    }
    lbp_act_say_moves(b, &d, out, begin);
    b->workscale += 0.25 * ((double)b->since_moves - b->workscale);
    b->since_moves = 0;
    return 0;
}

static bool all_dry(const struct lbp_model *m)
{
    for (uint32_t i = 0; i < m->nranks; i++)
        if (!m->rank[i].dry)
            return false;
    return true;
}

static bool plan_due(const struct lbp_balance *b, int64_t now_ns)
{
    const struct lbp_model *m = &b->model;
    double since = b->planned_ns == INT64_MIN ? INFINITY : (double)(now_ns - b->planned_ns);
    double begun = m->begun_ns == INT64_MIN ? 0 : (double)(now_ns - m->begun_ns);
    bool early = m->pass == 0 && begun < LBP_AUTO_EARLY_NS && b->params.period_ns < 0;

    if (lbp_auto_published(b) && begun < (double)b->period_ns)
        return false;
    if (m->begun_ns != INT64_MIN && !lbp_auto_published(b) && known(m) > b->planned_known &&
        (begun >= FIRST_NS || known(m) == m->nranks))
        return true; /* what was a guess is now measured */
    if (m->begun_ns == INT64_MIN ||
        since < (early ? 2.0 * LBP_PERIOD_QUICK_NS : (double)b->period_ns))
        return false;
    if (begun >= FIRST_NS)
        return true;
    return known(m) == m->nranks;
}

int lbp_auto_decide(struct lbp_balance *b, int64_t now_ns, enum lbp_event event,
                    struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;
    double final;
    int ret;

    /* of many ranks' plain reports only those are answered at once that come when something is due */
    if (event == LBP_EVENT_REPORT && m->nranks > MANY && b->wake_ns != INT64_MAX &&
        now_ns < b->wake_ns)
        return 0;
    if (m->nranks > LBP_AUTO_CROWD && event != LBP_EVENT_TICK && b->decided_ns != INT64_MIN &&
        now_ns < b->decided_ns + LBP_AUTO_DECIDE_NS * m->nranks) {
        int64_t next = b->decided_ns + LBP_AUTO_DECIDE_NS * m->nranks;

        b->wake_ns = b->wake_ns < next ? b->wake_ns : next;
        return 0;
    }
    b->decided_ns = now_ns;
    b->wake_ns = INT64_MAX;
    if (m->njoined < m->nranks)
        return 0;
    if (m->flights == 0 && lbp_model_all_present(m) && all_dry(m))
        return lbp_act_final(b, out);
    if (m->begun_ns == INT64_MIN)
        return 0; /* nobody has begun: the first report of the pass wakes us */
    if (!lbp_view_make(m, now_ns, b->view)) {
        b->wake_ns = now_ns + b->period_ns;
        return 0;
    }
    lbp_auto_period(b);
    if (plan_due(b, now_ns)) {
        ret = proportional(b, now_ns, out);
        if (ret == 0)
            lbp_view_make(m, now_ns,
                          b->view); /* as it is with the moves that were really decided */
        if (ret < 0)
            return ret;
    }

    if (!lbp_auto_published(b)) {
        ret = lbp_auto_pairs(b, now_ns, out);
        if (ret < 0)
            return ret;
    }
    ret = lbp_auto_instruct(b, now_ns, out);
    if (ret < 0)
        return ret;
    final = lbp_auto_final_in(b);
    if (m->flights == 0 && lbp_model_all_present(m) && final <= 0)
        return lbp_act_final(b, out);
    lbp_auto_wake(b, now_ns, final);
    return 0;
}
