/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations on the way from rank to rank, with their rows.  They belong to their source until the
 * transfer has begun, and to their destination from the moment all of it is there.
 */
#ifndef LBC_EXCHANGE_H
#define LBC_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libclient/loop.h"

/* Obey what the balancer says, and go on with all transfers as far as that is possible now. */
void lbc_exchange_poll(struct lb_ctx *ctx, int64_t now_ns);

/* Is a transfer of l going out? */
bool lbc_exchange_sending(const struct lb_loop *l);

/* Is any iteration of the n spans among those going out? */
bool lbc_exchange_sends_any(const struct lb_loop *l, const struct lbx_span *span, size_t n);

/*
 * Start to send the rows of one array for owned spans [which, ...) to the root of a collection, as
 * many as go into one transfer.  Returns the number of spans sent, or a negative errno.
 */
int lbc_exchange_collect(struct lb_loop *l, size_t array, int root, size_t which);

/* Forget the transfers of a loop (NULL: of all). */
void lbc_exchange_drop(struct lb_ctx *ctx, const struct lb_loop *l);

#endif
