/* SPDX-License-Identifier: BSD-3-Clause */
/* The predictors that need nothing but the last samples. */
#include "policy/forecast_predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double lbp_predict_mean(const float *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)v[i];
    return sum / (double)n;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

double lbp_predict_median(const float *v, size_t n)
{
    float sorted[LBP_MEDIAN_MAX];

    memcpy(sorted, v, n * sizeof(v[0]));
    qsort(sorted, n, sizeof(sorted[0]), compare_floats);
    return n % 2 ? (double)sorted[n / 2] : ((double)sorted[n / 2 - 1] + (double)sorted[n / 2]) / 2;
}

/* The coefficients a[1] to a[order] of differences from the mean. */
static void fit_ar(const float *v, size_t n, double mean, size_t order, double *a)
{
    double c[LBP_AR_ORDER_MAX + 1] = {0}, error;

    for (size_t lag = 0; lag <= order; lag++)
        for (size_t i = lag; i < n; i++)
            c[lag] += ((double)v[i] - mean) * ((double)v[i - lag] - mean);
    error = c[0];
    for (size_t k = 1; k <= order && error > 1e-9 * c[0] && error > 1e-12 * (double)n; k++) {
        double was[LBP_AR_ORDER_MAX + 1], reflection = c[k];

        memcpy(was, a, sizeof(was));
        for (size_t j = 1; j < k; j++)
            reflection -= was[j] * c[k - j];
        reflection /= error;
        a[k] = reflection;
        for (size_t j = 1; j < k; j++)
            a[j] = was[j] - reflection * was[k - j];
        error *= 1 - reflection * reflection;
    }
}

double lbp_predict_ar(const float *v, size_t n, size_t order, unsigned ahead)
{
    double mean = lbp_predict_mean(v, n), a[LBP_AR_ORDER_MAX + 1] = {0};
    double last[LBP_AR_ORDER_MAX + 1], sum = 0;

    if (n <= order)
        return mean;
    fit_ar(v, n, mean, order, a);
    for (size_t k = 1; k <= order; k++)
        last[k] = (double)v[n - k] - mean;
    for (unsigned step = 0; step < ahead; step++) {
        double next = 0;

        for (size_t k = 1; k <= order; k++)
            next += a[k] * last[k];
        for (size_t k = order; k > 1; k--)
            last[k] = last[k - 1];
        last[1] = next;
        sum += next;
    }
    return mean + sum / ahead;
}
