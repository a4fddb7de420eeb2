/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounds of a layout of which each rank was told alone where its own block begins, as in jobs of many ranks: to tell
 * every one all of them takes the balancer P * P counts.  The ranks bring them together by reductions when they apply it, once a
 * layout: 8 bytes a rank, which is what a layout takes in memory anyway.
 */
#ifndef LBC_BOUNDS_H
#define LBC_BOUNDS_H

#include "libclient/layout.h"

/*
 * All ranks have such a layout, have voted for it, and are in the exchange in which that vote is taken: let it be whole, and
 * its transfers made.  Does nothing for one that is.
 * Returns 0, 1 when the bounds do not ascend from 0 to n, on all ranks alike, or -EIO: then the context has failed.
 */
int lbc_bounds_gather(struct lb_loop *l, struct lbc_layout *y) __attribute__((warn_unused_result));

#endif
