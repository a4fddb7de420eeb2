/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's node weights by performance index. */
#include "policy/nodeweight.h"

#include <math.h>

/* Indices of hosts in one bucket and the next differ by this factor. */
#define STEP 1.25
/* A host stays in its bucket this far from its middle, in buckets: half a one would do for an index that never wavers. */
#define STAY .75

uint32_t lbp_nodeweight_bucket(double index, double best, uint32_t previous)
{
    double at = index > best && best > 0 ? log(index / best) / log(STEP) : 0;

    if (!(at < LBP_NODEWEIGHT_UNKNOWN - 1))
        at = LBP_NODEWEIGHT_UNKNOWN - 1;
    if (previous < LBP_NODEWEIGHT_UNKNOWN && fabs(at - previous) <= STAY)
        return previous;
    return (uint32_t)(at + .5);
}

uint32_t lbp_nodeweight(uint32_t site, uint32_t bucket)
{
    return site * LBP_NODEWEIGHT_BUCKETS + bucket;
}

bool lbp_nodeweight_is_ours(uint32_t weight, uint32_t site)
{
    return site <= LBP_NODEWEIGHT_MOST && weight / LBP_NODEWEIGHT_BUCKETS == site;
}
