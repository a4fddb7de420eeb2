/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of stepped loops share: 1000 iterations, a half for each of two ranks, which report what they did. */
#ifndef TESTS_UNIT_POLICY_HALVES_H
#define TESTS_UNIT_POLICY_HALVES_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/stepped.h"

#define MS INT64_C(1000000)

static const int64_t even[3] = {0, 500, 1000};
static struct lbp_stepped_action action[LBP_STEPPED_ACTIONS]; /* [n], by the last report */
static size_t n;

/* Steps of the rank's half, of 50 ms of CPU time in all. */
static inline struct lbp_stepped_report did(uint32_t rank, int64_t step, int64_t steps,
                                            int64_t wall_ns)
{
    return (struct lbp_stepped_report){.rank = rank,
                                       .step = step,
                                       .steps = steps,
                                       .first = even[rank],
                                       .last = even[rank + 1],
                                       .wall_ns = wall_ns,
                                       .cpu_ns = 50 * MS,
                                       .shift_iterations = -1};
}

static inline int say(struct lbp_stepped *s, struct lbp_stepped_report r, int64_t now_ns)
{
    return lbp_stepped_report(s, &r, now_ns, action, &n);
}

static inline struct lbp_stepped *make_with(const char *policy)
{
    struct lbp_stepped_config c = {.kind = LBP_STEPPED, .nranks = 2, .n = 1000, .first_epoch = 1};
    struct lbp_stepped *s;

    ck_assert_int_eq(lbp_params_parse(&c.params, policy, NULL), 0);
    ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), 0);
    return s;
}

static inline struct lbp_stepped *make(void)
{
    return make_with("auto");
}

#endif
