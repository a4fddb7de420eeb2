/* SPDX-License-Identifier: BSD-3-Clause */
/* The balancer's mind for one STEPPED or DOACROSS loop: what it is told. */
#include "policy/stepped.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/plus.h"
#include "policy/period.h"
#include "policy/stepped_impl.h"

/* Policy siegell's period before anything is measured: seed 000, section 5.2.4. */
#define PUBLISHED_NS INT64_C(1000000000)
/* The gain of the step time that a plan must bring, ratio: as published (tfract, seed 000, section 6.2); and under auto, where a gain
 * in a step comes back in all later ones, and errors and costs hold plans back rather than this. */
#define THRESHOLD 0.1
#define LASTING 0.04
/* The period of policies that move nothing: they are watched only. */
#define WATCHED_NS INT64_C(500000000)
/* A message between rank and balancer, one way, when it was not measured. */
#define MESSAGE_NS 500000
/* A rank's speed is told anew after so much elapsed time, waits included, however little it computes. */
#define WINDOW_MAX_NS INT64_C(80000000)
/* A speed that changes by more than this ratio has changed by no chance. */
#define MUCH 0.2
/* A report changes the mean length of a step by this part of the difference. */
#define LEARN 0.25
/* Costs of iterations change with the host for a moment: they are a mean of so much elapsed time, and of so many reports at most. */
#define KEEP_NS 900e6
#define KEEP_MAX 9.0

static bool bounds_valid(const int64_t *bound, uint32_t nranks, int64_t n)
{
    for (uint32_t r = 0; r < nranks; r++)
        if (bound[r + 1] < bound[r])
            return false;
    return bound[0] == 0 && bound[nranks] == n;
}

static bool config_valid(const struct lbp_stepped_config *c, const int64_t *bound)
{
    if (c->nranks == 0 || c->n < 0 || c->row_bytes < 0 || c->t_interact_ns < 0 ||
        c->pipelined < 0 || c->steps < 0 || c->stable_ns < 0 || c->first_epoch < 1 ||
        c->params.policy < 0 || c->params.policy >= LBP_POLICIES ||
        !bounds_valid(bound, c->nranks, c->n))
        return false;
    for (uint32_t i = 0; i < c->nranks; i++)
        if ((c->weight && (!isfinite(c->weight[i]) || c->weight[i] < 0)) ||
            (c->hardware && (!isfinite(c->hardware[i]) || c->hardware[i] <= 0)))
            return false;
    return true;
}

