/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a gain large enough to move work for? */
#include "policy/threshold.h"

#include <math.h>

/* A gain that is refused multiplies the threshold by this, one that is too small for that divides it, up to the full one. */
#define DECAY 0.7
/* Ratio of the remaining time: a smaller gain is not worth a message, whatever has decayed. */
#define FLOOR 0.01

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
