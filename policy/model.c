/* SPDX-License-Identifier: BSD-3-Clause */
/* What the balancer knows of ranks, iterations and moves under way. */
#include "policy/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/plus.h"

#define MESSAGE_NS 500000 /* one way, when it was not measured */

int lbp_model_init(struct lbp_model *m, const struct lbp_balance_config *config, int64_t now_ns)
{
    double h = config->params.filter;

    memset(m, 0, sizeof(*m));
    m->rank = calloc(config->nranks, sizeof(*m->rank));
    if (!m->rank)
        return -ENOMEM;
    m->nranks = config->nranks;
    m->n = config->n;
    m->row_bytes = config->row_bytes;
    m->begun_ns = INT64_MIN;
    m->message_ns = config->t_interact_ns > 0 ? (double)config->t_interact_ns / 2 : MESSAGE_NS;
    for (uint32_t i = 0; i < m->nranks; i++) {
        lbp_filter_init(&m->rank[i].speed, h);
        m->rank[i].weight = config->weight ? config->weight[i] : 0;
        m->rank[i].hardware = config->hardware ? config->hardware[i] : 1;
    }
    lbp_profile_init(&m->profile, config->n);
    lbp_profit_init(&m->profit, m->message_ns, now_ns);
    lbp_pair_cost_init(&m->pair_cost, config->params.policy == LBP_SIEGELL ? 0 : m->nranks);
    if (config->params.policy == LBP_SIEGELL)
        lbp_profile_even(&m->profile);
    else
        lbp_horizon_expect(&m->profit.horizon, (double)config->stable_ns);
    lbp_profit_set(&m->profit, config->params.profit, (double)config->params.stable_ns);
    return 0;
}

/* Forget a rank's moves; each flight is in two lists, and freed with the second. */
static void drop_flights(struct lbp_rank *r)
{
    struct lbp_flight *f, *next;

    for (f = r->out; f; f = next) {
        next = f->next_out;
        f->source_told = true;
        if (f->dest_told)
            free(f);
    }
    for (f = r->in; f; f = next) {
        next = f->next_in;
        f->dest_told = true;
        if (f->source_told)
            free(f);
    }
    r->out = r->in = NULL;
}

void lbp_model_fini(struct lbp_model *m)
{
    if (!m->rank)
        return;
    for (uint32_t i = 0; i < m->nranks; i++)
        drop_flights(&m->rank[i]);
    for (uint32_t i = 0; i < m->nranks; i++) {
        lbx_spanset_fini(&m->rank[i].left);
        lbx_spanset_fini(&m->rank[i].owned);
    }
    lbp_pair_cost_fini(&m->pair_cost);
    free(m->rank);
    m->rank = NULL;
}

bool lbp_model_present(const struct lbp_model *m, const struct lbp_rank *r)
{
    return r->joined && r->pass == m->pass && (r->reported || m->pass == 0);
}

bool lbp_model_all_present(const struct lbp_model *m)
{
    for (uint32_t i = 0; i < m->nranks; i++)
        if (!lbp_model_present(m, &m->rank[i]))
            return false;
    return true;
}

int lbp_model_join(struct lbp_model *m, uint32_t rank, int64_t first, int64_t last, int64_t now_ns)
{
    struct lbp_rank *r = rank < m->nranks ? &m->rank[rank] : NULL;

    if (!r || r->joined || first < 0 || last < first || last > m->n)
        return -EINVAL;
    if (lbx_spanset_add(&r->owned, first, last) < 0)
        return -ENOMEM;
    if (lbx_spanset_add(&r->left, first, last) < 0) {
        lbx_spanset_clear(&r->owned);
        return -ENOMEM;
    }
    r->joined = true;
    r->first = first;
    r->last = last;
    r->remaining = last - first;
    r->told_ns = now_ns;
    m->njoined++;
    lbp_profile_begin(&m->profile, first);
    return 0;
}

static bool spans_valid(const struct lbp_report *r, int64_t n)
{
    int64_t at = 0, sum = 0;

    for (size_t i = 0; i < r->nspans; i++) {
        if (r->span[i].first < at || r->span[i].last <= r->span[i].first || r->span[i].last > n)
            return false;
        sum += r->span[i].last - r->span[i].first;
        at = r->span[i].last;
    }
    return sum <= r->remaining;
}

static bool report_valid(const struct lbp_model *m, const struct lbp_report *r)
{
    if (r->rank >= m->nranks || !m->rank[r->rank].joined)
        return false;
    if (r->pass < 0 || r->pass > m->pass || r->executed < 0 || r->executed > m->n ||
        r->remaining < 0 || r->remaining > m->n - r->executed || !spans_valid(r, m->n))
        return false;
    for (size_t i = 0; i < r->nsamples; i++) {
        const struct lbp_sample *s = &r->sample[i];

        if (s->first < 0 || s->last < s->first || s->last > m->n || s->wall_ns < 0 || s->cpu_ns < 0)
            return false;
    }
    for (size_t i = 0; i < r->ndone; i++) {
        const struct lbp_done *d = &r->done[i];

        if (d->iterations < 0 || d->iterations > m->n || d->bytes < 0 || d->wall_ns < 0 ||
            d->cpu_ns < 0 ||
            (d->role != LBP_SENT && d->role != LBP_RECEIVED && d->role != LBP_REFUSED))
            return false;
    }
    return true;
}

