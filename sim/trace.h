/* SPDX-License-Identifier: BSD-3-Clause */
/* What a real run's trace (lbd/balancer/trace.h) tells of its first loop. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "sim/options.h"

/* A report of a rank: what it did until then. */
struct sim_piece {
    int64_t at_ns, first, last; /* the block, of a stepped loop */
    int64_t step, steps;        /* likewise: completed in all; in this piece */
    double wall_ns, cpu_ns, wait_ns;
};

struct sim_trace_rank {
    struct sim_piece *piece; /* [n] owned, in order */
    size_t n, size;
    int64_t owned_first, owned_last; /* at first */
    double elapsed_ns;               /* in the loop, as it said at its close; 0: it did not */
};

struct sim_trace {
    uint32_t nranks;
    char policy[512]; /* as it was asked for, without files; "" not told */
    double *weight;   /* [nranks] speeds as the hosts' lbds told; NULL: they did not.  Owned */
    struct sim_trace_rank *rank; /* [nranks] owned */
    enum sim_kind kind;
    int64_t loop, n, row_bytes, pipelined; /* loop < 0: none opened yet */
    double *cost, *seen; /* [n] CPU ns of an iteration in a pass; executions.  Owned */
    int64_t open_ns, begin_ns,
        end_ns;            /* opened by all; first and last that was seen of computing */
    int64_t passes, moves; /* moves: of a stepped loop, layouts */
    int64_t block;         /* of the last layout; 0: none */
    double move_bytes, move_ns,
        move_n; /* of rows: sums over the ranks that moved any, so many times */
    double shift_fixed_ns, shift_incr_ns; /* of a message between neighbours, and each element */
};

/*
 * Lines that are cut, unknown events and other loops are passed over.  Iterations that were never timed cost as the others in
 * the mean.
 * Returns 0 or a negative errno with a text: -ENOENT and others of opening, -EPROTO when it holds no loop that ran.
 */
int sim_trace_read(const char *path, struct sim_trace *ret, struct lbx_error *err)
    __attribute__((warn_unused_result));
void sim_trace_fini(struct sim_trace *t);

/* How long the loop took, ns. */
double sim_trace_took_ns(const struct sim_trace *t);

#endif
