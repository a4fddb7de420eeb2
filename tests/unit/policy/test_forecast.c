/* SPDX-License-Identifier: BSD-3-Clause */
/* Forecasting: each predictor on what it is for, who answers, and how long a load stays. */
#include "policy/forecast.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "policy/forecast_predict.h"
#include "tests/unit/suite.h"

#define S INT64_C(1000000000)
#define STEP (10 * S)

static struct lbp_forecast f;
static struct lbp_forecast_answer a;
static int64_t now_ns;
static uint64_t random_state;

static void set_up(void)
{
    now_ns = 1000 * S;
    random_state = 42;
    lbp_forecast_init(&f, 6, .1);
}

static double uniform(void) /* -1 to 1 */
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random_state >> 11) / 4503599627370496. - 1;
}

static void feed(double value)
{
    now_ns += STEP;
    lbp_forecast_add(&f, now_ns, value);
}

static double error_of(enum lbp_predictor p)
{
    double value, error;

    ck_assert(lbp_forecast_one(&f, p, &value, &error));
    return error;
}

START_TEST(nothing_is_known_of_nothing)
{
    double value, error;

    ck_assert(!lbp_forecast_ask(&f, &a));
    ck_assert(!lbp_forecast_one(&f, LBP_P_LAST, &value, &error));
    feed(.5);
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_eq(a.value, .5);
    ck_assert(!lbp_forecast_one(&f, LBP_PREDICTORS, &value, &error));
    ck_assert(!lbp_forecast_one(&f, LBP_P_DAY, &value, &error));
    ck_assert_str_eq(lbp_predictor_name(LBP_PREDICTORS), "");
    for (int p = 0; p < LBP_PREDICTORS; p++)
        ck_assert_int_gt((int)lbp_predictor_name((enum lbp_predictor)p)[0], ' ');
}
END_TEST

START_TEST(what_cannot_be_is_ignored)
{
    struct lbp_forecast before;

    feed(1);
    feed(1);
    before = f;
    lbp_forecast_add(&f, now_ns + STEP, NAN);
    lbp_forecast_add(&f, now_ns + STEP, INFINITY);
    lbp_forecast_add(&f, now_ns + STEP, -1e-9);
    lbp_forecast_add(&f, now_ns, 5);
    lbp_forecast_add(&f, now_ns - STEP, 5);
    ck_assert_mem_eq(&before, &f, sizeof(f));
    lbp_forecast_set_day(&f, -1, 1);
    lbp_forecast_set_day(&f, LBP_FORECAST_SLOTS, 1);
    lbp_forecast_set_day(&f, 3, NAN);
    ck_assert_mem_eq(&before, &f, sizeof(f));
    for (unsigned ahead = 0; ahead < 100; ahead += 33) {
        lbp_forecast_init(&f, ahead, .1);
        ck_assert_uint_ge(f.ahead, 1);
        ck_assert_uint_le(f.ahead, LBP_FORECAST_AHEAD);
    }
}
END_TEST

START_TEST(a_load_that_stays_is_known)
{
    double stable_ns;

    for (int i = 0; i < 200; i++)
        feed(1.5);
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_eq_tol(a.value, 1.5, 1e-6);
    ck_assert_double_eq_tol(a.error, 0, 1e-6);
    stable_ns = a.stable_ns;
    ck_assert_double_ge(stable_ns, 199. * STEP);
    for (int i = 0; i < 100; i++)
        feed(1.5);
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_gt(a.stable_ns, stable_ns);
}
END_TEST

START_TEST(noise_is_averaged)
{
    for (int i = 0; i < 400; i++)
        feed(1 + .8 * uniform());
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_int_ne((int)a.best, LBP_P_LAST);
    ck_assert_double_eq_tol(a.value, 1, .25);
    ck_assert_double_lt(a.error, .7 * error_of(LBP_P_LAST));
}
END_TEST

/* Few samples tell nobody from chance: the blend answers until there are enough, then the mix or who is better. */
START_TEST(who_answers_must_have_shown_it)
{
    unsigned changed = 0;
    enum lbp_predictor before = LBP_P_BLEND;

    for (int i = 0; i < 600; i++) {
        feed(1 + .8 * uniform());
        ck_assert(lbp_forecast_ask(&f, &a));
        if (i < 30)
            ck_assert_int_eq((int)f.best, (int)LBP_P_BLEND);
        changed += f.best != before;
        before = f.best;
    }
    ck_assert_int_ne((int)f.best, (int)LBP_P_BLEND); /* noise: a long mean is a good deal better */
    ck_assert_double_lt(error_of(f.best), error_of(LBP_P_BLEND));
    ck_assert_uint_le(changed, 20); /* nor does it go to and fro */
}
END_TEST

