/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The block size of a pipelined loop before the balancer has seen it: found in its first pass.
 *
 * The first rank of the pipeline times what a message costs it and the first of small blocks; from these it has the number of
 * blocks that go best in one message, and of legs (policy/legs.h), and tells them to the rank after it behind that block's
 * message, which passes them on.  Until the next exchange, or a layout that comes at a joint, the program gets the small blocks,
 * of which `batch` go in a message; from then on blocks are as large as messages.  So no rank waits for it: those behind have
 * nothing to do before the first block comes.
 * Source: Siegell & Steenkiste 1997, section 4.3 and eq. 9, who measure before the loop begins; that it takes no time is ours.
 */
#ifndef LBC_SIZE_H
#define LBC_SIZE_H

#include "libclient/loop.h"

/* The parts of the first pass, in this order; later ones do nothing. */
void lbc_size_begin(struct lb_loop *l);  /* before the first block is asked for */
void lbc_size_ask(struct lb_loop *l);    /* after that */
void lbc_size_choose(struct lb_loop *l); /* the first block is computed and sent */
void lbc_size_end(struct lb_loop *l);    /* all blocks are */

/* Between passes: blocks get the size that was found. */
void lbc_size_settle(struct lb_loop *l);

#endif
