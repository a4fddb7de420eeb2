/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When new bounds are worth it.
 * Source: Siegell & Steenkiste 1997, figure 21; the account of what was brought and the horizon are ours.
 */
#include <math.h>
#include <string.h>

#include "policy/plus.h"
#include "policy/stepped_impl.h"

/* A gain must exceed so many times the error of the speeds. */
#define NOISE 1.5
/* Ratio: steps may take so much longer than the least if that saves moves. */
#define SLACK 0.003
/* Nothing that is doubled after each failure is doubled more often than this. */
#define TRIES_MAX 10
/* After a plan was undone no other is made for the longer of so long and so many steps, doubled for each that was undone before; */
#define AFTER_UNDO_NS 250e6
#define AFTER_UNDO 5
/* but for one that gains so many times what the undone one promised. */
#define OTHER_GAIN 4
/* Ratio of the step time that the way back to the bounds before must gain; */
#define BACK_GAIN 0.02
/* and it is not taken where a load has just come, and other shares would gain so many times as much. */
#define MUCH_MORE 3
/* A plan that brought less than this part of what it promised has broken its word. */
#define KEPT 0.3
/* Doubt is 1 and doubles with each broken word, up to so much; for each 1 more of it so much more gain is asked for, ratio. */
#define DOUBT_MAX 16
#define DOUBT 0.05
/* A decision takes this part of doubt away, half as much of it after each broken word. */
#define FORGIVE 0.02
/* Where the number of steps was told: so many are lost on wrong bounds until that is seen, so a plan must win as many. */
#define WRONG_STEPS 1
/* Until that is seen of a rank that nobody has measured, a plan that gives it work may lose the time of so many steps. */
#define UNMEASURED_STEPS 2

double lbp_stepped_gain(const struct lbp_stepped_decision *d)
{
    return d->before_ns > 0 ? isinf(d->before_ns) ? 1 : 1 - d->after_ns / d->before_ns : 0;
}

/* A step with the present bounds, as it compares with one with those before. */
static double present_ns(const struct lbp_stepped *s)
{
    return s->worse ? s->held_ns / s->held_steps : s->usual_ns;
}

/* Bounds of before are known by what they did: they are better for as long as speeds stay as they are. */
static enum lbp_reason judge_back(struct lbp_stepped *s, double back_ns, int64_t now_ns)
{
    struct lbp_stepped_decision *d = &s->last;

    d->before_ns = present_ns(s);
    d->after_ns = back_ns;
    d->least = d->threshold = BACK_GAIN;
    d->noise = 0;
    d->cost_ns = lbp_stepped_move_cost(s);
    d->unmeasured_ns = 0;
    d->benefit_ns = lbp_stepped_gain(d) * fmin(lbp_stepped_horizon(s, d->before_ns, now_ns),
                                               lbp_horizon_ns(&s->profit.horizon, now_ns));
    if (s->home) { /* the present ones have lost so much: who goes on may lose it again */
        d->benefit_ns = fmax(d->benefit_ns, s->behind_ns);
        d->least = d->threshold = STEPPED_HOME_GAIN;
    } else if (lbp_stepped_gain(d) < BACK_GAIN) {
        return LBP_REASON_BELOW_THRESHOLD;
    }
    return lbp_profit_worth(&s->profit, d->benefit_ns, d->cost_ns) ? LBP_REASON_PROPORTIONAL
                                                                   : LBP_REASON_UNPROFITABLE;
}

/* Whether there are enough steps left to see that bounds were wrong, and to win by them if not; where it was told how many. */
static bool comes_too_late(const struct lbp_stepped *s, double gain, double lasts)
{
    return !lbp_stepped_published(s) && s->config.steps > 0 &&
           gain * lasts < WRONG_STEPS * s->real_ns;
}

/*
 * Bounds that were in force are known by what they did, whatever costs are thought to be.  Where these are not told for parts of a
 * rank's rows, who went back from a plan would find the very same one better again and again.
 */
