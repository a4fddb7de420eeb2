/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/profile.c. */
#include "policy/profile.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

static struct lbp_profile p;

#define ck_near(a, b, ratio) \
    ck_assert_double_le(fabs((double)(a) - (double)(b)), (ratio)*fabs((double)(b)) + 1e-9)

START_TEST(test_sizes)
{
    static const int64_t sizes[] = {0, 1, 2, 511, 512, 513, 1000, INT64_C(1) << 40, INT64_MAX};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int64_t n = sizes[i];

        lbp_profile_init(&p, n);
        ck_assert_int_le(p.nbins, LBP_PROFILE_BINS);
        ck_assert(!lbp_profile_learned(&p));
        ck_near(lbp_profile_work(&p, 0, n), (double)n, 1e-9);
        lbp_profile_add(&p, 0, n < 10 ? n : 10, n < 10 ? (double)n * 5 : 50);
        ck_assert_int_eq(lbp_profile_learned(&p), n > 0);
        ck_near(lbp_profile_work(&p, 0, n), 5 * (double)n, 1e-9);
        if (n > 0)
            ck_near(lbp_profile_work(&p, n - 1, n), 5, 1e-9);
        ck_assert_int_eq(lbp_profile_take(&p, 0, n, 5 * (double)n), n);
    }
}
END_TEST

START_TEST(test_bad)
{
    lbp_profile_init(&p, 100);
    lbp_profile_add(&p, -1, 5, 10);
    lbp_profile_add(&p, 0, 101, 10);
    lbp_profile_add(&p, 5, 5, 10);
    lbp_profile_add(&p, 6, 5, 10);
    lbp_profile_add(&p, 0, 5, NAN);
    lbp_profile_add(&p, 0, 5, INFINITY);
    lbp_profile_add(&p, 0, 5, -1);
    ck_assert(!lbp_profile_learned(&p));
    ck_assert_double_eq(lbp_profile_work(&p, 50, 40), 0);
    ck_assert_double_eq(lbp_profile_work(&p, -50, 200), 100);
    ck_assert_int_eq(lbp_profile_take(&p, 10, 20, -3), 0);
    ck_assert_int_eq(lbp_profile_take(&p, 10, 20, NAN), 0);
}
END_TEST

/* Case D: the first quarter costs nine times as much; each of four ranks has seen the beginning of its block. */
START_TEST(test_front_loaded)
{
    lbp_profile_init(&p, 3000);
    for (int i = 0; i < 4; i++)
        lbp_profile_begin(&p, i * 750);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 24; k += 2)
            lbp_profile_add(&p, i * 750 + k, i * 750 + k + 2, 2 * (i == 0 ? 9.0 : 1.0));
    ck_near(lbp_profile_work(&p, 0, 750), 9 * 750.0, 0.05);
    ck_near(lbp_profile_work(&p, 750, 3000), 2250.0, 0.05);
    ck_near((double)lbp_profile_take(&p, 100, 750, 900), 100, 0.1);
}
END_TEST

/* Even loop, noisy samples: single bins must not mislead. */
START_TEST(test_even_noisy)
{
    unsigned seed = 7;

    lbp_profile_init(&p, 4000);
    for (int i = 0; i < 4; i++)
        lbp_profile_begin(&p, i * 1000);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 160; k += 8)
            lbp_profile_add(&p, i * 1000 + k, i * 1000 + k + 8,
                            8 * 1000 * (0.8 + 0.4 * rand_r(&seed) / RAND_MAX));
    for (int i = 0; i < 4; i++)
        ck_near(lbp_profile_work(&p, i * 1000 + 500, i * 1000 + 1000), 500e3, 0.08);
}
END_TEST

