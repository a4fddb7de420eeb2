/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's node weights by performance index. */
#include "policy/nodeweight.h"

#include <math.h>

#define STEP 1.25
#define STAY .75 /* of a bucket, on either side of its middle */

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
