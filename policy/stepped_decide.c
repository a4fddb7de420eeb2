/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When new bounds are worth it.
 * Source: Siegell & Steenkiste 1997, figure 21; the account of what was brought and the horizon are ours.
 */
#include <math.h>
#include <string.h>

#include "policy/period.h"
#include "policy/stepped_impl.h"

#define NOISE 1.5   /* errors of a speed that a gain must exceed */
#define SLACK 0.003 /* ratio of the step time that fewer moves are worth */
#define REPORT_NS 50e3
#define EARLY_NS 300e6   /* from the beginning: plans follow one another quickly */
#define HORIZON_NS 500e6 /* a loop is expected to go on as long as it has, and at least so long */
#define KEPT 0.3         /* of what a plan promised: less is a broken word */
#define DOUBT 0.05       /* gain asked for, for the first broken word */
#define DOUBT_MAX 16
#define FORGIVE 0.02 /* of doubt, by a quiet decision; half as much after each broken word */
#define BUDGET 0.004 /* of the time so far that plans may lose on the whole, before they end */
#define BACK \
    0.98 /* the bounds before are taken again when they were faster than so much of these */
#define JITTER 0.3
#define JITTER_MAX 0.05
#define TELL 0.25 /* ratio by which a period must differ to be told */

static bool published(const struct lbp_stepped *s)
{
    return s->config.params.policy == LBP_SIEGELL;
}

/* Speeds to plan by; ranks not measured get what the others do, by weight.  Returns the worst relative error; < 0: no rank
 * was measured. */
static double plan_speeds(struct lbp_stepped *s)
{
    double speed = 0, weight = 0, error = 0, jitter = 0;
    bool weighted = true;
    uint32_t known = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];

        weighted = weighted && r->weight > 0;
        if (!lbp_filter_known(&r->filter))
            continue;
        known++;
        speed += lbp_filter_value(&r->filter);
        weight += r->weight;
        if (s->bound[i + 1] > s->bound[i]) {
            error = fmax(error, lbp_filter_error(&r->filter));
            jitter = fmax(jitter, r->filter.noise_ns);
        }
    }
    if (known == 0 || !(speed > 0))
        return -1;
    speed /= weighted ? weight : known;
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];

        s->speed[i] = lbp_filter_known(&r->filter) ? lbp_filter_value(&r->filter)
                                                   : speed * (weighted ? r->weight : 1);
    }
    /* a quota makes single steps run ahead and behind: no bounds can even that out */
    if (s->measured_ns > 0)
        error = fmax(error, fmin(JITTER_MAX, JITTER * jitter / s->measured_ns));
    return error;
}

/* Every rank that holds something has been measured long enough to say what it does. */
static bool all_known(const struct lbp_stepped *s)
{
    for (uint32_t i = 0; i < s->config.nranks; i++)
        if (s->bound[i + 1] > s->bound[i] && !lbp_filter_known(&s->rank[i].filter))
            return false;
    return true;
}

/*
 * A rank's time for a step's work that it had before and took `wall` for.  A quota lets short work go faster than long, so
 * that more work than now is not expected to go faster than it went.
 */
static double elsewhere(const struct stepped_rank *r, double work, double wall, double speed)
{
    return work > r->now_work ? fmax(work / speed, wall) : work / speed;
}

/*
 * What the bounds have brought since the last decision, by the speeds that were really there, and by the work that each
 * rank had with these bounds and others: no guess of what iterations cost is in it.  Then all begins anew.
 */
static void settle(struct lbp_stepped *s)
{
    bool first = s->prev_expected_ns < 0; /* the first bounds are still in force */
    double measured = 0, before = 0, without = 0;
    int64_t steps = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        struct stepped_rank *r = &s->rank[i];
        double speed =
            r->wall > 0 && r->work > 0 ? r->work / r->wall : lbp_filter_value(&r->filter);

        speed = fmax(speed, 1e-6);
        steps = r->steps > steps ? r->steps : steps;
        r->now_work = r->steps > 0 ? r->work / (double)r->steps : 0;
        r->now_wall = r->now_work / speed;
        if (first) {
            r->first_work = r->now_work;
            r->first_wall = r->now_wall;
        }
        measured = fmax(measured, r->now_wall);
        before = fmax(before, elsewhere(r, r->prev_work, r->prev_wall, speed));
        without = fmax(without, elsewhere(r, r->first_work, r->first_wall, speed));
        r->work = r->wall = 0;
        r->steps = 0;
        r->fresh = false;
    }
    s->nfresh = 0;
    s->measured_ns = measured;
    s->without_ns = without;
    s->account_ns += (double)steps * (without - measured) - (s->cost_ns - s->charged_ns);
    s->charged_ns = s->cost_ns;
    if (!first) {
        s->prev_expected_ns = before;
        s->brought_ns += (double)steps * (before - measured);
        s->promised_ns += (double)steps * (s->last_before_ns - s->last_after_ns);
    }
    if (s->config.pipelined > 0)
        lbp_grain_sweep(&s->grain, measured);
}

