/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which kind of speed it is best to plan by: as it is now, or as it is again and again.  A load that comes and goes as fast as
 * plans come into force is always met by the plan for what was before; then shares that are right while it is there are
 * better throughout; and where moves are dear, shares that stay.  Source: ours.
 */
#include <math.h>

#include "policy/stepped_impl.h"

/* What happened so long ago counts for a third (1 / e). */
#define FADE_NS 30e9
/* Another kind of speed is planned by when it has lost less than this part of what the present one has, and so much less than that. */
#define SURE 0.9
#define SURE_NS 10e6
/* And by so many times what single periods made of that, added up as chance would: one load that came when a kind of speed happened
 * to be low says little of it. */
#define SIGMAS 0.8
/* The mean speed is that of so much elapsed time. */
#define MEAN_NS 5e9
/* Who plans by one kind of speed alone moves for this gain of the step time, ratio. */
#define MOVES 0.04
/* A rank is at its best at this part of its best speed. */
#define AT_BEST 0.9

/* Kind 0 is the filtered speed; the next fall with it at once, and rise to it in these times; the last is the mean. */
static const double rise_ns[STEPPED_KINDS] = {0, 1e9, 5e9, 25e9, 0};
#define MEAN (STEPPED_KINDS - 1)

/* What a rank did since the last decision, at no more than its quota allows for long; 0: nobody knows. */
static double recent_speed(struct lbp_stepped *s, uint32_t rank)
{
    const struct stepped_rank *r = &s->rank[rank];

    return r->wall > 0 && r->work > 0 ? fmin(r->work / r->wall, lbp_stepped_limit(s, rank)) : 0;
}

/* How much longer than with the right shares steps take with shares like these: ratio, >= 0. */
static double stretch(struct lbp_stepped *s, double (*share)(const struct stepped_rank *, int),
                      int kind)
{
    double now_sum = 0, sum = 0, most = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        double now = recent_speed(s, i), part = share(&s->rank[i], kind);

        if (!(now > 0 && part > 0))
            continue;
        now_sum += now;
        sum += part;
        most = fmax(most, part / now);
    }
    return sum > 0 ? most * now_sum / sum - 1 : 0;
}

static double by_speed(const struct stepped_rank *r, int kind)
{
    return r->speed[kind];
}

static double by_speed_before(const struct stepped_rank *r, int kind)
{
    return r->was[kind];
}

static double in_force(const struct stepped_rank *r, int kind)
{
    (void)kind;
    return r->steps > 0 ? r->work / (double)r->steps : 0;
}

static double at_first(const struct stepped_rank *r, int kind)
{
    (void)kind;
    return r->first_work;
}

/* What moves cost who plans by a kind of speed alone, and moves as soon as that brings something by it: ns, of now. */
static double turnover(struct lbp_stepped *s, int kind)
{
    double held = 0, sum = 0, most = 0, longest = 0, old = 0, new = 0, before = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        held += s->rank[i].held[kind];
        sum += s->rank[i].speed[kind];
    }
    if (!(sum > 0))
        return 0;
    for (uint32_t i = 0; i < s->config.nranks && held > 0; i++) {
        const struct stepped_rank *r = &s->rank[i];
        double over;

        if (r->speed[kind] > 0)
            longest = fmax(longest, r->held[kind] / held / (r->speed[kind] / sum));
        old += r->held[kind] / held;
        new += r->speed[kind] / sum;
        over = fabs(new - old);
        most = fmax(most, before + over);
        before = over;
    }
    if (held > 0 && longest < 1 / (1 - MOVES))
        return 0;
    for (uint32_t i = 0; i < s->config.nranks; i++)
        s->rank[i].held[kind] = s->rank[i].speed[kind];
    return held > 0 ? lbp_profit_transfer_ns(&s->profit, most * (double)s->config.n *
                                                             (double)s->config.row_bytes)
                    : 0;
}

void lbp_stepped_catch_up(struct lbp_stepped *s, double ns)
{
    for (int k = 0; k < STEPPED_KINDS; k++) {
        s->ahead_ns[k] = fmax(0, s->ahead_ns[k] - ns);
        if (!isfinite(ns))
            s->away_ns[k] = 0;
    }
    s->refused = s->refused && isfinite(ns);
}

