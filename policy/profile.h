/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the iterations of a loop cost, by their place in the loop: learned from timed samples, in bins.
 * Work is in reference ns.  Pure; one allocation-free struct; not to be shared by threads.
 */
#ifndef LBP_PROFILE_H
#define LBP_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#define LBP_PROFILE_BINS 512

struct lbp_profile {
    int64_t n;     /* iterations, >= 0 */
    int64_t width; /* of a bin, iterations, >= 1 */
    int nbins;
    bool even;      /* iterations count the same: policy siegell */
    double keep;    /* passes in a bin after which what was seen counts half */
    double unit;    /* of one of them then; 0: not known yet */
    double scatter; /* variance of an iteration's work round cost, mean */
    double differ;  /* relative variance of a measurement; < 0: not known yet */
    struct {
        double iterations, off,
            square; /* compared; and sums of measured less than before over their sum */
        int n;
    } round;                             /* what was compared since differ was made */
    bool dirty;                          /* samples came since cost and before were made */
    double iterations[LBP_PROFILE_BINS]; /* seen in the bin, older passes faded */
    double work[LBP_PROFILE_BINS];       /* that they took */
    int off[LBP_PROFILE_BINS];           /* measurements running that took more; < 0: less */
    bool begins[LBP_PROFILE_BINS];       /* a rank's first block begins in this bin */
    double cost[LBP_PROFILE_BINS];       /* estimate, reference ns an iteration */
    int64_t first[LBP_PROFILE_BINS];     /* of the latest span that was measured there, */
    int64_t last[LBP_PROFILE_BINS];
    double latest[LBP_PROFILE_BINS];     /* and what it took */
    double before[LBP_PROFILE_BINS + 1]; /* prefix sums of the estimated work of whole bins */
};

/* n[in] iterations, >= 0.  O(bins). */
void lbp_profile_init(struct lbp_profile *p, int64_t n);

/*
 * From now on every iteration costs the same, what the first ones did, whatever is measured: so speeds are iterations a second,
 * as published, and not CPU time.
 */
void lbp_profile_even(struct lbp_profile *p);

/*
 * What was seen in a bin counts half after so many passes, at least 2: after 2 without a call.  More of them tell what costs for a
 * moment from what it costs; costs that have changed for longer are followed as without a call.
 */
void lbp_profile_keep(struct lbp_profile *p, double passes);

/*
 * The work of so many iterations that took so much (reference ns): that, or under even() their number times one's.  What is
 * measured goes through here before it is added or filtered.
 */
double lbp_profile_counted(struct lbp_profile *p, int64_t iterations, double work);

/* A rank's first block begins at first: what was learned left of it says little about what lies right of it. */
void lbp_profile_begin(struct lbp_profile *p, int64_t first);

/*
 * Iterations [first, last) took work (reference ns, >= 0, finite).  Out of [0, n), empty or not finite: ignored.
 * O(bins touched).
 */
void lbp_profile_add(struct lbp_profile *p, int64_t first, int64_t last, double work);

/*
 * The same, when only the whole of a long span was timed: it is laid on the bins in proportion to what they are thought to
 * cost, so that spans whose ends vary tell the inside apart in time.
 */
void lbp_profile_add_whole(struct lbp_profile *p, int64_t first, int64_t last, double work);

/* By how much the work of so many iterations differs from what is estimated, standard deviation. */
double lbp_profile_error(const struct lbp_profile *p, double iterations);

/* Was anything learned?  Before that an iteration counts as 1 ns. */
bool lbp_profile_learned(const struct lbp_profile *p);

/* Estimated work of [first, last), cut to [0, n).  O(1) but after new samples O(bins), once. */
double lbp_profile_work(struct lbp_profile *p, int64_t first, int64_t last);

/* Estimated cost of an iteration in the mean over the loop. */
double lbp_profile_mean(struct lbp_profile *p);

/*
 * How many iterations at the end of [first, last) make up `work`, to the nearest whole one; 0 to last - first.
 * O(log n).
 */
int64_t lbp_profile_take(struct lbp_profile *p, int64_t first, int64_t last, double work);

/*
 * How far work goes from `first` upwards: the greatest last <= n with work(first, last) <= work, but for rounding; and
 * downwards from `last`: the least first.
 * hint[in,out]  a bin at or before (after, downwards) the one to begin in: 0 (nbins - 1) at first, then what it became; so a
 *               sweep over all ranks costs O(P + bins)
 */
int64_t lbp_profile_reach(struct lbp_profile *p, int64_t first, double work, int *hint);
int64_t lbp_profile_reach_down(struct lbp_profile *p, int64_t last, double work, int *hint);

#endif
