/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What plans have really brought, against bounds of before and the very first; and which kind of speed would have been
 * better to plan by.  Source: ours.
 */
#include <math.h>
#include <string.h>

#include "policy/stepped_impl.h"

/* Where the number of steps was not told a loop is expected to go on for as long as it has, and at least for so long. */
#define HORIZON_NS 1000e6
/* New bounds are in force so many steps after they were decided. */
#define IN_FORCE 3
/* The bounds before are taken again where steps take less than this part of their present time with them. */
#define BACK 0.98
/* Ratio: where a step's work is less than this part of what it was at first, memory was cold then; chance does not do so much. */
#define WARM 0.8
/* Quotas let a rank that has little to do go fast for a while: under one its usual speed is told by so much more of its computing. */
#define BURST_NS 500e6
/* A rank that has no less than this part of the work that it had tells what that takes now, ratio. */
#define ALIKE 0.95
/* Measurements of a rank's part of the work after which all that came before count half. */
#define PARTS 32
/* So many times what such a part was off usually it may be off for a while. */
#define OFF 1.5
/* How far that part is taken to vary from one measurement to another before it is known, ratio; */
#define DEVIATION 0.2
/* of measurements that took so long: what a longer time shows varies less. */
#define MOMENT_NS 100e6
/* Steps are judged after so much of their slowest rank's computing; after so much, what was summed up counts half. */
#define HELD_MIN_NS 80e6
#define HELD_MAX_NS 1000e6
/* Quotas may make all the time that steps are judged over longer by so many times the noise of a rank, ns. */
#define JITTER 2.0
/* How much longer than their slowest rank computes steps take is believed by half after so many of them. */
#define SURE_STEPS 10
/* A plan was wrong when steps take so many times as long as before, beyond what quotas may do. */
#define WORSE 1.03

double lbp_stepped_limit(struct lbp_stepped *s, uint32_t rank)
{
    if (lbp_stepped_published(s)) /* as published */
        return INFINITY;
    return lbp_caps_share(&s->caps, rank) * s->rank[rank].hardware;
}