/* Cost that grows with the square root, each rank half way through its block. */
START_TEST(test_growing)
{
    double truth = 0;

    lbp_profile_init(&p, 100000);
    for (int i = 0; i < 4; i++) {
        lbp_profile_begin(&p, i * 25000);
        for (int k = 0; k < 12500; k += 100) {
            double work = 0;

            for (int x = 0; x < 100; x++)
                work += sqrt(i * 25000.0 + k + x);
            lbp_profile_add(&p, i * 25000 + k, i * 25000 + k + 100, work);
        }
    }
    for (int x = 62500; x < 75000; x++)
        truth += sqrt(x);
    ck_near(lbp_profile_work(&p, 62500, 75000), truth, 0.1);
    truth = 0;
    for (int x = 25000; x < 37500; x++)
        truth += sqrt(x);
    ck_near(lbp_profile_work(&p, 25000, 37500), truth, 0.02);
}
END_TEST

/* A second pass that costs otherwise is believed after a while. */
START_TEST(test_fades)
{
    lbp_profile_init(&p, 1000);
    lbp_profile_begin(&p, 0);
    for (int pass = 0; pass < 8; pass++)
        for (int k = 0; k < 1000; k += 10)
            lbp_profile_add(&p, k, k + 10, pass < 2 ? 100 : 10 * (k < 500 ? 50 : 5));
    ck_near(lbp_profile_work(&p, 0, 500), 25000, 0.15);
    ck_near(lbp_profile_work(&p, 500, 1000), 2500, 0.4);
}
END_TEST

/*
 * Four ranks take processor time from each other, so that all that one measures at a time is wrong alike, by up to 20 %: of an
 * even loop nothing of that is structure; of another what is structure stays.
 */
START_TEST(test_wrong_alike)
{
    static const double front[4] = {9, 1, 1, 1}, even[4] = {1, 1, 1, 1};
    const double *cost = _i ? front : even;
    double worst = 0, sum = 0;
    unsigned seed = 1;
    int n = 0;

    for (int round = 0; round < 50; round++) {
        lbp_profile_init(&p, 1000);
        for (int b = 0; b < 4; b++)
            lbp_profile_begin(&p, b * 250);
        for (int pass = 0; pass < 12; pass++) {
            for (int b = 0; b < 4; b++) {
                double wrong = 0.8 + 0.4 * rand_r(&seed) / RAND_MAX;

                lbp_profile_add(&p, b * 250, (b + 1) * 250, 250 * cost[b] * wrong);
            }
            for (int b = 0; b < 4 && pass > 2; b++, n++) {
                double thought = lbp_profile_work(&p, b * 250, (b + 1) * 250) / 250;

                /* of the front the scale is known as well as it is measured */
                sum += fabs(thought / (_i ? cost[b] : lbp_profile_mean(&p)) - 1);
                worst = fmax(worst, fabs(thought / cost[b] - 1));
            }
        }
    }
    ck_assert_double_le(sum / n, _i ? 0.1 : 0.015);
    ck_assert_double_le(worst, 0.25);
}
END_TEST

/* The first pass takes three times as long, as all is cold: what its parts have to do with each other is known all the same. */
START_TEST(test_cold)
{
    lbp_profile_init(&p, 1000);
    for (int b = 0; b < 4; b++)
        lbp_profile_begin(&p, b * 250);
    for (int pass = 0; pass < 6; pass++) {
        for (int b = 0; b < 4; b++)
            lbp_profile_add(&p, b * 250, (b + 1) * 250, 250 * (b ? 1 : 9) * (pass ? 1 : 3));
        ck_assert_double_ge(lbp_profile_work(&p, 0, 250) / lbp_profile_work(&p, 250, 500), 8);
    }
}
END_TEST

/* Each half costs 1 an iteration, and then the second so much for so long. */
static double second_after(double passes, int times)
{
    lbp_profile_init(&p, 1000);
    if (passes > 0)
        lbp_profile_keep(&p, passes);
    for (int i = 0; i < 20 + times; i++) {
        lbp_profile_add(&p, 0, 500, 500);
        lbp_profile_add(&p, 500, 1000, i < 20 ? 500 : 650);
    }
    return lbp_profile_work(&p, 500, 1000) / 500;
}

