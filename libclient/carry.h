/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed data on its way from one layout of a stepped or pipelined loop to the next.  Who has some for whom follows from the
 * layouts, and how much only from what is packed: so the ranks first tell each other sizes, then send.
 */
#ifndef LBC_CARRY_H
#define LBC_CARRY_H

#include <stdint.h>

#include "libclient/layout.h"

/* What one rank has for, or gets from, another one. */
struct lbc_parcel {
    int peer;
    bool out;
    struct lbx_span span;
    int64_t bytes;
    void *data; /* owned; NULL: none */
};

struct lbc_carry {
    struct lbc_exchange *sizes;
    int64_t bytes_in, bytes_out; /* when it has run */
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
