/* SPDX-License-Identifier: BSD-3-Clause */
/* Legs: the parts of a pipelined pass between its joints (joint.h), or all of it, and the messages of each. */
#ifndef LBC_LEG_H
#define LBC_LEG_H

#include "libclient/loop.h"

/* A leg begins: ask for its messages.  Also when the first message has told how many legs there are. */
void lbc_leg_begin(struct lb_loop *l);

/* What this rank has sent is taken: only then may its rows be written again. */
void lbc_leg_settle(struct lb_loop *l);

#endif
