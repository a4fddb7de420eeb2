/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are apart: one has closed a loop, or ended its context, while others go on with the loop.  What they would wait
 * for never comes, so all of them come to an end, with an error.
 *
 * How it shows:
 *   - The end of a free-running pass is a reduction over all ranks, as the votes of stepped loops and of the end of a context
 *     are, and all of them carry the loop: ranks that are in different ones see it at once.
 *   - The balancer hears how many passes a rank has closed a loop after, and of those that go on with it: it tells all.
 *   - Who closes a free-running loop tells the next rank, as the balancer may be lost before all have heard of it, and who has closed
 *     may not come again.  When that one goes on, and waits in a pass's end, it tells all that it gives up.  So a loop's end costs
 *     each rank one message, not one to all.
 *   - Who waits in a pass's end and has heard of it from the balancer, which may be lost before the others have, tells the next rank,
 *     which does likewise.
 *   - Who waits for long asks the others, by a transfer without rows, in a pass's end the next rank alone; one that has closed
 *     the loop before it took part in what is asked about tells all that it gives up.  What that is the ranks say by the
 *     number of reductions, or of collections, since the context was made, which is the same on all of them.
 */
#ifndef LBC_APART_H
#define LBC_APART_H

#include "libclient/loop.h"
#include "libclient/transfer.h"

/* A vote, LBC_VOTES values of which the least is taken: of stepped loops all of it, see step.h and leave.h. */
enum lbc_vote {
    LBC_VOTE_NEXT, /* 1: has the next layout; its hash, and that negated */
    LBC_VOTE_HASH,
    LBC_VOTE_MINUS_HASH,
    LBC_VOTE_INTERVAL, /* INT64_MAX: closes the loop */
    LBC_VOTE_LATER,    /* exchanges after the next one was entered that it is taken */
    LBC_VOTE_LINK,     /* 1: has the balancer */
    LBC_VOTE_LOOP,     /* which loop, and that negated */
    LBC_VOTE_MINUS_LOOP,
    LBC_VOTE_LEAVER, /* the rank, when it closes the loop; INT64_MAX: it does not */
};

/* Enter the next reduction with LBC_VOTES values, or with n <= LBC_LEAST_MAX: the latter only where it is known of all ranks that
 * they do.  When that fails the context has failed. */
void lbc_apart_vote(struct lb_ctx *ctx, int64_t *vote);
void lbc_apart_reduce(struct lb_ctx *ctx, int64_t *value, int n);

/* Are all there?  As least_test of the transport. */
int lbc_apart_voted(struct lb_ctx *ctx);

/* A pass of a free-running loop ends: enter, and test whether all have (1), not yet (0), or never will: then the context has
 * failed. */
void lbc_apart_enter(struct lb_loop *l);
int lbc_apart_test(struct lb_loop *l);

/*
 * This rank closes a free-running loop: the next one shall hear of it.  Returns that rank; -ENOMEM: call again; or another negative
 * errno: nobody is told, as nobody waits, or nobody can be told.
 */
int lbc_apart_close(struct lb_loop *l);

/* While a rank waits in a pass's end, in lb_loop_collect: when others will never come the context fails. */
void lbc_apart_wait_pass(struct lb_loop *l, int64_t waited_ns);
void lbc_apart_wait_collect(struct lb_loop *l, int64_t waited_ns);

/* Take a header that has come.  Returns whether that was all: it says something, or is for a loop that is not open any more. */
bool lbc_apart_take(struct lb_ctx *ctx, const struct lbc_header *h);

/* The balancer says that a rank has closed loop `number` after so many passes, and others have begun more. */
void lbc_apart_told(struct lb_ctx *ctx, uint32_t number, int64_t passes);

/* In a stepped or pipelined loop: has a rank given all up?  Then the context has failed. */
bool lbc_apart_is_given_up(struct lb_loop *l);

/* Let a header tell that this rank takes no further part. */
void lbc_apart_give_up(struct lbc_header *ret_header, const struct lb_ctx *ctx);

/* After headers were taken: if they have shown that this rank is apart from others, tell all, and fail when they know. */
void lbc_apart_settle(struct lb_ctx *ctx, int64_t now_ns);

/* The end of a context: as lbc_apart_enter and lbc_apart_test. */
void lbc_apart_enter_end(struct lb_ctx *ctx);
int lbc_apart_test_end(struct lb_ctx *ctx);

#endif
