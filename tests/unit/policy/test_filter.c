/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/filter.c, threshold.c, profit.c and period.c. */
#include "policy/filter.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "policy/period.h"
#include "policy/profit.h"
#include "policy/threshold.h"
#include "tests/unit/suite.h"

#define MS INT64_C(1000000)

static void feed(struct lbp_filter *f, double speed, int windows)
{
    for (int i = 0; i < windows; i++)
        lbp_filter_add(f, speed * 50 * MS, 50 * MS);
}

START_TEST(test_first_window)
{
    struct lbp_filter f;

    lbp_filter_init(&f, -1);
    ck_assert(!lbp_filter_known(&f));
    lbp_filter_add(&f, 1 * MS, 1 * MS); /* a quota's burst */
    ck_assert(!lbp_filter_known(&f));
    ck_assert(!lbp_filter_add(&f, 0, 19 * MS)); /* nothing was known that could have changed */
    ck_assert(lbp_filter_known(&f));
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.05, 1e-9);
    ck_assert_double_le(lbp_filter_error(&f), 1);
}
END_TEST

START_TEST(test_bad)
{
    struct lbp_filter f;

    lbp_filter_init(&f, -1);
    lbp_filter_add(&f, NAN, 50 * MS);
    lbp_filter_add(&f, INFINITY, 50 * MS);
    lbp_filter_add(&f, -1, 50 * MS);
    lbp_filter_add(&f, 1, 0);
    lbp_filter_add(&f, 1, -5);
    ck_assert(!lbp_filter_known(&f));
    feed(&f, 0, 3);
    ck_assert_double_eq(lbp_filter_value(&f), 0);
    feed(&f, 0.5, 4);
    ck_assert_double_ge(lbp_filter_value(&f), 0.4);
}
END_TEST

/* A clear fall is believed at once; a rise is not believed at first. */
START_TEST(test_fall_before_rise)
{
    struct lbp_filter fall, rise;

    lbp_filter_init(&fall, -1);
    lbp_filter_init(&rise, -1);
    feed(&fall, 0.4, 20);
    feed(&rise, 0.4, 20);
    feed(&fall, 0.2, 1);
    feed(&rise, 0.8, 1);
    ck_assert_double_eq_tol(lbp_filter_value(&fall), 0.22, 0.01);
    ck_assert_int_eq(fall.state, LBP_FILTER_FALL1);
    ck_assert_double_eq_tol(lbp_filter_value(&rise), 0.4, 0.001);
    ck_assert_int_eq(rise.state, LBP_FILTER_RISE1);
    feed(&fall, 0.2, 1);
    feed(&rise, 0.8, 1);
    ck_assert_double_le(lbp_filter_value(&fall), 0.22);
    ck_assert_double_eq_tol(lbp_filter_value(&rise), 0.6, 0.01);
    feed(&rise, 0.8, 1);
    ck_assert_double_ge(lbp_filter_value(&rise), 0.75);
}
END_TEST

/* A fall that is hardly more than the noise is half believed, and the more the farther it is from it. */
START_TEST(test_doubtful_fall)
{
    static const double noise[] = {6 * MS, 3 * MS, 1 * MS};
    static const double expected[] = {0.316, 0.28, 0.256};

    for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
        struct lbp_filter f;

        lbp_filter_init(&f, -1);
        feed(&f, 0.4, 20);
        f.noise_ns = noise[i]; /* the band is 0.38, 0.2 and 0.08; */
        feed(&f, 0.24, 1);     /* and this is 0.4 below */
        ck_assert_int_eq(f.state, LBP_FILTER_FALL1);
        ck_assert_double_eq_tol(lbp_filter_value(&f), expected[i], 0.002);
    }
}
END_TEST

/* One outlier up changes nothing that lasts. */
START_TEST(test_outlier)
{
    struct lbp_filter f;

    lbp_filter_init(&f, -1);
    feed(&f, 0.4, 20);
    feed(&f, 0.9, 1);
    feed(&f, 0.4, 1);
    ck_assert_int_eq(f.state, LBP_FILTER_STEADY);
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.4, 0.001);
}
END_TEST

/* One down is half believed until the next window: then it is one window of the history.  Two are a fall. */
START_TEST(test_outlier_down)
{
    struct lbp_filter f;

    lbp_filter_init(&f, -1);
    feed(&f, 0.4, 20);
    feed(&f, 0.25, 1);
    ck_assert_double_le(lbp_filter_value(&f), 0.326);
    feed(&f, 0.4, 1);
    ck_assert_int_eq(f.state, LBP_FILTER_STEADY);
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.4 - 0.15 / 21, 0.001);
    feed(&f, 0.25, 2);
    ck_assert_double_le(lbp_filter_value(&f), 0.27);
    lbp_filter_init(&f, 0.5); /* a person's weight knows no outliers */
    feed(&f, 0.4, 20);
    feed(&f, 0.2, 1);
    feed(&f, 0.4, 1);
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.35, 0.001);
}
END_TEST

