/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does a plan pay?  Its cost is learned from past moves; its benefit lasts as long as the speeds can be expected to stay
 * (policy/horizon.h).
 * Benefits get more weight than costs, since cancelling delays the answer to real changes: only a cost that greatly exceeds
 * the benefit cancels.
 * What is learned of moves is the mean of the whole job; how a pair of ranks differs from it is in policy/pair_cost.h.
 * Source: Siegell & Steenkiste 1997, section 6.3; Liu et al. 2000, c(l) of eq. 1, here measured.
 */
#ifndef LBP_PROFIT_H
#define LBP_PROFIT_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/horizon.h"

struct lbp_profit {
    double fixed_ns;    /* elapsed time of a move, as its source sees it, but for its rows */
    double byte_ns;     /* of a byte */
    double usual_bytes; /* that a move has which tells of that */
    double cpu_ns;      /* CPU time of a move, both ends */
    int64_t moves;      /* measured */
    double margin;      /* benefits count so many times; learned from wrong calls */
    double margin_max;  /* at most so many */
    double margin_min;
    double asked;               /* a plan must bring so many times its cost */
    struct lbp_horizon horizon; /* so long a gain lasts */
};

/* message_ns[in] one way, ns */
void lbp_profit_init(struct lbp_profit *p, double message_ns, int64_t now_ns);

/* What a person has set; negative: left to itself.  ratio: see asked, the margin is 1 then. */
void lbp_profit_set(struct lbp_profit *p, double ratio, double stable_ns);

/* Is a benefit worth a cost? */
bool lbp_profit_worth(const struct lbp_profit *p, double benefit_ns, double cost_ns);

/* A move of so many bytes took its source wall_ns, and cpu_ns of CPU time; all >= 0. */
void lbp_profit_moved(struct lbp_profit *p, int64_t bytes, int64_t wall_ns, int64_t cpu_ns);

/* Elapsed time of a move of so many bytes, ns. */
double lbp_profit_transfer_ns(const struct lbp_profit *p, double bytes);

/*
 * A plan's time is over: it had promised so much over the time that it was in force, and brought so much (may be negative),
 * for so much cost; ns.  Plans that do not bring back their cost make the margin smaller, others let it grow again.
 * For stepped loops: where iterations move once no plan is in force that could be judged.
 */
void lbp_profit_outcome(struct lbp_profit *p, double promised_ns, double brought_ns,
                        double cost_ns);

/* What the plan of pays() brings, with the learned margin, ns. */
double lbp_profit_benefit_ns(const struct lbp_profit *p, double gain_ratio, double remaining_ns,
                             int64_t now_ns);

/*
 * gain_ratio[in]  projected fall of the remaining time;  remaining_ns[in] that time, before
 * cost_ns[in]     what the moves cost the ranks that finish last, ns
 * Returns whether to go on with the plan.  Pure, O(1).
 */
bool lbp_profit_pays(const struct lbp_profit *p, double gain_ratio, double remaining_ns,
                     double cost_ns, int64_t now_ns);

#endif
