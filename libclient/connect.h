/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transfers that follow from a layout of a stepped loop.  All that needs memory is made when a layout is made, so that to
 * apply it needs none.
 */
#ifndef LBC_CONNECT_H
#define LBC_CONNECT_H

#include "libclient/layout.h"

/*
 * Make the transfers, once the bounds are ascending from 0 to n.
 * before[in]  the layout that this one will follow; NULL: none
 * Returns 0, -ENOMEM, or another negative errno of the transport; nothing is left behind then.  O(size).
 */
int lbc_connect(const struct lb_loop *l, struct lbc_layout *y, const struct lbc_layout *before)
    __attribute__((warn_unused_result));

/* Free a layout and its transfers; NULL is fine. */
void lbc_connect_end(const struct lb_loop *l, struct lbc_layout *y);

#endif
