/* SPDX-License-Identifier: BSD-3-Clause */
/* What each rank can go on using of the processors. */
#include "policy/caps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A quota has changed when it differs by this ratio. */
#define DIFFERS 0.01

int lbp_caps_init(struct lbp_caps *c, uint32_t nranks)
{
    *c = (struct lbp_caps){.nranks = nranks};
    c->rank = calloc(nranks, sizeof(*c->rank));
    c->order = calloc(nranks, sizeof(*c->order));
    if (!c->rank || !c->order) {
        lbp_caps_fini(c);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < nranks; i++)
        c->rank[i].share = INFINITY;
    return 0;
}

void lbp_caps_fini(struct lbp_caps *c)
{
    free(c->rank);
    free(c->order);
    c->rank = NULL;
    c->order = NULL;
}

bool lbp_caps_tell(struct lbp_caps *c, uint32_t rank, double cpus, int64_t period_ns,
                   uint64_t group)
{
    struct lbp_caps_rank *r = &c->rank[rank];
    bool same =
        cpus > 0 ? r->group == group && fabs(cpus - r->cpus) <= DIFFERS * r->cpus : r->cpus <= 0;

    if (same)
        return false;
    r->cpus = cpus;
    r->period_ns = cpus > 0 ? period_ns : 0;
    r->group = cpus > 0 ? group : 0;
    c->stale = true;
    return true;
}

static int compare_groups(const void *a, const void *b, void *data)
{
    const struct lbp_caps_rank *rank = data;
    uint64_t x = rank[*(const uint32_t *)a].group, y = rank[*(const uint32_t *)b].group;

    return (x > y) - (x < y);
}

static void count(struct lbp_caps *c)
{
    c->period_ns = 0;
    for (uint32_t i = 0; i < c->nranks; i++) {
        c->order[i] = i;
        if (c->rank[i].period_ns > c->period_ns)
            c->period_ns = c->rank[i].period_ns;
    }
    qsort_r(c->order, c->nranks, sizeof(*c->order), compare_groups, c->rank);
    for (uint32_t i = 0, end; i < c->nranks; i = end) {
        uint64_t group = c->rank[c->order[i]].group;

        for (end = i; end < c->nranks && c->rank[c->order[end]].group == group; end++)
            ;
        for (uint32_t k = i; k < end; k++) {
            struct lbp_caps_rank *r = &c->rank[c->order[k]];

            r->share = r->cpus > 0 ? r->cpus / (end - i) : INFINITY;
        }
    }
    c->stale = false;
}

double lbp_caps_share(struct lbp_caps *c, uint32_t rank)
{
    if (c->stale)
        count(c);
    return c->rank[rank].share;
}

int64_t lbp_caps_period_ns(struct lbp_caps *c)
{
    if (c->stale)
        count(c);
    return c->period_ns;
}
