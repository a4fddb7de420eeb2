/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/grain.c. */
#include "policy/grain.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

#define STAGES 6
#define SWEEPS 20

/* Figure 8's case by hand: 1000 iterations, 4 ranks. */
START_TEST(test_formula)
{
    struct lbp_grain_cost cost = {.t_seq_ns = 40e9, .t_fixed_ns = 1e6, .t_incr_ns = 1000};

    /* M = 10: t_block = 1e9, t_shift = 1e6 + 1e5: 13 x 1e9 + 12 x 1.1e6 */
    ck_assert_double_eq_tol(lbp_grain_total_ns(1000, 4, 10, &cost), 13e9 + 13.2e6, 1);
    /* sqrt((40e9 x 3/4 + 1000 x 1000 x 2) / 1e6) = sqrt(30002) = 173.2 */
    ck_assert_int_eq(lbp_grain_optimal_blocks(1000, 4, &cost), 173);
    ck_assert_int_eq(lbp_grain_block(1000, 173), 6);
    ck_assert_int_eq(lbp_grain_block(1000, 0), 1000);
    ck_assert_int_eq(lbp_grain_block(0, 7), 1);
    ck_assert_int_eq(lbp_grain_block(INT64_C(1) << 40, 3), 366503875926);
}
END_TEST

START_TEST(test_limits)
{
    struct lbp_grain_cost cost = {.t_seq_ns = 1e9, .t_fixed_ns = 0};

    ck_assert_int_eq(lbp_grain_optimal_blocks(50, 4, &cost), 50); /* messages cost nothing */
    cost.t_fixed_ns = 1e18;
    ck_assert_int_eq(lbp_grain_optimal_blocks(50, 4, &cost), 1);
    ck_assert_int_eq(lbp_grain_optimal_blocks(50, 1, &cost), 1);
    ck_assert_int_eq(lbp_grain_optimal_blocks(1, 4, &cost), 1);
    cost = (struct lbp_grain_cost){.t_seq_ns = NAN, .t_fixed_ns = -1, .t_incr_ns = INFINITY};
    ck_assert_int_eq(lbp_grain_optimal_blocks(50, 4, &cost), 1);
    cost = (struct lbp_grain_cost){.t_seq_ns = 1e18, .t_fixed_ns = 1};
    ck_assert_int_le(llabs(lbp_grain_optimal_blocks(INT64_C(1) << 40, 4, &cost) - 866025404), 1);
}
END_TEST

/* No other number of blocks is better. */
START_TEST(test_optimal)
{
    for (unsigned round = 1; round <= 500; round++) {
        unsigned seed = round;
        int64_t m = 1 + rand_r(&seed) % 300, best;
        uint32_t p = 1 + (uint32_t)rand_r(&seed) % 12;
        struct lbp_grain_cost cost = {.t_seq_ns = pow(10, 5 + rand_r(&seed) % 6),
                                      .t_fixed_ns = pow(10, 3 + rand_r(&seed) % 5),
                                      .t_incr_ns = pow(10, rand_r(&seed) % 5)};
        double least;

        if (round % 2)
            cost.filled = 2 + (p - 2.0) / (1 + rand_r(&seed) % 20);

        best = lbp_grain_optimal_blocks(m, p, &cost);
        least = lbp_grain_total_ns(m, p, best, &cost);
        ck_assert(best >= 1 && best <= m);
        for (int64_t M = 1; M <= m; M++)
            ck_assert_msg(lbp_grain_total_ns(m, p, M, &cost) >= least * (1 - 1e-9),
                          "round %u: %ld blocks beat %ld", round, (long)M, (long)best);
    }
}
END_TEST

/* What six ranks choose, whose sweeps take 1 s and messages 1 ms. */
static int64_t chosen(int64_t gone, int64_t known)
{
    struct lbp_grain g;

    lbp_grain_init(&g, 1000, 6);
    if (gone >= 0)
        lbp_grain_flow(&g, gone, known);
    lbp_grain_sweep(&g, 1e9);
    lbp_grain_message(&g, 0, 1e6);
    return lbp_grain_choose(&g);
}

/* The pipeline is filled once for all sweeps that are to be expected: sqrt(1e9 (F - 1) / 1e6) blocks. */
START_TEST(test_flows)
{
    ck_assert_int_eq(chosen(-1, 0), 15);   /* F = 6: 71 blocks */
    ck_assert_int_eq(chosen(0, 0), 23);    /* 3: 45 */
    ck_assert_int_eq(chosen(16, 0), 29);   /* 2.25: 35 */
    ck_assert_int_eq(chosen(1000, 0), 32); /* 2.004: 32 */
    ck_assert_int_eq(chosen(0, 16), 29);
    ck_assert_int_eq(chosen(1000, 1), 15); /* one is all there is */
}
END_TEST

