/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/plan.c, pairwise.c and apportion.c. */
#include "policy/plan.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/apportion.h"
#include "tests/unit/suite.h"

#define RANKS 64

static struct lbp_profit profit;
static struct lbp_plan_share scratch[RANKS];
static struct lbp_transfer room[2 * RANKS + LBP_PLAN_POLISH];

static struct lbp_view rank_of(double speed, double work, double unit)
{
    return (struct lbp_view){.present = true,
                             .measured = true,
                             .speed = speed,
                             .own = work,
                             .movable = work - unit > 0 ? work - unit : 0,
                             .unit = work > 0 ? unit : 0,
                             .hook = unit / speed};
}

/* Seed 002: s_i l_j / (s_i + s_j), if l > c s_j s_i / (s_i - s_j). */
START_TEST(test_liu)
{
    ck_assert_int_eq(lbp_pairwise_liu(2e-6, 1e-6, 300, 10e6), 200);
    ck_assert_int_eq(lbp_pairwise_liu(2e-6, 1e-6, 30, 10e6), 0); /* 20 are not more than 20 */
    ck_assert_int_eq(lbp_pairwise_liu(2e-6, 1e-6, 33, 10e6), 22);
    ck_assert_int_eq(lbp_pairwise_liu(1e-6, 1e-6, 300, 10e6), 0); /* no gain by eq. 1 */
    ck_assert_int_eq(lbp_pairwise_liu(1e-6, 2e-6, 300, 10e6), 0);
    ck_assert_int_eq(lbp_pairwise_liu(NAN, 1, 1, 1), 0);
    ck_assert_int_eq(lbp_pairwise_liu(1, 0, 1, 1), 0);
}
END_TEST

/* A slow host is given little, since its iterations may cost more than is thought, but not nothing. */
START_TEST(test_pairwise_slow_taker)
{
    struct lbp_view fast = rank_of(0.75, 200e6, 1e6), slow = rank_of(0.114, 0, 0);
    struct lbp_transfer t = {0};
    double gain;

    slow.hook = 0;
    lbp_profit_init(&profit, 1e6, 0);
    gain = lbp_pairwise_best(&fast, &slow, &profit, 1, 0, 0, &t);
    ck_assert_double_ge(gain, 0.09 * 200e6 / 0.75);
    ck_assert_double_ge(t.work, 0.09 * 200e6);
    ck_assert_double_lt(t.work, 200e6 * 0.114 / (0.75 + 0.114));
}
END_TEST

/* Case C's end: one iteration of 50 ms left at the slow host, a fast one idle. */
START_TEST(test_pairwise_coarse)
{
    struct lbp_view slow = rank_of(0.133, 100e6, 50e6), fast = rank_of(0.4, 0, 0);
    struct lbp_transfer t = {0};
    double gain;

    fast.hook = 0;
    lbp_profit_init(&profit, 1e6, 0);
    gain = lbp_pairwise_best(&slow, &fast, &profit, 1, 0, 0, &t);
    ck_assert_double_eq_tol(t.work, 50e6, 1);
    ck_assert_double_eq_tol(gain, (100e6 / 0.133) - (50e6 / 0.133 + 2e6 + 50e6 / 0.4), 1e5);
    /* the other way it would end later */
    slow = rank_of(0.133, 0, 0);
    fast = rank_of(0.4, 100e6, 50e6);
    ck_assert_double_eq(lbp_pairwise_best(&fast, &slow, &profit, 1, 0, 0, &t), 0);
    /* what was handed out cannot be had */
    slow = rank_of(0.133, 50e6, 50e6);
    fast = rank_of(0.4, 0, 0);
    ck_assert_double_eq(lbp_pairwise_best(&slow, &fast, &profit, 1, 0, 0, &t), 0);
}
END_TEST

/* Case C from equal shares: 18, 18, 18 and 6. */
START_TEST(test_plan_coarse)
{
    struct lbp_view v[4];
    struct lbp_plan plan = {.transfer = room};

    lbp_profit_init(&profit, 1e6, 0);
    for (int i = 0; i < 4; i++)
        v[i] = rank_of(i == 3 ? 0.133 : 0.4, 15 * 50e6, 50e6);
    lbp_plan_make(v, 4, &profit, NULL, 0, true, scratch, &plan);
    ck_assert_int_eq((int)plan.n, 3);
    for (size_t i = 0; i < plan.n; i++) {
        ck_assert_int_eq(plan.transfer[i].from, 3);
        ck_assert_double_eq_tol(plan.transfer[i].work, 150e6, 1);
    }
    ck_assert_double_le(plan.after_ns, 2.26e9);
}
END_TEST

START_TEST(test_plan_absent)
{
    struct lbp_view v[3] = {rank_of(1, 100e6, 1e6), rank_of(1, 100e6, 1e6), rank_of(1, 0, 0)};
    struct lbp_plan plan = {.transfer = room};

    lbp_profit_init(&profit, 1e6, 0);
    v[0].present = false;
    lbp_plan_make(v, 3, &profit, NULL, 0, true, scratch, &plan);
    ck_assert_int_ge((int)plan.n, 1);
    for (size_t i = 0; i < plan.n; i++)
        ck_assert(plan.transfer[i].from == 1 && plan.transfer[i].to == 2);
    v[1].present = v[2].present = false;
    lbp_plan_make(v, 3, &profit, NULL, 0, true, scratch, &plan);
    ck_assert_int_eq((int)plan.n, 0);
}
END_TEST

