/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies auto and siegell: periodic proportional plans; auto also pairwise moves for ranks that
 * are about to run dry, and the end of a pass. Source: Siegell & Steenkiste 1997, figure 21; Liu et
 * al. 2000 for the pairs; asking ahead of running dry is ours.
 */
#include <math.h>
#include <stdlib.h>

#include "policy/balance_impl.h"
#include "policy/period.h"

#define EARLY_NS 200e6 /* of the first pass: reports come quickly */
#define FIRST_NS 40e6  /* wait so long for all ranks' first reports */
#define GAIN_MIN 1e6   /* ns: less is not worth a move at the end */
#define LOW_NS 20e6
#define REPORT_NS \
    50e3          /* CPU time of a report at both ends: the messages themselves hold nobody up */
#define NOISE 1.5 /* errors of a speed that a gain must exceed */
#define TICK_MIN_NS 2e6
#define CALM 3 /* periods between plain reports while much is left */
#define LONG 8 /* and while very much is: a rank that changes says so before */
#define ENDS 2 /* so many reports come at least before a rank is to report more often */
#define OVERDUE_NS 50e6
#define MANY 16  /* ranks */
#define CROWD 64 /* ranks; of more, each giver and each taker is looked at once in a decision */
#define DECIDE_NS \
    1000 /* a rank: decisions follow one another no sooner, so that events stay cheap */

static bool published(const struct lbp_balance *b)
{
    return b->params.policy == LBP_SIEGELL;
}

/* Time from sending a MOVE to a rank until its rows are there, at least. */
static double lead(const struct lbp_balance *b, const struct lbp_view *from)
{
    return from->hook + lbp_profit_transfer_ns(&b->model.profit, (double)b->model.row_bytes);
}

/* FINAL waits until both ends of the last move told its end: from the rows' arrival to FINAL's. */
static double settle(const struct lbp_balance *b)
{
    return 2 * b->model.message_ns + LBP_PERIOD_QUICK_NS / 2.0;
}

