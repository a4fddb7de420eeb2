/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a stepped loop would have taken with its first bounds.
 *
 * A rank's step under the first bounds takes as long as its step now, times what the first block costs over what the present
 * one does.  Both costs come from what was learned of the iterations in the whole run: a comparison with what the first steps
 * really took would have the first touch of all memory in it.  Times are means over so long that the stops of a quota, which
 * hit a short block seldom and then hard, are not taken for the speed; that one lets a block through which is shorter than
 * what it allows is known where ranks tell of their quotas, else what was saved is said too low.  The longest of these, or the way of a pipeline
 * through all of them, against the same of the present blocks, is what a step would have taken more.
 *
 * While a load comes and goes the first bounds make more of their steps when it is away: so it is counted how many steps a
 * time would have been enough for, and those that are missing in the end are taken to go as fast as they would have gone of
 * late.  By the mean of what each present step would have taken, a load that is there half of the time was up to 1.3 times as
 * bad as it is.
 * Source: ours.
 */
#include "policy/firsts.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "policy/caps.h"
#include "policy/layout_cost.h"
#include "policy/profile.h"

/* What first shares would have brought is added up over windows of so long. */
#define WINDOW_NS 250000000

/* What a rank did since the window began, and since all had told last. */
struct part {
    double wall, work; /* work: as the profile says, of all its steps */
    int64_t steps;
    double wall_now;
    int64_t steps_now;
    double hardware;
    double slope; /* wall / work, as last measured; 0: never */
    double step;  /* that step_ns is to look at */
};

struct lbp_firsts {
    uint32_t nranks,
        ntold;         /* ntold: ranks with steps_now; nobody is looked through at each report */
    int64_t *bound;    /* [nranks + 1] owned */
    struct part *rank; /* [nranks] owned */
    struct lbp_profile profile;
    struct lbp_caps caps;
    int64_t pipelined, block;
    bool flows;
    int64_t begun_ns; /* of the window; INT64_MIN: none yet */
    bool moved;       /* in the window a rank had other iterations than at first */
    uint64_t epoch;   /* of the layout counted in moves */
    struct lbp_layout_cost moves;
    double moved_ns; /* that those before held all ranks up */
    double took_ns;  /* by the steps of the window, those with the present bounds */
    /* Of the windows: their time, steps in it, and steps in which it would have been with the first bounds. */
    double time_ns, steps, first_steps;
    double late_ns, late_steps; /* the last two, later windows weighing more */
    double mean_ns, most_ns;    /* sums over steps */
};

int lbp_firsts_create(uint32_t nranks, const int64_t *bound, const double *hardware,
                      int64_t pipelined, bool flows, struct lbp_firsts **ret)
{
    struct lbp_firsts *f = calloc(1, sizeof(*f));
    size_t size = ((size_t)nranks + 1) * sizeof(*f->bound);

    if (!f)
        return -ENOMEM;
    f->nranks = nranks;
    f->pipelined = pipelined;
    f->flows = pipelined > 0 && flows;
    f->begun_ns = INT64_MIN;
    f->bound = malloc(size);
    f->rank = calloc(nranks, sizeof(*f->rank));
    if (!f->bound || !f->rank || lbp_caps_init(&f->caps, nranks) < 0) {
        lbp_firsts_destroy(f);
        return -ENOMEM;
    }
    memcpy(f->bound, bound, size);
    lbp_profile_init(&f->profile, bound[nranks]);
    for (uint32_t i = 0; i < nranks; i++) {
        f->rank[i].hardware = hardware ? hardware[i] : 1;
        lbp_profile_begin(&f->profile, bound[i]);
    }
    *ret = f;
    return 0;
}

void lbp_firsts_destroy(struct lbp_firsts *f)
{
    if (!f)
        return;
    free(f->bound);
    free(f->rank);
    lbp_caps_fini(&f->caps);
    free(f);
}

/*
 * A rank begins its next step when the one after it has ended its last block, and goes on when the one before it has ended its
 * first: the longer of the two comes to its own time.
 */
static double flowing_ns(const struct lbp_firsts *f, double blocks)
{
    double before = 0, own = 0, most = 0;

    for (uint32_t i = 0; i < f->nranks; i++) {
        double next = f->rank[i].step;

        if (next <= 0)
            continue;
        most = fmax(most, own + fmax(before, next) / blocks);
        before = own;
        own = next;
    }
    return fmax(most, own + before / blocks);
}

/* What a step takes when its ranks compute as long as their parts say. */
static double step_ns(const struct lbp_firsts *f)
{
    double sum = 0, most = 0, blocks;

    for (uint32_t i = 0; i < f->nranks; i++) {
        sum += f->rank[i].step;
        most = fmax(most, f->rank[i].step);
    }
    if (f->pipelined <= 0 || f->block <= 0)
        return most;
    blocks = ceil((double)f->pipelined / (double)f->block);
    if (f->flows)
        return flowing_ns(f, blocks);
    /* the first block goes through all ranks; the others follow as the slowest lets them */
    return sum / blocks + most * (1 - 1 / blocks);
}

