/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the iterations of a loop cost, by their place in the loop.
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
#include "policy/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVEN_RATIO 0.03 /* scatter below this is never structure */
#define KEEP 2.0 /* passes in a bin after which what was seen counts half, when nobody says, */
#define LASTS 4  /* and when so many measurements running were off to the same side, */
#define OFF 0.06 /* by so much, relative: that is no moment */
#define LEARN 0.1
#define ROUNDS 3 /* of comparisons, that a mean is of */
#define RECENT 4 /* bins that the value to the left is a mean of */

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

    for (int bin = (int)(first / p->width); bin < p->nbins && bin_first(p, bin) < last; bin++)
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
    for (int bin = (int)(first / p->width); bin < p->nbins && bin_first(p, bin) < last; bin++) {
        int64_t a = first > bin_first(p, bin) ? first : bin_first(p, bin);
        int64_t end = bin_first(p, bin) + bin_size(p, bin);
        int64_t b = last < end ? last : end;

        p->iterations[bin] += (double)(b - a);
        p->work[bin] += each * (double)(b - a);
        if (p->iterations[bin] >
            (abs(p->off[bin]) < LASTS ? p->keep : KEEP) * (double)bin_size(p, bin)) {
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
    compare(p, first, last, work);
    watch(p, first, last, work);
    add(p, first, last, work);
}

void lbp_profile_add_whole(struct lbp_profile *p, int64_t first, int64_t last, double work)
{
    double thought;

    if (!is_good(p, first, last, work))
        return;
    thought = lbp_profile_learned(p) ? lbp_profile_work(p, first, last) : 0;
    compare(p, first, last, work);
    watch(p, first, last, work);
    if (!(thought > 0)) {
        add(p, first, last, work);
        return;
    }
    for (int64_t at = first, end; at < last; at = end) {
        int bin = (int)(at / p->width);

        end = bin_first(p, bin) + bin_size(p, bin);
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

/* What the bins' costs are made of: variances, of all that was seen. */
struct scatter {
    double mean;
    double all;      /* round the mean */
    double even;     /* what is never structure */
    double measured; /* of it, what measuring puts there in a bin that was seen once */
    double rough;    /* what neighbours differ by */
    double passes;   /* seen in a bin, mean */
};

static void find_scatter(const struct lbp_profile *p, struct scatter *s)
{
    double iterations = 0, work = 0, steps = 0, size = 0;
    int last = -1, nsteps = 0;

    *s = (struct scatter){.mean = 1};
    for (int bin = 0; bin < p->nbins; bin++) {
        iterations += p->iterations[bin];
        work += p->work[bin];
        size += p->iterations[bin] > 0 ? (double)bin_size(p, bin) : 0;
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
        off = p->work[bin] / p->iterations[bin] - s->mean;
        s->all += p->iterations[bin] / iterations * off * off;
        if (last >= 0) {
            double step = p->work[bin] / p->iterations[bin] - p->work[last] / p->iterations[last];

            steps += step * step / 2;
            nsteps++;
        }
        last = bin;
    }
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

    for (int bin = from; bin < to; bin++) {
        if (p->iterations[bin] > 0) {
            double passes = p->iterations[bin] / (double)bin_size(p, bin);
            /* seen again and again: believed, as far as measuring can be */
            double own = passes > 1 ? 1 - 1 / passes : 0;
            double raw = p->work[bin] / p->iterations[bin], value;

            if (s->measured > s->even)
                own = fmin(own, structure(s, passes, 0));
            value = mean + (own > share ? own : share) * (raw - mean);
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
