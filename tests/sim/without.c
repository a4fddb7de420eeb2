/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lbsim with one mechanism of the policy switched off, for ablations: SIM_WITHOUT=NAME in its environment.  The calls to each mechanism
 * pass through here, by --wrap of the linker, so that nothing in the policy knows of it.
 *   nearness  new bounds of blocks need not be near the old ones
 *   least     bounds cut the work in proportion to the speeds, to the nearest iteration, and are not searched for the least time
 *   profile   every iteration is thought to cost the same
 *   pairs     one model of what moves cost for all pairs of ranks
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/adjacent.h"
#include "policy/pair_cost.h"
#include "policy/profile.h"

#define NEAR \
    0.003        /* SLACK of policy/stepped_decide.c; with more of it plans go a part of the way */
#define WIDE 1e9 /* slack with which bounds stay where they are but for halos */

int __real_lbp_adjacent_bounds(const struct lbp_adjacent_config *config,
                               struct lbp_profile *profile, const int64_t *old, int64_t *ret_bound);
void __real_lbp_profile_init(struct lbp_profile *p, int64_t n);
void __real_lbp_pair_cost_init(struct lbp_pair_cost *c, uint32_t nranks);
int __wrap_lbp_adjacent_bounds(const struct lbp_adjacent_config *config,
                               struct lbp_profile *profile, const int64_t *old, int64_t *ret_bound);
void __wrap_lbp_profile_init(struct lbp_profile *p, int64_t n);
void __wrap_lbp_pair_cost_init(struct lbp_pair_cost *c, uint32_t nranks);

static bool without(const char *name)
{
    static const char *const names[] = {"nearness", "least", "profile", "pairs"};
    const char *given = getenv("SIM_WITHOUT");

    if (!given)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(given, names[i]) == 0)
            return strcmp(given, name) == 0;
    fprintf(stderr, "SIM_WITHOUT=%s: no such mechanism\n", given);
    exit(2);
}

/* The bound to the left of which lies so much work, to the nearest iteration. */
static int64_t cut(struct lbp_profile *profile, double work)
{
    int64_t least = 0, most = profile->n;

    while (least < most) {
        int64_t middle = least + (most - least) / 2;

        if (lbp_profile_work(profile, 0, middle) + lbp_profile_work(profile, 0, middle + 1) <
            2 * work)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

static int proportional(const struct lbp_adjacent_config *config, struct lbp_profile *profile,
                        int64_t *ret_bound)
{
    struct lbp_adjacent_config wide = *config;
    int64_t *bound = calloc((size_t)config->nranks + 1, sizeof(*bound));
    double work = lbp_profile_work(profile, 0, profile->n), sum = 0, before = 0;
    int ret;

    if (!bound)
        return -ENOMEM;
    for (uint32_t r = 0; r < config->nranks; r++)
        sum += config->speed[r];
    for (uint32_t r = 1; r < config->nranks; r++) {
        before += config->speed[r - 1];
        bound[r] = cut(profile, work * before / sum);
    }
    bound[config->nranks] = profile->n;
    wide.slack = WIDE;
    ret = __real_lbp_adjacent_bounds(&wide, profile, bound, ret_bound);
    free(bound);
    return ret;
}

int __wrap_lbp_adjacent_bounds(const struct lbp_adjacent_config *config,
                               struct lbp_profile *profile, const int64_t *old, int64_t *ret_bound)
{
    struct lbp_adjacent_config exact = *config;

    if (without("least") && config->slack <= NEAR)
        return proportional(config, profile, ret_bound);
    if (without("nearness") && config->slack <= NEAR)
        exact.slack = 0;
    return __real_lbp_adjacent_bounds(&exact, profile, old, ret_bound);
}

void __wrap_lbp_profile_init(struct lbp_profile *p, int64_t n)
{
    __real_lbp_profile_init(p, n);
    if (without("profile"))
        lbp_profile_even(p);
}

void __wrap_lbp_pair_cost_init(struct lbp_pair_cost *c, uint32_t nranks)
{
    __real_lbp_pair_cost_init(c, without("pairs") ? 0 : nranks);
}
