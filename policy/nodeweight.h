/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's node weights by performance index.  Pure. */
#ifndef LBP_NODEWEIGHT_H
#define LBP_NODEWEIGHT_H

#include <stdbool.h>
#include <stdint.h>

#define LBP_NODEWEIGHT_BUCKETS 100 /* to each weight of the site's */
#define LBP_NODEWEIGHT_UNKNOWN (LBP_NODEWEIGHT_BUCKETS - 1)
#define LBP_NODEWEIGHT_MOST (UINT32_MAX / LBP_NODEWEIGHT_BUCKETS - 1) /* of the site's own */

/*
 * The bucket of a host: 0 the best, one more for each 25 % of index.  A host stays in its bucket until it is well in another,
 * so that noise changes nothing.
 * index, best  > 0, lower is better; best: of the best host
 * previous     its bucket until now; LBP_NODEWEIGHT_UNKNOWN: none
 * Returns 0 to LBP_NODEWEIGHT_UNKNOWN - 1.  Source: ours.
 */
uint32_t lbp_nodeweight_bucket(double index, double best, uint32_t previous);

/* The site's order of weights stays; ours is within it.  site <= LBP_NODEWEIGHT_MOST. */
uint32_t lbp_nodeweight(uint32_t site, uint32_t bucket);

/* Whether a weight can be one of ours for a node that had `site`. */
bool lbp_nodeweight_is_ours(uint32_t weight, uint32_t site);

#endif
