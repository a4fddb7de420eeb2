/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What plans have really brought, against bounds of before and the very first; and which kind of speed would have been
 * better to plan by.  Source: ours.
 */
#include <math.h>
#include <string.h>

#include "policy/stepped_impl.h"

#define HORIZON_NS 1000e6 /* a loop is expected to go on as long as it has, and at least so long */
#define IN_FORCE 3        /* steps from a decision on new bounds until they are in force */
#define BACK \
    0.98         /* the bounds before are taken again when they were faster than so much of these */
#define WARM 0.8 /* of the work of a step at first: less is no chance */
#define BURST_NS 500e6 /* in which a rank goes no faster than its quota lets it */
#define PARTS 32 /* measurements of a rank's part of the work are kept, what is older counts half */
#define OFF 1.5  /* times what such a part was off usually, it may be off for a while */
#define DEVIATION 0.2      /* of that part, ratio, as long as none is known */
#define MOMENT_NS 100e6    /* and so long measured; a longer time evens it out */
#define HELD_MIN_NS 80e6   /* steps are judged after so long, */
#define HELD_MAX_NS 1000e6 /* and what is older counts less */
#define JITTER 2.0         /* times the error of progress by a quota, in that time */
#define SURE_STEPS \
    10 /* tell half of what more would: how much longer steps take than their slowest rank */
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

    if (s->config.steps > 0) /* in all of them, as published */
        return fmax(0, (double)(s->config.steps - s->step -
                                (s->config.params.policy == LBP_SIEGELL ? 0 : IN_FORCE))) *
               step_ns;
    return fmax(lasted, HORIZON_NS);
}

/*
 * A rank that holds nothing is measured by nobody; `slow` is what the work took as it went before.  Had it been slower than at its
 * best for a time T, it is taken to be so still after u more with the probability T / (T + u), and at its best else.
 */
static double unseen(const struct stepped_rank *r, double work, double slow, double limit,
                     int64_t now_ns)
{
    double lasted = (double)(r->idle_ns - r->best_ns), since = (double)(now_ns - r->idle_ns);
    double best = work / fmin(r->best, limit);

    if (!(best < slow) || !(lasted + since > 0))
        return slow;
    return best + lasted / (lasted + since) * (slow - best);
}

/*
 * A rank's time for a step's work that it had before and took `wall` for: as now, and what it does not have any more as it
 * usually goes.  What is slow and fast in turn within a step does more work in both; what lasts for many steps goes on, so
 * that a step's length tells what is usual.  A quota lets short work go faster than long, so that there more work than now is
 * not expected to go faster than it went.
 */
static double elsewhere(const struct stepped_rank *r, double work, double wall, double limit,
                        int64_t now_ns)
{
    double more = work - r->now_work;

    if (more <= 0)
        return r->now_work > 0 ? r->now_wall * work / r->now_work : 0;
    more = r->now_wall + more / fmin(r->usual_work / r->usual_wall, limit);
    more = isfinite(limit) ? fmax(more, wall) : more;
    return r->idle_ns == INT64_MIN ? more : unseen(r, work, more, limit, now_ns);
}

/* What a step took, and what ranks do usually. */
static void measure(struct stepped_rank *r, bool first, double limit)
{
    double keep = 1;

    r->now_work = r->steps > 0 ? r->work / (double)r->steps : 0;
    r->now_wall = r->steps > 0 ? r->wall / (double)r->steps : 0;
    if (r->now_wall > 0)
        keep = exp(-r->wall / (r->now_wall + (isfinite(limit) ? BURST_NS : 0)));
    r->usual_work = keep * r->usual_work + r->work;
    r->usual_wall = keep * r->usual_wall + r->wall;
    if (first) {
        r->first_work = r->now_work;
        r->first_wall = r->now_wall;
    }
}

/* What part of the work of all is this rank's: how much does that vary with the very first bounds? */
static void deviate(struct stepped_rank *r, double part)
{
    double off = r->parts > 0 ? part / r->part - 1 : 0;

    r->deviation2 += off * off;
    if (off * r->deviation > 0) {
        r->run++;
    } else {
        r->run = 1;
        r->runs++;
    }
    r->deviation = off;
    r->parts++;
    r->part += (part - r->part) / r->parts;
    if (r->parts >= PARTS) {
        r->deviation2 /= 2;
        r->runs /= 2;
        r->parts /= 2;
    }
}

