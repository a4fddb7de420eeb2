/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measured values of which some are really the same: hosts of one kind, whose benchmark ran beside something else or under a
 * quota, and so came out a little different on each.  First shares by such differences are wrong by as much as they are, and
 * in a loop where all wait for the slowest each step is longer by that.
 * Source: ours.
 */
#ifndef LBP_ALIKE_H
#define LBP_ALIKE_H

#include <stddef.h>

/* The same CPU has been measured to differ by 13 % from host to host; what differs by more than this is another. */
#define LBP_ALIKE_HARDWARE 1.2
#define LBP_ALIKE_WEIGHT 1.05 /* of hosts of the same hardware: their capacities */

/*
 * Values that are at most `ratio` times the least of their group become the group's mean; groups are made from the least
 * value upwards.
 * value[in,out]  [n] each `stride` values behind the one before; finite and > 0: others are left as they are
 * ratio[in]  >= 1
 * Pure, no allocation, O(n) for each group, of which there are at most log(greatest / least) / log(ratio) + 1.
 */
void lbp_alike(double *value, size_t n, size_t stride, double ratio);

#endif
