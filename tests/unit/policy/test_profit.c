/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/profit.c: what a plan must bring, and for how long. */
#include "policy/profit.h"

#include <check.h>

#include "tests/unit/suite.h"

#define S 1000000000.0

static struct lbp_profit made(double ratio, double stable_ns)
{
    struct lbp_profit p;

    lbp_profit_init(&p, 0, 0);
    lbp_horizon_expect(&p.horizon, 3 * S);
    lbp_profit_set(&p, ratio, stable_ns);
    return p;
}

/* Left to itself it gives benefits twice their weight at first, and less after plans that lost. */
START_TEST(test_automatic)
{
    struct lbp_profit p = made(-1, -1);

    ck_assert(lbp_profit_pays(&p, 0.1, 1 * S, 0.19 * S, 0));
    ck_assert(!lbp_profit_pays(&p, 0.1, 1 * S, 0.21 * S, 0));
    lbp_profit_outcome(&p, 1 * S, 0, 1 * S);
    ck_assert(!lbp_profit_pays(&p, 0.1, 1 * S, 0.19 * S, 0));
    /* a gain lasts as long as speeds were seen to stay */
    ck_assert_double_eq_tol(lbp_profit_benefit_ns(&p, 0.1, 100 * S, 0), 0.3 * S, 1);
    ck_assert_double_eq_tol(lbp_profit_benefit_ns(&p, 0.1, 100 * S, (int64_t)(5 * S)), 0.5 * S, 1);
}
END_TEST

/* A person's ratio is kept to, whatever plans have brought. */
START_TEST(test_ratio)
{
    static const double ratio[] = {0.5, 1, 4};

    for (int i = 0; i < 3; i++) {
        struct lbp_profit p = made(ratio[i], -1);

        for (int k = 0; k < 3; k++) {
            ck_assert(lbp_profit_pays(&p, 0.1, 1 * S, 0.099 * S / ratio[i], 0));
            ck_assert(!lbp_profit_pays(&p, 0.1, 1 * S, 0.101 * S / ratio[i], 0));
            lbp_profit_outcome(&p, 1 * S, k == 1 ? 5 * S : 0, 1 * S);
        }
    }
}
END_TEST

/* What a byte costs is told by moves of many: one of few that was held up for a moment changes it little. */
START_TEST(test_bytes)
{
    struct lbp_profit p = made(-1, -1);
    double before;

    for (int k = 0; k < 4; k++)
        lbp_profit_moved(&p, 10000000, 41 * 1000000, 0);
    before = lbp_profit_transfer_ns(&p, 10e6);
    ck_assert_double_eq_tol(before, 41e6, 0.1e6);
    lbp_profit_moved(&p, 100000, 41 * 1000000, 0);
    ck_assert_double_lt(lbp_profit_transfer_ns(&p, 10e6), 1.5 * before);
    lbp_profit_moved(&p, 10000000, 81 * 1000000, 0);
    ck_assert_double_gt(lbp_profit_transfer_ns(&p, 10e6), 1.2 * before);
}
END_TEST

/* Zero: any gain will do, but no loss. */
START_TEST(test_never_mind_the_cost)
{
    struct lbp_profit p = made(0, -1);

    ck_assert(lbp_profit_pays(&p, 1e-6, 1 * S, 1000 * S, 0));
    ck_assert(!lbp_profit_pays(&p, 0, 1 * S, 0, 0));
    ck_assert(!lbp_profit_pays(&p, -0.1, 1 * S, 0, 0));
}
END_TEST

START_TEST(test_stable)
{
    struct lbp_profit p = made(1, 10 * S);

    for (int64_t t = 0; t < 50; t += 10) { /* neither changes nor quiet times alter it */
        ck_assert_double_eq(lbp_horizon_ns(&p.horizon, t * (int64_t)S), 10 * S);
        ck_assert_double_eq_tol(lbp_profit_benefit_ns(&p, 0.1, 100 * S, t * (int64_t)S), 1 * S, 1);
        lbp_horizon_changed(&p.horizon, t * (int64_t)S);
    }
}
END_TEST

int main(void)
{
    TCase *t = suite_case("profit");

    tcase_add_test(t, test_automatic);
    tcase_add_test(t, test_bytes);
    tcase_add_test(t, test_ratio);
    tcase_add_test(t, test_never_mind_the_cost);
    tcase_add_test(t, test_stable);
    return suite_run("profit", t);
}
