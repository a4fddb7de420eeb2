/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/efficiency.c, against values worked out by hand. */
#include "policy/efficiency.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

START_TEST(test_efficiency)
{
    static const double competing[4] = {5, 0, 0, 0}, speed[4] = {1, 1, 2, 1};

    ck_assert_double_eq_tol(lbp_efficiency(30, 10, 4, NULL, NULL), 0.75, 1e-12);
    ck_assert_double_eq_tol(lbp_efficiency(28, 10, 4, competing, NULL), 0.8, 1e-12);
    ck_assert_double_eq_tol(lbp_efficiency(45, 10, 4, competing, speed), 1, 1e-12); /* 5+10+20+10 */
    ck_assert_double_eq(lbp_efficiency(45, 0, 4, NULL, NULL), 0);
    ck_assert_double_eq(lbp_efficiency(NAN, 1, 4, NULL, NULL), 0);
    ck_assert_double_eq(lbp_efficiency(1, 1, 0, NULL, NULL), 0);
}
END_TEST

/* The source's own case: 4 hosts, a load on one that is on for 30 of 60 s and takes half. */
START_TEST(test_oscillating)
{
    struct lbp_oscillation o = {
        .nranks = 4, .ta_ns = 30, .tb_ns = 30, .share = 0.5, .dedicated = 1};

    /* no delay, no cost: all that is there */
    ck_assert_double_eq_tol(lbp_efficiency_oscillating(&o), 1, 1e-12);
    /* nothing done: 4 x 30 + 4 x 0.5 x 30 of 120 + 105 */
    ck_assert_double_eq_tol(lbp_efficiency_unbalanced(&o), 180.0 / 225, 1e-12);
    o.tc_ns = 2;
    o.td_ns = 1;
    o.tf_ns = 3;
    o.tg_ns = 1;
    /* 2 x 2 + 27 x 3.5 + 3 x 3.5 + 26 x 4 = 4 + 94.5 + 10.5 + 104 = 213 */
    ck_assert_double_eq_tol(lbp_efficiency_oscillating(&o), 213.0 / 225, 1e-12);
    o.dedicated = 0.8;
    ck_assert_double_eq_tol(lbp_efficiency_oscillating(&o), 0.8 * 213 / 225, 1e-12);
    /* answers as slow as the load: 30 x 2 of the on time, 30 x 3.5 of the off time; worse than doing nothing */
    o.dedicated = 1;
    o.tc_ns = o.tf_ns = 100;
    ck_assert_double_eq_tol(lbp_efficiency_oscillating(&o), 165.0 / 225, 1e-12);
    ck_assert_double_lt(lbp_efficiency_oscillating(&o), lbp_efficiency_unbalanced(&o));
}
END_TEST

START_TEST(test_nonsense)
{
    struct lbp_oscillation o = {
        .nranks = 4, .ta_ns = 30, .tb_ns = 30, .share = 0.5, .dedicated = 1};

    o.share = 0;
    ck_assert_double_eq(lbp_efficiency_oscillating(&o), 0);
    o.share = 0.5;
    o.tc_ns = NAN;
    ck_assert_double_eq(lbp_efficiency_oscillating(&o), 0);
    o.tc_ns = 0;
    o.ta_ns = INFINITY;
    ck_assert_double_eq(lbp_efficiency_unbalanced(&o), 0);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("efficiency");

    tcase_add_test(t, test_efficiency);
    tcase_add_test(t, test_oscillating);
    tcase_add_test(t, test_nonsense);
    return suite_run("efficiency", t);
}
