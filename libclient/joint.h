/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joints: where rows change hands within a pass of a pipelined loop, after the same element of all rows.  A pass has legs, as
 * many as policy/legs.h says of the first one, with a joint between two of them; the balancer takes a leg for a step.  At a joint
 * the ranks vote as in an exchange.  As long as no layout comes into force they exchange nothing else, and wait for each other
 * only as they do for a vote.  When one does, rows take along what was computed of them, and with them come the rows beside the
 * new block, on both sides: what flows has been sent to the rank that had that block before.  A rank asks for no message behind
 * the next joint.
 * Source: the hooks between the blocks of Siegell & Steenkiste 1997, section 5.1.1; the votes are ours.
 */
#ifndef LBC_JOINT_H
#define LBC_JOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/layout.h"

/* A layout comes into force, in an exchange or at a joint: what was sent by the last one is taken, and the lanes of this one are
 * made. */
void lbc_joint_settle(struct lb_loop *l, struct lbc_layout *y);

/*
 * Elements of a block as the balancer takes them, which knows a leg for a step with all elements.  A pass loses one block,
 * however many legs it has, and the best number of blocks is as the root of its time (policy/grain.h): so they are larger by the
 * root of the legs.
 */
int64_t lbc_joint_told(const struct lb_loop *l, int64_t block);

/* All elements up to a joint were handed out and are computed. */
bool lbc_joint_is_here(const struct lb_loop *l);

/* From one leg to the next.  When that fails the context has failed. */
void lbc_joint_pass(struct lb_loop *l);

#endif
