/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What iterations are thought to cost, by what was measured of them, and how many of them make up some work.
 *
 * A bin that was not seen takes the recent mean of the bins left of it in the same first block
 * (ranks work from left to right), else the nearest on its right in that block, else the mean of
 * all.  A loop may be even and the samples noisy: then single bins must not be believed.  How much
 * of the scatter is structure is told by von Neumann's ratio: neighbours of a smooth loop are
 * alike, neighbours of noise are as different as any two bins.  But all that is measured at one
 * time in one place is wrong alike, where ranks take processor time from each other; so, second,
 * what one span took at different times tells how much of the scatter is of the measuring.  The
 * estimates shrink to the mean by both.
 * Source: ours.
 */
#include <math.h>
#include <string.h>

#include "policy/profile_impl.h"

/* Scatter of costs below this, relative to their mean, is never structure. */
#define EVEN_RATIO 0.03
/* A bin that was not seen takes the mean of so many to the left of it. */
#define RECENT 4

/* What the bins' costs are made of: variances, of all that was seen. */
struct scatter {
    double mean;
    double all;                   /* round the mean */
    double even;                  /* what is never structure */
    double measured;              /* of it, what measuring puts there in a bin that was seen once */
    double rough;                 /* what neighbours differ by */
    double passes;                /* seen in a bin, mean */
    double raw[LBP_PROFILE_BINS]; /* what an iteration took; of bins that were seen */
};

static void find_scatter(const struct lbp_profile *p, struct scatter *s)
{
    double iterations = 0, work = 0, all = 0, steps = 0, size = 0;
    int last = -1, nsteps = 0;

    s->mean = 1;
    s->all = s->even = s->measured = s->rough = s->passes = 0;
    for (int bin = 0; bin < p->nbins; bin++) {
        iterations += p->iterations[bin];
        work += p->work[bin];
        size += p->iterations[bin] > 0 ? (double)lbp_profile_bin_size(p, bin) : 0;
    }
    if (iterations <= 0)
        return;
    s->mean = work / iterations;
    s->passes = iterations / size;
    for (int bin = 0; bin < p->nbins; bin++) {
        double off;

        if (p->begins[bin])
            last = -1;
        if (p->iterations[bin] <= 0)
            continue;
        s->raw[bin] = p->work[bin] / p->iterations[bin];
        off = s->raw[bin] - s->mean;
        all += p->iterations[bin] / iterations * off * off;
        if (last >= 0) {
            double step = s->raw[bin] - s->raw[last];

            steps += step * step / 2;
            nsteps++;
        }
        last = bin;
    }
    s->all = all;
    s->rough = nsteps > 0 ? steps / nsteps : 0;
    s->even = EVEN_RATIO * EVEN_RATIO * s->mean * s->mean;
    s->measured = fmax(0, p->differ) * (s->mean * s->mean + s->all);
}

/* Share of the scatter that is structure, 0 to 1, where bins were seen so often and neighbours differ by rough at random. */
static double structure(const struct scatter *s, double passes, double rough)
{
    double noise = fmax(s->even, s->measured / fmax(1, passes)) + rough;

    return s->all > noise ? 1 - noise / s->all : 0;
}

/* Fill the estimates of bins [from, to), one first block. */
static void fill_block(struct lbp_profile *p, int from, int to, const struct scatter *s)
{
    double share = structure(s, s->passes, s->rough), mean = s->mean;
    double recent = 0;
    int seen = 0, open = from;
    bool holes = false;

    for (int bin = from; bin < to; bin++)
        holes |= p->iterations[bin] <= 0;
    for (int bin = from; bin < to; bin++) {
        if (p->iterations[bin] > 0) {
            double passes = p->iterations[bin] / (double)lbp_profile_bin_size(p, bin);
            /* seen again and again: believed, as far as measuring can be */
            double own = passes > 1 ? 1 - 1 / passes : 0;
            double raw = s->raw[bin], value;

            if (s->measured > s->even)
                own = fmin(own, structure(s, passes, 0));
            value = mean + (own > share ? own : share) * (raw - mean);
            seen++;
            /* each waits for the one before it: not where nobody asks, and no division but where there are few */
            if (holes)
                recent += seen < RECENT ? (raw - recent) / seen : (raw - recent) * (1. / RECENT);
            p->cost[bin] = value;
            if (open >= 0)
                for (; open < bin; open++)
                    p->cost[open] = mean + share * (raw - mean);
            open = -1;
        } else if (seen > 0) {
            p->cost[bin] = mean + share * (recent - mean);
        }
    }
    if (open >= 0)
        for (; open < to; open++)
            p->cost[open] = mean;
}

