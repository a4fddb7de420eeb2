/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's speed out of noisy measurements: r' = (1 - h) r + h r'_prev, where h follows from the direction and the duration
 * of the trend.
 *
 *     state    came by                          h                       then
 *     STEADY   within the noise                 history / (history + w)  averages up to 1.5 s
 *     FALL1    first measurement below          0.5 at the noise's edge, to 0.1 far outside
 *     FALL2    second and later                 0.1                     history begins anew
 *     RISE1    first measurement far above      1.0 (all history)
 *     RISE2    second                           0.5
 *     RISE3    third and later                  0.1                     history begins anew
 *
 * What is half believed and does not last becomes one window of the history: the window after it is nearer to the value before.
 * A fall is believed sooner than a rise, since one slow rank holds all the others; a first one the more, the less it can be
 * noise: h is 0.5 over how many times the noise's band it is.  What is noise is measured: a quota or a
 * time slice of q ns puts an error of about q / w on a window of w ns, so that the mean of |error| x w is kept.
 * Source: Siegell & Steenkiste 1997, eq. 16 and the idea of table 1; states and values ours, chosen by tests/sim.
 */
#ifndef LBP_FILTER_H
#define LBP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum lbp_filter_state {
    LBP_FILTER_EMPTY,
    LBP_FILTER_STEADY,
    LBP_FILTER_FALL1,
    LBP_FILTER_FALL2,
    LBP_FILTER_RISE1,
    LBP_FILTER_RISE2,
    LBP_FILTER_RISE3,
};

struct lbp_filter {
    enum lbp_filter_state state;
    double fixed;      /* h that a person gave; < 0: by the states */
    double value;      /* filtered, work per elapsed ns */
    double history_ns; /* that value is a mean of */
    double noise_ns;   /* |relative error| x window, mean */
    double work, wall; /* of a window not yet full */
    /* In FALL1 and RISE2: value and its history before, and the window that is half believed.  before 0: none. */
    double before, before_ns, outlier, outlier_ns;
};

/* fixed[in] h from 0 to 1, or < 0. */
void lbp_filter_init(struct lbp_filter *f, double fixed);

/*
 * Work (reference ns, >= 0) was done in wall_ns (> 0) of elapsed time.  Short pieces are put together to windows.
 * Returns whether a window was completed and value changed by more than the noise (a trend).  Pure, O(1).
 */
bool lbp_filter_add(struct lbp_filter *f, double work, int64_t wall_ns);

/*
 * So much time has passed that what there is of a window must do, though the rank was mostly waiting.  Nothing happens before
 * the first window.  Returns as lbp_filter_add.
 */
bool lbp_filter_flush(struct lbp_filter *f);

/*
 * Is the first window full?  Then the speed, work per elapsed ns, >= 0.  Less tells nothing: a host with a tenth of a core
 * runs at full speed for the first millisecond of each period of its quota.
 */
bool lbp_filter_known(const struct lbp_filter *f);
double lbp_filter_value(const struct lbp_filter *f);

/* Relative error to be expected of the value, 0 to 1. */
double lbp_filter_error(const struct lbp_filter *f);

#endif