/* A rank that was never seen to compute is as fast as the others. */
static double common_slope(const struct lbp_firsts *f)
{
    double slope = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->nranks; i++)
        if (f->rank[i].slope > 0) {
            slope += f->rank[i].slope;
            n++;
        }
    return n > 0 ? slope / n : 0;
}

/* All ranks have told of steps: what these took. */
static void add_steps(struct lbp_firsts *f)
{
    int64_t steps = 0;

    for (uint32_t i = 0; i < f->nranks; i++) {
        struct part *p = &f->rank[i];

        p->step = p->wall_now / (double)p->steps_now;
        steps = p->steps_now > steps ? p->steps_now : steps;
        p->wall_now = 0;
        p->steps_now = 0;
    }
    f->ntold = 0;
    f->took_ns += (double)steps * step_ns(f);
}

/* What the rank's first block would take now, at its speed; and no less than its quota lets through. */
static double first_ns(struct lbp_firsts *f, uint32_t i, double others)
{
    const struct part *p = &f->rank[i];
    double work = lbp_profile_work(&f->profile, f->bound[i], f->bound[i + 1]);
    double first = work * (p->slope > 0 ? p->slope : others);

    if (p->steps > 0 && work * (double)p->steps <= p->work) /* it has as much to do now */
        return first;
    return fmax(first, work / (lbp_caps_share(&f->caps, i) * p->hardware));
}

/* The window is over. */
static void settle(struct lbp_firsts *f)
{
    double sum = 0, most = 0, others, first_steps, weight;
    int64_t steps = 0;

    for (uint32_t i = 0; i < f->nranks; i++) {
        struct part *p = &f->rank[i];

        if (p->work > 0 && p->wall > 0)
            p->slope = p->wall / p->work;
        steps = p->steps > steps ? p->steps : steps;
    }
    others = common_slope(f);
    for (uint32_t i = 0; i < f->nranks; i++) {
        struct part *p = &f->rank[i];

        p->step = first_ns(f, i, others);
        sum += p->step;
        most = fmax(most, p->step);
        p->wall = p->work = 0;
        p->steps = 0;
    }
    first_steps = (double)steps;
    if (f->moved && step_ns(f) > 0) /* else the difference would be the noise's */
        first_steps = f->took_ns / step_ns(f);
    f->time_ns += f->took_ns;
    f->steps += (double)steps;
    f->first_steps += first_steps;
    weight = f->time_ns * f->time_ns;
    f->late_ns += weight * f->took_ns;
    f->late_steps += weight * first_steps;
    f->moved = false;
    f->took_ns = 0;
    f->mean_ns += (double)steps * sum / f->nranks;
    f->most_ns += (double)steps * most;
}

void lbp_firsts_report(struct lbp_firsts *f, const struct lbp_stepped_report *r, int64_t block,
                       int64_t now_ns)
{
    struct part *p = &f->rank[r->rank];

    if (r->move_bytes > 0) {
        if (r->epoch != f->epoch) {
            f->moved_ns += lbp_layout_cost_ns(&f->moves, f->flows);
            f->moves = (struct lbp_layout_cost){0};
            f->epoch = r->epoch;
        }
        lbp_layout_cost_add(&f->moves, r->move_bytes, r->move_wall_ns);
    }
    if (r->steps <= 0)
        return;
    for (size_t i = 0; i < r->nsamples; i++)
        lbp_profile_add(&f->profile, r->sample[i].first, r->sample[i].last,
                        (double)r->sample[i].cpu_ns * p->hardware);
    if (r->nsamples == 0)
        lbp_profile_add_whole(&f->profile, r->first, r->last,
                              (double)r->cpu_ns * p->hardware / (double)r->steps);
    (void)lbp_caps_tell(&f->caps, r->rank, r->quota_cpus, r->quota_period_ns, r->quota_group);
    p->wall += (double)r->wall_ns;
    p->work += (double)r->steps * lbp_profile_work(&f->profile, r->first, r->last);
    p->steps += r->steps;
    p->wall_now += (double)r->wall_ns;
    f->ntold += p->steps_now == 0;
    p->steps_now += r->steps;
    f->block = block;
    f->moved = f->moved || (r->first != f->bound[r->rank] && r->last > r->first) ||
               r->last - r->first != f->bound[r->rank + 1] - f->bound[r->rank];
    if (f->begun_ns == INT64_MIN)
        f->begun_ns = now_ns;
    if (f->ntold < f->nranks)
        return;
    add_steps(f);
    if (now_ns - f->begun_ns < WINDOW_NS)
        return;
    settle(f);
    f->begun_ns = now_ns;
}

void lbp_firsts_ask(struct lbp_firsts *f, struct lbp_firsts_answer *ret)
{
    if (f->took_ns > 0)
        settle(f);
    /* the steps that the first bounds are behind would take what the last ones did */
    ret->saved_ns = -f->moved_ns - lbp_layout_cost_ns(&f->moves, f->flows);
    if (f->late_steps > 0)
        ret->saved_ns += (f->steps - f->first_steps) * f->late_ns / f->late_steps;
    ret->balance_ratio = f->most_ns > 0 ? f->mean_ns / f->most_ns : 0;
}
