/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What plans have really brought, against bounds of before and the very first; and which kind of speed would have been
 * better to plan by.  Source: ours.
 */
#include <math.h>
#include <string.h>

#include "policy/stepped_impl.h"

#define HORIZON_NS 1000e6 /* a loop is expected to go on as long as it has, and at least so long */
#define BACK \
    0.98 /* the bounds before are taken again when they were faster than so much of these */
#define HELD_MIN_NS 80e6   /* steps are judged after so long, */
#define HELD_MAX_NS 1000e6 /* and what is older counts less */
#define JITTER 2.0         /* times the error of progress by a quota, in that time */
#define WORSE 1.03 /* a step that really takes so much longer than before the plan is no chance */

double lbp_stepped_limit(struct lbp_stepped *s, uint32_t rank)
{
    if (s->config.params.policy == LBP_SIEGELL) /* as published */
        return INFINITY;
    return lbp_caps_share(&s->caps, rank) * s->rank[rank].hardware;
}

double lbp_stepped_horizon(const struct lbp_stepped *s, double step_ns, int64_t now_ns)
{
    double lasted = (double)(now_ns - s->begun_ns);

    if (s->config.steps > 0)
        return (double)(s->config.steps - s->step > 0 ? s->config.steps - s->step : 0) * step_ns;
    return fmax(lasted, HORIZON_NS);
}

/*
 * A rank's time for a step's work that it had before and took `wall` for.  A quota lets short work go faster than long, so
 * that more work than now is not expected to go faster than it went.
 */
static double elsewhere(const struct stepped_rank *r, double work, double wall, double speed,
                        double limit)
{
    return work > r->now_work ? fmax(work / fmin(speed, limit), wall) : work / speed;
}

/* A speed for a rank's account: measured; else, of one that holds nothing, the best that is known of it, so that plans do
 * not praise themselves for what nobody sees. */
static double account_speed(const struct stepped_rank *r)
{
    if (r->wall > 0 && r->work > 0)
        return r->work / r->wall;
    return fmax(r->best, fmax(lbp_filter_value(&r->filter), 1e-6));
}

/* The move is over: one measurement for all ranks, since all wait for the one that moves most. */
static void learn_move(struct lbp_stepped *s)
{
    if (s->cost_bytes > 0)
        lbp_profit_moved(&s->profit, s->cost_bytes, (int64_t)s->cost_ns, s->cost_cpu_ns);
    s->cost_bytes = 0;
}

/*
 * What the slowest rank really computed in a step with these bounds, over so long a time that quotas and chance even out: did
 * the last plan make it longer, where it gave work to?  Then more work made that host slower, or the plan was wrong.  Waits
 * are left out: whatever else keeps the hosts busy is in them.
 */
static void judge_steps(struct lbp_stepped *s, bool first, uint32_t slowest, double measured,
                        int64_t steps)
{
    double jitter = 0;

    s->held_ns += measured * (double)steps;
    s->held_steps += (double)steps;
    s->worse = false;
    if (s->held_ns > HELD_MAX_NS) {
        s->held_ns /= 2;
        s->won_ns /= 2;
        s->held_steps /= 2;
    }
    for (uint32_t i = 0; i < s->config.nranks; i++)
        if (s->bound[i + 1] > s->bound[i])
            jitter = fmax(jitter, s->rank[i].filter.noise_ns);
    s->chance = JITTER * jitter / fmax(s->held_ns, 1);
    if (s->judged || first || s->held_ns < HELD_MIN_NS || !(s->prev_real_ns > 0))
        return;
    s->judged = true;
    s->worse = s->held_ns / s->held_steps > s->prev_real_ns * (WORSE + s->chance) &&
               s->rank[slowest].now_work > s->rank[slowest].prev_work;
}

void lbp_stepped_settle(struct lbp_stepped *s, int64_t now_ns)
{
    bool first = s->prev_expected_ns < 0; /* the first bounds are still in force */
    double measured = 0, before = 0, without = 0, real = 0, most = 0;
    uint32_t slowest = 0;
    int64_t steps = 0;

    learn_move(s);
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        struct stepped_rank *r = &s->rank[i];
        double speed = account_speed(r), limit = lbp_stepped_limit(s, i);

        steps = r->steps > steps ? r->steps : steps;
        if (r->steps > 0)
            real = fmax(real, (r->wall + r->wait) / (double)r->steps);
        r->now_work = r->steps > 0 ? r->work / (double)r->steps : 0;
        r->now_wall = r->now_work / speed;
        most = fmax(most, r->now_work);
        if (first) {
            r->first_work = r->now_work;
            r->first_wall = r->now_wall;
        }
        if (r->now_wall > measured) {
            measured = r->now_wall;
            slowest = i;
        }
        before = fmax(before, elsewhere(r, r->prev_work, r->prev_wall, speed, limit));
        without = fmax(without, elsewhere(r, r->first_work, r->first_wall, speed, limit));
    }
    lbp_stepped_compare(s, steps, now_ns);
    lbp_stepped_shadow_settle(s, steps);
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        struct stepped_rank *r = &s->rank[i];

        r->work = r->wall = r->wait = 0;
        r->steps = 0;
        r->fresh = false;
    }
    s->nfresh = 0;
    real = fmax(real, measured);
    s->measured_ns = measured;
    s->real_ns = real;
    if (measured > 0)
        s->stretch = fmin(s->stretch, real / measured);
    if (s->config.kind != LBP_DOACROSS)
        s->stretch =
            1; /* waits for one another are the same whatever the bounds, as far as is known */
    s->tried_ns = measured * s->stretch;
    s->without_ns = without * s->stretch;
    before *= s->stretch;
    judge_steps(s, first, slowest, measured, steps);
    if (!first) {
        s->account_ns +=
            (double)steps * (s->without_ns - s->tried_ns) - (s->cost_ns - s->charged_ns);
        s->charged_ns = s->cost_ns;
        s->prev_expected_ns = before;
        s->brought_ns += (double)steps * (before - s->tried_ns);
        s->won_ns += (double)steps * (before - s->tried_ns);
        s->promised_ns += (double)steps * (s->last_before_ns - s->last_after_ns);
    }
    if (s->config.pipelined > 0)
        lbp_grain_sweep(&s->grain, most); /* as messages are told: by CPU time */
}

double lbp_stepped_look_back(struct lbp_stepped *s, int64_t now_ns)
{
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->next);
    double least = BACK * s->tried_ns;

    if (s->prev_expected_ns < 0 || s->config.params.policy == LBP_SIEGELL)
        return 0;
    if (memcmp(s->bound, s->first, size) != 0 && lbp_stepped_allowance(s, 0, now_ns) < 0 &&
        s->without_ns < least) {
        memcpy(s->next, s->first, size);
        return s->without_ns;
    }
    /* before are the bounds that were found to be wrong; or those of another moment */
    if (s->undoing || s->kind != 0)
        return 0;
    if (s->held_ns > HELD_MIN_NS && s->prev_expected_ns < least &&
        s->won_ns < -(1 - BACK + s->chance) * s->held_ns) {
        memcpy(s->next, s->prev, size);
        return s->prev_expected_ns;
    }
    if (s->worse) { /* more work made its host slower, or a plan was wrong: it was better before */
        memcpy(s->next, s->prev, size);
        return s->prev_real_ns;
    }
    return 0;
}