double lbp_stepped_horizon(const struct lbp_stepped *s, double step_ns, int64_t now_ns)
{
    double lasted = (double)(now_ns - s->begun_ns);

    if (s->config.steps > 0) /* in all of them, as published */
        return fmax(0, (double)(s->config.steps - s->step -
                                (lbp_stepped_published(s) ? 0 : IN_FORCE))) *
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
 * not expected to go faster than as much last went for a while.
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
    if (first)
        r->first_work = r->now_work;
    if (first || (r->now_work >= ALIKE * r->first_work && r->now_work > 0))
        r->first_wall = r->usual_work > 0 ? r->first_work * r->usual_wall / r->usual_work : 0;
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

/* The move is over: one measurement for all ranks, by the bytes of the one that moves most. */
static void learn_move(struct lbp_stepped *s)
{
    if (s->cost_bytes > 0)
        lbp_profit_moved(&s->profit, s->cost_bytes, (int64_t)(s->cost_ns - s->passed_ns),
                         s->cost_cpu_ns);
    s->cost_bytes = s->cost_cpu_ns = 0;
    s->layout_cost = (struct lbp_layout_cost){0};
}

/* Who moved less than others has waited for them since, which is in what the layout cost. */
static void leave_out_moves(struct lbp_stepped *s)
{
    for (uint32_t i = 0; i < s->config.nranks && !lbp_stepped_flows(s); i++) {
        struct stepped_rank *r = &s->rank[i];

        r->wait = fmax(0, r->wait - fmax(0, s->layout_cost.longest_ns - r->moved_ns));
    }
}

void lbp_stepped_passed(struct lbp_stepped *s)
{
    learn_move(s);
    s->passed_ns = s->cost_ns;
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

void lbp_stepped_charge(struct lbp_stepped *s, int64_t now_ns)
{
    settle_steps(s, 0, now_ns);
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

/* What the ranks did since the last decision. */
struct since {
    int64_t steps;        /* the most that a rank told of */
    double measured_ns;   /* computing in a step, the longest rank's; */
    uint32_t slowest;     /* which is this one */
    double real_ns;       /* a step, waits included, the longest rank's */
    double work;          /* in a step, the most that a rank did */
    double elapsed_ns;    /* of all ranks together, waits included; */
    double elapsed_steps; /* in so many steps of single ranks */
};

static struct since measure_ranks(struct lbp_stepped *s, bool first)
{
    struct since t = {0};
    double work = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        struct stepped_rank *r = &s->rank[i];

        t.steps = r->steps > t.steps ? r->steps : t.steps;
        if (r->steps > 0)
            t.real_ns = fmax(t.real_ns, (r->wall + r->wait) / (double)r->steps);
        t.elapsed_ns += r->wall + r->wait;
        t.elapsed_steps += (double)r->steps;
        measure(r, first, lbp_stepped_limit(s, i));
        t.work = fmax(t.work, r->now_work);
        work += r->now_work;
        if (r->now_wall > t.measured_ns) {
            t.measured_ns = r->now_wall;
            t.slowest = i;
        }
    }
    t.real_ns = fmax(t.real_ns, t.measured_ns);
    for (uint32_t i = 0; i < s->config.nranks && first; i++)
        if (s->rank[i].now_work > 0)
            deviate(&s->rank[i], s->rank[i].now_work / work);
    return t;
}

/* Computing in a step with other bounds, at the present speeds, the longest rank's, ns. */
struct others {
    double prev, first; /* had they stayed in force */
    double prev_again,
        first_again; /* if they come back: a quota may let work go faster than it went */
};

static struct others project(struct lbp_stepped *s, int64_t now_ns)
{
    struct others o = {0};

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];
        double limit = lbp_stepped_limit(s, i);

        o.prev = fmax(o.prev, elsewhere(r, r->prev_work, r->prev_wall, limit, now_ns));
        o.first = fmax(o.first, elsewhere(r, r->first_work, r->first_wall, limit, now_ns));
        o.prev_again = fmax(o.prev_again, elsewhere(r, r->prev_work, 0, limit, now_ns));
        o.first_again = fmax(o.first_again, elsewhere(r, r->first_work, 0, limit, now_ns));
    }
    return o;
}

static void begin_anew(struct lbp_stepped *s)
{
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        struct stepped_rank *r = &s->rank[i];

        r->work = r->wall = r->wait = 0;
        r->steps = 0;
        r->fresh = false;
    }
    s->nfresh = 0;
}

/* How much longer than their slowest rank computes steps have taken with the present bounds, on the whole, ns. */
static double usual_over(const struct lbp_stepped *s)
{
    return s->over_steps > 0 ? s->over_sure * fmax(0, s->over_ns) / s->over_steps : 0;
}

/*
 * After a layout quotas are used up by its moves, and caches cold: what steps take longer then than with the bounds before is what
 * the moves have cost, and not the bounds', up to as much again as they took themselves.  Returns it, of a step, ns.
 */
static double charge_after_layout(struct lbp_stepped *s, double over, int64_t steps)
{
    double more = fmin(fmax(0, over - s->prev_over_ns), s->cost_ns / (double)steps);

    s->cost_ns += s->over_sure * more * (double)steps;
    return more;
}

/*
 * How much longer than their slowest rank computes steps take: of a pipeline, which is filled in each, the ratio; else ns, returned.
 * Ranks report at different steps: when one becomes slow the others have waited for it in what they tell, before it tells of that
 * itself.  So what there was too much of one time is left out the next.
 */