/* The moves of the next bounds hold all ranks up so long. */
static double move_cost(struct lbp_stepped *s)
{
    size_t n = lbp_adjacent_moves(s->bound, s->next, s->config.nranks, s->move);
    double rounds = n > 0 ? s->move[n - 1].round + 1 : 0;
    double bytes = (double)lbp_adjacent_most(s->bound, s->next, s->config.nranks) *
                   (double)s->config.row_bytes;

    return n > 0 ? lbp_profit_transfer_ns(&s->profit, bytes) + (rounds - 1) * s->profit.fixed_ns
                 : 0;
}

/* How long the loop is expected to go on. */
static double horizon(const struct lbp_stepped *s, double step_ns, int64_t now_ns)
{
    double lasted = (double)(now_ns - s->begun_ns);

    if (s->config.steps > 0)
        return (double)(s->config.steps - s->step > 0 ? s->config.steps - s->step : 0) * step_ns;
    return fmax(lasted, HORIZON_NS);
}

/* So much more than what the plans brought may be lost in the hope of more, ns. */
static double budget(const struct lbp_stepped *s, int64_t now_ns)
{
    return s->account_ns + BUDGET * (double)(now_ns - s->begun_ns);
}

/*
 * Bounds that were in force are known by what they did, whatever costs are thought to be: those before, when these are
 * slower, and the very first, when all plans together have lost more than may be.  0: neither is better.
 */
static double look_back(struct lbp_stepped *s, int64_t now_ns)
{
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->next);
    double least = BACK * s->measured_ns;

    if (s->prev_expected_ns < 0 || published(s))
        return 0;
    if (budget(s, now_ns) < 0 && s->without_ns < least) {
        memcpy(s->next, s->first, size);
        return s->without_ns;
    }
    if (s->prev_expected_ns < least) {
        memcpy(s->next, s->prev, size);
        return s->prev_expected_ns;
    }
    return 0;
}

/* Are the next bounds worth it?  Fills last. */
static enum lbp_reason judge(struct lbp_stepped *s, double noise, double back_ns, int64_t now_ns)
{
    struct lbp_stepped_decision *d = &s->last;
    double gain, lasts;

    d->at_ns = now_ns;
    d->before_ns = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->bound);
    d->after_ns = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->next);
    if (back_ns > 0) {
        d->before_ns = s->measured_ns;
        d->after_ns = back_ns;
    }
    gain = d->before_ns > 0 ? isinf(d->before_ns) ? 1 : 1 - d->after_ns / d->before_ns : 0;
    if (s->doubt > 1 && !published(s) && back_ns <= 0) {
        noise = fmax(noise, (s->doubt - 1) * DOUBT);
        s->doubt = fmax(1, s->doubt * (1 - FORGIVE * exp2(-s->broken)));
    }
    d->threshold = s->threshold.now;
    d->noise = noise;
    d->least = fmax(d->threshold, noise);
    d->cost_ns = move_cost(s);
    lasts = horizon(s, d->before_ns, now_ns);
    d->benefit_ns = lbp_profit_benefit_ns(&s->profit, gain, lasts, now_ns);
    if (!lbp_threshold_pass(&s->threshold, gain, noise))
        return gain > 0 && gain >= d->threshold ? LBP_REASON_FILTERED : LBP_REASON_BELOW_THRESHOLD;
    if (back_ns <= 0 && !published(s) && s->account_ns < 0 && budget(s, now_ns) < d->cost_ns)
        return LBP_REASON_UNSTABLE;
    if (!lbp_profit_pays(&s->profit, gain, lasts, d->cost_ns, now_ns))
        return lbp_profit_unstable(&s->profit, now_ns) ? LBP_REASON_UNSTABLE
                                                       : LBP_REASON_UNPROFITABLE;
    return LBP_REASON_PROPORTIONAL;
}

