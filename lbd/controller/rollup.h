/* SPDX-License-Identifier: BSD-3-Clause */
/* Means of a coarser table out of a finer one, some thousand rows at a time. */
#ifndef LBD_CONTROLLER_ROLLUP_H
#define LBD_CONTROLLER_ROLLUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbd/controller/db.h"

/* Sums of one table on their way into the next coarser one. */
struct lbd_rollup {
    enum lbd_resolution from, to;
    bool begun, failed;     /* failed: no memory for the sums */
    int64_t next_key;       /* of the first row that is not in a sum */
    int64_t slot_s;         /* the time being summed */
    struct lbd_db_sum *sum; /* [nsum], by host id */
    size_t nsum;
};

/* Forget what is summed; the next step looks into the tables where to begin. */
void lbd_rollup_reset(struct lbd_rollup *r);

/* Until when the means are made; 0: not known yet. */
int64_t lbd_rollup_done_s(const struct lbd_rollup *r);

/*
 * Sum rows of times below until_s, a multiple of the width of r->to, and put the means of each time that is over.
 * Returns 1 when there is more, 0 when all is done, or the database's errors.
 */
int lbd_rollup_step(struct lbd_rollup *r, struct lbd_db *db, int64_t until_s)
    __attribute__((warn_unused_result));

/* Make the means from at_s on again, as far as the finer table still has all of it. */
int lbd_rollup_again(struct lbd_rollup *r, struct lbd_db *db, int64_t at_s)
    __attribute__((warn_unused_result));

#endif
