/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of policies auto and siegell know of each other: shares (auto.c), the end of a pass, and the pace. */
#ifndef LBP_AUTO_H
#define LBP_AUTO_H

#include "policy/balance_impl.h"

#define LBP_AUTO_LOW_NS 20e6
#define LBP_AUTO_GAIN_MIN 1e6   /* ns: less is not worth a move at the end */
#define LBP_AUTO_EARLY_NS 200e6 /* of the first pass: reports come quickly */
#define LBP_AUTO_CROWD \
    64 /* ranks; of more, each giver and each taker is looked at once in a decision */
#define LBP_AUTO_DECIDE_NS \
    1000 /* a rank: decisions follow one another no sooner, so that events stay cheap */

/* As the system of 1997 was published: siegell. */
static inline bool lbp_auto_published(const struct lbp_balance *b)
{
    return b->params.policy == LBP_SIEGELL;
}

/* Time from sending a MOVE to a rank until its rows are there, at least, wherever they go: ns. */
double lbp_auto_lead(const struct lbp_balance *b, const struct lbp_view *from);

/*
 * auto_end.c: moves from ranks that end late to those about to run dry; and how long it takes until no move can help any more,
 * whoever should run dry, ns: 0 or less is now.  0 or -ENOMEM.
 */
int lbp_auto_pairs(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
    __attribute__((warn_unused_result));
double lbp_auto_final_in(const struct lbp_balance *b);

/*
 * auto_pace.c: the period by what talking and moving cost; how soon each rank is to report again (0 or -ENOMEM); and when something may
 * have to be done without a report, FINAL in final_ns among it.
 */
void lbp_auto_period(struct lbp_balance *b);
int lbp_auto_instruct(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
    __attribute__((warn_unused_result));
void lbp_auto_wake(struct lbp_balance *b, int64_t now_ns, double final_ns);

#endif