static double measure_over(struct lbp_stepped *s, const struct since *t)
{
    double over = 0, before = fmax(0, s->over_ns);

    if (t->measured_ns > 0)
        s->stretch = fmin(s->stretch, t->real_ns / t->measured_ns);
    if (s->config.kind == LBP_DOACROSS)
        return 0;
    s->stretch = 1;
    /* the mean of all: ranks report at different steps, and a slow one is in some of the sums now, in others the next time */
    if (t->elapsed_steps > 0 && !lbp_stepped_published(s))
        over = t->elapsed_ns / t->elapsed_steps - t->measured_ns;
    if (s->prev_expected_ns >= 0 && s->held_steps == 0 && t->steps > 0)
        over -= charge_after_layout(s, over, t->steps);
    s->over_ns += over * (double)t->steps;
    s->over_steps += (double)t->steps;
    return t->steps > 0 ? s->over_sure * (fmax(0, s->over_ns) - before) / (double)t->steps : 0;
}

/* What steps take with the present bounds, and would with the very first. */
static void time_steps(struct lbp_stepped *s, bool first, const struct since *t,
                       const struct others *o)
{
    double over = measure_over(s, t);

    s->tried_ns = t->measured_ns * s->stretch + over;
    s->usual_ns = t->measured_ns * s->stretch + usual_over(s);
    s->without_ns = o->first * s->stretch + (first ? over : s->first_over_ns);
    if (memcmp(s->bound, s->first, ((size_t)s->config.nranks + 1) * sizeof(*s->bound)) == 0)
        s->without_ns =
            s->tried_ns; /* they are in force again: measured, they would differ by chance */
    s->prev_again_ns = o->prev_again * s->stretch + s->prev_over_ns;
    s->first_again_ns = o->first_again * s->stretch + s->first_over_ns;
}

/* These steps, against the bounds before and the very first. */
static void add_up(struct lbp_stepped *s, double steps, double prev_ns)
{
    s->prev_expected_ns = prev_ns;
    s->brought_ns += steps * (prev_ns - s->tried_ns);
    s->won_ns += steps * (prev_ns - s->tried_ns);
    s->behind_ns += steps * (s->tried_ns - s->without_ns);
    s->promised_ns += steps * (s->last_before_ns - s->last_after_ns);
}

void lbp_stepped_settle(struct lbp_stepped *s, int64_t now_ns)
{
    bool first = s->prev_expected_ns < 0; /* the first bounds are still in force */
    struct others others;
    struct since since;

    leave_out_moves(s);
    learn_move(s);
    since = measure_ranks(s, first);
    forget_cold(s);
    others = project(s, now_ns);
    lbp_stepped_compare(s, since.steps, now_ns);
    begin_anew(s);
    s->measured_ns = since.measured_ns;
    s->real_ns = since.real_ns;
    time_steps(s, first, &since, &others);
    judge_steps(s, first, since.slowest, since.measured_ns, since.steps);
    if (first) {
        s->our_steps = s->first_steps = (double)s->step;
    } else {
        settle_steps(s, since.steps, now_ns);
        add_up(s, (double)since.steps, others.prev * s->stretch + s->prev_over_ns);
    }
    if (s->config.pipelined > 0)
        lbp_grain_sweep(&s->grain, since.work); /* as messages are told: by CPU time */
}

void lbp_stepped_keep_over(struct lbp_stepped *s)
{
    bool first = s->prev_expected_ns < 0;

    if (first) /* of few steps it says little, and all others are compared with it */
        s->over_sure = s->over_steps / (s->over_steps + SURE_STEPS);
    s->prev_over_ns = usual_over(s);
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
    if (s->prev_expected_ns < 0 || lbp_stepped_published(s))
        return 0;
    s->home = s->without_ns < (1 - STEPPED_HOME_GAIN) * s->usual_ns &&
              lbp_stepped_has_lost(s, now_ns) && are_others(s, s->first);
    if (s->home)
        return s->without_ns;
    /* before are the bounds that were found to be wrong; or those of another moment */
    if (s->undoing || s->kind != 0)
        return 0;
    if (are_others(s, s->prev) && s->prev_expected_ns < BACK * s->usual_ns &&
        s->won_ns < -(1 - BACK + s->chance) * s->held_ns) /* by more than chance */
        return s->prev_expected_ns;
    /* more work made its host slower, or a plan was wrong: it was better before */
    return s->worse ? s->prev_real_ns : 0;
}
