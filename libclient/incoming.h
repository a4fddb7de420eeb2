/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers coming in: receiving their rows where they belong. */
#ifndef LBC_INCOMING_H
#define LBC_INCOMING_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/loop.h"

/* Take new headers and go on with all that is coming in.  Returns 0, or -EIO: the transport failed.
 */
int lbc_incoming_poll(struct lb_ctx *ctx, int64_t now_ns);

/* Is a transfer for l's present pass coming in? */
bool lbc_incoming_expected(const struct lb_loop *l);

/* Is any transfer for l coming in? */
bool lbc_incoming_has(const struct lb_loop *l);

/* Forget those of a loop (NULL: of all). */
void lbc_incoming_drop(struct lb_ctx *ctx, const struct lb_loop *l);

#endif
