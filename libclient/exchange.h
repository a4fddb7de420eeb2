/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations on the way from rank to rank, with their rows.  They belong to their source until the
 * transfer has begun, and to their destination from the moment all of it is there.
 */
#ifndef LBC_EXCHANGE_H
#define LBC_EXCHANGE_H

#include <stdint.h>

#include "libclient/loop.h"

/* Obey what the balancer says, and go on with all transfers as far as that is possible now. */
void lbc_exchange_poll(struct lb_ctx *ctx, int64_t now_ns);

/* Forget the transfers of a loop (NULL: of all). */
void lbc_exchange_drop(struct lb_ctx *ctx, const struct lb_loop *l);

#endif
