/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies auto and siegell, their pace: the period, how soon ranks report again, and when the balancer looks without having heard.
 * Source: Siegell & Steenkiste 1997 for the period; all else ours.
 */
#include <math.h>

#include "policy/auto.h"
#include "policy/period.h"

/* CPU time of a report at both ends, ns: the messages themselves hold nobody up. */
#define REPORT_NS 50e3
/* The balancer does not wake sooner than this by itself. */
#define TICK_MIN_NS 2e6
/* Balancing periods between plain reports of a rank that has much left, and very much: one that changes says so before. */
#define CALM 3
#define LONG 8
/* That is, as long as so many reports still come before it has nothing left. */
#define ENDS 2
/* At the beginning a rank reports after one part in so many of the time that it has left. */
#define EARLY_LEFT 32
/* A report that is so late is missed. */
#define OVERDUE_NS 50e6

void lbp_auto_period(struct lbp_balance *b)
{
    const struct lbp_model *m = &b->model;
    double move = lbp_profit_transfer_ns(&m->profit, (double)m->row_bytes), quantum = 0;

    if (b->params.period_ns > 0)
        return;
    if (lbp_auto_published(b)) {
        b->period_ns = lbp_period_published(2 * m->message_ns, move, b->workscale);
        return;
    }
    for (uint32_t i = 0; i < m->nranks; i++)
        quantum += m->rank[i].speed.noise_ns / m->nranks;
    b->period_ns = lbp_period(REPORT_NS, move, b->workscale, quantum, m->nranks);
    /* a decision whose effect cannot have been seen yet is not taken again */
    b->period_ns = (int64_t)fmax((double)b->period_ns, 4 * m->message_ns);
}

/* How soon the rank is to report again. */
static int64_t wanted_period(const struct lbp_balance *b, uint32_t rank, bool early)
{
    double end = lbp_view_end(&b->view[rank]);
    int64_t period = b->model.rank[rank].period_ns;

    if (early) /* a plan can wait as long as much is left: what is learnt by then is the surer */
        return (int64_t)fmin(fmax(end / EARLY_LEFT, LBP_PERIOD_QUICK_NS), (double)b->period_ns);
    if (end < (double)b->period_ns)
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
int lbp_auto_instruct(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    const struct lbp_model *m = &b->model;
    bool early = m->pass == 0 &&
                 (m->begun_ns == INT64_MIN || (double)(now_ns - m->begun_ns) < LBP_AUTO_EARLY_NS);

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
        low = LBP_AUTO_LOW_NS + 2 * m->message_ns +
              lbp_profit_transfer_ns(&m->profit, (double)m->row_bytes);
        low = lbp_auto_published(b) ? (double)r->low_ns : low;
        period = lbp_auto_published(b) ? b->period_ns
                 : b->params.sync      ? common
                                       : wanted_period(b, i, early);
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
void lbp_auto_wake(struct lbp_balance *b, int64_t now_ns, double final_ns)
{
    bool calm = !lbp_auto_published(b) && b->params.period_ns < 0; /* reports wake us meanwhile */
    double wake = (calm ? LONG : 1) * (double)b->period_ns;

    for (uint32_t i = 0; i < b->model.nranks; i++) {
        const struct lbp_view *v = &b->view[i];
        double end = lbp_view_end(v) - lbp_auto_lead(b, v) - LBP_AUTO_LOW_NS / 2;

        if (!v->present || b->model.rank[i].dry)
            continue;
        wake = fmin(wake, end);
        if (calm)
            wake = fmin(wake, overdue(b, &b->model.rank[i], now_ns));
    }
    if (final_ns > 0 && final_ns < wake)
        wake = final_ns;
    b->wake_ns = now_ns + (int64_t)fmax(wake, fmax(TICK_MIN_NS,
                                                   (double)LBP_AUTO_DECIDE_NS * b->model.nranks));
}
