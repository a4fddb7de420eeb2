/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/votes.c. */
#include "policy/votes.h"

#include <math.h>

#include "tests/unit/suite.h"

START_TEST(test_stepped)
{
    struct lbp_votes v = {.period_ns = 200e6, .step_ns = 5e6, .exchanges = 9, .interval = 8};

    ck_assert_int_eq(lbp_votes_interval(&v), 10);
    ck_assert_int_eq(lbp_votes_later(&v), 3);
    v.step_ns = 12e6; /* no layout waits for more than 25 ms */
    ck_assert_int_eq(lbp_votes_interval(&v), 4);
    ck_assert_int_eq(lbp_votes_later(&v), 2);
    v.step_ns = 30e6;
    ck_assert_int_eq(lbp_votes_interval(&v), 1);
    ck_assert_int_eq(lbp_votes_later(&v), 0);
    v.quota = true;
    ck_assert_int_eq(lbp_votes_interval(&v), 4);
    ck_assert_int_eq(lbp_votes_later(&v), 0);
    v.step_ns = 60e6;
    ck_assert_int_eq(lbp_votes_interval(&v), 2);
    v.step_ns = 1e6;
    v.interval = 1; /* in the beginning they follow one another quickly */
    ck_assert_int_eq(lbp_votes_interval(&v), 2);
    ck_assert_int_eq(lbp_votes_later(&v), 1);
    v.step_ns = 0;
    ck_assert_int_eq(lbp_votes_interval(&v), 1);
    ck_assert_int_eq(lbp_votes_later(&v), 0);
}
END_TEST

START_TEST(test_pipelined)
{
    struct lbp_votes v = {
        .flows = true, .quota = true, .period_ns = 100e6, .step_ns = 100e6, .interval = 8};

    ck_assert_int_eq(lbp_votes_interval(&v), 1);
    ck_assert_int_eq(lbp_votes_later(&v), 1);
    v.exchanges = 2;
    ck_assert_int_eq(lbp_votes_interval(&v), 2);
    v.step_ns = 5e6;
    ck_assert_int_eq(lbp_votes_interval(&v), 5);
    ck_assert_int_eq(lbp_votes_later(&v), 1);
}
END_TEST

/* In long steps of a loop that is alone the vote is entered within the step, where the last rank is in time for it. */
START_TEST(test_within)
{
    struct lbp_votes v = {.flows = true,
                          .alone = true,
                          .lag = 0.1,
                          .period_ns = 100e6,
                          .step_ns = 60e6,
                          .exchanges = 2,
                          .interval = 8};

    ck_assert_int_eq(lbp_votes_interval(&v), 1);
    ck_assert_int_eq(lbp_votes_later(&v), 0);
    v.step_ns = 40e6;
    ck_assert_int_eq(lbp_votes_interval(&v), 2);
    ck_assert_int_eq(lbp_votes_later(&v), 1);
    v.step_ns = 0; /* the first ones may be long */
    ck_assert_int_eq(lbp_votes_later(&v), 0);
    v.step_ns = 60e6;
    v.lag = 0.3;
    ck_assert_int_eq(lbp_votes_interval(&v), 2);
    ck_assert_int_eq(lbp_votes_later(&v), 1);
    v.lag = 0;
    ck_assert_int_eq(lbp_votes_later(&v), 0);
    v.alone = false;
    ck_assert_int_eq(lbp_votes_later(&v), 1);
    ck_assert_double_eq(lbp_votes_lag(4, 25, 1000), 0.075);
    ck_assert_double_eq(lbp_votes_lag(1, 25, 1000), 0);
    ck_assert_double_eq(lbp_votes_lag(0, 25, 1000), 0);
    ck_assert_double_eq(lbp_votes_lag(4, 0, 0), 0);
}
END_TEST