/*
 * How far a rank's part of the work may be off for a while, squared: by half more than it usually was before, which more
 * measurements do not change; but what has lasted for longer than that does will stay.
 */
static double off_for_a_while(const struct stepped_rank *r)
{
    double lasts = fmin(1, r->parts / r->runs / r->run);

    return OFF * OFF * r->deviation2 / r->parts * pow(lasts, 1.5);
}

/*
 * A processor may be slower for a moment than another, and with it the CPU time that a rank's iterations take.  It stays so for a
 * while: many measurements say less than as many that have nothing to do with each other.
 */
double lbp_stepped_work_error(const struct lbp_stepped *s)
{
    double moments = (double)(s->settled_ns - s->begun_ns) / MOMENT_NS, sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];
        if (r->parts == 0)
            continue;
        sum += fmax((DEVIATION * DEVIATION / fmax(r->parts, moments) + r->deviation2) /
                        pow(r->parts, 1.5),
                    off_for_a_while(r));
        n++;
    }
    return n > 0 ? sqrt(sum / n) : 0;
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
               lbp_profile_work(&s->profile, s->bound[slowest], s->bound[slowest + 1]) >
                   lbp_profile_work(&s->profile, s->prev[slowest], s->prev[slowest + 1]);
}

double lbp_stepped_first_step_ns(const struct lbp_stepped *s, int64_t now_ns)
{
    double steps = fmax(s->first_steps, s->our_steps);

    return steps > 0 ? (double)(now_ns - s->begun_ns) / steps : 0;
}

/*
 * What is won adds up in steps: a load comes and goes in time, and while it is away there are more of them for who is faster then.
 * While rows move the very first bounds would have gone on.
 */
static void settle_steps(struct lbp_stepped *s, int64_t steps, int64_t now_ns)
{
    if (s->without_ns > 0) {
        s->our_steps += (double)steps;
        s->first_steps +=
            ((double)steps * s->tried_ns + s->cost_ns - s->charged_ns) / s->without_ns;
    }
    s->charged_ns = s->cost_ns;
    s->account_ns = (s->our_steps - s->first_steps) * lbp_stepped_first_step_ns(s, now_ns);
}

/*
 * Where all the work of a step with the very first bounds was much more than it is now, memory and caches were cold: what each rank
 * had to do is told by what iterations cost now.
 */
static void forget_cold(struct lbp_stepped *s)
{
    double now = 0, first = 0, profiled = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        now += s->rank[i].now_work;
        first += s->rank[i].first_work;
        profiled += lbp_profile_work(&s->profile, s->first[i], s->first[i + 1]);
    }
    if (!(now > 0 && profiled > 0 && now < WARM * first))
        return;
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        s->rank[i].first_work =
            now / profiled * lbp_profile_work(&s->profile, s->first[i], s->first[i + 1]);
        s->rank[i].first_wall = 0;
    }
}

