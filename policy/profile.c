/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the iterations of a loop cost, by their place in the loop.
 *
 * A bin that was not seen takes the recent mean of the bins left of it in the same first block
 * (ranks work from left to right), else the nearest on its right in that block, else the mean of
 * all.  A loop may be even and the samples noisy: then single bins must not be believed.  How much
 * of the scatter is structure is told by von Neumann's ratio: neighbours of a smooth loop are
 * alike, neighbours of noise are as different as any two bins.  The estimates shrink to the mean by
 * it. Source: ours.
 */
#include "policy/profile.h"

#include <math.h>
#include <string.h>

#define EVEN_RATIO 0.03 /* scatter below this is never structure */
#define FADE_AT 2.0     /* passes in a bin after which what was seen counts half */
#define LEARN 0.1
#define RECENT 4 /* bins that the value to the left is a mean of */

void lbp_profile_init(struct lbp_profile *p, int64_t n)
{
    memset(p, 0, sizeof(*p));
    p->n = n > 0 ? n : 0;
    p->width = p->n / LBP_PROFILE_BINS + (p->n % LBP_PROFILE_BINS != 0);
    if (p->width < 1)
        p->width = 1;
    p->nbins = (int)(p->n / p->width + (p->n % p->width != 0));
    p->dirty = true;
}

void lbp_profile_even(struct lbp_profile *p)
{
    p->even = true;
}

double lbp_profile_counted(struct lbp_profile *p, int64_t iterations, double work)
{
    if (!p->even || iterations <= 0)
        return work;
    if (p->unit <= 0 && work > 0)
        p->unit = work / (double)iterations;
    return p->unit * (double)iterations;
}

void lbp_profile_begin(struct lbp_profile *p, int64_t first)
{
    if (first >= 0 && first < p->n) {
        p->begins[first / p->width] = true;
        p->dirty = true;
    }
}

static int64_t bin_first(const struct lbp_profile *p, int bin)
{
    return (int64_t)bin * p->width;
}

static int64_t bin_size(const struct lbp_profile *p, int bin)
{
    int64_t rest = p->n - bin_first(p, bin);

    return rest < p->width ? rest : p->width;
}

/* Compare with what was estimated last, as it is: no need to be up to date with each sample. */
static void add_scatter(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    double thought = p->cost[(first + (last - first) / 2) / p->width] * (double)(last - first);
    double square = (work - thought) * (work - thought) / (double)(last - first);

    if (thought > 0)
        p->scatter += LEARN * (square - p->scatter);
}

double lbp_profile_error(const struct lbp_profile *p, double iterations)
{
    return iterations > 0 ? sqrt(p->scatter * iterations) : 0;
}

void lbp_profile_add(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    double each;

    if (first < 0 || last > p->n || first >= last || !isfinite(work) || work < 0)
        return;
    add_scatter(p, first, last, work);
    each = work / (double)(last - first);
    for (int bin = (int)(first / p->width); bin < p->nbins && bin_first(p, bin) < last; bin++) {
        int64_t a = first > bin_first(p, bin) ? first : bin_first(p, bin);
        int64_t end = bin_first(p, bin) + bin_size(p, bin);
        int64_t b = last < end ? last : end;

        p->iterations[bin] += (double)(b - a);
        p->work[bin] += each * (double)(b - a);
        if (p->iterations[bin] > FADE_AT * (double)bin_size(p, bin)) {
            p->iterations[bin] /= 2;
            p->work[bin] /= 2;
        }
    }
    p->dirty = true;
}

void lbp_profile_add_whole(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    double thought;

    if (first < 0 || last > p->n || first >= last || !isfinite(work) || work < 0)
        return;
    thought = lbp_profile_learned(p) ? lbp_profile_work(p, first, last) : 0;
    if (!(thought > 0)) {
        lbp_profile_add(p, first, last, work);
        return;
    }
    for (int64_t at = first, end; at < last; at = end) {
        int bin = (int)(at / p->width);

        end = bin_first(p, bin) + bin_size(p, bin);
        end = end < last ? end : last;
        lbp_profile_add(p, at, end, work / thought * p->cost[bin] * (double)(end - at));
    }
}

