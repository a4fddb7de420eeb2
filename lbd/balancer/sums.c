/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job's loops come to. */
#include "lbd/balancer/sums.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/plus.h"
#include "lbd/balancer/loops_state.h"
#include "lbd/balancer/loops_stats.h"

/* Add a loop's sums, and put its other figures in place. */
static void add_stats(const struct lbd_loop *p, struct lbd_loops_stats *sum)
{
    struct lbp_balance_stats s;
    struct lbp_stepped_stats t;

    if (p->stepped) {
        lbp_stepped_stats(p->stepped, &t);
        for (int i = 0; i < LBP_REASONS; i++)
            sum->decisions[i] += t.decisions[i];
        sum->moved_iterations = lbp_plus(sum->moved_iterations, t.moved_iterations);
        sum->moved_bytes = lbp_plus(sum->moved_bytes, t.moved_bytes);
        sum->load_balance_ratio = t.load_balance_ratio;
        sum->period_ns = t.period_ns;
    }
    if (!p->balance)
        return;
    lbp_balance_stats(p->balance, &s);
    for (int i = 0; i < LBP_REASONS; i++)
        sum->decisions[i] += s.decisions[i];
    sum->moved_iterations = lbp_plus(sum->moved_iterations, s.moved_iterations);
    sum->moved_bytes = lbp_plus(sum->moved_bytes, s.moved_bytes);
    sum->load_balance_ratio = s.load_balance_ratio;
    sum->period_ns = s.period_ns;
    sum->chunk_ns = s.chunk_ns;
}

/*
 * What the loop should have taken by what was known at its start: its ranks' speeds as their lbds told, and what an iteration
 * cost in their first reports.  0: no lbd told.
 */
static double expected_ns(const struct lbd_loops *l, const struct lbd_loop *p)
{
    double speed = 0;

    for (uint32_t r = 0; l->weight && r < l->config.nranks; r++)
        speed += l->weight[r];
    if (speed <= 0 || p->ncosts == 0)
        return 0;
    return (double)p->n * (double)p->sum.passes * p->cost_ns / p->ncosts / speed;
}

void lbd_sums_cost(const struct lbd_loops *l, struct lbd_loop *p, uint32_t rank,
                   const struct lbw_report *m)
{
    double wall_ns = 0, iterations = 0;

    for (size_t i = 0; i < m->nsamples; i++) {
        iterations += (double)(m->sample[i].last - m->sample[i].first);
        wall_ns += (double)m->sample[i].wall_ns;
    }
    if (!l->weight || iterations <= 0)
        return;
    p->cost_ns += wall_ns / iterations * l->weight[rank];
    p->ncosts++;
}

/* A loop is over: what it took, and what it would have with the first blocks. */
static void sum_up(const struct lbd_loops *l, struct lbd_loops_stats *sum, const struct lbd_loop *p)
{
    struct lbp_firsts_answer firsts = {0};
    double first_ns = 0;

    if (p->stepped) {
        lbp_firsts_ask(p->firsts, &firsts);
        first_ns = p->elapsed_ns + firsts.saved_ns;
    } else if (p->balance) {
        first_ns = lbp_balance_first_ns(p->balance, &firsts.balance_ratio) * (double)p->sum.passes;
    }
    if (first_ns > 0 && firsts.balance_ratio > 0) { /* long loops weigh more */
        double weight = sum->first_ns > 0 ? sum->first_ns / (sum->first_ns + first_ns) : 0;

        sum->balance_before_ratio =
            weight * sum->balance_before_ratio + (1 - weight) * firsts.balance_ratio;
    }

    sum->foreseen_ns += expected_ns(l, p);
    sum->passes = lbp_plus(sum->passes, p->sum.passes);
    sum->elapsed_ns += p->elapsed_ns;
    sum->first_ns += first_ns > 0 ? first_ns : p->elapsed_ns;
    sum->inside_ns +=
        (double)p->sum.compute_ns + (double)p->sum.wait_ns + (double)p->sum.library_ns;
    sum->wait_ns += (double)p->sum.wait_ns;
    sum->cpu_ns += (double)p->sum.cpu_ns;
    sum->library_cpu_ns += (double)p->sum.library_cpu_ns;
}

