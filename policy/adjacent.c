/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans that keep a block distribution. */
#include "policy/adjacent.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/adjacent_halo.h"
#include "policy/least_time.h"

/* Each so many ranks it is looked whether the rest can still do what remains, */
#define LOOK 64
/* relative to their speed, from which much was subtracted: so much is rounding. */
#define ROUNDING 1e-6

struct row {
    const struct lbp_adjacent_config *c;
    struct lbp_profile *profile;
    double speed; /* of all ranks together */
};

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

double lbp_adjacent_time_ns(struct lbp_profile *profile, const double *speed, uint32_t nranks,
                            const int64_t *bound)
{
    double longest = 0;

    for (uint32_t r = 0; r < nranks; r++) {
        double work = lbp_profile_work(profile, bound[r], bound[r + 1]);

        if (work > 0)
            longest = fmax(longest, speed[r] > 0 ? work / speed[r] : INFINITY);
    }
    return longest;
}

/* Can all be done in t ns?  As soon as what remains is too much for the rest, it cannot. */
static bool feasible(void *arg, double t)
{
    const struct row *row = arg;
    const struct lbp_adjacent_config *c = row->c;
    double speed = row->speed;
    int64_t at = 0;
    int hint = 0;

    for (uint32_t r = 0; r < c->nranks && at < row->profile->n; r++) {
        if (r % LOOK == 0 && r > 0 &&
            lbp_profile_work(row->profile, at, row->profile->n) > t * speed * (1 + ROUNDING))
            return false;
        speed -= c->speed[r];
        at = lbp_profile_reach(row->profile, at, t * c->speed[r], &hint);
    }
    return at >= row->profile->n;
}

/* The least time by whole iterations: from the ideal on, to one longest iteration more on the slowest rank that is used. */
static double least_time(const struct lbp_adjacent_config *c, struct lbp_profile *profile)
{
    struct row row = {.c = c, .profile = profile};

    for (uint32_t r = 0; r < c->nranks; r++)
        row.speed += c->speed[r];
    return lbp_least_time(feasible, &row, lbp_profile_work(profile, 0, profile->n) / row.speed);
}

/* Within time t, as near to old as can be.  low[r]: the ranks from r on can do everything from there in time. */
static void choose(const struct lbp_adjacent_config *c, struct lbp_profile *profile, double t,
                   const int64_t *old, int64_t *low, int64_t *bound)
{
    int hint = profile->nbins - 1;

    low[c->nranks] = profile->n;
    for (uint32_t r = c->nranks; r-- > 0;)
        low[r] = lbp_profile_reach_down(profile, low[r + 1], t * c->speed[r], &hint);
    hint = 0;
    bound[0] = 0;
    for (uint32_t r = 0; r + 1 < c->nranks; r++) {
        int64_t near = low[r + 1] > bound[r] ? low[r + 1] : bound[r];
        int64_t want = old[r + 1] > near ? old[r + 1] : near, far;

        /* only who cannot do so much is asked how far he comes: the hint must not run ahead of the bounds */
        if (lbp_profile_work(profile, bound[r], want) > t * c->speed[r]) {
            far = lbp_profile_reach(profile, bound[r], t * c->speed[r], &hint);
            want = clamp(want, near, far > near ? far : near); /* rounding: far a whisker before */
        }
        bound[r + 1] = want;
    }
    bound[c->nranks] = profile->n;
}

/* Move the bounds over ranks (from, to] by d. */
static void shift(int64_t *bound, uint32_t from, uint32_t to, int64_t d)
{
    for (uint32_t r = from + 1; r <= to; r++)
        bound[r] += d;
}

/* Does a rank own some, and fewer than it may? */
static bool too_few(const struct lbp_adjacent_config *c, const int64_t *bound)
{
    for (uint32_t r = 0; r < c->nranks; r++)
        if (bound[r + 1] > bound[r] && bound[r + 1] - bound[r] < c->min_iterations)
            return true;
    return false;
}