static void know_by_deeds(struct lbp_stepped *s)
{
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->next);
    struct lbp_stepped_decision *d = &s->last;
    double again_ns = 0;

    if (lbp_stepped_published(s) || s->prev_expected_ns < 0 || !(s->usual_ns > 0) ||
        s->held_steps == 0 || /* of the present ones nothing is known yet */
        memcmp(s->next, s->bound, size) == 0)
        return;
    if (memcmp(s->next, s->prev, size) == 0)
        again_ns = s->prev_again_ns;
    else if (memcmp(s->next, s->first, size) == 0)
        again_ns = s->first_again_ns;
    if (isfinite(again_ns))
        d->after_ns = fmax(d->after_ns, d->before_ns * again_ns / s->usual_ns);
}

/* Do the next bounds give work to a rank that never had any in this loop? */
static bool tries_unmeasured(const struct lbp_stepped *s)
{
    for (uint32_t i = 0; i < s->config.nranks; i++)
        if (s->next[i + 1] > s->next[i] && !lbp_filter_known(&s->rank[i].filter))
            return !lbp_stepped_published(s);
    return false;
}

/* What the next bounds cost: their moves, and what may be lost until it is seen that a rank is slow.  Fills in last. */
static void weigh_cost(struct lbp_stepped *s)
{
    s->last.unmeasured_ns = tries_unmeasured(s) ? UNMEASURED_STEPS * s->real_ns : 0;
    s->last.cost_ns = lbp_stepped_move_cost(s) + s->last.unmeasured_ns;
}

/* Are the next bounds worth it?  Fills last. */
static enum lbp_reason judge(struct lbp_stepped *s, double noise, int64_t now_ns)
{
    struct lbp_stepped_decision *d = &s->last;
    double gain, lasts, whole_ns;

    d->before_ns = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->bound);
    d->after_ns = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->next);
    know_by_deeds(s);
    gain = lbp_stepped_gain(d);
    if (s->doubt > 1 && !lbp_stepped_published(s)) {
        noise = fmax(noise, (s->doubt - 1) * DOUBT);
        s->doubt = fmax(1, s->doubt * (1 - FORGIVE * exp2(-s->broken)));
    }
    d->threshold = s->threshold.now;
    d->noise = noise;
    d->least = fmax(d->threshold, noise);
    weigh_cost(s);
    lasts = lbp_stepped_horizon(s, d->before_ns, now_ns);
    d->benefit_ns = lbp_stepped_benefit_ns(s, gain, lasts, now_ns);
    s->refused = s->refused || gain >= d->least;
    if ((double)now_ns < s->wait_until_ns && !lbp_stepped_published(s) &&
        gain < OTHER_GAIN * s->undone_gain &&
        s->ahead_ns[s->kind] * exp2(-s->undone) <
            2 * d->cost_ns) { /* else waiting has lost as much */
        d->detail = LBP_DETAIL_UNDONE;
        return LBP_REASON_UNSTABLE;
    }
    if (!lbp_threshold_pass(&s->threshold, gain, noise))
        return gain > 0 && gain >= d->threshold ? LBP_REASON_FILTERED : LBP_REASON_BELOW_THRESHOLD;
    /* who says what a plan must bring has decided what may be at stake, too */
    if (!lbp_stepped_published(s) && s->config.params.profit < 0 &&
        !lbp_stepped_within_means(s, gain, now_ns)) {
        d->detail = LBP_DETAIL_STAKE;
        d->cost_ns = lbp_stepped_move_cost(s); /* of one way */
        d->unmeasured_ns = 0;
        return LBP_REASON_UNPROFITABLE;
    }
    whole_ns = d->after_ns;
    d->after_ns = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->next);
    weigh_cost(s);
    d->benefit_ns = lbp_stepped_benefit_ns(s, lbp_stepped_gain(d), lasts, now_ns);
    d->least = fmin(d->least, lbp_stepped_gain(d)); /* a part of the way brings a part */
    d->detail = d->after_ns > whole_ns ? LBP_DETAIL_PART : LBP_DETAIL_NONE;
    if (comes_too_late(s, lbp_stepped_gain(d), lasts))
        return LBP_REASON_UNPROFITABLE;
    if (!lbp_profit_worth(&s->profit, d->benefit_ns, d->cost_ns))
        return lbp_horizon_unstable(&s->profit.horizon, now_ns) ? LBP_REASON_UNSTABLE
                                                                : LBP_REASON_UNPROFITABLE;
    return LBP_REASON_PROPORTIONAL;
}

