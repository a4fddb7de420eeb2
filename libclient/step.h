/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stepped loops: one block a rank, a pass is a step, and rows move only in lb_loop_exchange.
 *
 * How all ranks come to apply a layout at the same step, without a master: the balancer tells each a
 * layout whenever it likes; a rank keeps the one whose epoch follows that of the layout in force.
 * At every `interval`th exchange the ranks take the least of all ranks' epochs: when that is the
 * following one all have it, and all apply it there and then.  The same reduction fixes the next
 * interval, shows whether all were told the same, and whether a rank has lost the balancer: then no
 * more layout can be agreed on, and the ranks stop asking.
 */
#ifndef LBC_STEP_H
#define LBC_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/apart.h"
#include "libclient/layout.h"
#include "libclient/loop.h"
#include "libclient/quota.h"
#include "policy/strip.h"

#define LBC_STEP_PARTS 8 /* of a block that are timed apart, at most */

/* CPU time of messages. */
struct lbc_cost {
    int64_t sum_ns, n;
};

struct lbc_step {
    struct lbc_layout *layout; /* in force; made in the first exchange or pass */
    struct lbc_layout *next;   /* told, and to be agreed on; NULL: none */
    size_t memory_bytes;       /* of what comes with it, so much has memory by now */
    bool asking;               /* the ranks still take the least of their epochs; the same on all */
    int64_t exchanges;         /* calls of lb_loop_exchange */
    int64_t rounds, asked_at, agree_at, interval,
        later;               /* exchanges and joints; the last two as all agreed */
    int64_t vote[LBC_VOTES]; /* while the ranks take the least, see apart.h */
    bool voted;              /* and what all voted is not looked at yet */
    bool owes;               /* the next exchange's vote, which others may have entered by now */
    int holders;             /* ranks to which the layout in force gives anything: counted once */
    int told_ranks;          /* ranks up to here were told that this one has closed it, */
    bool tells_all;          /* also those that share no rows with it */
    int64_t part, nparts;    /* of the block: the next to hand out */

    /* Of a pipelined loop. */
    int64_t at, sent;       /* blocks begun in this pass; of their messages, those sent and taken */
    int64_t upto;           /* elements handed out in this pass */
    int64_t legs, leg_end;  /* of a pass, see leg.h; the element at which the present one ends */
    int64_t awaited;        /* messages of this pass that were asked for */
    struct lbp_strip strip; /* of a block; its block 0: not begun */
    struct lbc_cost send, recv; /* of a block's values, without waiting, since the last report */
    double recv_ns;             /* the mean when it was known last; 0: never */
    /* The same, as far as it is in cpu_ns, and in what passes since begun_cpu_ns. */
    int64_t flow_ns, flow_begun_ns;

    int64_t done; /* legs, of all passes; where there are no joints, passes */

    /* Since the last report. */
    int64_t steps, wall_ns, cpu_ns, wait_ns;
    struct lbw_sample sample[LBC_STEP_PARTS]; /* [nparts], sums over the steps */
    int64_t move_bytes, move_wall_ns, move_cpu_ns;

    struct lbc_quota quota;

    int64_t begun_ns, begun_cpu_ns; /* of the part that the program has */
    int64_t ended_ns;               /* of the last exchange; 0: none yet */
    int64_t applied_ns;             /* of this exchange or joint, for layouts: not waiting */
    double step_ns;                 /* from exchange to exchange, smoothed */
};

/* Make the loop a stepped one; elements: 0, or those of a row of a pipelined one.  As lb_loop_stepped. */
int lbc_step_create(struct lb_loop *l, int64_t halo, int64_t elements);

/* The first pass or exchange: tells the balancer of the loop, and makes the transfers.  Later it does nothing. */
void lbc_step_start(struct lb_loop *l);

/* Begin to measure anew, with the block that is in force. */
void lbc_step_reset(struct lb_loop *l);

/* A pass begins, and ends (returns 0); the program is back with what it was given. */
void lbc_step_begin(struct lb_loop *l);
int lbc_step_end(struct lb_loop *l);
void lbc_step_account(struct lb_loop *l);

/* The library has waited since then: that time is not the program's, nor is the CPU time since it has the part. */
void lbc_step_waited(struct lb_loop *l, int64_t since_ns);

/* As lbp_votes_lag, of the layout in force; 0 where nothing flows. */
double lbc_step_lag(const struct lb_loop *l);

/*
 * A joint: the votes of an exchange, but rows are exchanged only where a layout comes into force.  Returns 0 or -EIO; a layout may
 * have come into force in either case.
 */
int lbc_step_join(struct lb_loop *l);

/* lb_loop_next where there is nothing left of what was granted. */
int lbc_step_next(struct lb_loop *l, int64_t *first, int64_t *last);

/* What this rank proposes: exchanges from this vote to the next one, and after that was entered until it is taken (see
 * policy/votes.h). */
int64_t lbc_step_interval(const struct lb_loop *l);
int64_t lbc_step_later(const struct lb_loop *l);

/*
 * Within a step, between two parts of it: enter the next exchange's vote when a quarter of the time of a step is over, or up to half of
 * a short one.  What was told until then, as answers to the reports of the step before are, is in force as soon as if all entered in
 * the exchange; but there nobody waits for the slowest rank, as long as it is late by less than the rest.  Only where the vote is
 * taken in the exchange that follows.
 */
void lbc_step_ask_early(struct lb_loop *l);

/* Enter that vote, unless it was: others may have, so nothing else is reduced together before. */
void lbc_step_ask_owed(struct lb_loop *l);

/* Free what makes the loop a stepped one; its transfers must have ended, or have failed. */
void lbc_step_fini(struct lb_loop *l);

#endif
