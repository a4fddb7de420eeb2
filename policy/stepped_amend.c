/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that are out of date when they come into force.  A load that comes within a step shows in a part of it, and the plan made of that
 * step goes a part of the way; by the time that it is in force the next step has shown the rest.  Then the plan is amended at once, and
 * not after one step more.  Source: ours.
 */
#include <math.h>

#include "policy/stepped_impl.h"

/* For a gain of this part of the step time, ratio, that pays within one step: what is less can wait for that step. */
#define GAIN 0.1

bool lbp_stepped_is_stale(const struct lbp_stepped *s)
{
    return s->turned && s->napplied == s->config.nranks && s->nfresh == 0 &&
           s->last.reason == LBP_REASON_PROPORTIONAL && s->held_steps == 0 && s->broken == 0 &&
           !lbp_stepped_published(s) && !s->config.params.sync;
}

/* The rank that all would wait for most is one that the plan has taken work from: not enough, as is seen now. */
static bool goes_on(struct lbp_stepped *s)
{
    double longest = 0;
    bool given = false;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        double ns = lbp_profile_work(&s->profile, s->bound[i], s->bound[i + 1]) / s->speed[i];

        if (!(ns > longest))
            continue;
        longest = ns;
        given = s->bound[i + 1] - s->bound[i] < s->prev[i + 1] - s->prev[i];
    }
    return given;
}

int lbp_stepped_amend(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *ret_action,
                      size_t *ret_n)
{
    double error = lbp_stepped_plan_speeds(s, now_ns);
    struct lbp_stepped before;
    enum lbp_reason reason;
    int ret;

    s->turned = false;
    before = *s;
    if (error < 0 || !goes_on(s))
        return 0;
    lbp_stepped_charge(s, now_ns);
    ret = lbp_stepped_weigh_new(s, error, now_ns, &reason);
    if (ret < 0)
        return ret;
    lbp_stepped_passed(s); /* what that took is what the next one may take */
    if (reason != LBP_REASON_PROPORTIONAL || lbp_stepped_gain(&s->last) < GAIN ||
        fmax(s->last.cost_ns, lbp_stepped_move_cost(s)) > s->last.before_ns - s->last.after_ns) {
        *s = before;
        return 0;
    }
    s->last.reason = reason;
    s->last.at_ns = now_ns;
    s->decisions[reason]++;
    s->last_before_ns = lbp_adjacent_time_ns(&s->profile, s->speed, s->config.nranks, s->prev);
    s->last_after_ns = s->last.after_ns;
    lbp_stepped_take_next(s, now_ns);
    s->last.detail = LBP_DETAIL_AMENDS;
    lbp_stepped_tell_plan(s, now_ns, ret_action, ret_n);
    return 0;
}
