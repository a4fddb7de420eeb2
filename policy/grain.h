/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The block size of a pipelined (DOACROSS) loop: m iterations are handed from rank to rank in M blocks of b = m / M; few
 * blocks fill the pipeline slowly, many cost many messages.
 *
 *     t_total = (M + P - 1) t_block + (M + P - 2) t_shift      t_block = t_seq / (P M),  t_shift = t_fixed + t_incr b
 *     M       = sqrt((t_seq (1 - 1/P) + t_incr m (P - 2)) / t_fixed),  1 <= M <= m
 *
 * P counts the ranks that hold iterations: one that holds none passes the pipeline by.
 *
 * That is where all wait for the last rank between two sweeps.  Where each waits for its neighbours alone, the next rank ends
 * its sweep a block later, and only then does the next sweep begin: a sweep loses one block, and the pipeline is filled once
 * for all of them.  So F = 2 + (P - 2) / sweeps takes the place of P in P - 1 and P - 2.
 * Source: Siegell & Steenkiste 1997, eq. 3 to 9; F, re-estimation while running and a P that changes are ours.
 */
#ifndef LBP_GRAIN_H
#define LBP_GRAIN_H

#include <stdint.h>

struct lbp_grain_cost {
    double t_seq_ns;   /* the whole sweep on one rank: P m t_iteration, >= 0 */
    double t_fixed_ns; /* of a message, whatever it carries, >= 0 */
    double t_incr_ns;  /* more for each iteration that it carries, >= 0 */
    double filled;     /* F, 2 to P; else: P, all wait for the last */
};

/*
 * Time of one sweep in `blocks` blocks.
 * m[in] iterations of the pipelined loop, >= 1;  p[in] ranks that hold something, >= 1;  blocks[in] 1 to m
 * Pure, O(1).
 */
double lbp_grain_total_ns(int64_t m, uint32_t p, int64_t blocks, const struct lbp_grain_cost *cost);

/*
 * The number of blocks with the least time, 1 to m; 1 for p = 1 (no pipeline) and where messages cost nothing m.
 * Not finite or negative costs count as 0.  Pure, O(1).
 */
int64_t lbp_grain_optimal_blocks(int64_t m, uint32_t p, const struct lbp_grain_cost *cost);

/* Iterations of a block, rounded up; 1 to m (1 for m < 1). */
int64_t lbp_grain_block(int64_t m, int64_t blocks);

/* A rank that holds iterations, in the order of the pipeline. */
struct lbp_grain_stage {
    double busy_ns; /* elapsed, of a sweep's computing, >= 0 */
    double slow;    /* elapsed over CPU time, > 0: messages take so much longer there, too */
    double
        lost; /* of the time that it waits, 0 to 1: a quota that is not used meanwhile is used later */
};

/* Estimates while running.  Embedded; no memory of its own. */
struct lbp_grain {
    int64_t m;
    uint32_t p;
    double iteration_ns; /* the longest local part of one pipelined iteration; 0 unknown */
    double small_ns,
        small_of; /* least time of a message of few iterations, and how many those are */
    double large_ns, large_of; /* the same of many */
    int64_t block;             /* as last told; 0: not yet */
    int64_t fixed;             /* by a person; 0: chosen */
    int64_t sweeps;            /* that the pipeline is filled for at once */
};

/* m[in] >= 1;  p[in] >= 1 */
void lbp_grain_init(struct lbp_grain *g, int64_t m, uint32_t p);

/* A person has set the block size; <= 0: it is chosen. */
void lbp_grain_fix(struct lbp_grain *g, int64_t block);

/* So many ranks hold iterations from now on. */
void lbp_grain_ranks(struct lbp_grain *g, uint32_t p);

/*
 * Each rank waits for its neighbours alone between sweeps; before this is called all wait for the last rank in each.
 * gone[in] sweeps up to now: as many more are expected, and a few at least;  known[in] all sweeps, <= 0: nobody knows
 */
void lbp_grain_flow(struct lbp_grain *g, int64_t gone, int64_t known);

/*
 * A sweep's slowest rank took busy_ns for its part of all m iterations.  Others' load inflates it now and then: a shorter
 * time is believed at once, a longer one slowly.  Not finite or <= 0: ignored.
 */
void lbp_grain_sweep(struct lbp_grain *g, double busy_ns);

/*
 * A message with the values of `iterations` iterations (0: an empty one) took ns, without waiting for the sender to have
 * them.  The least counts, older ones creep up.  Negative or not finite: ignored.
 */
void lbp_grain_message(struct lbp_grain *g, int64_t iterations, double ns);

/* The ranks have found a block size themselves; ignored once one was told, and if < 1. */
void lbp_grain_found(struct lbp_grain *g, int64_t block);

/* What is known now; returns 0, or -ENODATA (iterations or messages were never timed: ret untouched). */
int lbp_grain_cost(const struct lbp_grain *g, struct lbp_grain_cost *ret)
    __attribute__((warn_unused_result));

/*
 * The block size to use.  The last one stays while another promises no 1 % (a factor of 2 off costs little).  Before
 * anything is known: m / (8 P), as good as any within a factor of a few.
 */
int64_t lbp_grain_choose(struct lbp_grain *g);

/*
 * Time of one sweep in `blocks` blocks where stages take different times t_i for a block, message included.  Where all wait
 * for the last rank:
 *     (M - 1) max t_i + sum t_i
 * Where each waits for its neighbours alone, the slower of two neighbours is never waited for, and the other's one block is:
 *     max (M max(t_i, t_i+1) + min(t_i, t_i+1)) + the other stages' blocks / sweeps
 * which are the formulas above where all t_i are the same.  Convex in M.  What the slowest waits for counts by its `lost`:
 * under a quota of q cores it goes on faster afterwards, and the q-th part of the wait is lost.
 * stage[in] [n];  n[in] >= 1;  blocks[in] 1 to m
 * Pure, O(n).  Source: ours.
 */
double lbp_grain_stages_ns(const struct lbp_grain *g, const struct lbp_grain_cost *cost,
                           const struct lbp_grain_stage *stage, uint32_t n, int64_t blocks);

/* As lbp_grain_choose, for stages that are known.  O(n log m). */
int64_t lbp_grain_choose_for(struct lbp_grain *g, const struct lbp_grain_stage *stage, uint32_t n);

#endif
