/* SPDX-License-Identifier: BSD-3-Clause */
/* Forecasting by analogy. */
#include "policy/forecast_analogue.h"

#include <math.h>

#define NEAR_LEAST 20   /* so many of the nearest moments answer, */
#define NEAR_PART .25f  /* or this part of those remembered if that is more; half of them at most */
#define FAR_WEIGHT .05f /* of the farthest of them; the nearest can have 1 more */

static const float length[LBP_ANALOGUE_LENGTHS] = {1.f / 6, 2.f / 3, 8.f / 3}; /* of `ahead` */

struct near {
    float distance, came;
};

void lbp_moment_add(struct lbp_moment *m, unsigned n, unsigned ahead, float value)
{
    for (int i = 0; i < LBP_ANALOGUE_LENGTHS; i++) {
        float newest = fminf(1, 2 / (1 + fmaxf(1, length[i] * (float)ahead)));

        newest = fmaxf(newest, 1 / ((float)n + 1)); /* at first the mean of what there is */
        m->load[i] = n == 0 ? value : m->load[i] + newest * (value - m->load[i]);
    }
}

void lbp_analogue_remember(struct lbp_analogue *a, const struct lbp_moment *m, float came)
{
    a->moment[a->head] = *m;
    a->came[a->head] = came;
    a->head = (a->head + 1) % LBP_ANALOGUE_MEMORY;
    a->n += a->n < LBP_ANALOGUE_MEMORY;
}

static void swap(struct near *a, struct near *b)
{
    struct near was = *a;

    *a = *b;
    *b = was;
}

/* Bring the k nearest of n to the front, in any order; 0 < k < n.  Hoare's selection. */
static void select_nearest(struct near *v, unsigned n, unsigned k)
{
    unsigned from = 0, to = n - 1;

    while (from < to) {
        float pivot = v[from + (to - from) / 2].distance;
        unsigned i = from, j = to;

        for (;; i++, j--) {
            while (v[i].distance < pivot)
                i++;
            while (v[j].distance > pivot)
                j--;
            if (i >= j)
                break;
            swap(&v[i], &v[j]);
        }
        if (k - 1 <= j)
            to = j;
        else
            from = j + 1;
    }
}

/* By what came, the least first; few. */
static void sort_by_came(struct near *v, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        struct near x = v[i];
        unsigned j = i;

        for (; j > 0 && x.came < v[j - 1].came; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

/* The median of what came, weighted by nearness. */
static float weighted_median(struct near *v, unsigned n)
{
    float farthest = 0, sum = 0, half = 0;
    unsigned i;

    for (i = 0; i < n; i++)
        farthest = fmaxf(farthest, v[i].distance);
    sort_by_came(v, n);
    for (i = 0; i < n; i++) { /* from here on `distance` is the weight */
        float part = farthest > 0 ? v[i].distance / farthest : 0;

        v[i].distance = 1 - part * part + FAR_WEIGHT;
        sum += v[i].distance;
    }
    for (i = 0; i < n - 1; i++) {
        half += v[i].distance;
        if (half >= sum / 2)
            break;
    }
    return v[i].came;
}

bool lbp_analogue_ask(const struct lbp_analogue *a, const struct lbp_moment *m, float *ret_value)
{
    struct near near[LBP_ANALOGUE_MEMORY];
    unsigned k = (unsigned)(NEAR_PART * (float)a->n);

    if (a->n < LBP_ANALOGUE_LEAST)
        return false;
    k = k < NEAR_LEAST ? NEAR_LEAST : k;
    k = k > a->n / 2 ? a->n / 2 : k;
    for (unsigned i = 0; i < a->n; i++) {
        near[i] = (struct near){0, a->came[i]};
        for (int l = 0; l < LBP_ANALOGUE_LENGTHS; l++)
            near[i].distance += fabsf(a->moment[i].load[l] - m->load[l]);
    }
    select_nearest(near, a->n, k);
    *ret_value = weighted_median(near, k);
    return true;
}
