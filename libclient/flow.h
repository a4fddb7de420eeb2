/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pipelined (DOACROSS) loops: stepped ones in whose passes values flow from each rank to the next, block by block of a row's
 * elements.  All transfers of a pass are made with the layout; those that come are asked for when the pass begins, so that
 * they find their place whenever they come.
 */
#ifndef LBC_FLOW_H
#define LBC_FLOW_H

#include <stdint.h>

#include "libclient/loop.h"

/* A pass that the program left early: the other ranks still get all blocks, whatever is in them. */
void lbc_flow_abandon(struct lb_loop *l);

/* CPU time of receiving and sending a block, of a rank that does both, as others cannot say it; -1: not measured, or others
 * know better. */
int64_t lbc_flow_cost_ns(const struct lb_loop *l);

#endif
