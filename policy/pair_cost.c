/* SPDX-License-Identifier: BSD-3-Clause */
/* What a move between two ranks takes, relative to the job's other moves. */
#include "policy/pair_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lbp_pair_cost_init(struct lbp_pair_cost *c, uint32_t nranks)
{
    *c = (struct lbp_pair_cost){.nranks = nranks};
}

void lbp_pair_cost_fini(struct lbp_pair_cost *c)
{
    free(c->rank);
    c->rank = NULL;
}

static void add(struct lbp_pair_moves *m, double bytes, double wall_ns)
{
    memmove(m->ns + 1, m->ns, sizeof(m->ns) - sizeof(*m->ns));
    memmove(m->bytes + 1, m->bytes, sizeof(m->bytes) - sizeof(*m->bytes));
    m->ns[0] = (float)wall_ns;
    m->bytes[0] = (float)bytes;
}

/* Where a giver's moves to a partner are, or LBP_PAIR_PARTNERS. */
static int place(const struct lbp_pair_rank *r, uint32_t partner)
{
    int at = 0;

    while (at < LBP_PAIR_PARTNERS && !(r->with[at].ns[0] > 0 && r->partner[at] == partner))
        at++;
    return at;
}

/* The partner's moves, now in front; of a new one none yet, in the place of the one least recently measured. */
static struct lbp_pair_moves *to_front(struct lbp_pair_rank *r, uint32_t partner)
{
    int at = place(r, partner);
    struct lbp_pair_moves m = {{0}, {0}};

    if (at < LBP_PAIR_PARTNERS)
        m = r->with[at];
    else
        at--;
    memmove(r->with + 1, r->with, (size_t)at * sizeof(*r->with));
    memmove(r->partner + 1, r->partner, (size_t)at * sizeof(*r->partner));
    r->with[0] = m;
    r->partner[0] = partner;
    return &r->with[0];
}

void lbp_pair_cost_measured(struct lbp_pair_cost *c, uint32_t from, uint32_t to, double bytes,
                            double wall_ns)
{
    if (c->nranks == 0 || !(wall_ns >= 1) || !(wall_ns <= 1e18) || !(bytes >= 0) ||
        !(bytes <= 1e18))
        return;
    if (!c->rank)
        c->rank = calloc(c->nranks, sizeof(*c->rank));
    if (!c->rank)
        return;
    add(&c->rank[from].any, bytes, wall_ns);
    add(&c->rank[to].any, bytes, wall_ns);
    add(to_front(&c->rank[from], to), bytes, wall_ns);
}

static double median(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Measured over expected; a move that is missing was as all are. */
static double ratio(const struct lbp_pair_moves *m, const struct lbp_profit *all)
{
    double r[LBP_PAIR_MOVES] = {1, 1, 1};

    for (int i = 0; i < LBP_PAIR_MOVES && m->ns[i] > 0; i++)
        r[i] = m->ns[i] / lbp_profit_transfer_ns(all, m->bytes[i]);
    return median(r[0], r[1], r[2]);
}

double lbp_pair_cost_factor(const struct lbp_pair_cost *c, const struct lbp_profit *all,
                            uint32_t from, uint32_t to)
{
    double factor;
    int at;

    if (!c || !c->rank || from == to)
        return 1;
    at = place(&c->rank[from], to);
    factor = at < LBP_PAIR_PARTNERS
                 ? ratio(&c->rank[from].with[at], all)
                 : sqrt(ratio(&c->rank[from].any, all) * ratio(&c->rank[to].any, all));
    factor = fmin(fmax(factor, 1 / LBP_PAIR_MOST), LBP_PAIR_MOST);
    return factor < LBP_PAIR_ALIKE && factor > 1 / LBP_PAIR_ALIKE ? 1 : factor;
}
