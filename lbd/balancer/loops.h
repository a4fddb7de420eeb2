/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of a job: from the messages of ranks to policy/balance.h, and its actions back into messages. */
#ifndef LBD_LOOPS_H
#define LBD_LOOPS_H

#include <stdint.h>

#include "common/error.h"
#include "lbd/balancer/loops_config.h"
#include "lbd/balancer/loops_stats.h"
#include "wire/rank.h"

struct lbd_loops;

int lbd_loops_create(const struct lbd_loops_config *config, struct lbd_loops **ret)
    __attribute__((warn_unused_result));
void lbd_loops_destroy(struct lbd_loops *l); /* NULL is fine */

/*
 * Take an OPEN, REPORT, STEP or CLOSE of a rank.
 * Returns 0, -EPROTO with a text when the rank contradicts itself or the others, -ENOMEM.
 */
int lbd_loops_message(struct lbd_loops *l, uint32_t rank, const struct lbw_rank_msg *msg,
                      int64_t now_ns, struct lbx_error *err) __attribute__((warn_unused_result));

/* Let time pass.  ret_wake_ns[out]: when it must be called again at the latest; INT64_MAX when a message comes first. */
int lbd_loops_tick(struct lbd_loops *l, int64_t now_ns, struct lbx_error *err)
    __attribute__((warn_unused_result));
int64_t lbd_loops_wake_ns(const struct lbd_loops *l);

#endif
