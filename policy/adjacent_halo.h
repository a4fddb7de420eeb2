/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds where a rank owns nothing or at least as many iterations as a halo is wide.  Few iterations for many ranks leave some
 * of these without any, and which ones decides how long a step takes: looked for among all distributions, by dynamic
 * programming over the places where bounds can be.
 * Source: ours.
 */
#ifndef LBP_ADJACENT_HALO_H
#define LBP_ADJACENT_HALO_H

#include <stdbool.h>

#include "policy/adjacent.h"

/* Is that looked for?  Not with so many ranks and iterations that it would take more than some 3 ms. */
bool lbp_adjacent_halo_is_small(const struct lbp_adjacent_config *config, int64_t n);

/*
 * The time of the slowest rank is within slack (and 0.2 %) of the least, and within that the sum of the ways of all bounds
 * from the old ones is the least.
 * config, profile, old[in]  as for lbp_adjacent_bounds, valid;  n > min_iterations;  lbp_adjacent_halo_is_small
 * least_ns[in]              > 0: the least time without that limit
 * ret_bound[out]            [nranks + 1]; untouched on failure; may be old
 * Returns 0 or -ENOMEM.  Pure, O(P n x 24), memory O(P n).
 */
int lbp_adjacent_halo(const struct lbp_adjacent_config *config, struct lbp_profile *profile,
                      double least_ns, const int64_t *old, int64_t *ret_bound)
    __attribute__((warn_unused_result));

#endif
