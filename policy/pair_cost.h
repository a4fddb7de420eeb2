/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a move between two ranks takes, relative to what the job's moves take on the whole (policy/profit.h): hosts may share a
 * memory, or a slow link.  Each rank's last partners as a giver are remembered, of each the last moves; a pair of which nothing
 * is known is taken for the mean of what both have shown with others.
 * Source: Liu et al. 2000, c_ij(l) of eq. 1; how it is measured is ours.
 */
#ifndef LBP_PAIR_COST_H
#define LBP_PAIR_COST_H

#include <stdint.h>

#include "policy/profit.h"

#define LBP_PAIR_PARTNERS 4
#define LBP_PAIR_MOVES 3
#define LBP_PAIR_ALIKE 2.0 /* times as dear or as cheap: less is noise */
#define LBP_PAIR_MOST 16.0 /* and no more than that */

struct lbp_pair_moves {
    float ns[LBP_PAIR_MOVES], bytes[LBP_PAIR_MOVES]; /* newest first; ns 0: none */
};

struct lbp_pair_rank {
    struct lbp_pair_moves any;                     /* with whomsoever, as giver or as taker */
    struct lbp_pair_moves with[LBP_PAIR_PARTNERS]; /* as giver; last measured first */
    uint32_t partner[LBP_PAIR_PARTNERS];           /* of `with`, where that has moves */
};

struct lbp_pair_cost {
    uint32_t nranks;            /* 0: all pairs are alike */
    struct lbp_pair_rank *rank; /* [nranks], owned; NULL until a move was measured */
};

/*
 * nranks[in]  0: all pairs are alike, whatever is measured
 * Holds no memory until the first move: at most 164 bytes a rank.  fini may follow at once, and twice.
 */
void lbp_pair_cost_init(struct lbp_pair_cost *c, uint32_t nranks);
void lbp_pair_cost_fini(struct lbp_pair_cost *c);

/*
 * A move of so many bytes between two ranks, < nranks, took its source wall_ns.  Of less than a nanosecond, of what is not
 * finite, and without memory for it, it teaches nothing: then pairs are as alike as before.  O(1).
 */
void lbp_pair_cost_measured(struct lbp_pair_cost *c, uint32_t from, uint32_t to, double bytes,
                            double wall_ns);

/*
 * c[in]     NULL: all pairs are alike
 * all[in]   what moves take on the whole
 * Returns how many times as long a move from one to the other takes: 1 within LBP_PAIR_ALIKE, else up to LBP_PAIR_MOST or as
 * little as 1 / LBP_PAIR_MOST; the median of the last moves, for each that is missing 1, so that no single one counts.
 * Pure, O(1).
 */
double lbp_pair_cost_factor(const struct lbp_pair_cost *c, const struct lbp_profit *all,
                            uint32_t from, uint32_t to);

#endif