/* A rank with too few either takes what it lacks from the neighbours that hold something, or gives them all. */
static void widen(const struct lbp_adjacent_config *c, int64_t *bound)
{
    int64_t least = c->min_iterations, left = -1; /* the holder before r */

    for (uint32_t r = 0; r < c->nranks; r++) {
        int64_t size = bound[r + 1] - bound[r], lack = least - size, over;
        uint32_t next = r + 1;

        if (size == 0)
            continue;
        while (next < c->nranks && bound[next + 1] == bound[next])
            next++;
        if (lack > 0 && lack <= size && next < c->nranks) {
            over = bound[next + 1] - bound[next] - least;
            over = over < lack ? over : lack;
            if (over > 0) {
                shift(bound, r, next, over);
                lack -= over;
            }
        }
        if (lack > 0 && size > 0 && left >= 0) {
            over = bound[left + 1] - bound[left] - least;
            if (over >= lack && lack <= size) {
                shift(bound, (uint32_t)left, r, -lack);
                lack = 0;
            }
        }
        if (lack > 0 && left >= 0)
            shift(bound, (uint32_t)left, r, bound[r + 1] - bound[r]);
        else if (lack > 0 && next < c->nranks)
            shift(bound, r, next, bound[r] - bound[r + 1]);
        if (bound[r + 1] > bound[r])
            left = r;
    }
}

static bool valid(const struct lbp_adjacent_config *c, const struct lbp_profile *profile,
                  const int64_t *old)
{
    double speed = 0;

    if (c->nranks < 1 || !(c->slack >= 0) || !isfinite(c->slack) || old[0] != 0 ||
        old[c->nranks] != profile->n)
        return false;
    for (uint32_t r = 0; r < c->nranks; r++) {
        if (!(c->speed[r] >= 0) || !isfinite(c->speed[r]) || old[r + 1] < old[r])
            return false;
        speed += c->speed[r];
    }
    return speed > 0 && isfinite(speed);
}

int lbp_adjacent_bounds(const struct lbp_adjacent_config *config, struct lbp_profile *profile,
                        const int64_t *old, int64_t *ret_bound)
{
    size_t n = (size_t)config->nranks + 1;
    int64_t *bound, *low;
    double least;
    int ret = 0;

    if (!valid(config, profile, old))
        return -EINVAL;
    bound = calloc(2 * n, sizeof(*bound));
    if (!bound)
        return -ENOMEM;
    low = bound + n;
    least = least_time(config, profile);
    choose(config, profile, least * (1 + config->slack), old, low, bound);
    if (config->min_iterations > 1 && too_few(config, bound)) {
        if (profile->n > config->min_iterations && lbp_adjacent_halo_is_small(config, profile->n))
            ret = lbp_adjacent_halo(config, profile, least, old, bound);
        else
            widen(config, bound);
    }
    if (ret == 0)
        memcpy(ret_bound, bound, n * sizeof(*bound));
    free(bound);
    return ret;
}

void lbp_adjacent_stop(const int64_t *at, const int64_t *target, uint32_t nranks,
                       int64_t min_iterations, int64_t *ret_bound)
{
    ret_bound[0] = at[0];
    ret_bound[nranks] = at[nranks];
    for (uint32_t b = 1; b < nranks; b++)
        ret_bound[b] = clamp(target[b], at[b - 1], at[b + 1]);
    for (uint32_t r = 0; r < nranks; r++) {
        int64_t size = ret_bound[r + 1] - ret_bound[r];

        if (size > 0 && size < min_iterations) {
            memcpy(ret_bound, target, ((size_t)nranks + 1) * sizeof(*ret_bound));
            return;
        }
    }
}

int64_t lbp_adjacent_most(const int64_t *old, const int64_t *new_bound, uint32_t nranks)
{
    int64_t most = 0;

    for (uint32_t r = 0; r < nranks; r++) {
        int64_t first = old[r] > new_bound[r] ? old[r] : new_bound[r];
        int64_t last = old[r + 1] < new_bound[r + 1] ? old[r + 1] : new_bound[r + 1];
        int64_t kept = last > first ? last - first : 0;
        int64_t sum = old[r + 1] - old[r] + new_bound[r + 1] - new_bound[r] - 2 * kept;

        most = sum > most ? sum : most;
    }
    return most;
}

int64_t lbp_adjacent_most_passed(const int64_t *old, const int64_t *new_bound, uint32_t nranks)
{
    int64_t most = 0;

    for (uint32_t r = 0; r < nranks; r++) {
        int64_t sum = llabs(new_bound[r] - old[r]) + llabs(new_bound[r + 1] - old[r + 1]);

        most = sum > most ? sum : most;
    }
    return most;
}