static int init(struct lbp_stepped *s, const struct lbp_stepped_config *c, const int64_t *bound,
                int64_t now_ns)
{
    size_t nbounds = (size_t)c->nranks + 1;
    double threshold = c->params.threshold;
    bool automatic = c->params.policy == LBP_AUTO;

    s->config = *c;
    s->config.weight = s->config.hardware = NULL;
    s->rank = calloc(c->nranks, sizeof(*s->rank));
    s->bound = calloc(nbounds, sizeof(*s->bound));
    s->prev = calloc(nbounds, sizeof(*s->prev));
    s->first = calloc(nbounds, sizeof(*s->first));
    s->told = calloc(nbounds, sizeof(*s->told));
    s->next = calloc(nbounds, sizeof(*s->next));
    s->whole = calloc(nbounds, sizeof(*s->whole));
    s->speed = calloc(c->nranks, sizeof(*s->speed));
    s->stage = calloc(c->nranks, sizeof(*s->stage));
    if (!s->rank || !s->bound || !s->prev || !s->first || !s->told || !s->next || !s->whole ||
        !s->speed || !s->stage || lbp_caps_init(&s->caps, c->nranks) < 0)
        return -ENOMEM;
    memcpy(s->bound, bound, nbounds * sizeof(*bound));
    memcpy(s->prev, bound, nbounds * sizeof(*bound));
    memcpy(s->first, bound, nbounds * sizeof(*bound));
    memcpy(s->told, bound, nbounds * sizeof(*bound));
    for (uint32_t i = 0; i < c->nranks; i++) {
        lbp_filter_init(&s->rank[i].filter, c->params.filter);
        s->rank[i].weight = c->weight ? c->weight[i] : 0;
        s->rank[i].hardware = c->hardware ? c->hardware[i] : 1;
        s->rank[i].idle_ns = bound[i + 1] > bound[i] ? INT64_MIN : now_ns;
        s->rank[i].best_ns = now_ns;
    }
    lbp_profile_init(&s->profile, c->n);
    s->message_ns = c->t_interact_ns > 0 ? (double)c->t_interact_ns / 2 : MESSAGE_NS;
    lbp_profit_init(&s->profit, s->message_ns, now_ns);
    if (c->params.policy == LBP_SIEGELL)
        lbp_profile_even(&s->profile);
    else
        lbp_horizon_expect(&s->profit.horizon, (double)c->stable_ns);
    lbp_threshold_init(&s->threshold,
                       threshold >= 0 ? threshold
                       : automatic    ? LASTING
                                      : THRESHOLD,
                       threshold < 0 && automatic);
    lbp_grain_init(&s->grain, c->pipelined, c->nranks);
    lbp_grain_fix(&s->grain, c->params.grain);
    s->moves_nothing = c->nranks == 1 || !(automatic || c->params.policy == LBP_SIEGELL);
    s->epoch = c->first_epoch - 1;
    s->begun_ns = s->planned_ns = s->settled_ns = now_ns;
    s->stretch = INFINITY;
    s->workscale = 5;
    s->doubt = 1;
    if (automatic) { /* all wait for a plan that was wrong: no more is given for a gain than it is */
        s->profit.margin = s->profit.margin_max = 1;
        s->profit.margin_min = 0.3;
        s->profit.horizon.least_ns =
            1e9; /* steps under a quota look unsteady, and their mean is not */
    }
    if (c->params.policy == LBP_SIEGELL) /* its margin learns nothing */
        s->profit.margin_min = s->profit.margin_max;
    lbp_profit_set(&s->profit, c->params.profit, (double)c->params.stable_ns);
    s->prev_expected_ns = -1;
    s->period_ns = c->params.period_ns > 0 ? c->params.period_ns
                   : s->moves_nothing      ? WATCHED_NS
                   : automatic             ? LBP_PERIOD_QUICK_NS
                                           : PUBLISHED_NS;
    s->last.at_ns = INT64_MIN;
    return 0;
}

int lbp_stepped_create(const struct lbp_stepped_config *config, const int64_t *bound,
                       int64_t now_ns, struct lbp_stepped **ret, struct lbx_error *err)
{
    struct lbp_stepped *s;

    if (!config_valid(config, bound))
        return lbx_error_set(err, -EINVAL,
                             "a stepped loop needs ranks >= 1, bounds from 0 to n, weights >= 0 "
                             "and hardware speeds > 0");
    s = calloc(1, sizeof(*s));
    if (!s || init(s, config, bound, now_ns) < 0) {
        lbp_stepped_destroy(s);
        return lbx_error_set(err, -ENOMEM, "out of memory");
    }
    *ret = s;
    return 0;
}

void lbp_stepped_destroy(struct lbp_stepped *s)
{
    if (!s)
        return;
    free(s->rank);
    free(s->bound);
    free(s->prev);
    free(s->first);
    free(s->told);
    free(s->next);
    free(s->whole);
    free(s->speed);
    free(s->stage);
    lbp_caps_fini(&s->caps);
    free(s);
}

int lbp_stepped_first(int64_t n, uint32_t nranks, const double *weight, int64_t min_iterations,
                      int64_t *ret_bound)
{
    struct lbp_adjacent_config config = {.nranks = nranks, .min_iterations = min_iterations};
    struct lbp_profile profile;
    int64_t *bound;
    double *speed;
    int ret = -ENOMEM;

    if (nranks < 1 || n < 0)
        return -EINVAL;
    speed = calloc(nranks, sizeof(*speed));
    bound = calloc((size_t)nranks + 1, sizeof(*bound));
    if (speed && bound) {
        double sum = 0, before = 0;

        for (uint32_t r = 0; r < nranks; r++)
            sum += speed[r] = weight ? weight[r] : 1;
        for (uint32_t r = 0; r < nranks && sum > 0; r++) {
            bound[r] = (int64_t)llround(before / sum * (double)n);
            bound[r] = bound[r] > n ? n : bound[r];
            before += speed[r];
        }
        bound[nranks] = n;
        config.speed = speed;
        lbp_profile_init(&profile, n);
        ret = lbp_adjacent_bounds(&config, &profile, bound, ret_bound);
    }
    free(speed);
    free(bound);
    return ret;
}