START_TEST(the_blend_is_between_now_and_usual)
{
    double last, usual, value, error;

    for (int i = 0; i < 90; i++)
        feed(i < 80 ? .2 : 1.4);
    ck_assert(lbp_forecast_one(&f, LBP_P_LAST, &last, &error));
    ck_assert(lbp_forecast_one(&f, LBP_P_MEAN_90, &usual, &error));
    ck_assert(lbp_forecast_one(&f, LBP_P_BLEND, &value, &error));
    ck_assert_double_gt(value, usual + .1);
    ck_assert_double_lt(value, last - .1);
}
END_TEST

/* A host whose load stays long is believed as soon as two samples say that it has changed. */
START_TEST(a_change_is_believed_soon)
{
    for (int i = 0; i < 300; i++)
        feed(.05 + .03 * uniform());
    for (int i = 0; i < 3; i++)
        feed(1 + .03 * uniform());
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_eq_tol(a.value, 1, .1);
    ck_assert_double_eq(f.changes, 1);
    for (int i = 0; i < 3; i++)
        feed(.05);
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_eq_tol(a.value, .05, .1);
}
END_TEST

START_TEST(a_spike_is_no_change)
{
    for (int i = 0; i < 300; i++)
        feed(i % 60 == 59 ? 1.5 : .2);
    ck_assert_double_eq(f.changes, 0);
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_lt(a.value, .6);
}
END_TEST

/* Levels that last n samples: so long a load is expected to stay, within a factor of two. */
START_TEST(the_horizon_is_that_of_the_history)
{
    static const int length[] = {6, 20, 80};
    double expected_ns = length[_i] * (double)STEP;

    for (int i = 0; i < 60 * length[_i]; i++)
        feed(i / length[_i] % 2 ? 1.2 : .2);
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_ge(a.stable_ns, expected_ns / 2);
    ck_assert_double_le(a.stable_ns, expected_ns * 2 + 60e9);
}
END_TEST

START_TEST(an_autoregressive_load_is_fitted)
{
    float v[LBP_FORECAST_RING];
    double x = 0, next = 0, reach = 0;

    for (int i = 0; i < LBP_FORECAST_RING;
         i++) { /* swings round 1 with the sign of each step turned */
        x = -.9 * x + .05 * uniform();
        v[i] = (float)(1 + x);
    }
    next = lbp_predict_ar(v, LBP_FORECAST_RING, 1, 1);
    ck_assert_double_lt(fabs(next - (1 - .9 * x)), fabs(x) * .3 + .02);
    reach = lbp_predict_ar(v, LBP_FORECAST_RING, 4, 30);
    ck_assert_double_eq_tol(reach, 1, .1); /* far ahead it is the mean */
    for (int i = 0; i < LBP_FORECAST_RING; i++)
        v[i] = .25f;
    ck_assert_double_eq_tol(lbp_predict_ar(v, LBP_FORECAST_RING, 4, 6), .25, 1e-9);
    ck_assert_double_eq_tol(lbp_predict_ar(v, 1, 4, 6), .25, 1e-9);
    ck_assert_double_eq(lbp_predict_median((float[]){3, 1, 2}, 3), 2);
    ck_assert_double_eq(lbp_predict_median((float[]){3, 1, 2, 4}, 4), 2.5);
    ck_assert_double_eq(lbp_predict_mean((float[]){3, 1, 2, 4}, 4), 2.5);
}
END_TEST

START_TEST(the_time_of_day_is_learned)
{
    double value, error;

    now_ns = 0;
    for (int i = 0; i < 2 * 24 * 60 / 4; i++) { /* two days; busy from 9 to 10 */
        now_ns += 240 * S;
        lbp_forecast_add(&f, now_ns, now_ns / (3600 * S) % 24 == 9 ? 2 : .1);
    }
    while (now_ns / (3600 * S) % 24 != 9) {
        ck_assert(lbp_forecast_one(&f, LBP_P_DAY, &value, &error));
        now_ns += 240 * S;
        lbp_forecast_add(&f, now_ns, .1);
    }
    ck_assert(lbp_forecast_one(&f, LBP_P_DAY, &value, &error));
    ck_assert_double_eq_tol(value, 2, .2);
    lbp_forecast_init(&f, 6, .1); /* or told from records */
    lbp_forecast_set_day(&f, 18, 1.75);
    lbp_forecast_add(&f, 9 * 3600 * S + S, .1);
    ck_assert(lbp_forecast_one(&f, LBP_P_DAY, &value, &error));
    ck_assert_double_eq(value, 1.75);
}
END_TEST

