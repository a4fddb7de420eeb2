/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The balancer's mind for one DOALL loop: a state machine that is told what the ranks report and answers with what they
 * should do.  No clock, I/O, log or globals: the same object runs in lb-balancer and in the simulator.
 *
 *     event (open, report, tick) + now  ->  step  ->  actions
 *
 * Work is measured in reference nanoseconds: CPU time of an iteration on a host of hardware speed 1.  An iteration's cost
 * is learned from the timed samples by place in the loop (policy/profile.h), a rank's speed is the work it gets done per
 * elapsed time, so that the two are told apart when iterations are uneven.
 */
#ifndef LBP_BALANCE_H
#define LBP_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/spanset.h"
#include "policy/decision.h"
#include "policy/registry.h"

struct lbp_balance; /* opaque */

/* What a rank was seen to execute; see struct lbw_sample, which has the same shape. */
struct lbp_sample {
    int64_t first, last;
    int64_t wall_ns, cpu_ns;
};

enum lbp_done_role { LBP_SENT = 0, LBP_RECEIVED = 1, LBP_REFUSED = 2 };

struct lbp_done {
    uint64_t epoch;
    enum lbp_done_role role;
    int64_t iterations, bytes, wall_ns, cpu_ns;
};

struct lbp_report {
    uint32_t rank;
    int64_t pass;
    bool dry, low;
    int64_t executed, remaining;
    const struct lbx_span *span; /* [nspans], the last of what remains; borrowed during the call */
    size_t nspans;
    const struct lbp_sample *sample; /* [nsamples] */
    size_t nsamples;
    const struct lbp_done *done; /* [ndone] */
    size_t ndone;
    int64_t asks; /* > 0: the rank waits for the ANSWER to this number (sync=yes); else 0 */
};

enum lbp_action_type {
    LBP_MOVE,     /* tell `rank` (the source) to give [first, last) of pass to `dest`, as `epoch` */
    LBP_INSTRUCT, /* tell `rank` its period_ns, low_ns, chunk_ns */
    LBP_FINAL,    /* tell all ranks: no more moves in `pass` */
    LBP_ANSWER,   /* tell `rank`, which waits: go on, this was the answer to `asks` */
};

struct lbp_action {
    enum lbp_action_type type;
    uint32_t rank, dest;
    int64_t pass;
    uint64_t epoch;
    int64_t first, last;
    int64_t period_ns, low_ns, chunk_ns;
    enum lbp_reason reason;
    int64_t asks;
};

/* Grows as needed; the caller empties it (n = 0) after carrying the actions out, in order. */
struct lbp_actions {
    struct lbp_action *action; /* [n], owned */
    size_t n, size;
};
void lbp_actions_fini(struct lbp_actions *a);

struct lbp_balance_config {
    uint32_t nranks;
    int64_t n;            /* iterations */
    int64_t row_bytes;    /* that travel with one */
    const double *weight; /* [nranks] expected speed, relative, > 0; or NULL: unknown.  Copied */
    const double
        *hardware;     /* [nranks] work of a CPU ns, relative, finite, > 0; NULL: all 1.  Copied */
    int64_t stable_ns; /* speeds are expected to stay so long; 0: judge by what the job sees */
    struct lbp_params params; /* automatic ones are chosen here */
    int64_t t_interact_ns;    /* measured round trip rank - balancer, >= 0; 0 unknown */
    uint64_t first_epoch;     /* epochs are given out from here */
};

/* Returns 0, -EINVAL, -ENOMEM.  *ret owned by the caller. */
int lbp_balance_create(const struct lbp_balance_config *config, int64_t now_ns,
                       struct lbp_balance **ret, struct lbx_error *err)
    __attribute__((warn_unused_result));
void lbp_balance_destroy(struct lbp_balance *b); /* NULL is fine */

/* Rank owns [first, last) at first: told once by each rank, before its first report.  The first INSTRUCTs come in answer. */
int lbp_balance_join(struct lbp_balance *b, uint32_t rank, int64_t first, int64_t last,
                     int64_t now_ns, struct lbp_actions *out) __attribute__((warn_unused_result));

/*
 * A rank reports.  Reports of an older pass than the rank's last are ignored; numbers that cannot be (negative, more
 * iterations than the loop has) return -EINVAL and change nothing.  Returns 0, -EINVAL, -ENOMEM.
 */
int lbp_balance_report(struct lbp_balance *b, const struct lbp_report *r, int64_t now_ns,
                       struct lbp_actions *out) __attribute__((warn_unused_result));

/* Time passed.  Call at lbp_balance_wake_ns at the latest. */
int lbp_balance_tick(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
    __attribute__((warn_unused_result));

/* When the next tick is due; INT64_MAX: no tick needed until the next report. */
int64_t lbp_balance_wake_ns(const struct lbp_balance *b);

/* What it thinks and did, for metrics: cumulative but for share and rate. */
struct lbp_balance_stats {
    uint64_t next_epoch;
    int64_t decisions[LBP_REASONS];
    int64_t moved_iterations, moved_bytes;
    double load_balance_ratio; /* mean / max of compute time, last pass or this one so far */
    int64_t period_ns;
    int64_t chunk_ns;
};
void lbp_balance_stats(const struct lbp_balance *b, struct lbp_balance_stats *ret);
/* ret_speed[out] [nranks] filtered work per elapsed time; ret_share[out] [nranks] owned iterations / n; either may be NULL */
void lbp_balance_ranks(const struct lbp_balance *b, double *ret_speed, double *ret_share);

/* What the last join, report or tick decided; borrowed until the next. */
const struct lbp_decisions *lbp_balance_decisions(const struct lbp_balance *b);
/* ret[out] [nranks] as they are seen now; 0 for what is not known.  O(P + bins). */
void lbp_balance_seen(struct lbp_balance *b, struct lbp_seen *ret);
/*
 * How long a pass would have taken with the first blocks, by each rank's mean speed, ns; 0 when that is not known.
 * ret_balance_ratio[out]  mean / max of the ranks' computing in it; untouched when not known; may be NULL
 */
double lbp_balance_first_ns(struct lbp_balance *b, double *ret_balance_ratio);

#endif
