/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/strip.c: against programs whose time an element depends on the strip, with noise, and what the search costs. */
#include "policy/strip.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

typedef double cost(double width);

static double flat(double width)
{
    (void)width;
    return 1;
}

/* What handing out a strip costs: narrow ones are bad. */
static double worse(double width)
{
    return 1 + 8 / width;
}

/* Wide ones leave the cache. */
static double cache(double width)
{
    return width > 40 ? 1.3 : 1 + .2 / width;
}

/* The iterations of two neighbours overlap. */
static double overlap(double width)
{
    return width == 2 ? .89 : width < 2 ? 1 : .97 + .03 * fmin(1, width / 15);
}

/* A little better at a width that is tried, and a little worse at all others. */
static double hardly(double width)
{
    return width == 8 ? .995 : 1.01;
}

static struct lbp_strip s;

/* A normal deviate, nearly. */
static double noise(unsigned *seed, double ratio)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += rand_r(seed) / (double)RAND_MAX;
    return 1 + ratio * (sum - 6);
}

/* One block in so many is held up, for thirty times what it takes; 0: none is. */
static int held_up;

/* Policies that the limits below must see: the narrowest strips at once, and nothing learned. */
enum planted { SOUND, NARROWEST, DEAF };
static enum planted planted;

/* Blocks are computed: the time over that of whole blocks all along. */
static double run(cost *of, int blocks, double noisy, double drift, unsigned seed)
{
    double sum = 0, whole = of((double)s.block);

    for (int i = 0; i < blocks; i++) {
        double ns = of(planted == NARROWEST ? 2 : (double)lbp_strip_next(&s));

        sum += ns;
        if (held_up && rand_r(&seed) % held_up == 0)
            ns *= 30;
        if (planted != DEAF)
            lbp_strip_took(&s, 1000 * ns * noise(&seed, noisy) * (1 + drift * i));
    }
    return sum / blocks / whole;
}

START_TEST(what_is_tried)
{
    static const int64_t block[] = {1, 2, 3, 8, 9, 33, 1000, INT64_MAX},
                         first[] = {-1, -1, 2, 2, 8, 32, 512, INT64_C(1) << 61};

    for (size_t i = 0; i < sizeof(block) / sizeof(*block); i++) {
        lbp_strip_init(&s, block[i]);
        ck_assert_int_eq(s.trial, first[i]);
        ck_assert_int_eq(lbp_strip_next(&s), block[i]);
    }
    lbp_strip_init(&s, 33);
    run(flat, 1, 0, 0, 1);
    ck_assert_int_eq(lbp_strip_next(&s), 32);
    run(flat, 1, 0, 0, 1);
    ck_assert_int_eq(lbp_strip_next(&s), 32);
    run(flat, 1, 0, 0, 1);
    ck_assert_int_eq(lbp_strip_next(&s), 33);
}
END_TEST

START_TEST(the_best_is_found)
{
    lbp_strip_init(&s, 15);
    run(overlap, 200, 0, 0, 1);
    ck_assert_int_eq(s.best, 2);
    ck_assert_int_eq(s.trial, -1);
    lbp_strip_init(&s, 500);
    run(cache, 200, 0, 0, 1);
    ck_assert_int_eq(s.best, 32);
    lbp_strip_init(&s, 500);
    run(worse, 200, 0, 0, 1);
    ck_assert_int_eq(s.best, 0);
    ck_assert_int_eq(s.trial, -1);
}
END_TEST

/* Of so many searches, with times that differ by 5 % and a machine that grows slower: those that find it, and those that take
 * what is worse. */
static void search(unsigned searches, int *ret_found, int *ret_wrong)
{
    *ret_found = *ret_wrong = 0;
    for (unsigned seed = 1; seed <= searches; seed++) {
        lbp_strip_init(&s, 15);
        run(overlap, 400, .05, .001, seed);
        *ret_found += s.best == 2;
        lbp_strip_init(&s, 500);
        run(worse, 400, .05, .001, seed);
        *ret_wrong += s.best != 0 && worse((double)s.best) > 1.02 * worse(500);
    }
}

