/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the balancers of job steps decided and why (lbd/balancer/explain.h), kept for `lbctl explain`: a file a step in
 * decisions/ of lbd's state, of bounded size, the oldest lines dropped first; of bounded number, the step that was heard of
 * longest ago dropped first.  Beside the balancer, and at the controller, to which that lbd passes them on.
 * Which step a message is of and whose is never read from it.  All calls on the loop's thread; a call writes or reads one
 * small file.
 */
#ifndef LBD_DECISIONS_H
#define LBD_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

struct lbd_decisions;

/* state[in] lbd's folder; copied.  Returns 0, -ENAMETOOLONG or -ENOMEM; a folder that cannot be had shows when it is needed. */
int lbd_decisions_create(const char *state, struct lbd_decisions **ret)
    __attribute__((warn_unused_result));
void lbd_decisions_destroy(struct lbd_decisions *d); /* NULL is fine */

/*
 * Take a balancer's message:
 *   {"begun_s":..,"policy":"..","ranks":..,"hosts":[".."],"final":false,"decisions":[{"seq":..,..},..]}
 * begun_s tells one start of a step from another: what is kept of an earlier one goes.
 * Returns 0, -EINVAL (no such message), -EBUSY (too many of this user), or another negative errno, with a text.
 */
int lbd_decisions_take(struct lbd_decisions *d, uid_t uid, uint32_t jobid, uint32_t stepid,
                       const char *json, int64_t now_ns, struct lbx_error *err)
    __attribute__((warn_unused_result));

/*
 * A step's balancer is gone: what is kept of it is all, whether or not that was said.
 * Returns a message for lbd_decisions_take at another lbd, to be freed; NULL when nothing is kept or it was said.
 */
char *lbd_decisions_end(struct lbd_decisions *d, uid_t uid, uint32_t jobid, uint32_t stepid)
    __attribute__((warn_unused_result));

/*
 * Answer "JOBID[.STEP] [FROM]": decisions from number FROM (0) on.
 *   {"jobid":..,"stepid":..,"begun_s":..,"policy":"..","ranks":..,"hosts":[..],"final":..,"steps":[..],
 *    "decisions":[..],"next":..}       next: null, or the number from which to ask on; steps: all that are kept of the job
 * all[in]  whether uid may see every user's; else the job must be its own
 * Returns JSON to be freed; NULL with err: -EINVAL, -ENOENT (nothing kept, or another user's), -EBUSY, -ENOMEM.
 */
char *lbd_decisions_answer(struct lbd_decisions *d, uid_t uid, bool all, const char *ask,
                           int64_t now_ns, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