/*
 * The rules of falls and of outliers in the same windows.  What was half believed and is taken back leaves a mean that the very
 * same window may be far below: then it is a fall from that.
 */
START_TEST(test_outlier_and_fall)
{
    struct lbp_filter f;

    lbp_filter_init(&f, -1);
    feed(&f, 0.4, 20);
    feed(&f, 0.1, 1); /* a clear fall, nearly all believed, */
    ck_assert_double_le(lbp_filter_value(&f), 0.14);
    feed(&f, 0.4, 1); /* which was one of many */
    ck_assert_int_eq(f.state, LBP_FILTER_STEADY);
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.4 - 0.3 / 21, 0.002);
    lbp_filter_init(&f, -1);
    feed(&f, 0.4, 20);
    feed(&f, 0.1, 1);
    feed(&f, 0.25, 1); /* neither as before nor as then: nothing is taken back */
    ck_assert_int_eq(f.state, LBP_FILTER_RISE1);
    ck_assert_double_le(lbp_filter_value(&f), 0.14);
    lbp_filter_init(&f, -1);
    feed(&f, 0.4, 20);
    feed(&f, 0.8, 2); /* a rise, half believed; */
    feed(&f, 0.4, 1); /* of a long history it is one window, and this none that is below */
    ck_assert_int_eq(f.state, LBP_FILTER_STEADY);
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.4 + 0.4 / 21, 0.002);
    lbp_filter_init(&f, -1);
    feed(&f, 0.4, 1);
    feed(&f, 0.8, 2);
    feed(&f, 0.4, 1); /* of a short one it is half: a fall from 0.6, by 1.7 bands */
    ck_assert_int_eq(f.state, LBP_FILTER_FALL1);
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.7 * 0.4 + 0.3 * 0.6, 0.002);
    feed(&f, 0.1, 1); /* and the next one is believed */
    ck_assert_int_eq(f.state, LBP_FILTER_FALL2);
    ck_assert_double_le(lbp_filter_value(&f), 0.14);
}
END_TEST

/* Noise of a quota averages out: the error falls with the length of history. */
START_TEST(test_noise)
{
    for (unsigned round = 1; round <= 50; round++) {
        struct lbp_filter f;
        unsigned seed = round;

        lbp_filter_init(&f, -1);
        for (int i = 0; i < 40; i++)
            lbp_filter_add(&f, 0.4 * 50 * MS + (rand_r(&seed) % 2000 - 1000) * 1e-3 * 2.4 * MS,
                           50 * MS);
        ck_assert_msg(fabs(lbp_filter_value(&f) - 0.4) < 0.02, "seed %u: %f", round,
                      lbp_filter_value(&f));
        ck_assert_double_le(lbp_filter_error(&f), 0.01);
    }
}
END_TEST

START_TEST(test_fixed)
{
    struct lbp_filter f;

    lbp_filter_init(&f, 0.8);
    feed(&f, 1, 1);
    feed(&f, 0, 1);
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.8, 1e-9);
    lbp_filter_init(&f, 0);
    feed(&f, 1, 1);
    feed(&f, 0.3, 1);
    ck_assert_double_eq_tol(lbp_filter_value(&f), 0.3, 1e-9);
}
END_TEST

START_TEST(test_threshold)
{
    struct lbp_threshold t;
    int decisions = 0;

    lbp_threshold_init(&t, 0.1, false);
    ck_assert(lbp_threshold_pass(&t, 0.1, 0));
    for (int i = 0; i < 100; i++)
        ck_assert(!lbp_threshold_pass(&t, 0.099, 0)); /* the published fault */
    lbp_threshold_init(&t, 0.1, true);
    while (!lbp_threshold_pass(&t, 0.05, 0.01))
        decisions++;
    ck_assert_int_eq(decisions, 2); /* 0.1, 0.07, 0.049 */
    ck_assert_double_eq(t.now, 0.1);
    for (int i = 0; i < 100; i++)
        ck_assert(!lbp_threshold_pass(&t, 0.02, 0.03)); /* within the noise */
    for (int i = 0; i < 100; i++)
        ck_assert(!lbp_threshold_pass(&t, 0, 0));
    ck_assert_double_eq(t.now, 0.1);
    lbp_threshold_init(&t, 0, true);
    ck_assert(!lbp_threshold_pass(&t, 0, 0));
    ck_assert(lbp_threshold_pass(&t, 0.001, 0));
}
END_TEST