static bool report_valid(const struct lbp_stepped *s, const struct lbp_stepped_report *r)
{
    if (r->rank >= s->config.nranks || r->step < 0 || r->steps < 0 || r->steps > r->step ||
        r->epoch > s->epoch || r->first < 0 || r->last < r->first || r->last > s->config.n ||
        r->wall_ns < 0 || r->cpu_ns < 0 || r->wait_ns < 0 || r->move_bytes < 0 ||
        r->move_wall_ns < 0 || r->move_cpu_ns < 0 || !(r->quota_cpus >= 0) ||
        r->quota_period_ns < 0)
        return false;
    if (r->wall_ns > INT64_MAX - r->wait_ns ||
        (r->steps > 0 && r->last - r->first > INT64_MAX / r->steps))
        return false;
    if (r->epoch == s->epoch && (r->first != s->told[r->rank] || r->last != s->told[r->rank + 1]))
        return false;
    for (size_t i = 0; i < r->nsamples; i++) {
        const struct lbp_sample *x = &r->sample[i];

        if (x->first < 0 || x->last < x->first || x->last > s->config.n || x->wall_ns < 0 ||
            x->cpu_ns < 0)
            return false;
    }
    return true;
}

/*
 * A speed changed: another situation, in which plans may be believed again.  was, is: the rank's speed; was 0: not known, or none
 * of a rank's.
 */
static void changed(struct lbp_stepped *s, double was, double is, int64_t now_ns)
{
    if (was > 0 && fabs(is / was - 1) > MUCH && !lbp_stepped_published(s))
        lbp_horizon_surprise(&s->profit.horizon, now_ns);
    s->turned = true;
    lbp_horizon_changed(&s->profit.horizon, now_ns);
    if (s->profit.horizon.changed_ns == now_ns && s->broken > 0 && s->judged) {
        s->broken--;
        s->doubt = fmax(1, s->doubt / 2);
    }
}

/*
 * What the rank would have done at no more than its quota allows for long.  One that waits a lot saves its quota up and looks like a
 * whole core, and like none when it has more to do: that is no change of its host.
 */
static double lasting(struct lbp_stepped *s, const struct lbp_stepped_report *r, double work)
{
    double limit = lbp_stepped_limit(s, r->rank);

    return isfinite(limit) ? fmin(work, limit * (double)r->wall_ns) : work;
}

static void take_work(struct lbp_stepped *s, struct stepped_rank *rank,
                      const struct lbp_stepped_report *r, int64_t now_ns)
{
    double work = lbp_profile_counted(&s->profile, (r->last - r->first) * r->steps,
                                      (double)r->cpu_ns * rank->hardware);
    double was = lbp_filter_known(&rank->filter) ? lbp_filter_value(&rank->filter) : 0;

    if (r->steps == 0)
        return;
    lbp_profile_keep(&s->profile,
                     fmin(KEEP_MAX, KEEP_NS / ((double)(r->wall_ns + r->wait_ns) + 1)));
    for (size_t i = 0; i < r->nsamples; i++)
        lbp_profile_add(&s->profile, r->sample[i].first, r->sample[i].last,
                        lbp_profile_counted(&s->profile, r->sample[i].last - r->sample[i].first,
                                            (double)r->sample[i].cpu_ns * rank->hardware));
    if (r->nsamples == 0)
        lbp_profile_add_whole(&s->profile, r->first, r->last, work / (double)r->steps);
    if (r->last > r->first && lbp_filter_add(&rank->filter, lasting(s, r, work), r->wall_ns))
        changed(s, was, lbp_filter_value(&rank->filter), now_ns);
    /* who has little to do is not measured the more seldom for that: it would keep little for ever */
    rank->filtering_ns =
        rank->filter.wall > 0 ? rank->filtering_ns + (double)(r->wall_ns + r->wait_ns) : 0;
    if (rank->filtering_ns >= (double)WINDOW_MAX_NS && lbp_filter_known(&rank->filter) &&
        !lbp_stepped_published(s)) {
        rank->filtering_ns = 0;
        if (lbp_filter_flush(&rank->filter))
            changed(s, was, lbp_filter_value(&rank->filter), now_ns);
    }
    rank->step_wall_ns = (double)r->wall_ns / (double)r->steps;
    if (r->epoch == s->epoch && !s->on_the_way) { /* what the bounds now in force bring */
        rank->work += work;
        rank->wall += (double)r->wall_ns;
        rank->wait += (double)r->wait_ns;
        rank->steps += r->steps;
        s->nfresh += !rank->fresh;
        rank->fresh = true;
    }
    if (r->wall_ns + r->wait_ns > 0) {
        double step = (double)(r->wall_ns + r->wait_ns) / (double)r->steps;

        s->step_ns = s->step_ns > 0 ? s->step_ns + LEARN * (step - s->step_ns) : step;
    }
}

