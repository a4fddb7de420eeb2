/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies auto and siegell, the end of a pass: pairwise moves for ranks that are about to run dry, and when no move can help any
 * more. Source: Liu et al. 2000 for the pairs; asking ahead of running dry is ours.
 */
#include <math.h>
#include <stdlib.h>

#include "policy/auto.h"
#include "policy/pairwise.h"
#include "policy/period.h"

/* FINAL waits until both ends of the last move told its end: from the rows' arrival to FINAL's. */
static double settle(const struct lbp_balance *b)
{
    return 2 * b->model.message_ns + LBP_PERIOD_QUICK_NS / 2.0;
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

/* By how much later than on the whole a row comes from one to the other; negative: sooner. */
static double link_extra(const struct lbp_balance *b, uint32_t from, uint32_t to)
{
    const struct lbp_model *m = &b->model;

    return (lbp_pair_cost_factor(&m->pair_cost, &m->profit, from, to) - 1) *
           lbp_profit_transfer_ns(&m->profit, (double)m->row_bytes);
}

/* Within so long a rank must be dry for rows of another to be asked for now: they are on their way as long. */
static double ahead(const struct lbp_balance *b, uint32_t from, double extra)
{
    return 1.5 * (lbp_auto_lead(b, &b->view[from]) + extra) + LBP_AUTO_GAIN_MIN;
}

/*
 * The rank that rows of the giver would serve first, by its end and its link, if it will be dry before they could come when
 * asked for now.
 */
static int64_t first_dry(const struct lbp_balance *b, uint32_t from)
{
    double first = INFINITY, first_extra = 0;
    int64_t which = -1;

    for (uint32_t i = 0; i < b->model.nranks; i++) {
        const struct lbp_view *v = &b->view[i];
        double extra;

        if (!v->present || !v->measured)
            continue;
        extra = link_extra(b, from, i);
        if (lbp_view_end(v) + extra < first) {
            first = lbp_view_end(v) + extra;
            first_extra = extra;
            which = i;
        }
    }
    return which >= 0 && lbp_view_end(&b->view[which]) <= ahead(b, from, first_extra) ? which : -1;
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
    double least =
        fmax(LBP_AUTO_GAIN_MIN + p->asked * p->cpu_ns, from->error * lbp_view_end(from) / 2);

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
    double factor = lbp_pair_cost_factor(&m->pair_cost, &m->profit, t->from, t->to);
    double gain =
        lbp_pairwise_best(from, to, &m->profit, factor, (double)m->row_bytes, settle(b), t);
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
        if (b->share[low].over > ahead(b, t.from, link_extra(b, t.from, t.to)))
            return 0;
        ret = move_pair(b, &t, now_ns, out);
        if (ret <= 0)
            return ret;
        low++;
        high--;
    }
    return 0;
}

int lbp_auto_pairs(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;

    if (m->nranks > LBP_AUTO_CROWD)
        return pairwise_crowd(b, now_ns, out);

    for (uint32_t step = 0; step < m->nranks; step++) {
        int64_t from = last_giver(b), to;
        struct lbp_transfer t;
        int ret;

        if (from < 0)
            return 0;
        to = first_dry(b, (uint32_t)from);
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
double lbp_auto_final_in(const struct lbp_balance *b)
{
    double fastest = 0, longest = 0;

    for (uint32_t i = 0; i < b->model.nranks; i++)
        if (b->view[i].present)
            fastest = fmax(fastest, b->view[i].speed);
    for (uint32_t i = 0; i < b->model.nranks; i++) {
        const struct lbp_view *v = &b->view[i];

        if (v->present && v->unit > 0 && v->movable >= v->unit / 2)
            longest = fmax(longest, lbp_view_end(v) + late(b, v) - lbp_auto_lead(b, v) -
                                        v->unit / fastest - settle(b) - 2 * LBP_AUTO_GAIN_MIN);
        /* its first word comes after a period only, and what others do says little of its iterations */
        if (lbp_auto_published(b) && v->present && !v->measured && !b->model.rank[i].dry)
            longest = fmax(longest, (double)b->period_ns);
    }
    return longest;
}
