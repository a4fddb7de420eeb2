/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Votes of stepped and pipelined loops: reductions that a rank enters in one call and may take in a later one, so that those
 * who are ahead need not wait for the others meanwhile.  One at a time is under way in a context; whoever enters another
 * reduction ends it first.
 */
#ifndef LBC_VOTE_H
#define LBC_VOTE_H

#include "libclient/step.h"

/* Enter l->step->vote into the next reduction.  Returns 0, or -EIO: then the context has failed. */
int lbc_vote_enter(struct lb_loop *l);

/* Wait until the vote that is under way is over, and the loop's l->step->vote what all voted; at once when there is none.
 * Returns 0, or -EIO: then the context has failed, be it that the ranks are not all at the same step. */
int lbc_vote_end(struct lb_ctx *ctx);

/*
 * Look whether it is over by now, without waiting: who waits for rows meanwhile would wait for ever for a rank that has closed
 * the loop and voted so.  Returns as lbc_vote_end.
 */
int lbc_vote_look(struct lb_ctx *ctx);

/* Has a vote shown that not all ranks are where this one is?  Then the context has failed. */
bool lbc_vote_is_split(struct lb_loop *l);

#endif
