/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection of a rank: proof of the key first, then frames.  Before the proof a peer costs 1 KiB and 2 s at most and
 * none of its bytes is parsed.
 */
#ifndef LBD_PEER_H
#define LBD_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/auth.h"
#include "common/buf.h"
#include "common/frame.h"
#include "wire/endpoint.h"
#include "wire/rank.h"

struct lbd_peer;

/* What the owner is told.  Within a call the owner may close this peer or any other with lbd_peer_close. */
struct lbd_peer_events {
    /* The peer proved to be `rank`.  Return false to refuse it (a number that is taken or does not exist). */
    bool (*proved)(void *owner, struct lbd_peer *p, uint32_t rank);
    void (*message)(void *owner, struct lbd_peer *p, const struct lbw_rank_msg *msg);
    /* The connection is over: end of stream, an error, garbage, or no proof in time.  The peer is freed after it. */
    void (*closed)(void *owner, struct lbd_peer *p, int error);
};

/*
 * Take over a connected socket.
 * fd[in]  transferred, closed with the peer (on failure too);  events, endpoint: borrowed for the peer's life
 * Returns 0 or a negative errno.
 */
int lbd_peer_open(uv_loop_t *loop, int fd, const struct lbw_endpoint *endpoint,
                  const struct lbd_peer_events *events, void *owner)
    __attribute__((warn_unused_result));

/* Queue a message; it is sent when the loop next turns, with all that was queued by then. */
int lbd_peer_send(struct lbd_peer *p, const struct lbw_rank_msg *msg)
    __attribute__((warn_unused_result));

/* Send what is queued as far as the socket takes it, then close.  The owner hears nothing more of it. */
void lbd_peer_close(struct lbd_peer *p);

/* Let what is queued wait, or send it when the loop next turns. */
void lbd_peer_hold(struct lbd_peer *p, bool hold);

/* Take no further message until resumed; what comes waits in the socket.  Resuming may call the owner at once. */
void lbd_peer_pause(struct lbd_peer *p);
void lbd_peer_resume(struct lbd_peer *p);

uint32_t lbd_peer_rank(const struct lbd_peer *p);
int64_t
lbd_peer_rtt_ns(const struct lbd_peer *p); /* the kernel's smoothed round trip time; 0 unknown */
int64_t lbd_peer_last_sent_ns(const struct lbd_peer *p); /* when something was last queued */

#endif
