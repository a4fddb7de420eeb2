/* SPDX-License-Identifier: BSD-3-Clause */
/* How much may be lost on a plan, and how far it goes for that.  Source: ours. */
#include <math.h>
#include <string.h>

#include "policy/stepped_impl.h"

/* No loop is thought to be shorter than this, where nobody told its steps. */
#define SHORT_NS 2000e6
/* This part of a loop's time may be lost on plans, on the whole. */
#define ALLOW 0.004
/* The bounds in force are wrong, too, when they alone have lost so many times the way back and what may be lost, while who plans by
 * the same kind of speed lost less than this part of it. */
#define BY_ITSELF 2
#define FELL 0.25
/* When so many times that are lost the very first bounds come back; */
#define TOO_MUCH 1.5
/* or so many, as long as who plans by the same kind of speed has lost as much before, and won it again. */
#define FAR_TOO_MUCH 6
/* This part of what plans by a kind of speed would have won may be lost, too: the key stake; */
#define STAKE 0.03
/* less so many times the most that they would have lost in between. */
#define FALLS 6
/* As long as no move was measured it may cost so many times what is guessed. */
#define UNSURE 3
/* This part of what one step gains may be at stake at once, half as much after each undone plan.  The step is taken to be no shorter
 * than STEP_NS while plans have lost no more than SOLVENT of all time, ratio; */
#define AT_ONCE 0.25
#define STEP_NS 1000e6
#define SOLVENT 0.01
/* and else to be this part of a real one. */
#define INSOLVENT 0.1
/* Part of the time that following wins: who would win less by it is believed the less. */
#define RATE 0.4
/* Plans that never would have lost more than this part of what the way back costs are right for good. */
#define STEADY 0.05
/* A plan leads back when the way there and on to the very first bounds costs no more than so many times the way straight to them. */
#define BACK_WAY 1.05
/* A plan is in force after the next step, or the one after it: so many steps from now on the average. */
#define LATE 1.5
/* How far a plan can go for what may be lost is looked for by so many halvings; less than this part of it is not worth a move. */
#define HALVINGS 8
#define PART_MIN 0.02

/* The part of what plans of a kind would have won that may be lost: ratio, 0 to 1. */
static double stake(const struct lbp_stepped *s)
{
    return s->config.params.stake >= 0 ? s->config.params.stake : STAKE;
}

/* Who stakes less than is automatic stakes less at once, too, and goes home sooner: ratio, 0 to 1. */
static double boldness(const struct lbp_stepped *s)
{
    return fmin(1, stake(s) / STAKE);
}

double lbp_stepped_ideal_ns(struct lbp_stepped *s)
{
    double work = 0, speed = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        work += lbp_profile_work(&s->profile, s->bound[i], s->bound[i + 1]);
        speed += s->speed[i];
    }
    return work / speed;
}

/* So much the plan attains of what shares could bring that need not be whole iterations: ratio. */
static double attained(struct lbp_stepped *s)
{
    double ideal = lbp_stepped_ideal_ns(s);

    if (!(s->last.before_ns > ideal))
        return 0;
    return fmax(0, fmin(1, (s->last.before_ns - s->last.after_ns) / (s->last.before_ns - ideal)));
}

/*
 * What following the last plan is expected to win from now on, by what plans of its kind of speed would have won already.  That has
 * gone on for some time T, and is taken to go on for u more with the probability T / (T + u): within x that are left for
 * T log(1 + x / T) on the average; no more than T are counted.
 */
static double follow_ns(struct lbp_stepped *s, double lasts)
{
    double ahead = s->ahead_ns[s->kind], away = s->away_ns[s->kind];

    if (!(ahead > 0 && away > 0))
        return 0;
    return ahead * attained(s) * fmin(1, log1p(lasts / away)) * fmin(1, sqrt(ahead / away / RATE));
}

