/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/legs.c. */
#include "policy/legs.h"

#include <math.h>
#include <stdint.h>

#include "tests/unit/suite.h"

START_TEST(test_length)
{
    static const struct {
        double pass_ms, quota_ms;
        int64_t messages, legs;
    } cases[] = {
        {0, 0, 1000, 1},     {79, 0, 1000, 1},    {80, 0, 1000, 2},     {400, 0, 1000, 6},
        {10e3, 0, 1000, 32}, {60e3, 0, 1000, 77}, {1500, 100, 1000, 1}, {1700, 100, 1000, 2},
        {170, 10, 1000, 2},  {650, 10, 1000, 8},  {10e3, 10, 40, 10},   {10e3, 10, 3, 1},
        {10e3, 10, 1, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ck_assert_int_eq(
            lbp_legs(cases[i].pass_ms * 1e6, cases[i].quota_ms * 1e6, cases[i].messages),
            cases[i].legs);
}
END_TEST

/* The number is the one with the least sum of pass / legs and 10 ms a leg, but for what bounds it. */
START_TEST(test_least)
{
    for (double pass = 1e9; pass < 1e12; pass *= 1.7) {
        double legs = (double)lbp_legs(pass, 0, INT64_MAX), sum = pass / legs + 10e6 * legs;

        ck_assert(sum <= 1.001 * (pass / (legs + 1) + 10e6 * (legs + 1)));
        ck_assert(sum <= 1.001 * (pass / (legs - 1) + 10e6 * (legs - 1)));
    }
}
END_TEST

START_TEST(test_nonsense)
{
    ck_assert_int_eq(lbp_legs(-1e9, 0, 1000), 1);
    ck_assert_int_eq(lbp_legs(NAN, 0, 1000), 1);
    ck_assert_int_eq(lbp_legs(1e9, NAN, 1000), 10);
    ck_assert_int_eq(lbp_legs(1e9, INFINITY, 1000), 1);
    ck_assert_int_eq(lbp_legs(INFINITY, 0, 1000), 250);
    ck_assert_int_eq(lbp_legs(INFINITY, 0, 0), 1);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("legs");

    tcase_add_test(tc, test_length);
    tcase_add_test(tc, test_least);
    tcase_add_test(tc, test_nonsense);
    return suite_run("legs", tc);
}