/* At least so many find it, and none takes what is worse; of those that learn nothing fewer do. */
static void found_by(unsigned searches, int least)
{
    int found, wrong;

    search(searches, &found, &wrong);
    ck_assert_int_ge(found, least);
    ck_assert_int_eq(wrong, 0);
    planted = DEAF;
    search(searches, &found, &wrong);
    planted = SOUND;
    ck_assert_int_lt(found, least);
}

START_TEST(noise_does_not_hide_it)
{
    found_by(100, 97);
}
END_TEST

/* Blocks that something else holds up neither end the search nor choose for it. */
START_TEST(what_holds_up_does_not_hide_it)
{
    held_up = 60;
    found_by(1000, 950);
    held_up = 0;
}
END_TEST

/* Of 200 blocks, which are three steps, or thirty with large ones: the time over that of whole blocks. */
static void compare(double *ret_most, double *ret_mean)
{
    static cost *const all[] = {flat, worse, cache, overlap, hardly};
    double sum = 0;
    int n = 0;

    *ret_most = 0;
    for (size_t c = 0; c < sizeof(all) / sizeof(*all); c++)
        for (unsigned seed = 1; seed <= 100; seed++) {
            double ratio;

            lbp_strip_init(&s, 3 + (int64_t)(seed * seed) % 700);
            ratio = run(all[c], 200, .05, 0, seed);
            *ret_most = fmax(*ret_most, ratio);
            sum += ratio;
            n++;
        }
    *ret_mean = sum / n;
}

START_TEST(the_search_costs_little)
{
    double most, mean;

    compare(&most, &mean);
    ck_assert_msg(most < 1.02, "most %f", most);
    ck_assert_msg(mean < .99, "mean %f", mean);
    planted = NARROWEST;
    compare(&most, &mean);
    ck_assert_double_gt(most, 1.02);
    planted = DEAF;
    compare(&most, &mean);
    planted = SOUND;
    ck_assert_double_gt(mean, .99);
}
END_TEST

START_TEST(another_size)
{
    lbp_strip_init(&s, 100);
    run(cache, 200, 0, 0, 1);
    ck_assert_int_eq(s.best, 32);
    lbp_strip_resize(&s, 70); /* still wider */
    ck_assert_int_eq(s.trial, -1);
    ck_assert_int_eq(lbp_strip_next(&s), 32);
    lbp_strip_resize(&s, 20); /* no more */
    ck_assert_int_eq(s.trial, 8);
    ck_assert_int_eq(lbp_strip_next(&s), 20);
    run(cache, 2, 0, 0, 1);
    lbp_strip_resize(&s, 20);
    ck_assert_uint_eq(s.pairs, 1);
    lbp_strip_resize(&s, 0);
    ck_assert_uint_eq(s.pairs, 1);
}
END_TEST

START_TEST(garbage_counts_for_nothing)
{
    static const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};

    lbp_strip_init(&s, 15);
    for (int round = 0; round < 100; round++)
        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
            lbp_strip_took(&s, bad[i]);
    ck_assert_uint_eq(s.taken, 0);
    ck_assert_int_eq(lbp_strip_next(&s), 15);
    lbp_strip_init(&s, -5);
    ck_assert_int_eq(lbp_strip_next(&s), 1);
    lbp_strip_took(&s, 5);
    ck_assert_int_eq(lbp_strip_next(&s), 1);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("strip");

    tcase_add_test(tc, what_is_tried);
    tcase_add_test(tc, the_best_is_found);
    tcase_add_test(tc, noise_does_not_hide_it);
    tcase_add_test(tc, what_holds_up_does_not_hide_it);
    tcase_add_test(tc, the_search_costs_little);
    tcase_add_test(tc, another_size);
    tcase_add_test(tc, garbage_counts_for_nothing);
    return suite_run("policy/strip", tc);
}
