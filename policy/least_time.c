/* SPDX-License-Identifier: BSD-3-Clause */
/* The least time: growing steps from where it cannot be less, then halving the last. */
#include "policy/least_time.h"

/* The least time is looked for by so many halvings at most, and no nearer than this ratio. */
#define HALVINGS 20
#define EXACT 0.001

double lbp_least_time(bool (*feasible)(void *arg, double t), void *arg, double from_ns)
{
    double lo = from_ns, hi = from_ns, step = EXACT * from_ns;

    for (; !feasible(arg, hi + step); step *= 2)
        lo = hi += step;
    hi += step;
    for (int i = 0; i < HALVINGS && hi - lo > EXACT * hi; i++) {
        double mid = (lo + hi) / 2;

        if (feasible(arg, mid))
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}