/* A pipeline as it runs, message by message: the time that a sweep takes in the end, or alone when all wait for the last rank. */
static double walk(const struct lbp_grain *g, const struct lbp_grain_cost *cost,
                   const struct lbp_grain_stage *stage, uint32_t n, int64_t blocks)
{
    double t[STAGES], ends[STAGES] = {0}, before = 0, first_ns = 0, message;
    int sweeps = g->sweeps > 0 ? SWEEPS : 1;

    message = n > 1 ? cost->t_fixed_ns + cost->t_incr_ns * (double)g->m / (double)blocks : 0;
    for (uint32_t i = 0; i < n; i++)
        t[i] = stage[i].busy_ns / (double)blocks +
               message * stage[i].slow * (n > 2 && (i == 0 || i == n - 1) ? 0.5 : 1);
    for (int sweep = 0; sweep < sweeps; sweep++) {
        double done[STAGES];

        for (uint32_t i = 0; i < n;
             i++) /* a rank begins when the next has ended the sweep before */
            done[i] = fmax(ends[i], i + 1 < n ? ends[i + 1] : 0);
        for (int64_t k = 0; k < blocks; k++)
            for (uint32_t i = 0; i < n; i++)
                done[i] = t[i] + (i > 0 ? fmax(done[i], done[i - 1]) : done[i]);
        memcpy(ends, done, sizeof(ends));
        before = ends[n - 1];
        if (sweep == SWEEPS / 2)
            first_ns = before;
    }
    return sweeps > 1 ? (before - first_ns) / (SWEEPS - 1 - SWEEPS / 2) : before;
}

/* Stages of different lengths: the formula is what happens, and no number of blocks is better than the one chosen. */
START_TEST(test_stages)
{
    for (unsigned round = 1; round <= 200; round++) {
        unsigned seed = round;
        uint32_t n = 1 + (uint32_t)rand_r(&seed) % STAGES;
        struct lbp_grain_stage stage[STAGES];
        struct lbp_grain_cost cost;
        struct lbp_grain g;
        double chosen, least = INFINITY;
        int64_t M;

        lbp_grain_init(&g, 200, n);
        if (round % 2)
            lbp_grain_flow(&g, 0, INT64_C(1) << 40); /* filling it costs nothing */
        lbp_grain_sweep(&g, 1e6);
        lbp_grain_message(&g, 0, 1 + rand_r(&seed) % 100000);
        ck_assert_int_eq(lbp_grain_cost(&g, &cost), 0);
        for (uint32_t i = 0; i < n; i++)
            stage[i] = (struct lbp_grain_stage){pow(10, 5 + 3.0 * rand_r(&seed) / RAND_MAX),
                                                1 + rand_r(&seed) % 4, 1};
        for (M = 1; M <= 200; M++) {
            double is = walk(&g, &cost, stage, n, M),
                   told = lbp_grain_stages_ns(&g, &cost, stage, n, M);

            ck_assert_msg(fabs(told - is) <= 1e-3 * is, "round %u, %ld blocks: %g, is %g", round,
                          (long)M, told, is);
            least = fmin(least, is);
        }
        M = lbp_grain_block(200, lbp_grain_choose_for(&g, stage, n)); /* blocks of that size */
        chosen = walk(&g, &cost, stage, n, M);
        ck_assert_msg(chosen <= 1.03 * least, "round %u: %ld blocks take %g, least %g", round,
                      (long)M, chosen, least);
    }
}
END_TEST

/* Under a quota waiting costs a part only: two ranks alike take M t + lost t, and fewer blocks are best. */
START_TEST(test_quota)
{
    for (int flows = 0; flows < 2; flows++) {
        struct lbp_grain_stage free[2] = {{1e8, 1, 1}, {1e8, 1, 1}},
                               held[2] = {{1e8, 1, 0.25}, {1e8, 1, 0.25}};
        struct lbp_grain_cost cost;
        struct lbp_grain g;
        int64_t block;

        lbp_grain_init(&g, 10000, 2);
        if (flows)
            lbp_grain_flow(&g, 0, INT64_C(1) << 40);
        lbp_grain_sweep(&g, 1e8);
        lbp_grain_message(&g, 0, 1e4);
        ck_assert_int_eq(lbp_grain_cost(&g, &cost), 0);
        ck_assert_double_eq_tol(lbp_grain_stages_ns(&g, &cost, held, 2, 100), 100.25 * 1.01e6, 1);
        ck_assert_double_eq_tol(lbp_grain_stages_ns(&g, &cost, free, 2, 100), 101 * 1.01e6, 1);
        block = lbp_grain_choose_for(&g, free, 2);
        ck_assert_int_eq(block, 100); /* sqrt(1e8 / 1e4) blocks */
        lbp_grain_init(&g, 10000, 2);
        if (flows)
            lbp_grain_flow(&g, 0, INT64_C(1) << 40);
        lbp_grain_sweep(&g, 1e8);
        lbp_grain_message(&g, 0, 1e4);
        ck_assert_int_eq(lbp_grain_choose_for(&g, held, 2), 2 * block);
    }
}
END_TEST