static void adopt(struct lbp_stepped *s)
{
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->bound);
    uint32_t holders = 0;

    lbp_profit_outcome(&s->profit, s->promised_ns, s->brought_ns, s->cost_ns);
    if (s->promised_ns > 0) {
        bool kept = s->brought_ns >= KEPT * s->promised_ns;

        s->broken = kept ? 0 : s->broken + 1;
        s->doubt = kept ? fmax(1, s->doubt / 2) : fmin(DOUBT_MAX, 2 * s->doubt);
    }
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        s->rank[i].prev_work = s->rank[i].now_work;
        s->rank[i].prev_wall = s->rank[i].now_wall;
    }
    s->prev_expected_ns = INFINITY;
    s->cost_ns = s->charged_ns = s->promised_ns = s->brought_ns = 0;
    s->last_before_ns = s->last.before_ns;
    s->last_after_ns = s->last.after_ns;
    s->last_moved = 0;
    for (uint32_t i = 1; i < s->config.nranks; i++)
        s->last_moved +=
            s->next[i] > s->bound[i] ? s->next[i] - s->bound[i] : s->bound[i] - s->next[i];
    s->moved_iterations += s->last_moved;
    memcpy(s->prev, s->bound, size);
    memcpy(s->bound, s->next, size);
    for (uint32_t i = 0; i < s->config.nranks; i++)
        holders += s->bound[i + 1] > s->bound[i];
    lbp_grain_ranks(&s->grain, holders);
    s->workscale += 0.25 * ((double)s->since_moves - s->workscale);
    s->since_moves = 0;
}

static void update_period(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *action,
                          size_t *n)
{
    double quantum = 0;

    if (s->config.params.period_ns <= 0 && !published(s) && !s->moves_nothing) {
        for (uint32_t i = 0; i < s->config.nranks; i++)
            quantum += s->rank[i].filter.noise_ns / s->config.nranks;
        s->period_ns =
            lbp_period(REPORT_NS, lbp_profit_transfer_ns(&s->profit, (double)s->config.row_bytes),
                       s->workscale, quantum, s->config.nranks);
        s->period_ns = (int64_t)fmax((double)s->period_ns, 4 * s->message_ns);
        if ((double)(now_ns - s->begun_ns) < EARLY_NS && s->config.nranks <= 64)
            s->period_ns = LBP_PERIOD_QUICK_NS;
    }
    if (fabs((double)(s->period_ns - s->told_period_ns)) <= TELL * (double)s->told_period_ns)
        return;
    s->told_period_ns = s->period_ns;
    action[(*n)++] =
        (struct lbp_stepped_action){.type = LBP_STEPPED_INSTRUCT, .period_ns = s->period_ns};
}

static void plan(struct lbp_stepped *s, struct lbp_stepped_action *action, size_t *n)
{
    double ahead = s->step_ns > 0 ? ceil(2 * s->message_ns / s->step_ns) : 0;

    s->epoch++;
    s->napplied = 0;
    action[(*n)++] = (struct lbp_stepped_action){
        .type = LBP_STEPPED_PLAN,
        .epoch = s->epoch,
        .at_step = s->step + 1 + (int64_t)fmin(ahead, 1e6),
        .bound = s->bound,
        .block = s->config.pipelined > 0 ? s->grain.block : 0,
    };
}

static bool due(const struct lbp_stepped *s, int64_t now_ns)
{
    uint32_t n = s->config.nranks;

    if (s->nfresh < n || s->napplied < n)
        return false;
    return s->last.at_ns == INT64_MIN || now_ns - s->last.at_ns >= s->period_ns / 2;
}

int lbp_stepped_decide(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *ret_action,
                       size_t *ret_n)
{
    struct lbp_adjacent_config config = {.nranks = s->config.nranks,
                                         .speed = s->speed,
                                         .min_iterations = s->config.min_iterations,
                                         .slack = published(s) ? 0 : SLACK};
    int64_t block = s->grain.block;
    enum lbp_reason reason = LBP_REASON_BELOW_THRESHOLD;
    double error;
    int ret;

    if (s->told_period_ns == 0 || s->nfresh == s->config.nranks)
        update_period(s, now_ns, ret_action, ret_n);
    if (!due(s, now_ns) || !all_known(s))
        return 0;
    settle(s);
    error = plan_speeds(s);
    if (error < 0 || !lbp_profile_learned(&s->profile))
        return 0;
    s->since_moves++;
    if (!s->moves_nothing) {
        double back = look_back(s, now_ns);

        ret = back > 0 ? 0 : lbp_adjacent_bounds(&config, &s->profile, s->bound, s->next);
        if (ret < 0)
            return ret;
        reason = judge(s, published(s) ? 0 : NOISE * error, back, now_ns);
        s->last.reason = reason;
        s->decisions[reason]++;
    }
    s->last.at_ns = now_ns;
    if (reason == LBP_REASON_PROPORTIONAL)
        adopt(s);
    if (s->config.pipelined > 0)
        lbp_grain_choose(&s->grain);
    if (reason == LBP_REASON_PROPORTIONAL || s->grain.block != block)
        plan(s, ret_action, ret_n);
    return 0;
}
