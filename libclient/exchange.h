/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations on the way from rank to rank, with their rows.  They belong to their source until the
 * transfer has begun, and to their destination from the moment all of it is there.
 */
#ifndef LBC_EXCHANGE_H
#define LBC_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/loop.h"

/* Obey what the balancer says: one system call. */
void lbc_exchange_listen(struct lb_ctx *ctx, int64_t now_ns);

/* Go on with all transfers as far as that is possible now: MPI asks the system several times, and yields its processor. */
void lbc_exchange_look(struct lb_ctx *ctx, int64_t now_ns);

/* What a rank does that waits for others' steps, or comes by with every one of them: listens, if it has not just now. */
void lbc_exchange_overhear(struct lb_ctx *ctx, int64_t now_ns);

/* Listen and look. */
void lbc_exchange_poll(struct lb_ctx *ctx, int64_t now_ns);

/* Are transfers under way, announced, or not looked for so long that one may be here? */
bool lbc_exchange_due(const struct lb_ctx *ctx, int64_t now_ns);

/* Forget the transfers of a loop (NULL: of all); after a failure the program's memory is its own again. */
void lbc_exchange_drop(struct lb_ctx *ctx, const struct lb_loop *l);

#endif
