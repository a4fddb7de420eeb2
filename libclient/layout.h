/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of a stepped loop: who owns which block. */
#ifndef LBC_LAYOUT_H
#define LBC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/loop.h"

struct lbc_carry;
struct lbc_size;

struct lbc_layout {
    uint64_t epoch;             /* 0: the first */
    bool partial;               /* of its bounds this rank's own first is known, see bounds.h */
    struct lbc_exchange *moves; /* from the layout before; NULL: nothing comes or goes here */
    struct lbc_exchange *halos; /* NULL: nothing to be exchanged here */
    struct lbc_exchange *seams; /* what else a joint exchanges, see joint.h; NULL: nothing */
    struct lbc_carry *carry;    /* packed data, the same way as moves; NULL: none here */
    int64_t in, out;            /* iterations that come and go */
    int64_t nin, nout;          /* ranks that they come from and go to */
    int64_t *bound;             /* [size + 1], owned: rank r owns [bound[r], bound[r + 1]) */

    /* Of a pipelined loop. */
    int64_t
        from; /* element that its first block begins at: 0, but in the pass in which it came into force at a joint */
    int64_t
        block; /* elements of what the program gets at a time; to be set before it is connected */
    int64_t
        batch; /* such blocks go in one message, see size.h; 0: not known yet, the first alone */
    int64_t nblocks; /* messages of a pass that are known of here; 0: nothing is owned */
    struct lbc_exchange **inflow, **outflow; /* [nblocks] owned; NULL: nothing flows */
    struct lbc_size *size; /* owned; NULL: the block size is not to be found here */
};

/* A layout whose bounds are all 0, to be filled by the caller; lbc_connect_end frees it.  Returns NULL when out of memory. */
struct lbc_layout *lbc_layout_create(const struct lb_loop *l, uint64_t epoch);

/* What is in both; empty: last <= first. */
struct lbx_span lbc_layout_both(struct lbx_span a, struct lbx_span b);

/* Block of a rank, and of this one. */
struct lbx_span lbc_layout_of(const struct lbc_layout *y, int rank);
struct lbx_span lbc_layout_block(const struct lb_loop *l, const struct lbc_layout *y);

/* The next rank that owns something, to the left (-1) or right (1) of this one, which does; else -1.  O(size). */
int lbc_layout_neighbour(const struct lb_loop *l, const struct lbc_layout *y, int side);

/* How many ranks own something.  O(size). */
int lbc_layout_holders(const struct lb_loop *l, const struct lbc_layout *y);

/* A number that tells layouts apart, 0 to INT64_MAX; of those of which ranks know only their own part, what is the same on all. */
int64_t lbc_layout_hash(const struct lb_loop *l, const struct lbc_layout *y);

/* The rank that owns iteration i, which is one of the loop.  O(log size). */
int lbc_layout_owner(const struct lb_loop *l, const struct lbc_layout *y, int64_t i);

#endif
