/* SPDX-License-Identifier: BSD-3-Clause */
/* Measured values of which some are really the same. */
#include "policy/alike.h"

#include <math.h>

void lbp_alike(double *value, size_t n, size_t stride, double ratio)
{
    double done = 0; /* all up to here have their group */

    for (;;) {
        double least = INFINITY, sum = 0;
        size_t members = 0;

        for (size_t i = 0; i < n; i++)
            if (value[i * stride] > done && value[i * stride] < least)
                least = value[i * stride];
        if (!isfinite(least))
            return;
        done = least * ratio;
        for (size_t i = 0; i < n; i++)
            if (value[i * stride] >= least && value[i * stride] <= done) {
                sum += value[i * stride];
                members++;
            }
        for (size_t i = 0; i < n; i++)
            if (value[i * stride] >= least && value[i * stride] <= done)
                value[i * stride] = fmin(sum / (double)members, done);
    }
}