static void refresh(struct lbp_profile *p)
{
    struct scatter s;

    if (!p->dirty)
        return;
    find_scatter(p, &s);
    for (int from = 0, to; from < p->nbins; from = to) {
        for (to = from + 1; to < p->nbins && !p->begins[to];)
            to++;
        fill_block(p, from, to, &s);
    }
    p->before[0] = 0;
    for (int bin = 0; bin < p->nbins; bin++)
        p->before[bin + 1] = p->before[bin] + p->cost[bin] * (double)lbp_profile_bin_size(p, bin);
    p->dirty = false;
}

/* Work of [0, i); refreshed. */
static double work_before(const struct lbp_profile *p, int64_t i)
{
    int bin = (int)(i / p->width);

    if (i >= p->n)
        return p->before[p->nbins];
    return p->before[bin] + p->cost[bin] * (double)(i - lbp_profile_bin_first(p, bin));
}

double lbp_profile_work(struct lbp_profile *p, int64_t first, int64_t last)
{
    if (first < 0)
        first = 0;
    if (last > p->n)
        last = p->n;
    if (first >= last)
        return 0;
    refresh(p);
    if (first / p->width ==
        (last - 1) / p->width) /* exact for the shortest spans of the longest loops */
        return p->cost[first / p->width] * (double)(last - first);
    return work_before(p, last) - work_before(p, first);
}

double lbp_profile_mean(struct lbp_profile *p)
{
    refresh(p);
    return p->n > 0 ? p->before[p->nbins] / (double)p->n : 1;
}

int64_t lbp_profile_take(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    int64_t lo, hi;

    if (first < 0)
        first = 0;
    if (last > p->n)
        last = p->n;
    if (first >= last || !(work > 0))
        return 0;
    /* the least count whose work reaches what is asked for */
    lo = 0;
    hi = last - first;
    if (lbp_profile_work(p, first, last) <= work)
        return hi;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;

        if (lbp_profile_work(p, last - mid, last) >= work)
            hi = mid;
        else
            lo = mid + 1;
    }
    if (lo > 0 && work - lbp_profile_work(p, last - lo + 1, last) <
                      lbp_profile_work(p, last - lo, last) - work)
        lo--;
    return lo;
}

/* Iterations of one cost that work is enough for; a whisker more, so that what was summed up comes out again. */
static int64_t afford(double work, double cost, int64_t most)
{
    double k = cost > 0 ? floor(work / cost * (1 + 1e-12) + 1e-9) : (double)most;

    return k >= (double)most ? most : k > 0 ? (int64_t)k : 0;
}

int64_t lbp_profile_reach(struct lbp_profile *p, int64_t first, double work, int *hint)
{
    int bin = *hint;

    refresh(p);
    while (bin < p->nbins && lbp_profile_bin_first(p, bin) + lbp_profile_bin_size(p, bin) <= first)
        bin++;
    for (; bin < p->nbins; bin++) {
        int64_t end = lbp_profile_bin_first(p, bin) + lbp_profile_bin_size(p, bin);
        int64_t k = afford(work, p->cost[bin], end - first);

        first += k;
        work -= (double)k * p->cost[bin];
        if (first < end)
            break;
    }
    *hint = bin < p->nbins ? bin : p->nbins - 1;
    return first;
}

int64_t lbp_profile_reach_down(struct lbp_profile *p, int64_t last, double work, int *hint)
{
    int bin = *hint;

    refresh(p);
    while (bin >= 0 && lbp_profile_bin_first(p, bin) >= last)
        bin--;
    for (; bin >= 0; bin--) {
        int64_t k = afford(work, p->cost[bin], last - lbp_profile_bin_first(p, bin));

        last -= k;
        work -= (double)k * p->cost[bin];
        if (last > lbp_profile_bin_first(p, bin))
            break;
    }
    *hint = bin > 0 ? bin : 0;
    return last;
}
