/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One question at a time to the lbd of this host, without waiting for it and without a thread: an lbd that is slow, stopped or
 * not there delays no rank.
 */
#ifndef LBD_ASK_H
#define LBD_ASK_H

#include <stdint.h>
#include <uv.h>

#include "wire/local.h"

/* rc[in]  0 when lbd said OK, -EPROTO when it said something else, -ETIMEDOUT, or as of lbw_local_ask. */
typedef void lbd_ask_done(void *arg, int rc);

struct lbd_ask {
    uv_poll_t poll;
    uv_timer_t timer; /* the deadline, or when to knock again */
    int fd, handles, rc;
    int64_t deadline_ns;
    const char *socket;
    const struct lbw_local_msg *request;
    lbd_ask_done *done;
    void *arg;
};

/*
 * a[in]  of the caller's, not in use; stays, like socket and request, until done, which comes from the loop, always and once,
 *        after 40 ms at the latest
 */
void lbd_ask_begin(struct lbd_ask *a, uv_loop_t *loop, const char *socket,
                   const struct lbw_local_msg *request, lbd_ask_done *done, void *arg);

#endif