/* Take f out of the source's or the destination's list. */
static void unlink_flight(struct lbp_model *m, struct lbp_flight *f, bool of_source)
{
    struct lbp_flight **at = of_source ? &m->rank[f->source].out : &m->rank[f->dest].in;

    while (*at != f)
        at = of_source ? &(*at)->next_out : &(*at)->next_in;
    *at = of_source ? f->next_out : f->next_in;
    if (of_source)
        f->source_told = true;
    else
        f->dest_told = true;
}

/* The first end told: so many iterations really change hands.  A source works from the front: it
 * gives the end of a span. */
static int settle(struct lbp_model *m, struct lbp_flight *f, int64_t iterations)
{
    int64_t k = iterations < f->last - f->first ? iterations : f->last - f->first;

    if (lbx_spanset_add(&m->rank[f->dest].owned, f->last - k, f->last) < 0 ||
        lbx_spanset_remove(&m->rank[f->source].owned, f->last - k, f->last) < 0)
        return -ENOMEM;
    f->iterations = k;
    m->moved_iterations = lbp_plus(m->moved_iterations, k);
    return 0;
}

static int take_done(struct lbp_model *m, uint32_t rank, const struct lbp_done *d)
{
    struct lbp_rank *r = &m->rank[rank];
    struct lbp_flight *f;
    bool of_source = false;
    int64_t iterations = d->role == LBP_REFUSED ? 0 : d->iterations;

    for (f = r->in; f && f->epoch != d->epoch; f = f->next_in)
        ;
    if (!f) {
        of_source = true;
        for (f = r->out; f && f->epoch != d->epoch; f = f->next_out)
            ;
    }
    if (!f)
        return 0; /* told before */
    if (!f->source_told && !f->dest_told && settle(m, f, iterations) < 0)
        return -ENOMEM;
    unlink_flight(m, f, of_source);
    if (of_source && iterations == 0 && !f->dest_told)
        unlink_flight(m, f, false); /* nothing will arrive */
    if (iterations > 0 && of_source) {
        lbp_profit_moved(&m->profit, d->bytes, d->wall_ns, d->cpu_ns);
        lbp_pair_cost_measured(&m->pair_cost, rank, f->dest, (double)d->bytes, (double)d->wall_ns);
        m->moved_bytes = lbp_plus(m->moved_bytes, d->bytes);
    }
    if (f->source_told && f->dest_told) {
        free(f);
        m->flights--;
    }
    return 1;
}

static void take_samples(struct lbp_model *m, struct lbp_rank *r, const struct lbp_report *report,
                         int64_t now_ns)
{
    double iterations = 0, wall = 0, done = 0;

    for (size_t i = 0; i < report->nsamples; i++) {
        const struct lbp_sample *s = &report->sample[i];
        double work =
            lbp_profile_counted(&m->profile, s->last - s->first, (double)s->cpu_ns * r->hardware);

        lbp_profile_add(&m->profile, s->first, s->last, work);
        if (lbp_filter_add(&r->speed, work, s->wall_ns))
            lbp_horizon_changed(&m->profit.horizon, now_ns);
        iterations += (double)(s->last - s->first);
        wall += (double)s->wall_ns;
        done += work;
    }
    r->compute_ns += wall;
    r->work_sum += done;
    r->wall_sum += wall;
    if (wall > 0) {
        r->rate = iterations / wall;
        r->raw = done / wall;
    }
}

/* The first report of a pass by anybody: the pass has begun about when its samples did. */
static void begin_pass(struct lbp_model *m, const struct lbp_report *report, int64_t now_ns)
{
    int64_t wall = 0;

    for (size_t i = 0; i < report->nsamples; i++)
        wall += report->sample[i].wall_ns < now_ns - wall ? report->sample[i].wall_ns : 0;
    m->begun_ns = now_ns - wall;
    for (uint32_t i = 0; i < m->nranks; i++)
        if (m->rank[i].told_ns < m->begun_ns) {
            m->rank[i].told_ns = m->begun_ns;
            m->rank[i].due_ns = m->begun_ns + m->rank[i].period_ns;
        }
}

static int take_remaining(struct lbp_model *m, struct lbp_rank *r, const struct lbp_report *report)
{
    int64_t told = 0;

    lbx_spanset_clear(&r->left);
    for (size_t i = 0; i < report->nspans; i++) {
        if (lbx_spanset_add(&r->left, report->span[i].first, report->span[i].last) < 0)
            return -ENOMEM;
        told += report->span[i].last - report->span[i].first;
    }
    r->untold = report->remaining - told;
    for (struct lbp_flight *f = r->out; f; f = f->next_out)
        if (lbx_spanset_remove(&r->left, f->first, f->last) < 0)
            return -ENOMEM;
    (void)m;
    return 0;
}

