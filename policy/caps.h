/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each rank can go on using of the processors, as the quotas of the control groups allow.  A rank that has little to do
 * between two waits never uses a quota up: what it is measured to do is a whole core, and not what it would do with more work.
 * Source: ours.
 */
#ifndef LBP_CAPS_H
#define LBP_CAPS_H

#include <stdbool.h>
#include <stdint.h>

struct lbp_caps_rank {
    double cpus;       /* of the group's quota; 0: none */
    int64_t period_ns; /* of the quota */
    uint64_t group;
    double share; /* of this rank, cores; INFINITY: no limit */
};

struct lbp_caps {
    uint32_t nranks;
    struct lbp_caps_rank *rank; /* [nranks], owned */
    uint32_t *order;            /* [nranks] scratch, owned */
    bool stale;                 /* shares are to be counted anew */
    int64_t period_ns;          /* the longest; 0: nobody has a quota */
};

/* Returns 0 or -ENOMEM. */
int lbp_caps_init(struct lbp_caps *c, uint32_t nranks) __attribute__((warn_unused_result));
void lbp_caps_fini(struct lbp_caps *c);

/*
 * A rank tells of its group: cores that it may use, >= 0, 0: no quota.  O(1).
 * Returns whether it tells something new.
 */
bool lbp_caps_tell(struct lbp_caps *c, uint32_t rank, double cpus, int64_t period_ns,
                   uint64_t group);

/* Cores that the rank can use for long: an equal part of its group's.  INFINITY: as many as it likes.  O(1), and O(P log P) after
 * something new. */
double lbp_caps_share(struct lbp_caps *c, uint32_t rank);

/* The longest period of the quotas; 0: nobody has one.  As lbp_caps_share. */
int64_t lbp_caps_period_ns(struct lbp_caps *c);

#endif
