/* SPDX-License-Identifier: BSD-3-Clause */
/* The legs of a pipelined pass. */
#include "policy/legs.h"

#include <math.h>

/* What a leg costs as elapsed time of others: c. */
#define COST_NS 10e6
/* A leg takes no less, nor less than so many periods of a quota, which a rank uses up or not as it comes. */
#define LEAST_NS 40e6
#define QUOTA_PERIODS 8
/* A leg has so many messages, as the pipeline is filled by some. */
#define MESSAGES 4

int64_t lbp_legs(double pass_ns, double quota_ns, int64_t messages)
{
    double least_ns = fmax(LEAST_NS, QUOTA_PERIODS * quota_ns), legs;

    if (!(pass_ns >= least_ns)) /* also what is no number */
        return 1;
    legs = fmin(floor(sqrt(pass_ns / COST_NS) + 0.5), floor(pass_ns / least_ns));
    legs = fmin(legs, (double)(messages / MESSAGES));
    return legs >= 1 ? (int64_t)legs : 1;
}
