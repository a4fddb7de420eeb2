/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transfers in which the values of a pipelined pass flow, block by block.  They are made with the layout; a pass that is
 * not pipelined has none.
 */
#ifndef LBC_LANES_H
#define LBC_LANES_H

#include <stdint.h>

#include "libclient/layout.h"

/* The block size to use when the balancer says `told` (0: before it has said any): 1 to m. */
int64_t lbc_lanes_block(const struct lb_loop *l, int64_t told);

/* Make the transfers of a layout whose bounds and block are there.  Returns 0, -ENOMEM, or another negative errno. */
int lbc_lanes_connect(const struct lb_loop *l, struct lbc_layout *y)
    __attribute__((warn_unused_result));
void lbc_lanes_disconnect(const struct lb_loop *l, struct lbc_layout *y);

#endif
