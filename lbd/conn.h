/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection on the loop: bytes in and out with limits, frames handed to an owner, deadlines, and a peer that does not
 * read is closed.  Nothing here blocks.  All calls on the loop's thread.
 */
#ifndef LBD_CONN_H
#define LBD_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/buf.h"
#include "common/frame.h"

struct lbd_conn;

struct lbd_conn_ops {
    /*
     * Bytes have come and no frame may be read yet (a proof is under way); may be NULL.
     * Returns 1 when frames may be read from now on, 0 for more bytes, negative: close.
     */
    int (*on_bytes)(struct lbd_conn *c);
    /* One frame; body borrowed until return.  Returns 0, or negative: close (counted as bad input when -EPROTO). */
    int (*on_frame)(struct lbd_conn *c, const uint8_t *body, size_t n);
    /* The connection is gone, for the reason given (negative errno); last call, c may be freed. */
    void (*on_close)(struct lbd_conn *c, int reason);
};

/* Embedded in the owner's own struct. */
struct lbd_conn {
    uv_poll_t poll;
    int fd;
    struct lbx_channel channel;
    struct lbx_buf in, out;
    const struct lbd_conn_ops *ops;
    bool framed; /* frames may be read */
    bool paused; /* the owner is not ready for another frame */
    bool closing;
    int reason; /* why it closes */
    int64_t
        deadline_ns; /* when it is closed unless the owner or progress moves it; INT64_MAX: never */
    void *data;      /* the owner's */
};

/*
 * Take over fd (closed on failure too) with a plain channel.
 * Returns 0, or a negative errno; then on_close is not called.
 */
int lbd_conn_open(struct lbd_conn *c, uv_loop_t *loop, int fd, const struct lbd_conn_ops *ops,
                  size_t out_limit_bytes, bool framed) __attribute__((warn_unused_result));

/* Send one frame; a full buffer (a slow reader) closes.  Returns 0 or what it closes for. */
int lbd_conn_send(struct lbd_conn *c, const void *body, size_t n);

/* Send what the owner appended to c->out itself. */
void lbd_conn_flush(struct lbd_conn *c);

/* The owner is ready again, or not. */
void lbd_conn_pause(struct lbd_conn *c, bool paused);

/* No frames from here on: what comes is the owner's, by on_bytes.  Called from on_frame, or while paused. */
void lbd_conn_unframe(struct lbd_conn *c);

/* Close; on_close comes later, from the loop.  Repeated calls are fine. */
void lbd_conn_close(struct lbd_conn *c, int reason);

/* What on_close was told, in words; never NULL. */
const char *lbd_conn_why(int reason);

#endif
