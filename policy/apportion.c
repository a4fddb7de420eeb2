/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of a whole by weight, in whole numbers that add up. */
#include "policy/apportion.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct part {
    size_t index;
    int64_t share;
    double rest;
};

static int by_rest(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->rest != y->rest)
        return x->rest < y->rest ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

/* Whole parts, of which none is too large; returns what is left to give out. */
static int64_t give_whole(struct part *part, size_t n, int64_t total, const double *weight,
                          double sum)
{
    int64_t left = total;

    for (size_t i = 0; i < n; i++) {
        double exact = (double)total * ((weight ? weight[i] : 1) / sum);
        /* 2^63 itself would not fit */
        int64_t whole = exact >= 9.2e18 ? left : (int64_t)exact;

        part[i].index = i;
        part[i].share = whole < left ? whole : left;
        part[i].rest = weight && weight[i] <= 0 ? -1 : exact - (double)part[i].share;
        left -= part[i].share;
    }
    return left;
}

int lbp_apportion(int64_t total, const double *weight, size_t n, int64_t *ret_share)
{
    struct part *part;
    double sum = 0, greatest = 0;
    int64_t left;
    size_t takers = 0;

    if (total < 0 || n == 0 || n > SIZE_MAX / sizeof(*part))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1;

        if (!isfinite(w) || w < 0)
            return -EINVAL;
        takers += w > 0;
        sum += w;
        greatest = fmax(greatest, w);
    }
    if (greatest <= 0 || !isfinite(sum))
        return -EINVAL;
    part = calloc(n, sizeof(*part));
    if (!part)
        return -ENOMEM;
    left = give_whole(part, n, total, weight, sum);
    qsort(part, n, sizeof(*part), by_rest);
    /* beyond 2^53 rounding may leave more than one for each */
    for (size_t i = 0; i < takers && left > 0; i++) {
        int64_t more = left / (int64_t)(takers - i) + (left % (int64_t)(takers - i) != 0);

        part[i].share += more;
        left -= more;
    }
    for (size_t i = 0; i < n; i++)
        ret_share[part[i].index] = part[i].share;
    free(part);
    return 0;
}
