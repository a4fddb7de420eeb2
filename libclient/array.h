/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays with their global extent in address space, and memory only where they were touched. */
#ifndef LBC_ARRAY_H
#define LBC_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#include "libclient/lb.h"

/* How large the pages are of the array of ctx that holds all of [base, base + bytes), in bytes; 0: there is none. */
size_t lbc_array_page(const lb_ctx *ctx, const void *base, size_t bytes);

/*
 * Give the whole pages, of page_bytes or the system's own if those are larger, inside [base, base + bytes) back to the system; they
 * read as zero after.  A large page of which a part is given back is broken up, and what comes again comes as small ones.
 */
void lbc_array_release(void *base, size_t bytes, size_t page_bytes);

/*
 * Have memory for the whole pages inside [base, base + bytes), which are about to be received: by one call, where a fault for each
 * page costs many times as much on virtual machines that trap each.  What is there stays as it is.
 */
void lbc_array_populate(void *base, size_t bytes);

/* Forget ctx's arrays, which live on until lb_array_free with a NULL context. */
void lbc_array_forget(lb_ctx *ctx);

#endif
