/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of rows that come and go with a stepped loop's layout, in arrays of the library's own.
 *
 * Rows that come have none yet, and on a machine that traps each page to have some for them can take ten times as long as they take
 * themselves, while all ranks wait.  But those to which rows come are those that wait for the others anyway, and from when a layout
 * is told until it is in force some steps pass: they have memory bit by bit in these waits.
 */
#ifndef LBC_MEMORY_H
#define LBC_MEMORY_H

#include "libclient/layout.h"

/* So much of it is had at a time, and no more than a page beyond: what is waited for may have come. */
#define LBC_MEMORY_BIT ((size_t)256 << 10)

/*
 * This rank waits: have some of the memory of what comes with the layout that was told, as long as there is any to be had; nothing
 * where none was told, or where of its bounds not all are known.  O(arrays), and the system's time for LBC_MEMORY_BIT.
 * What was had for a layout that never comes into force stays until the array is freed: the program may have written there.
 */
void lbc_memory_ahead(struct lb_loop *l);

/* Have all the rest, and give back what nobody needs any more: the block was `old`, and is `new` now. */
void lbc_memory_have(const struct lb_loop *l, struct lbx_span old, struct lbx_span new);
void lbc_memory_release(const struct lb_loop *l, struct lbx_span old, struct lbx_span new);

#endif
