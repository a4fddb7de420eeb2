/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The synchronous mode, key sync=yes: a rank that has reported waits for the balancer's answer, which comes after all that
 * was decided by this period's reports of all ranks.  For comparison with the mode that is there for use, in which nobody
 * waits and an instruction takes effect whenever it comes.
 *
 * Nobody waits for a balancer that is lost, nor longer than ctx->sync_ns: an answer may be lost, or another rank be away.
 */
#ifndef LBC_SYNC_H
#define LBC_SYNC_H

#include <stdint.h>

#include "libclient/loop.h"

/* Wait for the answer to what was reported, l->asks; serves everything that comes meanwhile.  Returns how long, ns. */
int64_t lbc_sync_wait(struct lb_loop *l);

#endif