/* Moves from `from` to `to`, each byte of which costs so many times what is known, ns. */
static double way_cost(const struct lbp_stepped *s, const int64_t *from, const int64_t *to,
                       double times)
{
    int64_t most = lbp_stepped_published(s) ? lbp_adjacent_most_passed(from, to, s->config.nranks)
                                            : lbp_adjacent_most(from, to, s->config.nranks);
    double bytes = (double)most * (double)s->config.row_bytes * times;

    if (memcmp(from, to, ((size_t)s->config.nranks + 1) * sizeof(*to)) == 0)
        return 0;
    return lbp_profit_transfer_ns(&s->profit, bytes);
}

double lbp_stepped_move_cost(const struct lbp_stepped *s)
{
    return way_cost(s, s->bound, s->next, 1);
}

/* They may cost so much, ns. */
static double may_cost(const struct lbp_stepped *s, const int64_t *from, const int64_t *to)
{
    return way_cost(s, from, to, s->profit.moves > 0 ? 1 : UNSURE);
}

/* What may be lost whatever comes: a part of the time that the loop takes at least, ns. */
static double allowance(const struct lbp_stepped *s, int64_t now_ns)
{
    double lasted = (double)(now_ns - s->begun_ns);

    return ALLOW * (s->config.steps > 0 ? lasted + lbp_stepped_horizon(s, s->real_ns, now_ns)
                                        : fmax(SHORT_NS, lasted));
}

/*
 * What plans of this kind of speed would have won, and never have lost for long, is as good as known; so that a part of it may be
 * lost where it cannot be won in small parts before, or in time.
 */
static double credit(struct lbp_stepped *s, int64_t now_ns)
{
    double lead = s->lead_steps[s->kind] - FALLS * s->fall_steps[s->kind];

    return stake(s) * fmax(0, lead) * lbp_stepped_first_step_ns(s, now_ns) * attained(s) *
           exp2(-s->undone);
}

/*
 * Have the bounds in force lost much that who plans by this kind of speed has not?  What that one wins says nothing for bounds that go
 * another way, or only a part of it.
 */
static bool loses_by_itself(const struct lbp_stepped *s, int64_t now_ns)
{
    double step_ns = lbp_stepped_first_step_ns(s, now_ns);
    double lost = (s->plan_steps - (s->our_steps - s->first_steps)) * step_ns;
    double fell = (s->top_steps[s->kind] - s->lead_steps[s->kind]) * step_ns;

    return lost > BY_ITSELF * (may_cost(s, s->bound, s->first) + allowance(s, now_ns)) &&
           fell < FELL * lost;
}

/* A load that comes and goes is met by bounds that lose while it is away: that it goes again says nothing against them. */
bool lbp_stepped_has_lost(struct lbp_stepped *s, int64_t now_ns)
{
    double left = s->account_ns - may_cost(s, s->bound, s->first) + credit(s, now_ns);
    bool as_before = s->top_steps[s->kind] - s->lead_steps[s->kind] < s->fall_steps[s->kind];
    double times = TOO_MUCH + (as_before ? (FAR_TOO_MUCH - TOO_MUCH) * boldness(s) : 0);

    return left < -times * allowance(s, now_ns) || loses_by_itself(s, now_ns);
}

/* What is staked for a plan that goes to `whole` in the end. */
struct means {
    double at_once; /* for the ways there and back alone, ns */
    double all;     /* for these and what is lost in between, ns */
    double back;    /* from the whole plan to the very first bounds, ns */
    double fall;    /* that the whole plan is expected to lose before it wins again, ns */
};

static struct means means(struct lbp_stepped *s, double gain, int64_t now_ns)
{
    double lasted = (double)(now_ns - s->begun_ns);
    bool solvent = s->account_ns >= -SOLVENT * fmax(SHORT_NS, lasted);
    int k = s->kind;

