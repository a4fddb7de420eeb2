/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was decided in this step and why: the last decisions in a ring of bounded size, for lbd (lbd/balancer/tell.h) and the
 * summary at the end; each as JSON, in the trace too:
 *   {"seq":..,"t_s":..,"loop":"..","pass":..,"kind":"plan|pair|final|steps","done":..,"reason":"..","detail":"stake|undone|part|back",
 *    "gain":..,"needed":..,"threshold":..,"noise":..,"before_s":..,"after_s":..,"cost_s":..,"unmeasured_s":..,"benefit_s":..,"stable_s":..,
 *    "account_s":..,"period_s":..,"from":..,"to":..,"moves":..,"iterations":..,"left_out":..,"ranks":[[rank,raw_hz,filtered_hz,share],..]}
 * A number that means nothing for its kind is left out.  Of many ranks the slowest and the fastest are shown.
 */
#ifndef LBD_EXPLAIN_H
#define LBD_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/decision.h"

#define LBD_EXPLAIN_RING 512
#define LBD_EXPLAIN_RANKS 16 /* shown of one decision */

struct lbd_explain;
struct lbd_trace;

/* Times are told from begin_ns on.  Returns 0 or -ENOMEM. */
int lbd_explain_create(int64_t begin_ns, struct lbd_explain **ret)
    __attribute__((warn_unused_result));
void lbd_explain_destroy(struct lbd_explain *e); /* NULL is fine */

/*
 * Note the decisions of one call about a loop.  All are borrowed during the call.
 * seen[in] [nranks]; NULL: not known
 * trace[in] where each goes, too; NULL: nowhere
 */
void lbd_explain_add(struct lbd_explain *e, const char *loop, const struct lbp_decisions *d,
                     const struct lbp_seen *seen, uint32_t nranks, struct lbd_trace *trace,
                     int64_t now_ns);

/* Numbers of the oldest decision kept and of the one after the newest: equal when there is none. */
void lbd_explain_range(const struct lbd_explain *e, uint64_t *ret_first, uint64_t *ret_next);

/* Whether one of [first, next) was to move something.  They are kept: see lbd_explain_range. */
bool lbd_explain_done(const struct lbd_explain *e, uint64_t first, uint64_t next);

/* A kept decision as JSON, owned by the caller; NULL when it is not kept or there is no memory. */
json_t *lbd_explain_json(const struct lbd_explain *e, uint64_t seq);

#endif
