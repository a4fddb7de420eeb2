/* SPDX-License-Identifier: BSD-3-Clause */
/* What other bounds would have brought. */
#include "policy/backtest.h"

#include <check.h>
#include <stdlib.h>

static const double speed[2] = {1, 1};

/* One rank is always twice as slow: a third of the work is right for it. */
START_TEST(test_steady)
{
    struct lbp_backtest b;
    const double slow[2] = {1, 2}, work[2] = {3, 3}, other[2] = {4, 2};
    struct lbp_backtest_gain g;

    ck_assert_int_eq(lbp_backtest_init(&b, 2), 0);
    for (int i = 0; i < 5; i++)
        lbp_backtest_add(&b, slow, 10, i);
    g = lbp_backtest_compare(&b, INT64_MIN, work, other, speed);
    ck_assert_int_eq(g.slots, 5);
    ck_assert_double_eq_tol(g.ratio, 1.0 / 3, 1e-6);
    ck_assert_double_lt(g.error, 1e-6);
    lbp_backtest_fini(&b);
}
END_TEST

/* Both are slow in turn: in the mean they are alike, and bounds that suit one of them now lose. */
START_TEST(test_in_turn)
{
    struct lbp_backtest b;
    const double work[2] = {3, 3}, other[2] = {4, 2};
    struct lbp_backtest_gain g;

    ck_assert_int_eq(lbp_backtest_init(&b, 2), 0);
    for (int i = 0; i < 6; i++) {
        const double slow[2] = {i % 2 ? 2 : 1, i % 2 ? 1 : 2};

        lbp_backtest_add(&b, slow, 1, i);
    }
    g = lbp_backtest_compare(&b, INT64_MIN, work, other, speed);
    ck_assert_double_eq_tol(g.ratio, 0, 1e-6); /* 6 and 6 before; 8 and 4 after */
    ck_assert_double_gt(g.error, 0.1);
    g = lbp_backtest_compare(&b, 4, work, other, speed); /* only the last: rank 0 is slow */
    ck_assert_int_eq(g.slots, 1);
    ck_assert_double_eq_tol(g.ratio, -1.0 / 3, 1e-6);
    lbp_backtest_fini(&b);
}
END_TEST

/* Old slots are forgotten, unmeasured ranks go by what is thought of them, empty spans by nothing. */
START_TEST(test_edges)
{
    struct lbp_backtest b;
    const double slow[2] = {1, 0}, none[2] = {0, 0}, work[2] = {4, 0}, other[2] = {2, 2};
    struct lbp_backtest_gain g;

    ck_assert_int_eq(lbp_backtest_init(&b, 2), 0);
    g = lbp_backtest_compare(&b, INT64_MIN, work, other, speed);
    ck_assert_int_eq(g.slots, 0);
    lbp_backtest_add(&b, slow, 0, 0); /* no steps */
    g = lbp_backtest_compare(&b, INT64_MIN, work, other, speed);
    ck_assert_int_eq(g.slots, 0);
    for (int i = 0; i < 3 * LBP_BACKTEST_SLOTS; i++)
        lbp_backtest_add(&b, slow, 1, i);
    g = lbp_backtest_compare(&b, INT64_MIN, work, other, speed);
    ck_assert_int_eq(g.slots, LBP_BACKTEST_SLOTS);
    ck_assert_double_eq_tol(g.ratio, 0.5, 1e-6);
    g = lbp_backtest_compare(&b, INT64_MIN, none, none, speed);
    ck_assert_double_eq_tol(g.ratio, 0, 1e-12);
    lbp_backtest_fini(&b);
    lbp_backtest_fini(&b);
}
END_TEST

/* Memory is bounded: fewer slots for very many ranks. */
START_TEST(test_many)
{
    struct lbp_backtest b;

    ck_assert_int_eq(lbp_backtest_init(&b, 1000000), 0);
    ck_assert_int_lt(b.size, LBP_BACKTEST_SLOTS);
    ck_assert_int_ge(b.size, 2);
    lbp_backtest_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("backtest");
    TCase *t = tcase_create("backtest");
    SRunner *runner;
    int failed;

    tcase_add_test(t, test_steady);
    tcase_add_test(t, test_in_turn);
    tcase_add_test(t, test_edges);
    tcase_add_test(t, test_many);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
