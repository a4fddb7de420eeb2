/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many elements of a pipelined loop's block a program is handed at once.  Blocks are as large as messages want them
 * (policy/grain.h); what a rank computes may take less in narrower strips, whose values stay in a cache or whose iterations
 * overlap in the processor.  Each rank tries it for itself: of two strips that compute blocks in turn, A B B A, the one that
 * takes less of the time wins, when that is sure; whole blocks first, then strips of 2 4^k elements, the widest first, until
 * one takes clearly longer.  In the end the winner meets whole blocks once more.
 * Source: ours; blocking for caches as in any textbook of numerics.
 */
#ifndef LBP_STRIP_H
#define LBP_STRIP_H

#include <stdbool.h>
#include <stdint.h>

/* Two widths are compared in so many pairs of blocks, one of each width, at most. */
#define LBP_STRIP_PAIRS 12

/* Embedded; no memory of its own. */
struct lbp_strip {
    int64_t block; /* elements of a whole block */
    int64_t best;  /* elements of a strip; 0: the whole block */
    int64_t trial; /* what it is compared with; -1: the search is over */
    uint32_t taken, pairs;
    double first_ns;                /* the first of a pair */
    double ratios[LBP_STRIP_PAIRS]; /* of pairs, ascending: the trial's time over the best one's */
    bool checks;                    /* the last comparison, with whole blocks */
};

/* block[in]  elements of a block, >= 1 */
void lbp_strip_init(struct lbp_strip *s, int64_t block);

/* Blocks have so many elements from now on.  What was found stays while it is narrower; else the search begins anew. */
void lbp_strip_resize(struct lbp_strip *s, int64_t block);

/* Elements of the strips that the next block is to be computed in, 1 to block.  Pure, O(1). */
int64_t lbp_strip_next(const struct lbp_strip *s);

/*
 * A block was computed in strips of lbp_strip_next.
 * ns[in]  CPU time an element; what is not finite or not above 0 ends nothing and counts for nothing
 */
void lbp_strip_took(struct lbp_strip *s, double ns);

#endif
