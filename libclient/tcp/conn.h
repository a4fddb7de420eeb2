/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection between two ranks, as mesh.c keeps it: proof of the key first, then frames.  Before
 * the proof nothing that comes is parsed, and what is to be sent waits.
 */
#ifndef LBC_TCP_CONN_H
#define LBC_TCP_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/auth.h"
#include "common/buf.h"
#include "common/frame.h"
#include "wire/endpoint.h"

struct lbc_conn {
    int fd;           /* -1: over */
    bool ours;        /* we have connected, and send; else the other one does */
    bool proved;      /* both sides know that the other one has the key */
    bool fresh;       /* something was queued, and not tried to be sent yet */
    bool bye;         /* to be said as soon as the other one is proved */
    int peer;         /* its rank; -1 before it has proved it */
    size_t tried;     /* of the peer's addresses; the last of them answered */
    int64_t proof_ns; /* by when, for one that has come to us */
    uint32_t watched; /* for mesh.c: the events that are waited for */
    struct lbx_auth auth;
    struct lbx_channel channel;
    struct lbx_buf in, out;
    struct lbx_buf queue; /* frames' bodies with their lengths, not in `out` yet */
};

/* Connect to rank peer; deadline_ns of lbx_clock_mono_ns.  Returns 0 or a negative errno. */
int lbc_conn_connect(const struct lbw_endpoint *endpoint, int rank, int peer, int64_t deadline_ns,
                     struct lbc_conn **ret) __attribute__((warn_unused_result));

/* Ours is over and was not proved, as who listens at that address has another key: connect to the addresses that are left.  What is
 * queued goes there.  Returns 0, or a negative errno: there is none. */
int lbc_conn_elsewhere(struct lbc_conn *c, const struct lbw_endpoint *endpoint, int rank,
                       int64_t deadline_ns) __attribute__((warn_unused_result));

/* Take a connection that has come.  fd is transferred.  Returns 0 or -ENOMEM (fd is left alone). */
int lbc_conn_accept(const struct lbw_endpoint *ours, int fd, struct lbc_conn **ret)
    __attribute__((warn_unused_result));

void lbc_conn_shut(struct lbc_conn *c);    /* it is over: closed, its buffers freed */
void lbc_conn_destroy(struct lbc_conn *c); /* NULL is fine */

/* Queue a body of two parts.  Returns 0, -EPIPE (it is over), -EMSGSIZE or -ENOMEM. */
int lbc_conn_queue(struct lbc_conn *c, const void *head, size_t nhead, const void *tail,
                   size_t ntail) __attribute__((warn_unused_result));
void lbc_conn_queue_bye(struct lbc_conn *c); /* NULL is fine */

bool lbc_conn_has_room(const struct lbc_conn *c);
bool lbc_conn_is_flushed(const struct lbc_conn *c);
bool lbc_conn_wants_out(const struct lbc_conn *c);

/* Go on with the proof, send and read what is possible now.  Returns 0, or a negative errno: the
 * connection is over, but for the frames that lbc_conn_next still gives. */
int lbc_conn_io(struct lbc_conn *c) __attribute__((warn_unused_result));

/* The next frame's body; of one byte: it says that it goes.  Returns 1, 0, or a negative errno. */
int lbc_conn_next(struct lbc_conn *c, const uint8_t **ret_body, size_t *ret_n)
    __attribute__((warn_unused_result));

#endif
