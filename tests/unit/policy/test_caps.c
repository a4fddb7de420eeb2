/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/caps.c: who shares a quota with whom. */
#include "policy/caps.h"

#include <check.h>
#include <math.h>

#include "tests/unit/suite.h"

#define MS INT64_C(1000000)

START_TEST(test_shares)
{
    struct lbp_caps c;

    ck_assert_int_eq(lbp_caps_init(&c, 5), 0);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert(isinf(lbp_caps_share(&c, i)));
    ck_assert(lbp_caps_tell(&c, 0, 0.4, 100 * MS, 7));
    ck_assert(lbp_caps_tell(&c, 3, 0.4, 100 * MS, 7)); /* on the same host */
    ck_assert(lbp_caps_tell(&c, 1, 0.3, 10 * MS, 8));
    ck_assert(!lbp_caps_tell(&c, 4, 0, 0, 0));
    ck_assert_double_eq_tol(lbp_caps_share(&c, 0), 0.2, 1e-9);
    ck_assert_double_eq_tol(lbp_caps_share(&c, 3), 0.2, 1e-9);
    ck_assert_double_eq_tol(lbp_caps_share(&c, 1), 0.3, 1e-9);
    ck_assert(isinf(lbp_caps_share(&c, 2))); /* has not told */
    ck_assert(isinf(lbp_caps_share(&c, 4)));
    ck_assert_int_eq(lbp_caps_period_ns(&c), 100 * MS);
    lbp_caps_fini(&c);
}
END_TEST

START_TEST(test_changes)
{
    struct lbp_caps c;

    ck_assert_int_eq(lbp_caps_init(&c, 2), 0);
    ck_assert(lbp_caps_tell(&c, 0, 0.4, 100 * MS, 7));
    ck_assert(lbp_caps_tell(&c, 1, 0.4, 100 * MS, 7));
    ck_assert(!lbp_caps_tell(&c, 1, 0.4001, 100 * MS, 7)); /* nothing new */
    ck_assert_double_eq_tol(lbp_caps_share(&c, 1), 0.2, 1e-9);
    ck_assert(lbp_caps_tell(&c, 1, 0.1, 20 * MS, 9)); /* a tighter one, of its own */
    ck_assert_double_eq_tol(lbp_caps_share(&c, 1), 0.1, 1e-9);
    ck_assert_double_eq_tol(lbp_caps_share(&c, 0), 0.4, 1e-9);
    ck_assert(lbp_caps_tell(&c, 0, 0, 0, 7)); /* none any more */
    ck_assert(isinf(lbp_caps_share(&c, 0)));
    ck_assert_int_eq(lbp_caps_period_ns(&c), 20 * MS);
    ck_assert(!lbp_caps_tell(&c, 0, 0, 5, 3));
    lbp_caps_fini(&c);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("all");

    tcase_add_test(t, test_shares);
    tcase_add_test(t, test_changes);
    return suite_run("policy/caps", t);
}