/* A vote is taken when the last rank has entered it too, but not so late that a short loop never has a layout. */
START_TEST(test_deep)
{
    static const struct {
        int64_t exchanges, later;
    } cases[] = {{0, 1}, {3, 1}, {4, 2}, {7, 3}, {9, 4}, {10, 5}, {1000, 5}, {INT64_MAX, 5}};
    struct lbp_votes v = {.flows = true, .lag = 4.2, .period_ns = 100e6, .step_ns = 100e6};

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        v.exchanges = cases[k].exchanges;
        v.interval = 64;
        ck_assert_int_eq(lbp_votes_later(&v), cases[k].later);
        ck_assert_int_eq(lbp_votes_interval(&v), v.exchanges < 2 ? 1 : cases[k].later + 1);
        /* no more than doubled, and taken when the next one is entered, at the latest */
        v.interval = 1;
        ck_assert_int_eq(lbp_votes_interval(&v), v.exchanges < 2 ? 1 : 2);
        ck_assert_int_eq(lbp_votes_later(&v), 1);
    }
    v.interval = 64;
    v.lag = 1;
    ck_assert_int_eq(lbp_votes_interval(&v), 2);
    ck_assert_int_eq(lbp_votes_later(&v), 1);
    v.lag = 1.01;
    ck_assert_int_eq(lbp_votes_interval(&v), 3);
    ck_assert_int_eq(lbp_votes_later(&v), 2);
}
END_TEST

START_TEST(test_early)
{
    ck_assert_double_eq(lbp_votes_early_ns(0), 0);
    ck_assert_double_eq(lbp_votes_early_ns(1), 0.5);
    ck_assert_double_eq(lbp_votes_early_ns(20e6), 10e6);
    ck_assert_double_eq(lbp_votes_early_ns(30e6), 12.5e6);
    ck_assert_double_eq(lbp_votes_early_ns(50e6), 12.5e6);
    ck_assert_double_eq(lbp_votes_early_ns(1e9), 250e6);
}
END_TEST

START_TEST(test_waits)
{
    struct lbp_votes v = {.waits = true, .period_ns = 100e6, .step_ns = 5e6, .interval = 64};

    for (int kind = 0; kind < 4; kind++) {
        v.flows = kind & 1;
        v.quota = kind & 2;
        ck_assert_int_eq(lbp_votes_interval(&v), 20);
        ck_assert_int_eq(lbp_votes_later(&v), 0);
    }
}
END_TEST

/* Whatever is told: an interval that is one, and nothing taken after the next vote, but where a pipeline votes in each step. */
START_TEST(test_any)
{
    static const double ns[] = {0, 1e-300, 1, 1e6, 25e6, 1e9, 1e300, INFINITY, NAN};
    static const int64_t intervals[] = {1, 2, 3, 4, 1000, INT64_C(1) << 20, INT64_MAX};

    for (size_t p = 0; p < sizeof(ns) / sizeof(*ns); p++)
        for (size_t s = 0; s < sizeof(ns) / sizeof(*ns); s++)
            for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++)
                for (int kind = 0; kind < 32; kind++) {
                    struct lbp_votes v = {.flows = kind & 1,
                                          .waits = kind & 2,
                                          .quota = kind & 4,
                                          .exchanges = kind & 8,
                                          .alone = kind & 16,
                                          .lag = ns[(size_t)kind % (sizeof(ns) / sizeof(*ns))],
                                          .period_ns = ns[p],
                                          .step_ns = ns[s],
                                          .interval = intervals[i]};
                    int64_t interval = lbp_votes_interval(&v), later = lbp_votes_later(&v);

                    ck_assert_int_ge(interval, 1);
                    ck_assert_int_le(interval, INT64_C(1) << 21);
                    ck_assert_int_ge(later, 0);
                    ck_assert_int_le(later,
                                     v.flows && !v.waits && interval == 1 ? 1 : interval - 1);
                    ck_assert(!v.flows || later <= 1 || (double)later < v.lag + 1);
                    ck_assert(!v.flows || later <= 1 || later <= v.exchanges / 2);
                }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("votes");

    tcase_add_test(tc, test_stepped);
    tcase_add_test(tc, test_pipelined);
    tcase_add_test(tc, test_within);
    tcase_add_test(tc, test_deep);
    tcase_add_test(tc, test_early);
    tcase_add_test(tc, test_waits);
    tcase_add_test(tc, test_any);
    return suite_run("votes", tc);
}
