/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many legs a pass of a pipelined loop has, between which rows may change hands.  A change of speed is answered a leg or two
 * later, so that what it costs falls with their number; what is measured of a leg is the less sure the shorter it is, and plans
 * made of it cost the more.  The sum of pass / legs and c * legs is least at the root of pass / c.
 * Source: ours; Siegell & Steenkiste 1997, section 5.1.1, has hooks between the blocks, and their period says at which of them
 * ranks report.  c is measured: docs/internals/joints.md.
 */
#ifndef LBP_LEGS_H
#define LBP_LEGS_H

#include <stdint.h>

/*
 * pass_ns[in]    elapsed time of a pass, about
 * quota_ns[in]   the period of the quota that the rank runs under; 0: none
 * messages[in]   of a pass, >= 1
 * Returns 1 to messages.  Pure, O(1).
 */
int64_t lbp_legs(double pass_ns, double quota_ns, int64_t messages);

#endif