/* Work is conserved, nobody gives what cannot be had, and fine grain comes near to the ideal. */
START_TEST(test_plan_random)
{
    for (unsigned round = 1; round <= 2000; round++) {
        unsigned seed = round, n = 1 + (unsigned)rand_r(&seed) % RANKS;
        double before = 0, speed = 0, after = 0, could[RANKS];
        struct lbp_plan plan = {.transfer = room};
        struct lbp_view v[RANKS];

        lbp_profit_init(&profit, 1e4, 0);
        for (unsigned i = 0; i < n; i++) {
            v[i] = rank_of(0.05 + (rand_r(&seed) % 1000) / 1000.0,
                           rand_r(&seed) % 4 ? (rand_r(&seed) % 10000) * 1e6 : 0, 1e6);
            before += v[i].own;
            speed += v[i].speed;
            could[i] = v[i].movable;
        }
        lbp_plan_make(v, n, &profit, NULL, 100, true, scratch, &plan);
        ck_assert_msg(plan.n <= 2 * n + LBP_PLAN_POLISH, "seed %u", round);
        for (size_t i = 0; i < plan.n; i++) {
            const struct lbp_transfer *t = &plan.transfer[i];

            ck_assert_msg(t->from < n && t->to < n && t->from != t->to && t->work > 0, "seed %u",
                          round);
            could[t->from] -= t->work;
        }
        for (unsigned i = 0; i < n; i++) {
            ck_assert_msg(could[i] > -1e6, "seed %u: rank %u gives %g too much", round, i,
                          -could[i]);
            after += v[i].own + v[i].incoming;
        }
        ck_assert_msg(fabs(after - before) <= 1e-9 * before + n * 1e6, "seed %u", round);
        ck_assert_msg(plan.after_ns <= plan.before_ns + 1, "seed %u: %g after %g", round,
                      plan.after_ns, plan.before_ns);
        ck_assert_msg(plan.after_ns <= before / speed * 1.02 + 60e6, "seed %u: %g of %g", round,
                      plan.after_ns, before / speed);
    }
}
END_TEST

START_TEST(test_apportion)
{
    static const double weight[4] = {.4, .4, .4, .133}, none[2] = {0, 0}, some[3] = {0, 1, 0};
    static const double bad[2] = {1, NAN}, minus[2] = {1, -1};
    int64_t share[4] = {7, 7, 7, 7};

    ck_assert_int_eq(lbp_apportion(-1, weight, 4, share), -EINVAL);
    ck_assert_int_eq(lbp_apportion(10, weight, 0, share), -EINVAL);
    ck_assert_int_eq(lbp_apportion(10, none, 2, share), -EINVAL);
    ck_assert_int_eq(lbp_apportion(10, bad, 2, share), -EINVAL);
    ck_assert_int_eq(lbp_apportion(10, minus, 2, share), -EINVAL);
    ck_assert_int_eq(share[0], 7);
    ck_assert_int_eq(lbp_apportion(60, weight, 4, share), 0);
    ck_assert(share[0] == 18 && share[1] == 18 && share[2] == 18 && share[3] == 6);
    ck_assert_int_eq(lbp_apportion(10, NULL, 4, share), 0);
    ck_assert(share[0] == 3 && share[1] == 3 && share[2] == 2 && share[3] == 2);
    ck_assert_int_eq(lbp_apportion(9, some, 3, share), 0);
    ck_assert(share[0] == 0 && share[1] == 9 && share[2] == 0);
    ck_assert_int_eq(lbp_apportion(0, weight, 4, share), 0);
    ck_assert(share[0] == 0 && share[3] == 0);
}
END_TEST

START_TEST(test_apportion_random)
{
    for (unsigned round = 1; round <= 2000; round++) {
        unsigned seed = round;
        size_t n = 1 + (size_t)(rand_r(&seed) % 20);
        int64_t total = rand_r(&seed) % 3 ? rand_r(&seed) % 100 : INT64_MAX - rand_r(&seed);
        double weight[20], sum = 0;
        int64_t share[20], left = total;

        for (size_t i = 0; i < n; i++)
            sum += weight[i] = (rand_r(&seed) % 4) ? (double)rand_r(&seed) + 1 : i == 0;
        if (sum <= 0)
            continue;
        ck_assert_msg(lbp_apportion(total, weight, n, share) == 0, "seed %u", round);
        for (size_t i = 0; i < n; i++) {
            ck_assert_msg(share[i] >= 0 && share[i] <= left, "seed %u", round);
            ck_assert_msg(weight[i] > 0 || share[i] == 0, "seed %u", round);
            ck_assert_msg(fabs((double)share[i] - (double)total * (weight[i] / sum)) <=
                              1.001 + 1e-15 * (double)total * 4,
                          "seed %u", round);
            left -= share[i];
        }
        ck_assert_msg(left == 0, "seed %u: %ld left", round, (long)left);
    }
}
END_TEST

int main(void)
{
    TCase *t = suite_case("plan");

    tcase_add_test(t, test_liu);
    tcase_add_test(t, test_pairwise_slow_taker);
    tcase_add_test(t, test_pairwise_coarse);
    tcase_add_test(t, test_plan_coarse);
    tcase_add_test(t, test_plan_absent);
    tcase_add_test(t, test_plan_random);
    tcase_add_test(t, test_apportion);
    tcase_add_test(t, test_apportion_random);
    return suite_run("plan", t);
}
