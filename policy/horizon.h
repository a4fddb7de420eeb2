/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the hosts' speeds can be expected to stay as they are: what has lasted long is expected to last as long again, and
 * at least the mean time between the changes that the job has seen; before it has seen any, what the hosts' load histories
 * say.  So long a plan's gain counts.
 * Source: Siegell & Steenkiste 1997, section 6.3 ("the frequency of performance changes in the past"); that what lasts is
 * expected to last, and the hosts' histories, are ours.
 */
#ifndef LBP_HORIZON_H
#define LBP_HORIZON_H

#include <stdbool.h>
#include <stdint.h>

struct lbp_horizon {
    double stable_ns;   /* mean time between changes */
    double own_ns;      /* the same by what the job has seen alone */
    double least_ns;    /* speeds are taken to stay at least so long, whatever was seen */
    int64_t changed_ns; /* when one changed last */
    bool set;           /* stable_ns is what a person has set, whatever is seen */
};

void lbp_horizon_init(struct lbp_horizon *h, int64_t now_ns);

/* The hosts' load histories say that speeds stay so long (0: nothing): better than a guess until changes are seen. */
void lbp_horizon_expect(struct lbp_horizon *h, double stable_ns);

/* What a person has set, ns; negative: left to itself. */
void lbp_horizon_set(struct lbp_horizon *h, double stable_ns);

/*
 * A rank's speed changed by so much that nobody would take it for noise; before lbp_horizon_changed is told.  When that is much too
 * soon for what was expected, what was expected is forgotten.
 */
void lbp_horizon_surprise(struct lbp_horizon *h, int64_t now_ns);

/* A rank's speed changed by more than noise. */
void lbp_horizon_changed(struct lbp_horizon *h, int64_t now_ns);

/* How long the speeds can be expected to stay from now on, ns.  Pure, O(1). */
double lbp_horizon_ns(const struct lbp_horizon *h, int64_t now_ns);

/* Did a speed change so lately that another change must be expected? */
bool lbp_horizon_unstable(const struct lbp_horizon *h, int64_t now_ns);

#endif