/* Under sync=yes every rank waits when it has reported, and all go on when all have. */
static void answer(struct lbp_stepped *s, struct stepped_rank *rank,
                   struct lbp_stepped_action *action, size_t *n)
{
    if (!s->config.params.sync)
        return;
    s->nasks += !rank->asks;
    rank->asks = true;
    if (s->nasks < s->config.nranks)
        return;
    for (uint32_t i = 0; i < s->config.nranks; i++)
        s->rank[i].asks = false;
    s->nasks = 0;
    action[(*n)++] = (struct lbp_stepped_action){.type = LBP_STEPPED_ANSWER};
}

int64_t lbp_stepped_step(const struct lbp_stepped *s, uint32_t rank)
{
    return s->rank[rank].step;
}

int lbp_stepped_report(struct lbp_stepped *s, const struct lbp_stepped_report *r, int64_t now_ns,
                       struct lbp_stepped_action *ret_action, size_t *ret_n)
{
    struct stepped_rank *rank;
    int ret;

    if (!report_valid(s, r))
        return -EINVAL;
    *ret_n = 0;
    rank = &s->rank[r->rank];
    if (r->step < rank->step || r->epoch < rank->epoch)
        return 0;
    rank->step = r->step;
    s->step = r->step > s->step ? r->step : s->step;
    if (r->epoch > rank->epoch || !rank->reported) {
        s->napplied += r->epoch == s->epoch;
        rank->moved_ns = (double)r->move_wall_ns;
        rank->epoch = r->epoch;
        rank->reported = true;
    }
    if (r->move_bytes > 0) {
        s->moved_bytes = lbp_plus(s->moved_bytes, r->move_bytes);
        lbp_layout_cost_add(&s->layout_cost, r->move_bytes, r->move_wall_ns);
        s->cost_ns = s->passed_ns + lbp_layout_cost_ns(&s->layout_cost, lbp_stepped_flows(s));
        s->cost_bytes = r->move_bytes > s->cost_bytes ? r->move_bytes : s->cost_bytes;
        s->cost_cpu_ns = r->move_cpu_ns > s->cost_cpu_ns ? r->move_cpu_ns : s->cost_cpu_ns;
    }
    lbp_grain_found(&s->grain, r->shift_iterations);
    if (r->shift_iterations >= 0 && r->shift_ns > 0)
        lbp_grain_message(&s->grain, r->shift_iterations, (double)r->shift_ns);
    if (lbp_caps_tell(&s->caps, r->rank, r->quota_cpus, r->quota_period_ns, r->quota_group) &&
        r->step > r->steps) /* the first time it is no change */
        changed(s, 0, 0, now_ns);
    take_work(s, rank, r, now_ns);
    ret = lbp_stepped_decide(s, now_ns, ret_action, ret_n);
    if (ret == 0)
        answer(s, rank, ret_action, ret_n);
    return ret;
}
