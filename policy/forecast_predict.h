/* SPDX-License-Identifier: BSD-3-Clause */
/* The predictors that need nothing but the last samples.  Only for forecast.c.  Pure. */
#ifndef LBP_FORECAST_PREDICT_H
#define LBP_FORECAST_PREDICT_H

#include <stddef.h>

#define LBP_AR_ORDER_MAX 4
#define LBP_MEDIAN_MAX 31

/* v[in] [n], newest last, n >= 1. */
double lbp_predict_mean(const float *v, size_t n);

/* n <= LBP_MEDIAN_MAX. */
double lbp_predict_median(const float *v, size_t n);

/*
 * The mean of the next `ahead`, autoregressive of the given order, fitted to all of v by Levinson's recursion on the
 * autocovariances (which makes it stable).  The mean of v where it does not vary.
 */
double lbp_predict_ar(const float *v, size_t n, size_t order, unsigned ahead);

#endif
