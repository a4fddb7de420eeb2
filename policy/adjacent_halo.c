/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds where a rank owns nothing or enough. */
#include "policy/adjacent_halo.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/least_time.h"

#define PLACES_MAX (1 << 16) /* ranks x iterations: 3 ms */

/* A row: places 0 to n for the bound behind a rank. */
struct halo {
    const struct lbp_adjacent_config *c;
    int64_t n;
    double *before;    /* [n + 1] the work of all iterations before a place */
    bool *here, *next; /* [n + 1] a bound can be there, */
    int64_t *way,
        *least;     /* [n + 1] at the cost of so many ways from the old ones; of the rank before */
    int64_t *queue; /* [n + 1] places before, those with the least ways first */
    int32_t *from;  /* [nranks][n + 1] where the rank's first iteration is then */
};

bool lbp_adjacent_halo_is_small(const struct lbp_adjacent_config *config, int64_t n)
{
    return n < PLACES_MAX / (int64_t)config->nranks;
}

/* The bounds behind rank r that come of those before it, when each rank takes no longer than t. */
static void go_on(struct halo *h, uint32_t r, double t)
{
    double work = t * h->c->speed[r];
    int64_t far = 0, marked = -1;

    memcpy(h->next, h->here, ((size_t)h->n + 1) * sizeof(*h->next));
    for (int64_t p = 0; p + h->c->min_iterations <= h->n; p++) {
        int64_t q = p + h->c->min_iterations;

        if (!h->here[p])
            continue;
        while (far < h->n && h->before[far + 1] - h->before[p] <= work)
            far++;
        for (q = q > marked ? q : marked + 1; q <= far; q++)
            h->next[q] = true;
        marked = far > marked ? far : marked;
    }
}

static bool feasible(void *arg, double t)
{
    struct halo *h = arg;

    memset(h->here, 0, ((size_t)h->n + 1) * sizeof(*h->here));
    h->here[0] = true;
    for (uint32_t r = 0; r < h->c->nranks && !h->here[h->n]; r++) {
        bool *was = h->here;

        go_on(h, r, t);
        h->here = h->next;
        h->next = was;
    }
    return h->here[h->n];
}

/*
 * The least ways to each place behind rank r.  It owns nothing, or [p, q): those p are a window that moves up with q, whose
 * least is at the head of the queue.
 */
static void nearest(struct halo *h, uint32_t r, double t, const int64_t *old)
{
    int32_t *from = h->from + (size_t)r * ((size_t)h->n + 1);
    int64_t *was = h->least, head = 0, tail = 0;
    double work = t * h->c->speed[r];

    for (int64_t q = 0; q <= h->n; q++) {
        int64_t p = q - h->c->min_iterations, best = was[q];

        from[q] = (int32_t)q;
        if (p >= 0 && was[p] < INT64_MAX) {
            while (tail > head && was[h->queue[tail - 1]] >= was[p])
                tail--;
            h->queue[tail++] = p;
        }
        while (tail > head && h->before[q] - h->before[h->queue[head]] > work)
            head++;
        if (tail > head && was[h->queue[head]] < best) {
            best = was[h->queue[head]];
            from[q] = (int32_t)h->queue[head];
        }
        h->way[q] = best < INT64_MAX ? best + llabs(q - old[r + 1]) : INT64_MAX;
    }
    h->least = h->way;
    h->way = was;
}

static void choose(struct halo *h, double t, const int64_t *old, int64_t *ret_bound)
{
    int64_t at = h->n;

    for (int64_t p = 0; p <= h->n; p++)
        h->least[p] = p > 0 ? INT64_MAX : 0;
    for (uint32_t r = 0; r < h->c->nranks; r++)
        nearest(h, r, t, old);
    for (uint32_t r = h->c->nranks; r-- > 0;) {
        ret_bound[r + 1] = at;
        at = h->from[(size_t)r * ((size_t)h->n + 1) + (size_t)at];
    }
    ret_bound[0] = 0;
}

int lbp_adjacent_halo(const struct lbp_adjacent_config *config, struct lbp_profile *profile,
                      double least_ns, const int64_t *old, int64_t *ret_bound)
{
    size_t places = (size_t)profile->n + 1;
    struct halo h = {.c = config, .n = profile->n};
    bool *row = calloc(2 * places, sizeof(*row));
    int64_t *ways = calloc(3 * places, sizeof(*ways));
    int ret = -ENOMEM;

    h.before = calloc(places, sizeof(*h.before));
    h.from = calloc(config->nranks * places, sizeof(*h.from));
    if (row && ways && h.before && h.from) {
        for (int64_t i = 0; i < h.n; i++)
            h.before[i + 1] = h.before[i] + lbp_profile_work(profile, i, i + 1);
        h.here = row;
        h.next = row + places;
        h.way = ways;
        h.least = ways + places;
        h.queue = ways + 2 * places;
        choose(&h, lbp_least_time(feasible, &h, least_ns) * (1 + config->slack), old, ret_bound);
        ret = 0;
    }
    free(row);
    free(ways);
    free(h.before);
    free(h.from);
    return ret;
}