bool lbp_profile_learned(const struct lbp_profile *p)
{
    for (int bin = 0; bin < p->nbins; bin++)
        if (p->iterations[bin] > 0)
            return true;
    return false;
}

/* Share of the scatter between bins that is structure, 0 to 1; ret_mean[out] of all that was seen.
 */
static double structure(const struct lbp_profile *p, double *ret_mean)
{
    double iterations = 0, work = 0, scatter = 0, steps = 0, mean;
    int last = -1, nsteps = 0;
    double noise;

    for (int bin = 0; bin < p->nbins; bin++) {
        iterations += p->iterations[bin];
        work += p->work[bin];
    }
    *ret_mean = mean = iterations > 0 ? work / iterations : 1;
    if (iterations <= 0)
        return 0;
    for (int bin = 0; bin < p->nbins; bin++) {
        double off;

        if (p->begins[bin])
            last = -1;
        if (p->iterations[bin] <= 0)
            continue;
        off = p->work[bin] / p->iterations[bin] - mean;
        scatter += p->iterations[bin] / iterations * off * off;
        if (last >= 0) {
            double step = p->work[bin] / p->iterations[bin] - p->work[last] / p->iterations[last];

            steps += step * step / 2;
            nsteps++;
        }
        last = bin;
    }
    noise = EVEN_RATIO * EVEN_RATIO * mean * mean;
    if (nsteps > 0)
        noise += steps / nsteps;
    return scatter > noise ? 1 - noise / scatter : 0;
}

/* Fill the estimates of bins [from, to), one first block. */
static void fill_block(struct lbp_profile *p, int from, int to, double share, double mean)
{
    double recent = 0;
    int seen = 0, open = from;

    for (int bin = from; bin < to; bin++) {
        if (p->iterations[bin] > 0) {
            double passes = p->iterations[bin] / (double)bin_size(p, bin);
            double own = passes > 1 ? 1 - 1 / passes : 0; /* seen again and again: believed */
            double raw = p->work[bin] / p->iterations[bin];
            double value = mean + (own > share ? own : share) * (raw - mean);

            seen++;
            recent += (raw - recent) / (seen < RECENT ? seen : RECENT);
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
    double mean, share;

    if (!p->dirty)
        return;
    share = structure(p, &mean);
    for (int from = 0, to; from < p->nbins; from = to) {
        for (to = from + 1; to < p->nbins && !p->begins[to];)
            to++;
        fill_block(p, from, to, share, mean);
    }
    p->before[0] = 0;
    for (int bin = 0; bin < p->nbins; bin++)
        p->before[bin + 1] = p->before[bin] + p->cost[bin] * (double)bin_size(p, bin);
    p->dirty = false;
}

/* Work of [0, i); refreshed. */
static double work_before(const struct lbp_profile *p, int64_t i)
{
    int bin = (int)(i / p->width);

    if (i >= p->n)
        return p->before[p->nbins];
    return p->before[bin] + p->cost[bin] * (double)(i - bin_first(p, bin));
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
    while (bin < p->nbins && bin_first(p, bin) + bin_size(p, bin) <= first)
        bin++;
    for (; bin < p->nbins; bin++) {
        int64_t end = bin_first(p, bin) + bin_size(p, bin);
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
    while (bin >= 0 && bin_first(p, bin) >= last)
        bin--;
    for (; bin >= 0; bin--) {
        int64_t k = afford(work, p->cost[bin], last - bin_first(p, bin));

        last -= k;
        work -= (double)k * p->cost[bin];
        if (last > bin_first(p, bin))
            break;
    }
    *hint = bin > 0 ? bin : 0;
    return last;
}
