/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a stepped loop are told: how often to report, and layouts.
 * Source: Siegell & Steenkiste 1997, sections 2.1 and 5.2; told again, and the periods of quotas and of the beginning, ours.
 */
#include <math.h>
#include <string.h>

#include "policy/period.h"
#include "policy/stepped_impl.h"

/* What a rank's report holds it and the balancer up, ns. */
#define REPORT_NS 50e3
/* From the beginning of the loop for so long plans follow one another quickly, of jobs of so many ranks. */
#define EARLY_NS 300e6
#define EARLY_RANKS 64
/* A balancing period lasts at least so many periods of a quota (seed 000, section 5.2); and so many when nothing is to be gained. */
#define QUOTA_PERIODS 5
#define QUIET_PERIODS 10
/* A period is told when it differs by this part of what was told last. */
#define TELL 0.25
/* A plan that was not applied is told again after the longer of so long and so many steps. */
#define LOST_NS 3e9
#define LOST 10

/*
 * Under quotas reports cost the more: each wakes the balancer, which takes a slice of its host's quota on another processor.  And
 * what a quota does shows in several of its periods only.
 */
static int64_t quota_period(struct lbp_stepped *s, int64_t period_ns)
{
    double quota = (double)lbp_caps_period_ns(&s->caps);
    double least = quota * (s->quiet < STEPPED_QUIET ? QUOTA_PERIODS : QUIET_PERIODS);

    return (int64_t)fmax((double)period_ns, fmin(least, LBP_PERIOD_MAX_NS));
}

/* In the beginning decisions follow one another quickly; under quotas the first does, which knows these. */
static int64_t early_period(struct lbp_stepped *s, int64_t period_ns)
{
    int64_t quota_ns = lbp_caps_period_ns(&s->caps);

    if (quota_ns > 0 && s->last.at_ns != INT64_MIN)
        return period_ns;
    return quota_ns > LBP_PERIOD_QUICK_NS ? quota_ns : LBP_PERIOD_QUICK_NS;
}

void lbp_stepped_tell_period(struct lbp_stepped *s, int64_t now_ns,
                             struct lbp_stepped_action *action, size_t *n)
{
    double move = lbp_profit_transfer_ns(&s->profit, (double)s->config.row_bytes), quantum = 0;

    if (s->config.params.period_ns <= 0 && lbp_stepped_published(s) && !s->moves_nothing) {
        s->period_ns = lbp_period_published(2 * s->message_ns, move, s->workscale);
    } else if (s->config.params.period_ns <= 0 && !s->moves_nothing) {
        for (uint32_t i = 0; i < s->config.nranks; i++)
            quantum += s->rank[i].filter.noise_ns / s->config.nranks;
        s->period_ns = lbp_period(REPORT_NS, move, s->workscale, quantum, s->config.nranks);
        s->period_ns = (int64_t)fmax((double)s->period_ns, 4 * s->message_ns);
        s->period_ns = quota_period(s, s->period_ns);
        if ((double)(now_ns - s->begun_ns) < EARLY_NS && s->config.nranks <= EARLY_RANKS)
            s->period_ns = early_period(s, s->period_ns);
    }
    if (fabs((double)(s->period_ns - s->told_period_ns)) <= TELL * (double)s->told_period_ns)
        return;
    s->told_period_ns = s->period_ns;
    action[(*n)++] =
        (struct lbp_stepped_action){.type = LBP_STEPPED_INSTRUCT, .period_ns = s->period_ns};
}

/* The layout of the present epoch, for the first time or again. */
static void tell(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *action,
                 size_t *n)
{
    double ahead = s->step_ns > 0 ? ceil(2 * s->message_ns / s->step_ns) : 0;

    s->planned_ns = now_ns;
    action[(*n)++] = (struct lbp_stepped_action){
        .type = LBP_STEPPED_PLAN,
        .epoch = s->epoch,
        .at_step = s->step + 1 + (int64_t)fmin(ahead, 1e6),
        .bound = s->told,
        .block = s->config.pipelined > 0 ? s->grain.block : 0,
    };
}

void lbp_stepped_tell_plan(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *action,
                           size_t *n)
{
    size_t size = ((size_t)s->config.nranks + 1) * sizeof(*s->told);

    if (lbp_stepped_published(s)) {
        lbp_adjacent_stop(s->told, s->bound, s->config.nranks, s->config.min_iterations, s->next);
        memcpy(s->told, s->next, size);
    } else {
        memcpy(s->told, s->bound, size);
    }
    s->on_the_way = memcmp(s->told, s->bound, size) != 0;
    s->epoch++;
    s->napplied = 0;
    tell(s, now_ns, action, n);
}

bool lbp_stepped_tell_rest(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *action,
                           size_t *n)
{
    if (!s->on_the_way)
        return false;
    if (s->napplied == s->config.nranks) {
        lbp_stepped_passed(s);
        lbp_stepped_tell_plan(s, now_ns, action, n);
    }
    return true;
}

/* Ranks have gone on for so long without it that one may not have heard of the plan: then none applies it. */
static bool is_lost(const struct lbp_stepped *s, int64_t now_ns)
{
    return s->epoch >= s->config.first_epoch && s->napplied < s->config.nranks && s->nfresh == 0 &&
           (double)(now_ns - s->planned_ns) > fmax(LOST_NS, LOST * s->step_ns);
}

void lbp_stepped_tell_again(struct lbp_stepped *s, int64_t now_ns,
                            struct lbp_stepped_action *action, size_t *n)
{
    if (is_lost(s, now_ns))
        tell(s, now_ns, action, n);
}
