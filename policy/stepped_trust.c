/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may be lost by plans: a loop that has been made slower by one is not tried on again before that is a small part of all
 * its time.  And hosts whose speed cannot be told from what they did: under a quota a rank that has little to do runs at full
 * speed, and what it would do with more is known only when it has more.  Source: ours.
 */
#include <math.h>

#include "policy/stepped_impl.h"

#define LOSE 0.003         /* of all time, by plans that were undone */
#define SITUATION 0.4      /* steps that differ by so much (logarithm) are another situation */
#define WHOLE 0.95         /* of a core, is all of it but for errors */
#define HIGH 0.85          /* of a core, after */
#define LOW 0.7            /* of the greatest share: a burst */
#define HELD_UP 0.9        /* less than so much of the greatest share, in the mean */
#define BURSTS 2           /* in a row, */
#define BURST_NS 300000000 /* each within so long */
#define MEAN_NS 300e6
#define GROW 1.6  /* a rank that is not held up may get so many times what it had */
#define AFTER 2.0 /* steps until a plan is undone by all */
#define SHARE_MIN 1e-3

void lbp_stepped_watch(struct lbp_stepped *s, struct stepped_rank *rank,
                       const struct lbp_stepped_report *r, int64_t now_ns)
{
    double share, learn;

    if (r->wall_ns <= 0 || r->last <= r->first)
        return;
    share = fmax((double)r->cpu_ns / (double)r->wall_ns, SHARE_MIN);
    learn = 1 - exp(-(double)r->wall_ns / MEAN_NS);
    s->whole_cores = s->whole_cores || share > WHOLE;
    rank->cpu_most = fmax(rank->cpu_most, share);
    if (rank->cpu_mean > 0) /* the mean of time for work, not of work in a time */
        rank->cpu_mean = 1 / ((1 - learn) / rank->cpu_mean + learn / share);
    else
        rank->cpu_mean = share;
    if (share < LOW * rank->cpu_most) {
        rank->low_cpu = true;
    } else if (share > HIGH && rank->low_cpu) {
        rank->low_cpu = false;
        rank->bursts = now_ns - rank->burst_ns < BURST_NS ? rank->bursts + 1 : 1;
        rank->burst_ns = now_ns;
        s->bursty = s->bursty || rank->bursts >= BURSTS;
    }
}

void lbp_stepped_cap(struct lbp_stepped *s)
{
    if (!s->bursty || !(s->held.mean_ns > 0))
        return;
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];
        bool held_up = r->cpu_mean < HELD_UP * r->cpu_most;

        if (r->now_work > 0 && r->cpu_most > WHOLE)
            s->speed[i] = fmin(s->speed[i], (held_up ? 1 : GROW) * r->now_work / s->held.mean_ns);
    }
}

void lbp_stepped_charge(struct lbp_stepped *s)
{
    s->pending_now_ns = s->held.mean_ns;
    s->pending_prev_ns = s->held_before.mean_ns;
    s->pending_ns =
        fmax(0, s->pending_now_ns - s->pending_prev_ns) * (s->held.steps + AFTER) + 2 * s->cost_ns;
}

void lbp_stepped_confirm(struct lbp_stepped *s)
{
    if (!(s->pending_ns > 0) || !s->undoing)
        return;
    if (s->real_ns < (s->pending_now_ns + s->pending_prev_ns) / 2) {
        s->last_loss_ns = s->pending_ns;
        s->lost_ns += s->pending_ns;
        s->situation_ns = s->real_ns;
    }
    s->pending_ns = 0;
}

bool lbp_stepped_held_back(const struct lbp_stepped *s, int64_t now_ns)
{
    double passed = (double)(now_ns - s->begun_ns);

    if (!s->whole_cores || !(s->lost_ns > 0) || fabs(log(s->real_ns / s->situation_ns)) > SITUATION)
        return false;
    return s->lost_ns + s->last_loss_ns > LOSE * passed;
}
