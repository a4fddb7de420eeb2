/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the iterations of a loop cost, by their place in the loop.
 *
 * This file takes what was measured; policy/profile_cost.c makes estimates of it.
 * Source: ours.
 */
#include "policy/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/profile_impl.h"

/* What was seen in a bin counts half after so many passes over it, when nobody says how many; */
#define KEEP 2.0
/* and also, whatever was said, when so many measurements running were off to the same side by so much, ratio: the cost has changed. */
#define LASTS 4
#define OFF 0.06
/* Iterations that take less than this part of what they took the first time had touched their memory then for the first time. */
#define COLD 0.6
/* A measurement changes the scatter of costs by this part of the difference; */
#define LEARN 0.1
/* and a round of comparisons, one pass over the loop, changes what two measurements differ by by one over this. */
#define ROUNDS 3

void lbp_profile_init(struct lbp_profile *p, int64_t n)
{
    memset(p, 0, sizeof(*p));
    p->n = n > 0 ? n : 0;
    p->width = p->n / LBP_PROFILE_BINS + (p->n % LBP_PROFILE_BINS != 0);
    if (p->width < 1)
        p->width = 1;
    p->nbins = (int)(p->n / p->width + (p->n % p->width != 0));
    p->differ = -1;
    p->keep = KEEP;
    p->dirty = true;
}

void lbp_profile_even(struct lbp_profile *p)
{
    p->even = true;
}

void lbp_profile_keep(struct lbp_profile *p, double passes)
{
    p->keep = fmax(KEEP, passes);
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

/* Compare with what was estimated last, as it is: no need to be up to date with each sample. */
static void add_scatter(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    double thought = p->cost[(first + (last - first) / 2) / p->width] * (double)(last - first);
    double square = (work - thought) * (work - thought) / (double)(last - first);

    if (thought > 0)
        p->scatter += LEARN * (square - p->scatter);
}

/* As much was compared as the loop has: what all of it has in common (a cold start, a processor's clock) is no difference. */
static void end_round(struct lbp_profile *p)
{
    double n = p->round.n, mean = p->round.off / p->round.iterations, variance;

    if (n > 1) {
        /* two measurements differ by the errors of both, and their sum is twice what it should be */
        variance = 2 * (p->round.square / p->round.iterations - mean * mean) * n / (n - 1);
        p->differ = p->differ < 0 ? variance : p->differ + (variance - p->differ) / ROUNDS;
    }
    memset(&p->round, 0, sizeof(p->round));
}

/*
 * A first measurement of cold memory says nothing of what comes: it is forgotten in the bins that the span covers.  Whole bins alone,
 * as in a part of one iterations may be others.  Returns whether it was.
 */
static bool forget_first(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    int from = (int)((first + p->width - 1) / p->width), to = (int)(last / p->width);
    double seen = 0, took = 0;

    for (int bin = from; bin < to; bin++) {
        if (p->iterations[bin] > (double)p->width)
            return false;
        seen += p->iterations[bin];
        took += p->work[bin];
    }
    if (seen < (double)(last - first) / 2 || work / (double)(last - first) >= COLD * took / seen)
        return false;
    for (int bin = from; bin < to; bin++) {
        p->iterations[bin] = p->work[bin] = p->cost[bin] = p->latest[bin] = 0;
        p->off[bin] = 0;
    }
    return true;
}

/* Compare with what the same span took the last time: of another the difference would be the iterations'. */
static void compare(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    int from = (int)(first / p->width), to = (int)((last - 1) / p->width);
    bool same = p->first[from] == first && p->last[from] == last && p->first[to] == first &&
                p->last[to] == last && p->latest[from] > 0;
    double size = (double)(last - first), off;

    if (same) {
        off = (work - p->latest[from]) / (work + p->latest[from]);
        p->round.iterations += size;
        p->round.off += size * off;
        p->round.square += size * off * off;
        p->round.n++;
        if (p->round.iterations >= (double)p->n)
            end_round(p);
    }
    for (int bin = from; bin <= to; bin++) {
        p->first[bin] = first;
        p->last[bin] = last;
        p->latest[bin] = work;
    }
}

/* Is it off what was seen, and to which side?  Not off what is believed, which is always nearer to the mean. */
static void watch(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    int mid = (int)((first + (last - first) / 2) / p->width);
    double seen =
        p->iterations[mid] > 0 ? p->work[mid] / p->iterations[mid] * (double)(last - first) : work;
    int side = (work > (1 + OFF) * seen) - (work < (1 - OFF) * seen);

    for (int bin = (int)(first / p->width); bin < p->nbins && lbp_profile_bin_first(p, bin) < last;
         bin++)
        p->off[bin] = side * p->off[bin] > 0 ? p->off[bin] + side : side;
}

double lbp_profile_error(const struct lbp_profile *p, double iterations)
{
    return iterations > 0 ? sqrt(p->scatter * iterations) : 0;
}

static bool is_good(const struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    return first >= 0 && last <= p->n && first < last && isfinite(work) && work >= 0;
}

static void add(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    double each = work / (double)(last - first);

    add_scatter(p, first, last, work);
    for (int bin = (int)(first / p->width); bin < p->nbins && lbp_profile_bin_first(p, bin) < last;
         bin++) {
        int64_t a = first > lbp_profile_bin_first(p, bin) ? first : lbp_profile_bin_first(p, bin);
        int64_t end = lbp_profile_bin_first(p, bin) + lbp_profile_bin_size(p, bin);
        int64_t b = last < end ? last : end;

        p->iterations[bin] += (double)(b - a);
        p->work[bin] += each * (double)(b - a);
        if (p->iterations[bin] >
            (abs(p->off[bin]) < LASTS ? p->keep : KEEP) * (double)lbp_profile_bin_size(p, bin)) {
            p->iterations[bin] /= 2;
            p->work[bin] /= 2;
        }
    }
    p->dirty = true;
}

void lbp_profile_add(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    if (!is_good(p, first, last, work))
        return;
    (void)forget_first(p, first, last, work);
    compare(p, first, last, work);
    watch(p, first, last, work);
    add(p, first, last, work);
}

void lbp_profile_add_whole(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    double thought = 0;

    if (!is_good(p, first, last, work))
        return;
    if (!forget_first(p, first, last, work) && lbp_profile_learned(p))
        thought = lbp_profile_work(p, first, last);
    compare(p, first, last, work);
    watch(p, first, last, work);
    if (!(thought > 0)) {
        add(p, first, last, work);
        return;
    }
    for (int64_t at = first, end; at < last; at = end) {
        int bin = (int)(at / p->width);

        end = lbp_profile_bin_first(p, bin) + lbp_profile_bin_size(p, bin);
        end = end < last ? end : last;
        add(p, at, end, work / thought * p->cost[bin] * (double)(end - at));
    }
}

bool lbp_profile_learned(const struct lbp_profile *p)
{
    for (int bin = 0; bin < p->nbins; bin++)
        if (p->iterations[bin] > 0)
            return true;
    return false;
}
