/* SPDX-License-Identifier: BSD-3-Clause */
/* The speeds that a stepped loop's plans are by.  Source: ours. */
#include <math.h>

#include "policy/stepped_impl.h"

/* A rank that holds nothing is tried again after so long plus so many steps, doubled after each time in vain. */
#define TRY_AGAIN_NS 1e9
#define TRY_AGAIN 20
/* A rank whose speed is less than its quota by no more than this part is taken to be held back by the quota alone; where its speed is
 * known badly the part is so many errors of it, up to a most. */
#define NEAR 0.1
#define NEAR_ERRORS 2
#define NEAR_MAX 0.3
/* Whose first window is not full after so long has too little to do to be measured.  The others do not wait for it. */
#define LIGHT_NS 0.8e9
/* The noise of a rank's speed, times this and over the length of a step, counts as an error, ratio, up to a most: a quota makes
 * single steps longer and shorter. */
#define JITTER 0.3
#define JITTER_MAX 0.05

/*
 * A rank's speed to plan by.  One that holds nothing is measured by nobody: after a while it is taken to be what it was at
 * its best, and tried again; each time that this was in vain the while is twice as long.
 */
static double measured(const struct lbp_stepped *s, uint32_t rank, int64_t now_ns)
{
    const struct stepped_rank *r = &s->rank[rank];

    if (r->idle_ns != INT64_MIN &&
        (double)(now_ns - r->idle_ns) > (TRY_AGAIN_NS + TRY_AGAIN * s->real_ns) * exp2(r->tries) &&
        !lbp_stepped_published(s))
        return r->best;
    return s->kind > 0 && !lbp_stepped_published(s) && r->speed[s->kind] > 0
               ? r->speed[s->kind]
               : lbp_filter_value(&r->filter);
}

/*
 * No more than its quota allows for long.  A rank that is about as fast as that is held back by it, now and then by a period
 * more or less: the quota is what is known.
 */
static double believed(struct lbp_stepped *s, uint32_t rank, int64_t now_ns)
{
    double limit = lbp_stepped_limit(s, rank), speed = measured(s, rank, now_ns);
    double error = lbp_filter_error(&s->rank[rank].filter);

    error = fmin(NEAR_MAX, fmax(NEAR, NEAR_ERRORS * error));
    return isfinite(limit) && speed > (1 - error) * limit ? limit : speed;
}

double lbp_stepped_plan_speeds(struct lbp_stepped *s, int64_t now_ns)
{
    double speed = 0, weight = 0, error = 0, jitter = 0, slowest = INFINITY;
    bool weighted = true;
    uint32_t known = 0;

    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];

        weighted = weighted && r->weight > 0;
        if (!lbp_filter_known(&r->filter))
            continue;
        known++;
        speed += lbp_filter_value(&r->filter);
        slowest = fmin(slowest, lbp_filter_value(&r->filter));
        weight += r->weight;
        if (s->bound[i + 1] > s->bound[i]) {
            error = fmax(error, lbp_filter_error(&r->filter));
            jitter = fmax(jitter, r->filter.noise_ns);
        }
    }
    if (known == 0 || !(speed > 0))
        return -1;
    for (uint32_t i = 0; i < s->config.nranks; i++) {
        const struct stepped_rank *r = &s->rank[i];

        s->speed[i] =
            lbp_filter_known(&r->filter)
                ? believed(s, i, now_ns)
                : fmin(weighted ? speed / weight * r->weight : slowest, lbp_stepped_limit(s, i));
    }
    /* a quota makes single steps run ahead and behind: no bounds can even that out */
    if (s->measured_ns > 0)
        error = fmax(error, fmin(JITTER_MAX, JITTER * jitter / s->measured_ns));
    if (lbp_stepped_published(s) || s->prev_expected_ns >= 0)
        return error;
    /* the first plan is by costs that were measured for a moment */
    return hypot(error, lbp_stepped_work_error(s));
}

bool lbp_stepped_all_known(const struct lbp_stepped *s)
{
    for (uint32_t i = 0; i < s->config.nranks; i++)
        if (s->bound[i + 1] > s->bound[i] && !lbp_filter_known(&s->rank[i].filter) &&
            (s->rank[i].filtering_ns < LIGHT_NS || lbp_stepped_published(s)))
            return false;
    return true;
}
