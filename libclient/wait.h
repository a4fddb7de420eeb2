/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting of ranks that step together: for each other, and for memory. */
#ifndef LBC_WAIT_H
#define LBC_WAIT_H

#include "libclient/loop.h"

/* Wait for an exchange that was started (NULL: for the least).  Returns 0 or -EIO. */
int lbc_wait_for(struct lb_loop *l, struct lbc_exchange *e);

/* Start an exchange (NULL: none) and wait for it.  Returns 0 or -EIO. */
int lbc_wait_exchange(struct lb_loop *l, struct lbc_exchange *e);

/* Wait a moment, for what began to be waited for so long ago, and serve what comes in. */
void lbc_wait_turn(struct lb_ctx *ctx, int64_t waited_ns);

/* A moment's rest of a rank for which the others wait: there was no memory. */
void lbc_wait_rest(struct lb_ctx *ctx);

#endif
