/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A player beside us who follows plans as soon as he can pay for them out of what he has won.  As long as he is ahead, what
 * plans promise is no guess: it is what not following them has lost already.  Source: ours; the idea is that of renting until
 * what was paid is the price.
 */
#include <math.h>
#include <string.h>

#include "policy/stepped_impl.h"

static size_t size(const struct lbp_stepped *s)
{
    return ((size_t)s->config.nranks + 1) * sizeof(*s->shadow);
}

void lbp_stepped_shadow_reset(struct lbp_stepped *s)
{
    memcpy(s->shadow, s->bound, size(s));
    s->ahead_ns = 0;
}

/* Work per elapsed time in the steps since the last decision, as far as it can be relied on. */
static double recent_speed(struct lbp_stepped *s, uint32_t rank)
{
    const struct stepped_rank *r = &s->rank[rank];

    if (r->wall > 0 && r->work > 0)
        return fmin(r->work / r->wall, lbp_stepped_limit(s, rank));
    if (!lbp_filter_known(&r->filter)) /* as the last plan guessed it */
        return s->speed[rank];
    return fmin(fmax(r->best, lbp_filter_value(&r->filter)), lbp_stepped_limit(s, rank));
}

void lbp_stepped_shadow_settle(struct lbp_stepped *s, int64_t steps)
{
    uint32_t n = s->config.nranks;
    double ours, theirs;

    if (memcmp(s->shadow, s->bound, size(s)) == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        s->speed[i] = recent_speed(s, i);
    ours = lbp_adjacent_time_ns(&s->profile, s->speed, n, s->bound);
    theirs = lbp_adjacent_time_ns(&s->profile, s->speed, n, s->shadow);
    if (isfinite(ours) && isfinite(theirs))
        s->ahead_ns += (double)steps * (ours - theirs) * (isfinite(s->stretch) ? s->stretch : 1);
    else if (!isfinite(theirs))
        s->ahead_ns = -1;
    if (s->ahead_ns < 0)
        lbp_stepped_shadow_reset(s);
}

void lbp_stepped_shadow_plan(struct lbp_stepped *s, double least)
{
    uint32_t n = s->config.nranks;
    bool away = memcmp(s->shadow, s->bound, size(s)) != 0;
    double before = lbp_adjacent_time_ns(&s->profile, s->speed, n, s->shadow);
    double after = lbp_adjacent_time_ns(&s->profile, s->speed, n, s->next);
    double bytes = (double)lbp_adjacent_most(s->shadow, s->next, n) * (double)s->config.row_bytes;

    double cost = away ? lbp_profit_transfer_ns(&s->profit, bytes)
                       : 0; /* the first is ours to pay, when we follow him */

    if (!(before > 0) || 1 - after / before < least || cost > s->ahead_ns)
        return;
    s->ahead_ns -= cost;
    memcpy(s->shadow, s->next, size(s));
}