void lbp_stepped_take_next(struct lbp_stepped *s, int64_t now_ns)
{
    uint32_t holders = 0;

    s->last_moved = 0;
    for (uint32_t i = 1; i < s->config.nranks; i++)
        s->last_moved +=
            s->next[i] > s->bound[i] ? s->next[i] - s->bound[i] : s->bound[i] - s->next[i];
    s->moved_iterations = lbp_plus(s->moved_iterations, s->last_moved);
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        bool holds = s->next[i + 1] > s->next[i], held = s->bound[i + 1] > s->bound[i];
        struct stepped_rank *r = &s->rank[i];

        holders += holds;
        if (holds)
            r->idle_ns = INT64_MIN;
        else if (held || r->idle_ns == INT64_MIN)
            r->idle_ns = now_ns;
        r->tries += held && !holds && r->tries < TRIES_MAX;
    }
    lbp_grain_ranks(&s->grain, holders);
    lbp_stepped_catch_up(s, s->last.detail == LBP_DETAIL_PART
                                ? 2 * (s->last.cost_ns - s->last.unmeasured_ns)
                                : INFINITY);
    memcpy(s->bound, s->next, ((size_t)s->config.nranks + 1) * sizeof(*s->bound));
}

static void adopt(struct lbp_stepped *s, double back_ns, int64_t now_ns)
{
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->bound);

    lbp_profit_outcome(&s->profit, s->promised_ns, s->brought_ns, s->cost_ns);
    if (s->promised_ns > 0 && !s->undoing) {
        bool kept = s->brought_ns >= KEPT * s->promised_ns && back_ns <= 0;

        s->broken = kept ? 0 : s->broken + 1;
        s->undone -= kept && s->undone > 0;
        s->doubt = kept ? fmax(1, s->doubt / 2) : fmin(DOUBT_MAX, 2 * s->doubt);
    }
    s->undoing = back_ns > 0;
    if (s->undoing) { /* the same must not be tried again at once */
        s->undone_gain = 1 - s->last_after_ns / s->last_before_ns;
        s->undone += s->undone < TRIES_MAX;
        s->wait_until_ns =
            (double)now_ns + fmax(AFTER_UNDO_NS, AFTER_UNDO * s->real_ns) * exp2(s->undone);
    }
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        s->rank[i].prev_work = s->rank[i].now_work;
        s->rank[i].prev_wall = s->rank[i].now_wall;
    }
    lbp_stepped_keep_over(s);
    s->prev_expected_ns = INFINITY;
    /* not as before a load came that the plan is made for */
    s->prev_real_ns = s->held_steps > 0 ? fmax(s->held_ns / s->held_steps, s->measured_ns) : 0;
    s->held_ns = s->held_steps = s->won_ns = s->behind_ns = 0;
    s->plan_steps = s->our_steps - s->first_steps;
    s->judged = false;
    s->cost_ns = s->passed_ns = s->charged_ns = s->promised_ns = s->brought_ns = 0;
    s->last_before_ns = s->last.before_ns;
    s->last_after_ns = s->last.after_ns;
    memcpy(s->prev, s->bound, size);
    lbp_stepped_take_next(s, now_ns);
    s->workscale += 0.25 * ((double)s->since_moves - s->workscale);
    s->since_moves = 0;
}

/* Fills stage with the ranks that hold something, at the speeds to plan by.  Returns how many they are. */
static uint32_t stages(struct lbp_stepped *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++)
        if (s->bound[i + 1] > s->bound[i] && s->speed[i] > 0)
            s->stage[n++] = (struct lbp_grain_stage){
                .busy_ns =
                    lbp_profile_work(&s->profile, s->bound[i], s->bound[i + 1]) / s->speed[i],
                .slow = s->rank[i].hardware / s->speed[i],
                .lost = fmin(1, lbp_caps_share(&s->caps, i))};
    return n;
}

/*
 * A load that has just come makes steps longer whatever the last plan did: where the shares that are right now would gain much more
 * than the bounds before, these are those of another moment.
 */