/* lost[in] [STEPPED_KINDS] in this period, ns */
static void add_differences(struct lbp_stepped *s, const double *lost, double fade)
{
    for (int a = 0; a < STEPPED_KINDS; a++)
        for (int b = 0; b < STEPPED_KINDS; b++) {
            double differ = lost[a] - lost[b];

            s->differ2[a][b] = s->differ2[a][b] * fade * fade + differ * differ;
        }
}

/* Another hypothesis: what was wrong by the last one says nothing of it. */
static void choose(struct lbp_stepped *s)
{
    int best = s->kind;

    for (int k = 0; k < STEPPED_KINDS; k++)
        if (s->regret_ns[k] < s->regret_ns[best])
            best = k;
    if (s->regret_ns[best] >= SURE * s->regret_ns[s->kind] - SURE_NS ||
        s->regret_ns[s->kind] - s->regret_ns[best] <= SIGMAS * sqrt(s->differ2[best][s->kind]))
        return;
    s->kind = best;
    s->wait_until_ns = 0;
    s->doubt = 1;
    s->broken = s->undone = 0;
    s->undoing = false;
}

/* Speeds as they are from now on known; wall: elapsed since the last decision. */
static void follow(struct stepped_rank *r, double recent, double wall, int64_t now_ns)
{
    double fast = lbp_filter_value(&r->filter);

    for (int k = 0; k < MEAN; k++) {
        double *v = &r->speed[k];

        r->was[k] = *v;
        if (*v > 0 && fast > *v && rise_ns[k] > 0)
            *v += (1 - exp(-wall / rise_ns[k])) * (fast - *v);
        else
            *v = fast;
    }
    r->was[MEAN] = r->speed[MEAN];
    r->mean_ns = fmin(r->mean_ns + wall, MEAN_NS);
    if (recent > 0 && r->mean_ns > 0)
        r->speed[MEAN] += fmin(1, wall / r->mean_ns) * (recent - r->speed[MEAN]);
    r->best = fmax(r->best, fast);
    if (r->idle_ns == INT64_MIN && fast >= AT_BEST * r->best)
        r->best_ns = now_ns;
}

void lbp_stepped_compare(struct lbp_stepped *s, int64_t steps, int64_t now_ns)
{
    double wall = (double)(now_ns - s->settled_ns), fade = exp(-wall / FADE_NS);
    /* a plan of the last decision came into force with one step's delay */
    double late = steps > 0 ? 1 / (double)steps : 0;
    double ours = stretch(s, in_force, 0), first = stretch(s, at_first, 0);
    /* these steps with the right shares: a bad moment is not the worse for any kind because we met it with bad shares */
    double right = wall / (1 + ours), right_steps = (double)steps * (1 + ours);
    double lost[STEPPED_KINDS];

    for (int k = 0; k < STEPPED_KINDS; k++) {
        double theirs =
            late * stretch(s, by_speed_before, k) + (1 - late) * stretch(s, by_speed, k);

        lost[k] = right * theirs;
        s->regret_ns[k] = s->regret_ns[k] * fade + lost[k];
        s->lead_steps[k] += right_steps / (1 + theirs) - right_steps / (1 + first);
        s->ahead_ns[k] += s->refused ? right * (ours - theirs) : 0;
        s->away_ns[k] += s->refused ? wall : 0;
    }
    add_differences(s, lost, fade);
    choose(s);
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        struct stepped_rank *r = &s->rank[i];

        if (lbp_filter_known(&r->filter))
            follow(r, recent_speed(s, i), wall, now_ns);
    }
    for (int k = 0; k < STEPPED_KINDS; k++) {
        double cost = turnover(s, k);

        s->regret_ns[k] += cost;
        if (wall > 0)
            s->lead_steps[k] -= cost / wall * right_steps / (1 + first);
        s->top_steps[k] = fmax(s->top_steps[k], s->lead_steps[k]);
        s->fall_steps[k] = fmax(s->fall_steps[k], s->top_steps[k] - s->lead_steps[k]);
        s->ahead_ns[k] -= s->away_ns[k] > 0 ? cost : 0;
        if (s->ahead_ns[k] < 0)
            s->ahead_ns[k] = s->away_ns[k] = 0;
    }
    s->settled_ns = now_ns;
}