/* The first step touches its memory for the first time: that is forgotten when the next takes much less, whatever parts are timed. */
START_TEST(test_first_touch)
{
    lbp_profile_init(&p, 2000);
    lbp_profile_add(&p, 0, 1000, 50e6);
    lbp_profile_add(&p, 1000, 2000, 40e6);
    for (int k = 0; k < 4; k++)
        lbp_profile_add(&p, 250 * k, 250 * (k + 1), 1e6);
    lbp_profile_add(&p, 1000, 2000, 4e6);
    ck_assert_double_eq_tol(lbp_profile_work(&p, 0, 1000), 4e6, 0.3e6);
    ck_assert_double_eq_tol(lbp_profile_work(&p, 1000, 2000), 4e6, 0.1e6);
    /* only the first time is; and what is not much less is a mean of both */
    lbp_profile_init(&p, 1000);
    lbp_profile_add(&p, 0, 1000, 4e6);
    lbp_profile_add(&p, 0, 1000, 3e6);
    ck_assert_double_eq_tol(lbp_profile_work(&p, 0, 1000), 3.5e6, 0.1e6);
    lbp_profile_add(&p, 0, 1000, 0.5e6);
    ck_assert_double_gt(lbp_profile_work(&p, 0, 1000), 1.5e6);
}
END_TEST

/* What is kept for longer is less moved by a moment; what lasts is believed all the same. */
START_TEST(test_keeps)
{
    ck_assert_double_ge(second_after(0, 2), 1.15);
    ck_assert_double_le(second_after(8, 2), 1.1);
    ck_assert_double_ge(second_after(8, 8), 1.2);
    ck_assert_double_eq(second_after(1, 2), second_after(0, 2)); /* at least 2 */
}
END_TEST

/* take() is the inverse of work(), and sums of parts are the sum of the whole. */
START_TEST(test_random)
{
    for (unsigned round = 1; round <= 300; round++) {
        unsigned seed = round;
        int64_t n = 1 + rand_r(&seed) % 5000;

        lbp_profile_init(&p, n);
        for (int i = 0; i < 20; i++) {
            int64_t a = rand_r(&seed) % n, b = a + 1 + rand_r(&seed) % (n - a);

            if (i % 5 == 0)
                lbp_profile_begin(&p, a);
            lbp_profile_add(&p, a, b, (double)(b - a) * (1 + rand_r(&seed) % 1000));
        }
        for (int i = 0; i < 20; i++) {
            int64_t a = rand_r(&seed) % n, b = a + 1 + rand_r(&seed) % (n - a);
            int64_t mid = a + (b - a) / 3, k = rand_r(&seed) % (b - a + 1);
            double whole = lbp_profile_work(&p, a, b);

            ck_assert_msg(whole > 0, "seed %u", round);
            ck_near(lbp_profile_work(&p, a, mid) + lbp_profile_work(&p, mid, b), whole, 1e-9);
            ck_assert_msg(lbp_profile_take(&p, a, b, lbp_profile_work(&p, b - k, b)) == k,
                          "seed %u: [%ld,%ld) %ld", round, (long)a, (long)b, (long)k);
        }
    }
}
END_TEST

int main(void)
{
    TCase *t = suite_case("profile");

    tcase_add_test(t, test_sizes);
    tcase_add_test(t, test_bad);
    tcase_add_test(t, test_front_loaded);
    tcase_add_test(t, test_even_noisy);
    tcase_add_test(t, test_growing);
    tcase_add_test(t, test_fades);
    tcase_add_test(t, test_keeps);
    tcase_add_test(t, test_cold);
    tcase_add_test(t, test_first_touch);
    tcase_add_loop_test(t, test_wrong_alike, 0, 2);
    tcase_add_test(t, test_random);
    return suite_run("profile", t);
}