/*
 * Room for all that a report can do to the sets, so that nothing in the middle of it can fail: a told span adds one, a
 * removal splits one at most, and a move that ended changes both its ends' owned sets.
 */
static int reserve(struct lbp_model *m, struct lbp_rank *r, const struct lbp_report *report)
{
    size_t out = 0, in = 0;

    for (const struct lbp_flight *f = r->out; f; f = f->next_out) {
        struct lbx_spanset *other = &m->rank[f->dest].owned;

        if (lbx_spanset_reserve(other, other->n + ++out) < 0)
            return -ENOMEM;
    }
    for (const struct lbp_flight *f = r->in; f; f = f->next_in) {
        struct lbx_spanset *other = &m->rank[f->source].owned;

        if (lbx_spanset_reserve(other, other->n + ++in) < 0)
            return -ENOMEM;
    }
    if (lbx_spanset_reserve(&r->owned, r->owned.n + in + out) < 0)
        return -ENOMEM;
    return lbx_spanset_reserve(&r->left, report->nspans + out);
}

int lbp_model_report(struct lbp_model *m, const struct lbp_report *report, int64_t now_ns,
                     bool *ret_done)
{
    struct lbp_rank *r;
    bool done = false;
    int ret;

    if (!report_valid(m, report))
        return -EINVAL;
    r = &m->rank[report->rank];
    if (report->pass < r->pass || (report->pass == r->pass && report->executed < r->executed))
        return -EALREADY;
    ret = reserve(m, r, report);
    if (ret < 0)
        return ret;
    if (report->pass > r->pass) {
        r->compute_before_ns = r->compute_ns;
        r->compute_ns = 0;
        r->pass = report->pass;
    }
    if (report->pass == m->pass && m->begun_ns == INT64_MIN)
        begin_pass(m, report, now_ns);
    for (size_t i = 0; i < report->ndone; i++) {
        ret = take_done(m, report->rank, &report->done[i]);
        if (ret < 0)
            return ret;
        done |= ret > 0;
    }
    take_samples(m, r, report, now_ns);
    r->reported = true;
    r->dry = report->dry && report->remaining == 0;
    r->executed = report->executed;
    r->remaining = report->remaining;
    r->told_ns = now_ns;
    r->due_ns = now_ns + r->period_ns;
    ret = take_remaining(m, r, report);
    if (ret < 0)
        return ret;
    *ret_done = done;
    return 0;
}

int lbp_model_move(struct lbp_model *m, uint64_t epoch, uint32_t source, uint32_t dest,
                   int64_t first, int64_t last, int64_t now_ns, int64_t arrive_ns)
{
    struct lbp_flight *f = calloc(1, sizeof(*f));

    if (!f || lbx_spanset_remove(&m->rank[source].left, first, last) < 0) {
        free(f);
        return -ENOMEM;
    }
    *f = (struct lbp_flight){.epoch = epoch,
                             .source = source,
                             .dest = dest,
                             .first = first,
                             .last = last,
                             .iterations = last - first,
                             .start_ns = now_ns,
                             .arrive_ns = arrive_ns,
                             .next_out = m->rank[source].out,
                             .next_in = m->rank[dest].in};
    m->rank[source].out = f;
    m->rank[dest].in = f;
    if (m->flights++ == 0 || now_ns < m->oldest_ns)
        m->oldest_ns = now_ns;
    return 0;
}

void lbp_model_final(struct lbp_model *m)
{
    m->pass++;
    m->begun_ns = INT64_MIN;
}

bool lbp_model_forget(struct lbp_model *m, int64_t now_ns, int64_t lost_ns)
{
    bool any = false;

    if (m->flights == 0 || m->oldest_ns > now_ns - lost_ns)
        return false; /* at the end of a pass each of many ranks asks */
    m->oldest_ns = INT64_MAX;
    for (uint32_t i = 0; i < m->nranks && m->flights > 0; i++) {
        for (struct lbp_flight *f = m->rank[i].out, *next; f; f = next) {
            next = f->next_out;
            if (f->dest_told)
                continue;
            if (m->rank[i].told_ns < f->start_ns + lost_ns) {
                m->oldest_ns = f->start_ns < m->oldest_ns ? f->start_ns : m->oldest_ns;
                continue;
            }
            unlink_flight(m, f, true);
            unlink_flight(m, f, false);
            free(f);
            m->flights--;
            any = true;
        }
    }
    return any;
}

double lbp_model_load_balance(const struct lbp_model *m)
{
    double sum = 0, greatest = 0;
    bool before = true;

    for (uint32_t i = 0; i < m->nranks; i++)
        before = before && m->rank[i].compute_before_ns > 0;
    for (uint32_t i = 0; i < m->nranks; i++) {
        double x = before ? m->rank[i].compute_before_ns : m->rank[i].compute_ns;

        sum += x;
        greatest = fmax(greatest, x);
    }
    return greatest > 0 ? sum / m->nranks / greatest : 1;
}
