/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job's loops came to; lbd/balancer/sums.h adds it up. */
#ifndef LBD_LOOPS_STATS_H
#define LBD_LOOPS_STATS_H

#include <stdint.h>

#include "policy/balance.h"

struct lbd_loops;

/* What happened so far, over all loops, closed ones too. */
struct lbd_loops_stats {
    int64_t loops;
    int64_t decisions[LBP_REASONS];
    int64_t moved_iterations, moved_bytes, moving_ns;
    double load_balance_ratio; /* of the loop reported last */
    /* mean / max of the ranks' computing with the first blocks, over all passes of closed loops; 0: not known */
    double balance_before_ratio;
    int64_t period_ns, chunk_ns;
    double chunk_iterations;
    /* Of closed loops, in all their passes: */
    int64_t passes;
    double elapsed_ns, first_ns; /* really; with the first blocks, estimated, 0 unknown */
    double foreseen_ns; /* as its hosts' speeds and its first iterations let expect; 0 unknown */
    double inside_ns, wait_ns;     /* all ranks' time in loops; of it waiting */
    double cpu_ns, library_cpu_ns; /* their CPU time in loops: of the program; of the library */
};
struct lbd_rank_stats {
    int64_t iterations, compute_ns, wait_ns;
    struct {
        int64_t iterations, cpu_ns, wait_ns, moves_in, bytes_in;
    } closed;           /* loops: as the rank itself counted */
    double rate_hz;     /* iterations per second in the last report that told of any */
    double share_ratio; /* of the loop reported last; of all that was done when none is open */
};
void lbd_loops_stats(const struct lbd_loops *l, struct lbd_loops_stats *ret);
/* ret[out] [nranks].  Returns 0 or -ENOMEM. */
int lbd_loops_rank_stats(const struct lbd_loops *l, struct lbd_rank_stats *ret)
    __attribute__((warn_unused_result));

#endif