START_TEST(test_profit)
{
    struct lbp_profit p;

    lbp_profit_init(&p, 0, 0);
    ck_assert(lbp_profit_pays(&p, 0.1, 1e9, 1e6, 0));
    ck_assert(lbp_profit_pays(&p, 0.1, 1e9, 1.9e8, 0)); /* more weight for the benefit */
    ck_assert(!lbp_profit_pays(&p, 0.1, 1e9, 2.1e8, 0));
    for (int i = 1; i <= 20; i++)
        lbp_horizon_changed(&p.horizon, i * 300 * MS);
    ck_assert_double_eq_tol(p.horizon.stable_ns, 300e6, 30e6);
    ck_assert(!lbp_profit_pays(&p, 0.1, 100e9, 1e8, 6000 * MS)); /* it will not last */
    ck_assert(lbp_profit_pays(&p, 0.1, 100e9, 1e8, 9000 * MS));  /* it has lasted */
    lbp_horizon_changed(&p.horizon, 6000 * MS + 1);
    ck_assert_int_eq(p.horizon.changed_ns, 6000 * MS); /* the same change, seen again */
    for (int i = 0; i < 30; i++)
        lbp_profit_moved(&p, 100, 5 * MS, MS / 2);
    ck_assert_double_eq_tol(p.fixed_ns, 5e6, 1e5);
    ck_assert_double_eq_tol(p.cpu_ns, 1e6, 1e5);
    for (int i = 0; i < 30; i++)
        lbp_profit_moved(&p, 1000000, 15 * MS, MS / 2);
    ck_assert_double_eq_tol(lbp_profit_transfer_ns(&p, 2e6), 25e6, 1e6);
}
END_TEST

START_TEST(test_period)
{
    ck_assert_int_eq(lbp_period(0, 0, 0, 0, 4), LBP_PERIOD_MIN_NS);
    ck_assert_int_eq(lbp_period(20e6, 0, 1, 0, 4), 400 * MS);
    ck_assert_int_eq(lbp_period(0, 1e9, 5, 0, 4), 200 * MS);
    ck_assert_int_eq(lbp_period(0, 0, 1, 60e6, 4), 300 * MS);
    ck_assert_int_eq(lbp_period(1e9, 1e12, 0, 1e9, 4), LBP_PERIOD_MAX_NS);
    ck_assert_int_eq(lbp_period(0, 0, 1, 0, 2000), 2000 * MS);
}
END_TEST

START_TEST(test_hooks)
{
    ck_assert_double_eq(lbp_hook_most_ns(0), 25e6);
    ck_assert_double_eq(lbp_hook_most_ns(LBP_PERIOD_MIN_NS), 25e6);
    ck_assert_double_eq(lbp_hook_most_ns(480 * MS), 30e6);
    ck_assert_double_eq(lbp_hook_most_ns(800 * MS), 50e6);
    ck_assert_double_eq(lbp_hook_most_ns(INT64_MAX), 50e6);
}
END_TEST

/* Half a period, where five steps are in it. */
START_TEST(test_period_after_layout)
{
    ck_assert_int_eq(lbp_period_after_layout(100 * MS, 0), 50 * MS);
    ck_assert_int_eq(lbp_period_after_layout(100 * MS, 10e6), 50 * MS);
    ck_assert_int_eq(lbp_period_after_layout(100 * MS, 16e6), 80 * MS);
    ck_assert_int_eq(lbp_period_after_layout(100 * MS, 1e9), 100 * MS);
}
END_TEST

/* Policy siegell's: ten quanta of 100 ms, but where talking or moving asks for more. */
START_TEST(test_period_published)
{
    ck_assert_int_eq(lbp_period_published(1e6, 1e6, 5), 1000 * MS);
    ck_assert_int_eq(lbp_period_published(100e6, 1e6, 5), 2000 * MS);
    ck_assert_int_eq(lbp_period_published(1e6, 15e9, 5), 3000 * MS);
    ck_assert_int_eq(lbp_period_published(1e6, 15e9, 0), 15000 * MS);
    ck_assert_int_eq(lbp_period_published(1e15, 0, 1), LBP_PERIOD_PUBLISHED_MAX_NS);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("filter");

    tcase_add_test(t, test_first_window);
    tcase_add_test(t, test_bad);
    tcase_add_test(t, test_fall_before_rise);
    tcase_add_test(t, test_doubtful_fall);
    tcase_add_test(t, test_outlier);
    tcase_add_test(t, test_outlier_down);
    tcase_add_test(t, test_outlier_and_fall);
    tcase_add_test(t, test_noise);
    tcase_add_test(t, test_fixed);
    tcase_add_test(t, test_threshold);
    tcase_add_test(t, test_profit);
    tcase_add_test(t, test_period);
    tcase_add_test(t, test_hooks);
    tcase_add_test(t, test_period_after_layout);
    tcase_add_test(t, test_period_published);
    return suite_run("filter", t);
}