START_TEST(silence_voids_the_recent)
{
    for (int i = 0; i < 100; i++)
        feed(1.5);
    now_ns += LBP_FORECAST_GAP_NS + S;
    feed(.25);
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_eq(a.value, .25);
    ck_assert_uint_eq(f.n, 1);
}
END_TEST

/* A load that goes on and off by the same times: what came after moments like this one knows it, and the mix learns to listen. */
START_TEST(a_pattern_is_recognised)
{
    for (int i = 0; i < 600; i++)
        feed(i % 20 < 8 ? 1 + .02 * uniform() : .1);
    ck_assert_double_lt(error_of(LBP_P_ANALOGUE), .25 * error_of(LBP_P_LAST));
    ck_assert_double_lt(error_of(LBP_P_MIX), .4 * error_of(LBP_P_LAST));
    ck_assert_double_lt(error_of(LBP_P_MIX), .8 * error_of(LBP_P_BLEND));
    ck_assert(lbp_forecast_ask(&f, &a));
    ck_assert_double_le(a.error, error_of(LBP_P_MIX));
}
END_TEST

/* An analogue by few moments mostly tells of chance: the blend speaks along until there are more. */
START_TEST(who_has_seen_little_is_not_alone)
{
    double said, usual, error, early = 0, late = 0;
    int nearly = 0, nlate = 0;
    float own;

    for (int i = 0; i < 1200; i++) {
        feed(i % 20 < 8 ? 1 + .02 * uniform() : .1);
        if (!lbp_analogue_ask(&f.analogue, &f.moment, &own))
            continue;
        ck_assert(lbp_forecast_one(&f, LBP_P_ANALOGUE, &said, &error));
        ck_assert(lbp_forecast_one(&f, LBP_P_BLEND, &usual, &error));
        if (fabs((double)own - usual) < .05)
            continue;
        if (i < 50) { /* eight minutes */
            early += (said - usual) / ((double)own - usual);
            nearly++;
        } else if (i > 1000) {
            late += (said - usual) / ((double)own - usual);
            nlate++;
        }
    }
    ck_assert_int_gt(nearly, 5);
    ck_assert_int_gt(nlate, 50);
    ck_assert_double_lt(early / nearly, .5);
    ck_assert_double_gt(early / nearly, .05);
    ck_assert_double_gt(late / nlate, .99);
}
END_TEST

/* An hour is too little to learn all weights from: few have most of the first trust, nobody has none. */
START_TEST(few_are_trusted_at_first)
{
    float *w = f.mix.weight;

    ck_assert_double_gt((double)(w[LBP_P_ANALOGUE] + w[LBP_P_MEDIAN_7] + w[LBP_P_BLEND]), .7);
    for (int p = 0; p < LBP_P_MIX; p++) {
        ck_assert_double_gt((double)w[p], .01);
        ck_assert(w[p] <= w[LBP_P_ANALOGUE]);
    }
}
END_TEST

/* The nearest of what is remembered answer: where the future is the present, the present comes out. */
START_TEST(the_nearest_moments_answer)
{
    struct lbp_analogue *known = calloc(1, sizeof(*known));
    float value = -1;

    for (int i = 0; i < 1000; i++) {
        float x = (float)(uniform() + 1) / 2;
        struct lbp_moment m = {{x, x, x}};

        if (known->n < LBP_ANALOGUE_LEAST) {
            ck_assert(!lbp_analogue_ask(known, &m, &value));
            ck_assert_double_eq((double)value, -1);
        } else if (known->n == LBP_ANALOGUE_MEMORY && x > .2f && x < .8f) {
            ck_assert(lbp_analogue_ask(known, &m, &value));
            ck_assert_double_eq_tol((double)value, (double)x, .06);
        }
        lbp_analogue_remember(known, &m, x);
    }
    ck_assert_uint_eq(known->n, LBP_ANALOGUE_MEMORY);
    for (int i = 0; i < LBP_ANALOGUE_MEMORY; i++) /* all alike, and all the old forgotten */
        lbp_analogue_remember(known, &(struct lbp_moment){{1, 1, 1}}, 3);
    ck_assert(lbp_analogue_ask(known, &(struct lbp_moment){{0, 0, 0}}, &value));
    ck_assert_double_eq((double)value, 3);
    free(known);
}
END_TEST

