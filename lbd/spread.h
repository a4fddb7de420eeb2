/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sruns of several hosts claim: those of this host are told to the other lbds at once, through the controller's, and theirs
 * count here.  All calls on the loop's thread.
 */
#ifndef LBD_SPREAD_H
#define LBD_SPREAD_H

#include <uv.h>

#include "lbd/claims.h"
#include "lbd/controller/controller.h"
#include "lbd/node/uplink.h"

struct lbd_spread;

/* uplink, controller: where they are told to and come from, borrowed; NULL without it.  host: borrowed.  Returns 0 or -ENOMEM. */
int lbd_spread_create(uv_loop_t *loop, const char *host, struct lbd_uplink *uplink,
                      struct lbd_controller *controller, struct lbd_spread **ret_spread)
    __attribute__((warn_unused_result));
void lbd_spread_stop(struct lbd_spread *s);    /* NULL is fine */
void lbd_spread_destroy(struct lbd_spread *s); /* after the loop has ended; NULL is fine */

/* As lbd_claims_take. */
int lbd_spread_take(struct lbd_spread *s, uid_t uid, pid_t pid, const struct lbw_local_claims *want,
                    int64_t half_life_ns, struct lbw_local_claims *ret)
    __attribute__((warn_unused_result));

/* As lbd_claims_look, for a job that is to come. */
void lbd_spread_look(struct lbd_spread *s, uid_t uid, int64_t half_life_ns,
                     struct lbw_local_idle *idle);

/* As lbd_claims_count. */
void lbd_spread_count(const struct lbd_spread *s, size_t *ret_here, size_t *ret_far);

#endif
