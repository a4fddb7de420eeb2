/* SPDX-License-Identifier: BSD-3-Clause */
/* The strips of a pipelined loop's blocks. */
#include "policy/strip.h"

#include <math.h>

/* Strips that are tried, in elements: this one, and each so many times as wide, that is narrower than the block. */
#define NARROWEST 2
#define FINER 4
/* In place of a width: nothing is tried any more. */
#define OVER (-1)
/* Two widths are compared in so many pairs of blocks at least, and at most in LBP_STRIP_PAIRS. */
#define PAIRS_LEAST 4
/* Pairs whose ratio differs from the median by more than this one say nothing: something else held up one of their blocks. */
#define NEAR 1.3
/* One is better or worse when the mean ratio of the other pairs says so by so many standard errors; */
#define SURE 2.0
/* better by more than this ratio: less is not worth another strip. */
#define GAIN 0.02
/* Where the narrower one takes so many times as long, those that are narrower still are not tried; */
#define WORSE 1.05
/* and so many times in each of two pairs end the comparison at once. */
#define BAD 1.25

/* The widest strip narrower than `width`; OVER: there is none. */
static int64_t narrower(int64_t width)
{
    int64_t w = NARROWEST;

    if (width <= w)
        return OVER;
    while (w <= (width - 1) / FINER)
        w *= FINER;
    return w;
}

static void compare(struct lbp_strip *s, int64_t with)
{
    s->trial = with;
    s->taken = s->pairs = 0;
}

void lbp_strip_init(struct lbp_strip *s, int64_t block)
{
    *s = (struct lbp_strip){.block = block < 1 ? 1 : block};
    compare(s, narrower(s->block));
}

void lbp_strip_resize(struct lbp_strip *s, int64_t block)
{
    if (block < 1 || block == s->block)
        return;
    if (s->trial == OVER && s->best > 0 && s->best < block)
        s->block = block;
    else
        lbp_strip_init(s, block);
}

/* A B B A: the trial is the second of the even pairs, and the first of the others. */
static bool is_trials_turn(const struct lbp_strip *s)
{
    return s->trial != OVER && (s->taken % 4 == 1 || s->taken % 4 == 2);
}

int64_t lbp_strip_next(const struct lbp_strip *s)
{
    int64_t width = is_trials_turn(s) ? s->trial : s->best;

    return width == 0 || width > s->block ? s->block : width;
}

/* The comparison is decided. */
static void end(struct lbp_strip *s, bool wins, bool goes_on)
{
    int64_t next = goes_on ? narrower(s->trial) : OVER;

    if (wins)
        s->best = s->trial;
    if (s->checks || (next == OVER && s->best == 0)) {
        s->trial = OVER;
        return;
    }
    s->checks = next == OVER;
    compare(s, s->checks ? 0 : next);
}

/* Puts it in its place among the first n, which are ascending. */
static void insert(double *values, uint32_t n, double value)
{
    for (; n > 0 && values[n - 1] > value; n--)
        values[n] = values[n - 1];
    values[n] = value;
}

/* The mean of the ratios that are near their median, and its standard error; how many they are, at least 1. */
static uint32_t judged_mean(const struct lbp_strip *s, double *ret_mean, double *ret_error)
{
    double middle = s->ratios[(s->pairs - 1) / 2], sum = 0, squares = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->pairs; i++) {
        double ratio = s->ratios[i];

        if (ratio * NEAR < middle || ratio > middle * NEAR)
            continue;
        sum += ratio;
        squares += ratio * ratio;
        n++;
    }
    *ret_mean = sum / n;
    *ret_error = n < 2 ? INFINITY : sqrt(fmax(0, squares / n - *ret_mean * *ret_mean) / (n - 1));
    return n;
}

static void judge(struct lbp_strip *s)
{
    double mean, error;

    if (s->pairs >= 2 && s->ratios[0] > BAD) {
        end(s, false, false);
        return;
    }
    if (judged_mean(s, &mean, &error) < PAIRS_LEAST && s->pairs < LBP_STRIP_PAIRS)
        return;
    if (mean + SURE * error < 1 - (s->checks ? 0 : GAIN))
        end(s, true, true);
    else if (s->pairs == LBP_STRIP_PAIRS)
        end(s, s->checks && mean < 1, mean < WORSE);
    else if (mean - SURE * error > 1)
        end(s, false, mean < WORSE);
}

void lbp_strip_took(struct lbp_strip *s, double ns)
{
    double ratio;

    if (s->trial == OVER || !isfinite(ns) || ns <= 0)
        return;
    if (s->taken++ % 2 == 0) {
        s->first_ns = ns;
        return;
    }
    ratio = s->taken % 4 == 0 ? s->first_ns / ns : ns / s->first_ns;
    insert(s->ratios, s->pairs++, ratio);
    judge(s);
}
