/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forecasting by analogy: what came after the moments of the past that were most like this one.  A moment is how much load there
 * was of late, over three lengths of time; the median of what followed the nearest quarter of those remembered answers, the nearer
 * ones weighing more.  It assumes nothing of how loads behave: a host whose bursts end soon and one whose bursts go on are told
 * apart by their own past.  Only for forecast.c.  Pure; a fixed size, no allocation.
 * Source: nearest neighbours (Lorenz 1969: "atmospheric predictability as revealed by naturally occurring analogues"); lengths,
 * numbers and the median are ours.
 */
#ifndef LBP_FORECAST_ANALOGUE_H
#define LBP_FORECAST_ANALOGUE_H

#include <stdbool.h>

#define LBP_ANALOGUE_LENGTHS 3
#define LBP_ANALOGUE_MEMORY 256 /* moments remembered, the newest */
#define LBP_ANALOGUE_LEAST 20   /* before there are so many it says nothing */

struct lbp_moment {
    float load[LBP_ANALOGUE_LENGTHS]; /* means of late, the shortest first */
};

struct lbp_analogue {
    struct lbp_moment moment[LBP_ANALOGUE_MEMORY];
    float came[LBP_ANALOGUE_MEMORY]; /* after it */
    unsigned head, n;
};

/*
 * The next moment after *m, by one more sample.  n: samples in it so far; 0: *m is undefined and begins.
 * ahead: samples that forecasts are for, by which the lengths go: 1/6, 2/3 and 8/3 of it.
 */
void lbp_moment_add(struct lbp_moment *m, unsigned n, unsigned ahead, float value);

/* After such a moment this came.  The oldest one is forgotten. */
void lbp_analogue_remember(struct lbp_analogue *a, const struct lbp_moment *m, float came);

/* Returns false, *ret_value untouched: not enough is remembered.  O(LBP_ANALOGUE_MEMORY). */
bool lbp_analogue_ask(const struct lbp_analogue *a, const struct lbp_moment *m, float *ret_value);

#endif
