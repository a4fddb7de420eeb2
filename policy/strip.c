/* SPDX-License-Identifier: BSD-3-Clause */
/* The strips of a pipelined loop's blocks. */
#include "policy/strip.h"

#include <math.h>

/* Strips that are tried, in elements: this one, and each so many times as wide, that is narrower than the block. */
#define NARROWEST 2
#define FINER 4
/* In place of a width: nothing is tried any more. */
#define OVER (-1)
/* Two widths are compared in so many pairs of blocks, one of each width, at least and at most. */
#define PAIRS_LEAST 4
#define PAIRS_MOST 12
/* One is better or worse when the mean ratio of their times says so by so many standard errors; */
#define SURE 2.0
/* better by more than this ratio: less is not worth another strip. */
#define GAIN 0.02
/* Where the narrower one takes so many times as long, those that are narrower still are not tried; */
#define WORSE 1.05
/* and so many times after two pairs end the comparison at once. */
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
    s->sum_ratio = s->sum_ratio2 = 0;
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

static void judge(struct lbp_strip *s)
{
    double n = s->pairs, mean = s->sum_ratio / n, error;

    if (s->pairs >= 2 && mean > BAD) {
        end(s, false, false);
        return;
    }
    if (s->pairs < PAIRS_LEAST)
        return;
    error = sqrt(fmax(0, s->sum_ratio2 / n - mean * mean) / (n - 1));
    if (mean + SURE * error < 1 - (s->checks ? 0 : GAIN))
        end(s, true, true);
    else if (s->pairs == PAIRS_MOST)
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
    s->sum_ratio += ratio;
    s->sum_ratio2 += ratio * ratio;
    s->pairs++;
    judge(s);
}