static void update_period(struct lbp_balance *b)
{
    const struct lbp_model *m = &b->model;
    double move = lbp_profit_transfer_ns(&m->profit, (double)m->row_bytes), quantum = 0;

    if (b->params.period_ns > 0)
        return;
    if (published(b)) {
        b->period_ns = lbp_period_published(2 * m->message_ns, move, b->workscale);
        return;
    }
    for (uint32_t i = 0; i < m->nranks; i++)
        quantum += m->rank[i].speed.noise_ns / m->nranks;
    b->period_ns = lbp_period(REPORT_NS, move, b->workscale, quantum, m->nranks);
    /* a decision whose effect cannot have been seen yet is not taken again */
    b->period_ns = (int64_t)fmax((double)b->period_ns, 4 * m->message_ns);
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
        cost += b->model.profit.cpu_ns + (published(b) ? 0 : b->model.profit.fixed_ns / 2);
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

static int proportional(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;
    size_t begin = out->n;
    struct lbp_decision d;
    double gain, noise;

    b->planned_ns = now_ns;
    b->planned_known = known(m);
    b->since_moves++;
    lbp_plan_make(b->view, m->nranks, &m->profit, (double)m->row_bytes, !published(b), b->share,
                  &b->plan);
    gain = b->plan.before_ns > 0 ? 1 - b->plan.after_ns / b->plan.before_ns : 0;
    noise = published(b) ? 0 : NOISE * worst_error(b);
    d = project(b, gain, noise, now_ns);
    if (b->plan.n == 0 || !lbp_threshold_pass(&b->threshold, gain, noise))
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

/* The rank that ends last of those that have something to give. */
static int64_t last_giver(const struct lbp_balance *b)
{
    int64_t which = -1;

    for (uint32_t i = 0; i < b->model.nranks; i++) {
        const struct lbp_view *v = &b->view[i];

        if (v->present && v->unit > 0 && v->movable >= v->unit / 2 &&
            (which < 0 || lbp_view_end(v) > lbp_view_end(&b->view[which])))
            which = i;
    }
    return which;
}

/* The rank that ends first, if it will be dry before rows asked for now could come. */
static int64_t first_dry(const struct lbp_balance *b, double within)
{
    int64_t which = -1;

    for (uint32_t i = 0; i < b->model.nranks; i++) {
        const struct lbp_view *v = &b->view[i];

        if (v->present && v->measured && lbp_view_end(v) <= within &&
            (which < 0 || lbp_view_end(v) < lbp_view_end(&b->view[which])))
            which = i;
    }
    return which;
}

static int by_end(const void *a, const void *b)
{
    const struct lbp_plan_share *x = a, *y = b;

    if (x->over != y->over)
        return x->over < y->over ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

/* Is it worth a move at the end? */
static double least_gain(const struct lbp_balance *b, const struct lbp_view *from,
                         const struct lbp_view *to)
{
    const struct lbp_profit *p = &b->model.profit;
    double least = fmax(GAIN_MIN + p->asked * p->cpu_ns, from->error * lbp_view_end(from) / 2);

    return fmax(least, fmax(from->jitter, to->jitter));
}

/* A move from one that ends late to one that ends early; gain by which the later end comes sooner, ns. */
static struct lbp_decision project_pair(const struct lbp_balance *b, const struct lbp_transfer *t,
                                        double gain, double least)
{
    double before = lbp_view_end(&b->view[t->from]);

    return (struct lbp_decision){.kind = LBP_DECIDED_PAIR,
                                 .reason = LBP_REASON_DRY,
                                 .before_ns = before,
                                 .after_ns = before - gain,
                                 .gain_ratio = before > 0 ? gain / before : 0,
                                 .cost_ns = least,
                                 .benefit_ns = gain,
                                 .from = t->from,
                                 .to = t->to};
}

/*
 * The move of t, if it is worth it; t's ranks are given, the rest is filled in.
 * Returns 1, 0 when it is not, or -ENOMEM.
 */
static int move_pair(struct lbp_balance *b, struct lbp_transfer *t, int64_t now_ns,
                     struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;
    struct lbp_view *from = &b->view[t->from], *to = &b->view[t->to];
    double least = least_gain(b, from, to);
    double gain = lbp_pairwise_best(from, to, &m->profit, (double)m->row_bytes, settle(b), t);
    struct lbp_decision d = project_pair(b, t, gain, least);
    size_t begin = out->n;
    int ret;

    if (gain < least) {
        d.reason = LBP_REASON_UNPROFITABLE;
        lbp_act_refuse(b, &d);
        return 0;
    }
    ret = lbp_act_move(b, t, 0, LBP_REASON_DRY, now_ns, out);
    if (ret < 0)
        return ret;
    lbp_act_say_moves(b, &d, out, begin);
    lbp_view_give(from, to, t->work, t->arrive);
    return 1;
}

/* As pairwise below for many ranks: the first to end with the last to end, and so on inwards.  O(P log P). */
static int pairwise_crowd(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    size_t n = 0, low = 0, high;

    for (uint32_t i = 0; i < b->model.nranks; i++)
        if (b->view[i].present)
            b->share[n++] = (struct lbp_plan_share){i, lbp_view_end(&b->view[i])};
    qsort(b->share, n, sizeof(*b->share), by_end);
    for (high = n; low + 1 < high;) {
        struct lbp_transfer t = {.from = b->share[high - 1].rank, .to = b->share[low].rank};
        struct lbp_view *from = &b->view[t.from], *to = &b->view[t.to];
        int ret;

        if (!(from->unit > 0) || from->movable < from->unit / 2) {
            high--;
            continue;
        }
        if (!to->measured) {
            low++;
            continue;
        }
        if (b->share[low].over > 1.5 * lead(b, from) + GAIN_MIN)
            return 0;
        ret = move_pair(b, &t, now_ns, out);
        if (ret <= 0)
            return ret;
        low++;
        high--;
    }
    return 0;
}

static int pairwise(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;

    if (m->nranks > CROWD)
        return pairwise_crowd(b, now_ns, out);

    for (uint32_t step = 0; step < m->nranks; step++) {
        int64_t from = last_giver(b), to;
        struct lbp_transfer t;
        int ret;

        if (from < 0)
            return 0;
        to = first_dry(b, 1.5 * lead(b, &b->view[from]) + GAIN_MIN);
        if (to < 0 || to == from)
            return 0;
        t.from = (uint32_t)from;
        t.to = (uint32_t)to;
        ret = move_pair(b, &t, now_ns, out);
        if (ret <= 0)
            return ret;
    }
    return 0;
}

/* By how much a rank may well end later than is thought, since iterations differ: ns. */
static double late(const struct lbp_balance *b, const struct lbp_view *v)
{
    return lbp_profile_error(&b->model.profile, v->own / fmax(v->unit, 1)) / v->speed;
}

/*
 * How long it takes until no move can help any more, whoever should run dry: 0 is now.
 * A rank's work helps another only if that gets it done sooner than its owner would.
 */
static double final_in(const struct lbp_balance *b)
{
    double fastest = 0, longest = 0;

    for (uint32_t i = 0; i < b->model.nranks; i++)
        if (b->view[i].present)
            fastest = fmax(fastest, b->view[i].speed);
    for (uint32_t i = 0; i < b->model.nranks; i++) {
        const struct lbp_view *v = &b->view[i];

        if (v->present && v->unit > 0 && v->movable >= v->unit / 2)
            longest = fmax(longest, lbp_view_end(v) + late(b, v) - lead(b, v) - v->unit / fastest -
                                        settle(b) - 2 * GAIN_MIN);
        /* its first word comes after a period only, and what others do says little of its iterations */
        if (published(b) && v->present && !v->measured && !b->model.rank[i].dry)
            longest = fmax(longest, (double)b->period_ns);
    }
    return longest;
}

static bool all_dry(const struct lbp_model *m)
{
    for (uint32_t i = 0; i < m->nranks; i++)
        if (!m->rank[i].dry)
            return false;
    return true;
}

/* How soon the rank is to report again. */
static int64_t wanted_period(const struct lbp_balance *b, uint32_t rank, bool early)
{
    double end = lbp_view_end(&b->view[rank]);
    int64_t period = b->model.rank[rank].period_ns;

    if (early || end < (double)b->period_ns)
        return LBP_PERIOD_QUICK_NS;
    /* a rank that changes says so before, see policy/alert.h */
    if (end > ENDS * LONG * (double)b->period_ns)
        return LONG * b->period_ns;
    if (end > ENDS * CALM * (double)b->period_ns)
        return CALM * b->period_ns;
    if (end > 3 * (double)b->period_ns || period > LBP_PERIOD_QUICK_NS)
        return b->period_ns;
    return period;
}

/* Where ranks wait for one another's reports, each reports as soon as the first has to. */
static int64_t common_period(const struct lbp_balance *b, bool early)
{
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < b->model.nranks; i++) {
        int64_t period = wanted_period(b, i, early);

        if (b->view[i].present && !b->model.rank[i].dry && period < least)
            least = period;
    }
    return least < b->period_ns ? least : b->period_ns; /* no word comes before it: no CALM */
}

/* Reports come quickly at the beginning and towards the end. */
static int instruct(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    const struct lbp_model *m = &b->model;
    bool early =
        m->pass == 0 && (m->begun_ns == INT64_MIN || (double)(now_ns - m->begun_ns) < EARLY_NS);

    int64_t common;

    if (b->params.period_ns > 0)
        return 0;
    common = b->params.sync ? common_period(b, early) : 0;
    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct lbp_rank *r = &m->rank[i];
        int64_t period;
        double low;
        int ret;

        if (!b->view[i].present || r->dry)
            continue;
        low = LOW_NS + 2 * m->message_ns + lbp_profit_transfer_ns(&m->profit, (double)m->row_bytes);
        low = published(b) ? (double)r->low_ns : low;
        period = published(b) ? b->period_ns : b->params.sync ? common : wanted_period(b, i, early);
        ret = lbp_act_instruct(b, i, period, (int64_t)low, r->chunk_ns, now_ns, out);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* When a report that should have come is missed, if no other wakes us before. */
static double overdue(const struct lbp_balance *b, const struct lbp_rank *r, int64_t now_ns)
{
    double due = (double)(r->due_ns - now_ns) + b->model.message_ns + OVERDUE_NS;

    return fmax(due, CALM * (double)b->period_ns);
}

/* The next time at which something may have to be done without a report. */
static void set_wake(struct lbp_balance *b, int64_t now_ns, double final)
{
    bool calm = !published(b) && b->params.period_ns < 0; /* reports wake us meanwhile */
    double wake = (calm ? LONG : 1) * (double)b->period_ns;

    for (uint32_t i = 0; i < b->model.nranks; i++) {
        const struct lbp_view *v = &b->view[i];
        double end = lbp_view_end(v) - lead(b, v) - LOW_NS / 2;

        if (!v->present || b->model.rank[i].dry)
            continue;
        wake = fmin(wake, end);
        if (calm)
            wake = fmin(wake, overdue(b, &b->model.rank[i], now_ns));
    }
    if (final > 0 && final < wake)
        wake = final;
    b->wake_ns =
        now_ns + (int64_t)fmax(wake, fmax(TICK_MIN_NS, (double)DECIDE_NS * b->model.nranks));
}

static bool plan_due(const struct lbp_balance *b, int64_t now_ns)
{
    const struct lbp_model *m = &b->model;
    double since = b->planned_ns == INT64_MIN ? INFINITY : (double)(now_ns - b->planned_ns);
    double begun = m->begun_ns == INT64_MIN ? 0 : (double)(now_ns - m->begun_ns);
    bool early = m->pass == 0 && begun < EARLY_NS && b->params.period_ns < 0;

    if (published(b) && begun < (double)b->period_ns)
        return false;
    if (m->begun_ns != INT64_MIN && !published(b) && known(m) > b->planned_known &&
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
    if (m->nranks > CROWD && event != LBP_EVENT_TICK && b->decided_ns != INT64_MIN &&
        now_ns < b->decided_ns + DECIDE_NS * m->nranks) {
        int64_t next = b->decided_ns + DECIDE_NS * m->nranks;

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
    update_period(b);
    if (plan_due(b, now_ns)) {
        ret = proportional(b, now_ns, out);
        if (ret == 0)
            lbp_view_make(m, now_ns,
                          b->view); /* as it is with the moves that were really decided */
        if (ret < 0)
            return ret;
    }

    if (!published(b)) {
        ret = pairwise(b, now_ns, out);
        if (ret < 0)
            return ret;
    }
    ret = instruct(b, now_ns, out);
    if (ret < 0)
        return ret;
    final = final_in(b);
    if (m->flights == 0 && lbp_model_all_present(m) && final <= 0)
        return lbp_act_final(b, out);
    set_wake(b, now_ns, final);
    return 0;
}
