/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of a job: from the messages of ranks to policy/balance.h, and its actions back into messages. */
#ifndef LBD_LOOPS_H
#define LBD_LOOPS_H

#include <stdint.h>

#include "common/error.h"
#include "policy/balance.h"
#include "policy/registry.h"
#include "wire/rank.h"

struct lbd_loops;
struct lbd_explain;
struct lbd_trace;

/* Called for each message that is to be sent to a rank, in order. */
typedef void lbd_loops_send(void *arg, uint32_t rank, const struct lbw_rank_msg *msg);

struct lbd_loops_config {
    uint32_t nranks;
    const double *weight;   /* [nranks] or NULL; copied */
    const double *hardware; /* [nranks] or NULL; copied */
    int64_t t_interact_ns;
    int64_t stable_ns; /* the hosts' loads are expected to stay so long; 0 unknown */
    struct lbp_params params;
    struct lbd_trace *trace;     /* borrowed; NULL none */
    struct lbd_explain *explain; /* borrowed; NULL none */
    lbd_loops_send *send;
    void *arg;
};

int lbd_loops_create(const struct lbd_loops_config *config, struct lbd_loops **ret)
    __attribute__((warn_unused_result));
void lbd_loops_destroy(struct lbd_loops *l); /* NULL is fine */

/*
 * Take an OPEN, REPORT, STEP or CLOSE of a rank.
 * Returns 0, -EPROTO with a text when the rank contradicts itself or the others, -ENOMEM.
 */
int lbd_loops_message(struct lbd_loops *l, uint32_t rank, const struct lbw_rank_msg *msg,
                      int64_t now_ns, struct lbx_error *err) __attribute__((warn_unused_result));

/* Let time pass.  ret_wake_ns[out]: when it must be called again at the latest; INT64_MAX when a message comes first. */
int lbd_loops_tick(struct lbd_loops *l, int64_t now_ns, struct lbx_error *err)
    __attribute__((warn_unused_result));
int64_t lbd_loops_wake_ns(const struct lbd_loops *l);

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