START_TEST(test_running)
{
    struct lbp_grain g;
    struct lbp_grain_cost cost;
    int64_t block;

    lbp_grain_init(&g, 1000, 4);
    ck_assert_int_eq(lbp_grain_cost(&g, &cost), -ENODATA);
    ck_assert_int_eq(lbp_grain_choose(&g), 32); /* 1000 / 32 */
    for (int i = 0; i < 20; i++) {
        lbp_grain_sweep(&g, i % 4 ? 10e9 : 14e9); /* others' load now and then */
        lbp_grain_message(&g, 0, i % 3 ? 1e6 : 5e6);
        lbp_grain_message(&g, 100, i % 3 ? 1.1e6 : 9e6);
    }
    ck_assert_int_eq(lbp_grain_cost(&g, &cost), 0);
    ck_assert_double_eq_tol(cost.t_fixed_ns, 1e6, 0.05e6);
    ck_assert_double_eq_tol(cost.t_incr_ns, 1e3, 0.5e3);
    ck_assert_double_eq_tol(cost.t_seq_ns, 40e9, 4e9);
    block = lbp_grain_choose(&g);
    ck_assert_int_ge(block, 5);
    ck_assert_int_le(block, 7);
    /* a little more changes nothing; ten times the cost of a message does */
    lbp_grain_sweep(&g, 10.5e9);
    ck_assert_int_eq(lbp_grain_choose(&g), block);
    for (int i = 0; i < 200; i++)
        lbp_grain_message(&g, 0, 100e6);
    ck_assert_int_ge(lbp_grain_choose(&g), 4 * block);
    /* only one rank holds anything: no pipeline */
    lbp_grain_ranks(&g, 1);
    ck_assert_int_eq(lbp_grain_choose(&g), 1000);
}
END_TEST

START_TEST(test_fixed)
{
    struct lbp_grain g;

    lbp_grain_init(&g, 1000, 4);
    lbp_grain_fix(&g, -1);
    ck_assert_int_eq(lbp_grain_choose(&g), lbp_grain_block(1000, 32));
    lbp_grain_fix(&g, 7);
    ck_assert_int_eq(lbp_grain_choose(&g), 7);
    lbp_grain_sweep(&g, 1e9); /* whatever is measured */
    lbp_grain_message(&g, 0, 100);
    ck_assert_int_eq(lbp_grain_choose(&g), 7);
    lbp_grain_fix(&g, 5000); /* no more than there are */
    ck_assert_int_eq(lbp_grain_choose(&g), 1000);
}
END_TEST

START_TEST(test_nonsense)
{
    struct lbp_grain g;
    struct lbp_grain_cost cost;

    lbp_grain_init(&g, 0, 0);
    lbp_grain_sweep(&g, NAN);
    lbp_grain_sweep(&g, -1);
    lbp_grain_message(&g, -1, 5);
    lbp_grain_message(&g, 1, INFINITY);
    lbp_grain_message(&g, 1, -3);
    ck_assert_int_eq(lbp_grain_cost(&g, &cost), -ENODATA);
    ck_assert_int_eq(lbp_grain_choose(&g), 1);
}
END_TEST

/* Ranks that found a block size keep it until another one is better; what is told comes before what they say later. */
START_TEST(test_found)
{
    struct lbp_grain g;

    lbp_grain_init(&g, 1000, 4);
    lbp_grain_found(&g, 0);
    lbp_grain_found(&g, -1);
    ck_assert_int_eq(g.block, 0);
    lbp_grain_found(&g, 77);
    ck_assert_int_eq(lbp_grain_choose(&g), 77); /* nothing is known that is better */
    lbp_grain_found(&g, 5);
    ck_assert_int_eq(lbp_grain_choose(&g), 77);
    lbp_grain_sweep(&g, 1000 * 10e3);
    lbp_grain_message(&g, 0, 1e9);
    ck_assert_int_eq(lbp_grain_choose(&g), 1000); /* messages are very dear */
    lbp_grain_init(&g, 10, 4);
    lbp_grain_found(&g, 77);
    ck_assert_int_eq(g.block, 10);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("grain");

    tcase_add_test(t, test_formula);
    tcase_add_test(t, test_limits);
    tcase_add_test(t, test_optimal);
    tcase_add_test(t, test_flows);
    tcase_add_test(t, test_stages);
    tcase_add_test(t, test_quota);
    tcase_add_test(t, test_running);
    tcase_add_test(t, test_nonsense);
    tcase_add_test(t, test_fixed);
    tcase_add_test(t, test_found);
    return suite_run("grain", t);
}
