/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a gain large enough to move work for?  rfract >= tfract; and past the source: while a smaller gain lasts, the
 * threshold falls, so that an imbalance just below it does not stay for ever (figure 24c), and it rises again when the gain
 * has gone.
 * Source: Siegell & Steenkiste 1997, section 6.2; the decay is ours, which the authors wish for there.
 */
#ifndef LBP_THRESHOLD_H
#define LBP_THRESHOLD_H

#include <stdbool.h>

struct lbp_threshold {
    double full; /* tfract, ratio */
    double now;  /* what holds now */
    bool decays;
};

/* full[in] ratio 0 to 1. */
void lbp_threshold_init(struct lbp_threshold *t, double full, bool decays);

/*
 * One decision, once a period.
 * gain[in]   projected fall of the remaining time, ratio
 * noise[in]  part of it that may be an error of measurement, ratio; never taken for a gain
 * Returns whether to move.  Pure, O(1).
 */
bool lbp_threshold_pass(struct lbp_threshold *t, double gain, double noise);

#endif
