/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of a whole by weight, in whole numbers that add up. */
#ifndef LBP_APPORTION_H
#define LBP_APPORTION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Divide total among n by weight: each gets its exact share rounded down or up, and the largest remainders are rounded up
 * (the first of equals).
 * total[in]       >= 0
 * weight[in]      [n], finite, >= 0, not all 0; or NULL: equal
 * ret_share[out]  [n], sums to total; untouched on failure; caller owns
 * Returns 0, -EINVAL, -ENOMEM.  Pure, O(n log n).
 * Source: Hamilton's method; BEC 1999's rule that half the index is worth twice the tasks.
 */
int lbp_apportion(int64_t total, const double *weight, size_t n, int64_t *ret_share)
    __attribute__((warn_unused_result));

#endif