void lbd_sums_report(struct lbd_loops *l, struct lbd_loop *p, uint32_t rank,
                     const struct lbw_report *m)
{
    struct lbd_rank_stats *r = &l->rank[rank];
    struct lbd_wait *w = &l->wait[rank];
    int64_t wall_ns = 0, iterations = 0;
    bool same = w->loop == m->loop && w->pass == m->pass;

    for (size_t i = 0; i < m->nsamples; i++) {
        iterations = lbp_plus(iterations, m->sample[i].last - m->sample[i].first);
        wall_ns = lbp_plus(wall_ns, m->sample[i].wall_ns);
    }
    for (size_t i = 0; i < m->ndone; i++)
        l->stats.moving_ns = lbp_plus(l->stats.moving_ns, m->done[i].cpu_ns);
    r->iterations = lbp_plus(r->iterations, iterations);
    r->compute_ns = lbp_plus(r->compute_ns, wall_ns);
    if (wall_ns > 0) {
        r->rate_hz = (double)iterations * 1e9 / (double)wall_ns;
        l->stats.chunk_iterations = (double)iterations / (double)m->nsamples;
    }
    r->wait_ns =
        lbp_plus(r->wait_ns, m->wait_ns - (same && w->told_ns <= m->wait_ns ? w->told_ns : 0));
    *w = (struct lbd_wait){m->loop, m->pass, m->wait_ns};
    l->last = p;
}

void lbd_sums_step(struct lbd_loops *l, struct lbd_loop *p, uint32_t rank, const struct lbw_step *m)
{
    double iterations = (double)m->steps * (double)(m->last - m->first);
    struct lbd_rank_stats *r = &l->rank[rank];

    if (iterations < (double)(INT64_MAX - r->iterations) / 2)
        r->iterations += (int64_t)iterations;
    if (m->wall_ns < INT64_MAX - r->compute_ns)
        r->compute_ns += m->wall_ns;
    if (m->wait_ns < INT64_MAX - r->wait_ns)
        r->wait_ns += m->wait_ns;
    if (m->move_cpu_ns < INT64_MAX - l->stats.moving_ns)
        l->stats.moving_ns += m->move_cpu_ns;
    if (m->wall_ns > 0)
        r->rate_hz = iterations * 1e9 / (double)m->wall_ns;
    l->last = p;
}

void lbd_sums_close(struct lbd_loops *l, struct lbd_loop *p, uint32_t rank,
                    const struct lbw_close *m)
{
    struct lbd_rank_stats *r = &l->rank[rank];
    double inside_ns = (double)m->compute_ns + (double)m->wait_ns + (double)m->library_ns;

    r->closed.iterations = lbp_plus(r->closed.iterations, m->iterations);
    r->closed.cpu_ns = lbp_plus(r->closed.cpu_ns, m->cpu_ns);
    r->closed.wait_ns = lbp_plus(r->closed.wait_ns, m->wait_ns);
    r->closed.moves_in = lbp_plus(r->closed.moves_in, m->moves_in);
    r->closed.bytes_in = lbp_plus(r->closed.bytes_in, m->bytes_in);
    p->sum.passes = m->passes;
    p->sum.compute_ns = lbp_plus(p->sum.compute_ns, m->compute_ns);
    p->sum.wait_ns = lbp_plus(p->sum.wait_ns, m->wait_ns);
    p->sum.library_ns = lbp_plus(p->sum.library_ns, m->library_ns);
    p->sum.cpu_ns = lbp_plus(p->sum.cpu_ns, m->cpu_ns);
    p->sum.library_cpu_ns = lbp_plus(p->sum.library_cpu_ns, m->library_cpu_ns);
    if (inside_ns > p->elapsed_ns)
        p->elapsed_ns = inside_ns;
}

void lbd_sums_end(struct lbd_loops *l, const struct lbd_loop *p)
{
    add_stats(p, &l->stats);
    sum_up(l, &l->stats, p);
}

void lbd_loops_stats(const struct lbd_loops *l, struct lbd_loops_stats *ret)
{
    *ret = l->stats;
    for (const struct lbd_loop *p = l->first; p; p = p->next)
        if (p != l->last)
            add_stats(p, ret);
    if (l->last)
        add_stats(l->last, ret);
}

int lbd_loops_rank_stats(const struct lbd_loops *l, struct lbd_rank_stats *ret)
{
    double *share = calloc(l->config.nranks, sizeof(*share)), shares = 0, iterations = 0;

    if (!share)
        return -ENOMEM;
    if (l->last && l->last->balance)
        lbp_balance_ranks(l->last->balance, NULL, share);
    if (l->last && l->last->stepped)
        lbp_stepped_ranks(l->last->stepped, NULL, share);
    for (uint32_t r = 0; r < l->config.nranks; r++) {
        shares += share[r];
        iterations += (double)l->rank[r].iterations;
    }
    for (uint32_t r = 0; r < l->config.nranks; r++) {
        ret[r] = l->rank[r];
        ret[r].share_ratio = share[r];
        if (shares == 0 && iterations > 0) /* no loop is open: who did how much */
            ret[r].share_ratio = (double)ret[r].iterations / iterations;
    }
    free(share);
    return 0;
}