static bool falls_short(struct lbp_stepped *s, double back_ns)
{
    double before_ns = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->bound);

    return s->profit.horizon.changed_ns > s->last.at_ns && !s->home &&
           1 - lbp_stepped_ideal_ns(s) / before_ns >
               fmax(MUCH_MORE * (1 - back_ns / present_ns(s)), s->threshold.full);
}

int lbp_stepped_weigh_new(struct lbp_stepped *s, double error, int64_t now_ns,
                          enum lbp_reason *ret_reason)
{
    struct lbp_adjacent_config config = {.nranks = s->config.nranks,
                                         .speed = s->speed,
                                         .min_iterations = s->config.min_iterations,
                                         .slack = lbp_stepped_published(s) ? 0 : SLACK};
    int ret = lbp_adjacent_bounds(&config, &s->profile, s->bound, s->next);

    if (ret < 0)
        return ret;
    s->last.detail = LBP_DETAIL_NONE;
    *ret_reason = judge(s, lbp_stepped_published(s) ? 0 : NOISE * error, now_ns);
    return 0;
}

/*
 * Bounds of before that are known to be better, or new ones.  ret_back_ns[out] a step with the former; 0: it is the latter.  Returns 0 or
 * -ENOMEM.
 */
static int weigh(struct lbp_stepped *s, double error, int64_t now_ns, enum lbp_reason *ret_reason,
                 double *ret_back_ns)
{
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->next);
    double back_ns = lbp_stepped_look_back(s, now_ns);

    *ret_back_ns = 0;
    if (back_ns <= 0 || falls_short(s, back_ns)) {
        int ret = lbp_stepped_weigh_new(s, error, now_ns, ret_reason);

        if (ret < 0 || back_ns <= 0 || *ret_reason == LBP_REASON_PROPORTIONAL)
            return ret;
        memcpy(s->next, s->prev, size); /* not home: falls_short */
    }
    *ret_back_ns = back_ns;
    s->last.detail = LBP_DETAIL_BACK;
    *ret_reason = judge_back(s, back_ns, now_ns);
    return 0;
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
    int64_t block = s->grain.block;
    enum lbp_reason reason = LBP_REASON_BELOW_THRESHOLD;
    double error, back = 0;

    if (s->told_period_ns == 0 || s->nfresh == s->config.nranks)
        lbp_stepped_tell_period(s, now_ns, ret_action, ret_n);
    lbp_stepped_tell_again(s, now_ns, ret_action, ret_n);
    if (lbp_stepped_tell_rest(s, now_ns, ret_action, ret_n))
        return 0;
    if (lbp_stepped_is_stale(s))
        return lbp_stepped_amend(s, now_ns, ret_action, ret_n);
    if (!due(s, now_ns) || !lbp_stepped_all_known(s))
        return 0;
    s->turned = false;
    lbp_stepped_settle(s, now_ns);
    error = lbp_stepped_plan_speeds(s, now_ns);
    if (error < 0 || !lbp_profile_learned(&s->profile))
        return 0;
    s->since_moves++;
    if (!s->moves_nothing) {
        int ret = weigh(s, error, now_ns, &reason, &back);

        if (ret < 0)
            return ret;
        s->last.reason = reason;
        s->decisions[reason]++;
    }
    s->last.at_ns = now_ns;
    s->quiet = reason == LBP_REASON_BELOW_THRESHOLD ? s->quiet + (s->quiet < STEPPED_QUIET) : 0;
    if (reason == LBP_REASON_PROPORTIONAL)
        adopt(s, back, now_ns);
    if (s->config.pipelined > 0) {
        if (!lbp_stepped_published(s) && !s->config.params.sync)
            lbp_grain_flow(&s->grain, s->step, s->config.steps);
        if (lbp_stepped_published(s))
            lbp_grain_choose(&s->grain);
        else
            lbp_grain_choose_for(&s->grain, s->stage, stages(s));
    }
    if (reason == LBP_REASON_PROPORTIONAL || s->grain.block != block)
        lbp_stepped_tell_plan(s, now_ns, ret_action, ret_n);
    return 0;
}
