/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed data on its way from one layout of a stepped or pipelined loop to the next.  Who has some for whom follows from the
 * layouts, and how much only from what is packed.  It goes in rounds, in each of which a rank packs no more than packed.h
 * allows: the ranks tell each other how much comes, send it, and unpack it; those that have nothing left for each other leave.
 * All that a rank has to do with is in its k-th round at the same time, so none waits for one that waits for it.
 */
#ifndef LBC_CARRY_H
#define LBC_CARRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libclient/layout.h"

/* What one rank has for, or gets from, another one. */
struct lbc_parcel {
    int peer;
    bool out;
    struct lbx_span span; /* of what has still to come or go */
    struct {
        int64_t iterations, bytes; /* the first of them; both 0: none */
    } lot;                         /* of the present round */
    void *data;                    /* owned; NULL: none */
};

struct lbc_carry {
    struct lbc_exchange *sizes;  /* of the first round */
    int64_t bytes_in, bytes_out; /* when it has run */
    bool lent; /* after a failure: what is in here, or a parcel's data, may be written to, still */
    size_t n;
    struct lbc_parcel parcel[];
};

/*
 * What the way from `before` to `y` takes of this rank.
 * *ret stays NULL where it takes nothing, or the loop packs nothing.
 * Returns 0, -ENOMEM, or another negative errno of the transport.  O(size).
 */
int lbc_carry_create(const struct lb_loop *l, const struct lbc_layout *before,
                     const struct lbc_layout *y, struct lbc_carry **ret)
    __attribute__((warn_unused_result));
void lbc_carry_destroy(const struct lb_loop *l, struct lbc_carry *c); /* NULL is fine */

/* Pack, send and unpack; all ranks that have to do with each other are in it.  Returns 0 or -EIO. */
int lbc_carry_run(struct lb_loop *l, struct lbc_carry *c) __attribute__((warn_unused_result));

#endif
