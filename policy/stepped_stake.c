/* SPDX-License-Identifier: BSD-3-Clause */
/* How much may be lost on a plan, and how far it goes for that.  Source: ours. */
#include <math.h>
#include <string.h>

#include "policy/stepped_impl.h"

#define AHEAD_NS 1000e6 /* that a loop is expected to go on, when nobody told its steps */
#define EAGER 10        /* times the gain: the more it is, the more may be staked */
#define ALLOW 0.006     /* of the time that may be lost on plans, on the whole */
#define UNSURE 1.25     /* times its guessed cost a move may cost, as long as none was measured */
#define AT_ONCE 0.25    /* of what a step gains may be at stake; half after each undone plan */
#define RATE 0.4        /* won by following, ratio: who wins less is believed less */
#define PROBE 0.01      /* of a plan goes the first, which tells what moves cost, */
#define PROBE_AFTER 0.1 /* when waiting has lost so much of what all of it is thought to cost */
#define PART_MIN 0.05   /* less of a plan is not worth a move; */
#define PART_BRINGS \
    0.25 /* nor is one that brings less than so much of what it should, by its length */

/*
 * What following the last plan is expected to win from now on, by what plans of its kind of speed would have won already.  That has
 * gone on for some time T, and is taken to go on for u more with the probability T / (T + u): within x that are left for
 * T log(1 + x / T) on the average; no more than T are counted.  And no more than the plan attains of what shares could bring that
 * need not be whole iterations.
 */
static double follow_ns(struct lbp_stepped *s, double lasts)
{
    double ahead = s->ahead_ns[s->kind], away = s->away_ns[s->kind], work = 0, speed = 0, ideal,
           attained;

    if (!(ahead > 0 && away > 0))
        return 0;
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        work += lbp_profile_work(&s->profile, s->bound[i], s->bound[i + 1]);
        speed += s->speed[i];
    }
    ideal = work / speed;
    if (!(s->last.before_ns > ideal))
        return 0;
    attained =
        fmax(0, fmin(1, (s->last.before_ns - s->last.after_ns) / (s->last.before_ns - ideal)));
    return ahead * attained * fmin(1, log1p(lasts / away)) * fmin(1, sqrt(ahead / away / RATE));
}

double lbp_stepped_allowance(const struct lbp_stepped *s, double gain, int64_t now_ns)
{
    double ahead = s->config.steps > 0 ? lbp_stepped_horizon(s, s->real_ns, now_ns) : AHEAD_NS;

    return s->account_ns + ALLOW * (1 + EAGER * gain) * ((double)(now_ns - s->begun_ns) + ahead);
}

double lbp_stepped_move_cost(const struct lbp_stepped *s)
{
    double bytes = (double)lbp_adjacent_most(s->bound, s->next, s->config.nranks) *
                   (double)s->config.row_bytes;

    if (memcmp(s->bound, s->next, ((size_t)s->config.nranks + 1) * sizeof(*s->next)) == 0)
        return 0;
    return lbp_profit_transfer_ns(&s->profit, bytes);
}

/* Go only so far towards the next bounds.  Returns whether what comes out is a distribution as it must be, and another. */
static bool shorten(struct lbp_stepped *s, double part)
{
    int64_t least = s->config.min_iterations > 1 ? s->config.min_iterations : 1;
    bool other = false;

    for (uint32_t i = 1; i < s->config.nranks; i++) {
        s->next[i] = s->bound[i] + llround(part * (double)(s->next[i] - s->bound[i]));
        other = other || s->next[i] != s->bound[i];
    }
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        int64_t size = s->next[i + 1] - s->next[i];

        if (size < 0 || (size > 0 && size < least))
            return false;
    }
    return other;
}

/* The next bounds are a part of a plan that gains `gain`, when all of it is gone. */
static bool brings(struct lbp_stepped *s, double gain, double part)
{
    double before = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->bound);
    double after = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->next);

    return after < before * (1 - PART_BRINGS * gain * part);
}

/* The least part of the way to the next bounds that moves something to measure. */
static double probe(const struct lbp_stepped *s)
{
    int64_t most = 1;

    for (uint32_t i = 1; i < s->config.nranks; i++) {
        int64_t way =
            s->next[i] > s->bound[i] ? s->next[i] - s->bound[i] : s->bound[i] - s->next[i];

        most = way > most ? way : most;
    }
    return fmax(PROBE, 1 / (double)most);
}

bool lbp_stepped_within_means(struct lbp_stepped *s, double gain, int64_t now_ns)
{
    double may = fmax(lbp_stepped_allowance(s, gain, now_ns),
                      AT_ONCE * gain * s->real_ns * exp2(-s->undone)),
           fixed = 2 * lbp_profit_transfer_ns(&s->profit, 0),
           all = 2 * lbp_stepped_move_cost(s) - fixed,
           lasts = lbp_stepped_horizon(s, s->real_ns, now_ns),
           lost = 2 * (follow_ns(s, lasts) * exp2(-s->undone)),
           proven = lost + 2 * fmin(0, s->moved_account_ns), least = PART_MIN, part;

    if (s->profit.moves > 0)
        may = fmax(may, proven);
    else
        all *= UNSURE;
    if (all + fixed <= may)
        return true;
    part = (may - fixed) / all;
    if (s->profit.moves == 0 && lost > PROBE_AFTER * all) {
        least = probe(s);
        part = fmax(part, least);
    }
    memcpy(s->whole, s->next, ((size_t)s->config.nranks + 1) * sizeof(*s->whole));
    if (part >= least && shorten(s, part) && brings(s, gain, part))
        return true;
    memcpy(s->next, s->whole, ((size_t)s->config.nranks + 1) * sizeof(*s->whole));
    return all + fixed <= proven;
}

double lbp_stepped_benefit_ns(struct lbp_stepped *s, double gain, double lasts, int64_t now_ns)
{
    return fmax(lbp_profit_benefit_ns(&s->profit, gain, lasts, now_ns),
                fmin(follow_ns(s, lasts), gain * lasts));
}
