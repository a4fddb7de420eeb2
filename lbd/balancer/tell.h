/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decisions for the lbd of this host (wire/local.h's LBW_L_DECISIONS, see lbd/decisions.h): within 1.4 s where something
 * was done, each 5.4 s while all is left as it is, and at the end (lbd/balancer/ask.h).  What does not get through in time is in
 * the trace alone.
 */
#ifndef LBD_TELL_H
#define LBD_TELL_H

#include <uv.h>

#include "lbd/balancer/explain.h"
#include "lbd/balancer/job.h"

struct lbd_tell;

/*
 * explain, job[in]  borrowed;  socket[in]  of lbd, borrowed;  policy[in]  name, borrowed
 * Returns 0 or -ENOMEM.
 */
int lbd_tell_create(uv_loop_t *loop, const struct lbd_explain *explain, const struct lbd_job *job,
                    const char *socket, const char *policy, struct lbd_tell **ret)
    __attribute__((warn_unused_result));

/* Send the last ones and stop; the loop ends when they are sent or given up (40 ms a message).  NULL is fine. */
void lbd_tell_finish(struct lbd_tell *t);

void lbd_tell_destroy(struct lbd_tell *t); /* after the loop has run out; NULL is fine */

#endif
