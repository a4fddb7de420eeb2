/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a gain large enough to move work for? */
#include "policy/threshold.h"

#include <math.h>

#define DECAY 0.7
#define FLOOR 0.01 /* of full, and of the remaining time: less is not worth a message */

void lbp_threshold_init(struct lbp_threshold *t, double full, bool decays)
{
    t->full = full;
    t->now = full;
    t->decays = decays;
}

bool lbp_threshold_pass(struct lbp_threshold *t, double gain, double noise)
{
    double least = fmax(fmin(FLOOR, t->full), noise);

    if (gain > 0 && gain >= fmax(t->now, noise)) {
        t->now = t->full;
        return true;
    }
    if (!t->decays)
        return false;
    if (gain > least)
        t->now *= DECAY;
    else
        t->now = fmin(t->full, t->now / DECAY);
    return false;
}
