/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks as a planner sees them at one moment. */
#include "policy/view.h"

#include <math.h>

#include "policy/period.h"

/* No rank counts as slower than this part of a processor: times stay finite. */
#define SPEED_MIN 1e-6
/* A report may be so late without meaning anything: one period of a quota and a half. */
#define SILENCE_NS 15e6
/* Then the rank is at most so fast that its chunk, times this, would have taken it as long as the report is late. */
#define SILENCE 1.3

/* Mean of what the measured ranks do, of each unit of weight where weights are known; 0: nobody was
 * measured. */
static double prior_speed(const struct lbp_model *m, bool *ret_weighted)
{
    double speed = 0, weight = 0;
    bool weighted = true;
    int known = 0;

    for (uint32_t i = 0; i < m->nranks; i++) {
        weighted = weighted && m->rank[i].weight > 0;
        if (lbp_filter_known(&m->rank[i].speed)) {
            speed += lbp_filter_value(&m->rank[i].speed);
            weight += m->rank[i].weight;
            known++;
        }
    }
    *ret_weighted = weighted && weight > 0;
    return known == 0 ? 0 : speed / (*ret_weighted ? weight : known);
}

static double span_work(struct lbp_model *m, const struct lbp_rank *r)
{
    double work = 0;

    for (size_t i = 0; i < r->left.n; i++)
        work += lbp_profile_work(&m->profile, r->left.span[i].first, r->left.span[i].last);
    return work;
}

/* Work of one chunk as the rank hands it out now. */
static double chunk_work(struct lbp_model *m, const struct lbp_rank *r, double left)
{
    double one = lbp_profile_mean(&m->profile), chunk = (double)r->chunk_ns;

    if (r->left.n > 0)
        one = lbp_profile_work(&m->profile, r->left.span[0].first, r->left.span[0].first + 1);
    return fmax(fmax(fmin(chunk, left / 4), one), 1);
}

/* Elapsed between two of its hooks, ns: a report that is due waits for one. */
static double between_hooks(const struct lbp_rank *r, double left, double speed)
{
    return fmin(lbp_hook_most_ns(r->period_ns), left / LBP_HOOKS_LEFT / fmax(speed, SPEED_MIN));
}

/* Moves on their way: what comes, and when. */
static void view_incoming(struct lbp_model *m, const struct lbp_rank *r, int64_t now_ns,
                          struct lbp_view *v)
{
    for (const struct lbp_flight *f = r->in; f; f = f->next_in) {
        v->incoming += lbp_profile_work(&m->profile, f->last - f->iterations, f->last);
        v->incoming_at = fmax(v->incoming_at, (double)(f->arrive_ns - now_ns));
    }
}

static void view_rank(struct lbp_model *m, const struct lbp_rank *r, double speed, int64_t now_ns,
                      struct lbp_view *v)
{
    double quiet = m->begun_ns == INT64_MIN ? 0 : fmax(0, (double)(now_ns - r->told_ns));
    double told = span_work(m, r);
    double left = told + (double)r->untold * lbp_profile_mean(&m->profile);
    double chunk = chunk_work(m, r, left), late, done, chunks, gone;

    if (r->left.n > 0) {
        const struct lbx_span *s = &r->left.span[r->left.n - 1];

        v->unit = lbp_profile_work(&m->profile, s->first, s->last) / (double)(s->last - s->first);
    }
    /* a rank that does not report has not come to a hook: it is at most so fast */
    late = m->begun_ns == INT64_MIN ? 0 : (double)(now_ns - r->due_ns) - m->message_ns - SILENCE_NS;
    late -= between_hooks(r, left, speed);
    if (!r->dry && late > 0)
        speed = fmin(speed, SILENCE * chunk / late);
    v->speed = fmax(speed, SPEED_MIN);
    v->measured = lbp_filter_known(&r->speed);
    v->jitter = r->speed.noise_ns;
    v->error = v->measured ? lbp_filter_error(&r->speed) : 1;
    done = r->dry ? 0 : v->speed * quiet;
    if (late > 0)
        done = fmin(done, v->speed * (quiet - late) + chunk);
    chunks = r->dry ? 0 : ceil((done + v->speed * m->message_ns) / chunk);
    if (chunks < 1 && !r->dry)
        chunks = 1; /* the one that was handed out after the report */
    gone = chunks > 3 ? done + v->speed * m->message_ns + chunk : chunks * chunk;
    v->own = fmax(0, left - done);
    v->hook = fmax(m->message_ns, (gone - done) / v->speed);
    v->movable = fmax(0, fmin(told, left - gone));
    view_incoming(m, r, now_ns, v);
}

bool lbp_view_make(struct lbp_model *m, int64_t now_ns, struct lbp_view *view)
{
    bool weighted;
    double prior = prior_speed(m, &weighted);

    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct lbp_rank *r = &m->rank[i];
        double speed = lbp_filter_known(&r->speed) ? lbp_filter_value(&r->speed)
                                                   : prior * (weighted ? r->weight : 1);

        view[i] = (struct lbp_view){.present = lbp_model_present(m, r)};
        if (view[i].present)
            view_rank(m, r, speed, now_ns, &view[i]);
    }
    return prior > 0 && lbp_profile_learned(&m->profile);
}

double lbp_view_end(const struct lbp_view *v)
{
    double end = v->own / v->speed;

    if (v->incoming > 0)
        end = fmax(end, v->incoming_at) + v->incoming / v->speed;
    return end;
}

void lbp_view_give(struct lbp_view *from, struct lbp_view *to, double work, double arrive)
{
    from->own = fmax(0, from->own - work);
    from->movable = fmax(0, from->movable - work);
    to->incoming += work;
    to->incoming_at = fmax(to->incoming_at, arrive);
}
