/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection to the balancer.  Once connected nothing here waits: what cannot be sent at once
 * is queued, and where the balancer does not keep up, is silent or breaks the rules it is lost.
 */
#ifndef LBC_LINK_H
#define LBC_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/frame.h"
#include "wire/endpoint.h"
#include "wire/rank.h"

#define LBC_LINK_GAP_NS INT64_C(300000000)

struct lbc_link {
    int fd; /* -1: there is no balancer (any more) */
    struct lbx_channel channel;
    bool ended; /* the stream is over but for what is in `in` */
    struct lbx_buf in, out;
    bool waits; /* by what was sent last, see lbw_rank_waits; since: */
    int64_t waits_since_ns;
    int64_t silence_ns; /* so long without a byte, while it waits, means lost */
    int64_t quiet_since_ns, polled_ns;
};

/* No balancer. */
void lbc_link_init(struct lbc_link *l);

/* Take over a connected stream whose peers have proved themselves.  fd is transferred. */
void lbc_link_attach(struct lbc_link *l, int fd, const struct lbx_channel *channel);

/*
 * Connect to the first of the endpoint's addresses that answers, and prove the key to each other.
 * Returns 0, or a negative errno by deadline_ns (of lbx_clock_mono_ns) at the latest.
 */
int lbc_link_connect(struct lbc_link *l, const struct lbw_endpoint *endpoint, uint32_t rank,
                     int64_t deadline_ns) __attribute__((warn_unused_result));

bool lbc_link_is_open(const struct lbc_link *l);

/* Send, or close the link. */
void lbc_link_send(struct lbc_link *l, const struct lbw_rank_msg *msg);

/* Read what has come, send what is queued, and watch for silence; may close the link. */
void lbc_link_poll(struct lbc_link *l, int64_t now_ns);

/* Wait until something has come, deadline_ns (of lbx_clock_mono_ns) at the longest. */
void lbc_link_wait(struct lbc_link *l, int64_t deadline_ns);

/* Take the next message that was read.  Returns true with one; may close the link. */
bool lbc_link_next(struct lbc_link *l, struct lbw_rank_msg *ret_msg);

/* Say LBW_LEAVE and close in order: waits a moment for the balancer to have read it. */
void lbc_link_leave(struct lbc_link *l);

/* Close at once; the link can be initialised again. */
void lbc_link_close(struct lbc_link *l);

#endif