    return (struct means){
        .at_once = AT_ONCE * gain * exp2(-s->undone) *
                   (solvent ? fmax(s->real_ns, boldness(s) * STEP_NS) : INSOLVENT * s->real_ns),
        .all = s->account_ns + allowance(s, now_ns) + credit(s, now_ns),
        .back = may_cost(s, s->next, s->first),
        .fall = lbp_stepped_first_step_ns(s, now_ns) *
                (s->fall_steps[k] - (s->top_steps[k] - s->lead_steps[k])),
    };
}

static bool suffice(const struct lbp_stepped *s, const struct means *m)
{
    double back = may_cost(s, s->next, s->first), ways = may_cost(s, s->bound, s->next) + back;
    double part = m->back > 0 ? fmin(1, back / m->back) : 0;

    return ways <= m->at_once || ways + part * m->fall <= m->all;
}

/*
 * Go only so far towards `whole`: each rank the same part of its way.  So a part also loses no more than its part when speeds
 * turn.  Where they never do, those that all wait for go first.  Returns whether next is a distribution as it must be.
 */
static bool shorten(struct lbp_stepped *s, double part, bool steady)
{
    int64_t least = s->config.min_iterations > 1 ? s->config.min_iterations : 1;
    double before = s->last.before_ns, after = s->last.after_ns;
    struct lbp_adjacent_config config = {.nranks = s->config.nranks,
                                         .speed = s->speed,
                                         .min_iterations = s->config.min_iterations,
                                         .slack = (before - part * (before - after)) / after - 1};

    if (steady && config.slack >= 0 && isfinite(config.slack))
        return lbp_adjacent_bounds(&config, &s->profile, s->bound, s->next) == 0;
    for (uint32_t i = 1; i < s->config.nranks; i++)
        s->next[i] = s->bound[i] + llround(part * (double)(s->whole[i] - s->bound[i]));
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        int64_t size = s->next[i + 1] - s->next[i];

        if (size < 0 || (size > 0 && size < least))
            return false;
    }
    return true;
}

bool lbp_stepped_within_means(struct lbp_stepped *s, double gain, int64_t now_ns)
{
    struct means m = means(s, gain, now_ns);
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->whole);
    bool steady = s->fall_steps[s->kind] * lbp_stepped_first_step_ns(s, now_ns) <= STEADY * m.back;
    double low = 0, high = 1;

    if (may_cost(s, s->bound, s->next) + m.back <= BACK_WAY * may_cost(s, s->bound, s->first) ||
        suffice(s, &m))
        return true;
    memcpy(s->whole, s->next, size);
    for (int i = 0; i < HALVINGS; i++) {
        double part = (low + high) / 2;

        if (shorten(s, part, steady) && suffice(s, &m))
            low = part;
        else
            high = part;
    }
    if (low >= PART_MIN && shorten(s, low, steady) && memcmp(s->next, s->bound, size) != 0)
        return true;
    memcpy(s->next, s->whole, size);
    return false;
}

/*
 * How long the last plan's bounds will be in force while speeds are expected to stay as they are.  What has been so from the
 * beginning was there before anybody could have done better; who says how long speeds stay has said that of the plan.
 */
static double stays_ns(const struct lbp_stepped *s, int64_t now_ns)
{
    const struct lbp_horizon *h = &s->profit.horizon;
    bool counts = !lbp_stepped_published(s) && !h->set && h->changed_ns > s->begun_ns;
    double late_ns = counts && isfinite(s->last.before_ns) ? LATE * s->last.before_ns : 0;

    return fmax(0, lbp_horizon_ns(h, now_ns) - late_ns);
}

double lbp_stepped_benefit_ns(struct lbp_stepped *s, double gain, double lasts, int64_t now_ns)
{
    double stays = fmin(lasts, stays_ns(s, now_ns));

    return fmax(lbp_profit_benefit_ns(&s->profit, gain, stays, now_ns),
                fmin(follow_ns(s, lasts), gain * lasts));
}