/* Of two that are wrong to either side a mean is right, and no single one. */
START_TEST(the_mix_is_better_than_the_best)
{
    const float said[] = {1.5f, .75f, 9};
    struct lbp_mix m;
    float mixed = 0, sum = 0;

    lbp_mix_init(&m, (const float[]){1, 1, 1}, 3, 6);
    ck_assert_double_eq_tol((double)lbp_mix_say(&m, said), 3.75, 1e-5);
    for (int i = 0; i < 3000; i++) {
        mixed = lbp_mix_say(&m, said);
        lbp_mix_learn(&m, said, mixed, 1);
    }
    ck_assert_double_eq_tol((double)mixed, 1, .05);
    ck_assert_double_lt((double)m.weight[2], .02);
    for (int k = 0; k < 3; k++)
        sum += m.weight[k];
    ck_assert_double_eq_tol((double)sum, 1, 1e-5);
}
END_TEST

START_TEST(who_says_nothing_sleeps)
{
    struct lbp_mix m;

    lbp_mix_init(&m, (const float[]){1, 1}, 2, 1);
    ck_assert(isnan(lbp_mix_say(&m, (const float[]){NAN, NAN})));
    for (int i = 0; i < 100; i++) /* right, and wrong */
        lbp_mix_learn(&m, (const float[]){1, 2}, 1.5f, 1);
    ck_assert_double_gt((double)m.weight[0], .9);
    ck_assert_double_eq((double)lbp_mix_say(&m, (const float[]){NAN, 2}), 2);
    lbp_mix_init(&m, (const float[]){1, 1}, 2, 1);
    for (int i = 0; i < 100; i++)
        lbp_mix_learn(&m, (const float[]){1, NAN}, 1, 2);
    ck_assert_double_eq_tol((double)m.weight[0], .5, 1e-6); /* not blamed, not praised */
    for (int i = 0; i < 100; i++)                           /* nothing to choose between */
        lbp_mix_learn(&m, (const float[]){3, 3}, 3, 3);
    ck_assert_double_eq_tol((double)m.weight[1], .5, 1e-6);
}
END_TEST

/* Whatever comes, answers are finite and within what was seen. */
START_TEST(answers_stay_within_what_was_seen)
{
    random_state = (uint64_t)_i * 7919 + 1;
    for (int i = 0; i < 500; i++) {
        double u = uniform();

        feed(u > .9 ? 64 * u : u > 0 ? u : i % 7 ? 0 : 3);
        ck_assert(lbp_forecast_ask(&f, &a));
        ck_assert(isfinite(a.value) && a.value >= 0 && a.value <= 64);
        ck_assert(isfinite(a.error) && a.error >= 0);
        ck_assert(isfinite(a.stable_ns) && a.stable_ns > 0);
        if (i % 97 == 96)
            now_ns += LBP_FORECAST_GAP_NS * 2;
    }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("forecast");

    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, nothing_is_known_of_nothing);
    tcase_add_test(tc, what_cannot_be_is_ignored);
    tcase_add_test(tc, a_load_that_stays_is_known);
    tcase_add_test(tc, noise_is_averaged);
    tcase_add_test(tc, who_answers_must_have_shown_it);
    tcase_add_test(tc, the_blend_is_between_now_and_usual);
    tcase_add_test(tc, a_change_is_believed_soon);
    tcase_add_test(tc, a_spike_is_no_change);
    tcase_add_loop_test(tc, the_horizon_is_that_of_the_history, 0, 3);
    tcase_add_test(tc, an_autoregressive_load_is_fitted);
    tcase_add_test(tc, the_time_of_day_is_learned);
    tcase_add_test(tc, silence_voids_the_recent);
    tcase_add_test(tc, a_pattern_is_recognised);
    tcase_add_test(tc, who_has_seen_little_is_not_alone);
    tcase_add_test(tc, few_are_trusted_at_first);
    tcase_add_test(tc, the_nearest_moments_answer);
    tcase_add_test(tc, the_mix_is_better_than_the_best);
    tcase_add_test(tc, who_says_nothing_sleeps);
    tcase_add_loop_test(tc, answers_stay_within_what_was_seen, 0, 5);
    return suite_run("policy/forecast", tc);
}