void lbp_stepped_settle(struct lbp_stepped *s, int64_t now_ns)
{
    bool first = s->prev_expected_ns < 0; /* the first bounds are still in force */
    double measured = 0, before = 0, without = 0, real = 0, most = 0, over = 0, elapsed = 0,
           all = 0;
    double before_again = 0, without_again = 0; /* a quota may let work go faster than it went */
    int64_t elapsed_steps = 0;
    uint32_t slowest = 0;
    int64_t steps = 0;

    learn_move(s);
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        struct stepped_rank *r = &s->rank[i];

        steps = r->steps > steps ? r->steps : steps;
        if (r->steps > 0)
            real = fmax(real, (r->wall + r->wait) / (double)r->steps);
        elapsed += r->wall + r->wait;
        elapsed_steps += r->steps;
        measure(r, first, lbp_stepped_limit(s, i));
        most = fmax(most, r->now_work);
        all += r->now_work;
        if (r->now_wall > measured) {
            measured = r->now_wall;
            slowest = i;
        }
    }
    for (uint32_t i = 0; i < s->config.nranks && first; i++)
        if (s->rank[i].now_work > 0)
            deviate(&s->rank[i], s->rank[i].now_work / all);
    forget_cold(s);
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];
        double limit = lbp_stepped_limit(s, i);

        before = fmax(before, elsewhere(r, r->prev_work, r->prev_wall, limit, now_ns));
        without = fmax(without, elsewhere(r, r->first_work, r->first_wall, limit, now_ns));
        before_again = fmax(before_again, elsewhere(r, r->prev_work, 0, limit, now_ns));
        without_again = fmax(without_again, elsewhere(r, r->first_work, 0, limit, now_ns));
    }
    lbp_stepped_compare(s, steps, now_ns);
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
    if (s->config.kind != LBP_DOACROSS) {
        s->stretch = 1;
        /* the mean of all: ranks report at different steps, and a slow one is in some of the sums now, in others the next time */
        if (elapsed_steps > 0 && s->config.params.policy != LBP_SIEGELL)
            over = elapsed / (double)elapsed_steps - measured;
        s->over_ns += over * (double)steps;
        s->over_steps += (double)steps;
    }
    over = s->over_sure * fmax(0, over);
    s->tried_ns = measured * s->stretch + over;
    s->without_ns = without * s->stretch + (first ? over : s->first_over_ns);
    if (memcmp(s->bound, s->first, ((size_t)s->config.nranks + 1) * sizeof(*s->bound)) == 0)
        s->without_ns =
            s->tried_ns; /* they are in force again: measured, they would differ by chance */
    before = before * s->stretch + s->prev_over_ns;
    s->prev_again_ns = before_again * s->stretch + s->prev_over_ns;
    s->first_again_ns = without_again * s->stretch + s->first_over_ns;
    judge_steps(s, first, slowest, measured, steps);
    if (first) {
        s->our_steps = s->first_steps = (double)s->step;
    } else {
        settle_steps(s, steps, now_ns);
        s->prev_expected_ns = before;
        s->brought_ns += (double)steps * (before - s->tried_ns);
        s->won_ns += (double)steps * (before - s->tried_ns);
        s->behind_ns += (double)steps * (s->tried_ns - s->without_ns);
        s->promised_ns += (double)steps * (s->last_before_ns - s->last_after_ns);
    }
    if (s->config.pipelined > 0)
        lbp_grain_sweep(&s->grain, most); /* as messages are told: by CPU time */
}

void lbp_stepped_keep_over(struct lbp_stepped *s)
{
    bool first = s->prev_expected_ns < 0;

    if (first) /* of few steps it says little, and all others are compared with it */
        s->over_sure = s->over_steps / (s->over_steps + SURE_STEPS);
    s->prev_over_ns = s->over_steps > 0 ? s->over_sure * fmax(0, s->over_ns) / s->over_steps : 0;
    if (first)
        s->first_over_ns = s->prev_over_ns;
    s->over_ns = s->over_steps = 0;
}

/* Fills next with bounds that were in force.  Returns whether others are, for long enough to be compared with them. */
static bool are_others(struct lbp_stepped *s, const int64_t *bound)
{
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->next);

    memcpy(s->next, bound, size);
    return memcmp(bound, s->bound, size) != 0 && s->held_ns > HELD_MIN_NS;
}

double lbp_stepped_look_back(struct lbp_stepped *s, int64_t now_ns)
{
    if (s->prev_expected_ns < 0 || s->config.params.policy == LBP_SIEGELL)
        return 0;
    s->home = s->without_ns < (1 - STEPPED_HOME_GAIN) * s->tried_ns &&
              lbp_stepped_has_lost(s, now_ns) && are_others(s, s->first);
    if (s->home)
        return s->without_ns;
    /* before are the bounds that were found to be wrong; or those of another moment */
    if (s->undoing || s->kind != 0)
        return 0;
    if (are_others(s, s->prev) && s->prev_expected_ns < BACK * s->tried_ns &&
        s->won_ns < -(1 - BACK + s->chance) * s->held_ns) /* by more than chance */
        return s->prev_expected_ns;
    /* more work made its host slower, or a plan was wrong: it was better before */
    return s->worse ? s->prev_real_ns : 0;
}
