/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a STEPPED or DOACROSS loop would have taken with its first bounds: step by step as its hosts were at the time, by what
 * ranks measured, however the bounds have moved since.  It decides nothing: for the summary, metrics and history.
 */
#ifndef LBP_FIRSTS_H
#define LBP_FIRSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/stepped.h"

struct lbp_firsts; /* opaque */

/*
 * bound[in]     [nranks + 1] the first bounds, ascending from 0 to n; copied
 * hardware[in]  [nranks] speed of a CPU second, relative, > 0; NULL: all 1.  Copied
 * pipelined     DOACROSS: elements of a row, which the blocks divide; else 0
 * flows         DOACROSS: ranks wait for their neighbours alone between steps; else all for the last
 * Returns 0 or -ENOMEM.  *ret owned by the caller.
 */
int lbp_firsts_create(uint32_t nranks, const int64_t *bound, const double *hardware,
                      int64_t pipelined, bool flows, struct lbp_firsts **ret)
    __attribute__((warn_unused_result));
void lbp_firsts_destroy(struct lbp_firsts *f); /* NULL is fine */

/*
 * A report that lbp_stepped_report has taken.
 * block[in]  DOACROSS: of the pipelined loop, as it was then; else 0
 * O(1), and O(P + bins) a few times a second.
 */
void lbp_firsts_report(struct lbp_firsts *f, const struct lbp_stepped_report *r, int64_t block,
                       int64_t now_ns);

struct lbp_firsts_answer {
    double
        saved_ns; /* by the bounds since, less the time of moving; negative: lost.  0 while nothing moved */
    double
        balance_ratio; /* mean / max of the ranks' computing in a step, with the first bounds; 0: nothing known */
};
void lbp_firsts_ask(struct lbp_firsts *f, struct lbp_firsts_answer *ret);

#endif
