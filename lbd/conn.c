/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection on the loop. */
#include "lbd/conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/sock.h"

#define KEPT_BYTES 1024 /* of an empty buffer: larger ones are given back */

static void process(struct lbd_conn *c);

static void on_closed(uv_handle_t *handle)
{
    struct lbd_conn *c = handle->data;

    close(c->fd);
    c->fd = -1;
    lbx_buf_fini(&c->in);
    lbx_buf_fini(&c->out);
    lbx_channel_fini(&c->channel);
    c->ops->on_close(c, c->reason);
}

void lbd_conn_close(struct lbd_conn *c, int reason)
{
    if (c->closing)
        return;
    c->closing = true;
    c->reason = reason;
    uv_close((uv_handle_t *)&c->poll, on_closed);
}

const char *lbd_conn_why(int reason)
{
    switch (reason) {
    case -EPIPE:
        return "the other side has closed the connection";
    case -ECONNRESET:
        return "the connection was reset";
    case -ETIMEDOUT:
        return "nothing was heard for too long";
    case -ECANCELED:
        return "this lbd is ending";
    default:
        return strerror(-reason);
    }
}

static void on_ready(uv_poll_t *poll, int status, int events);

/* Ask the loop for what is of use now. */
static void watch(struct lbd_conn *c)
{
    int events = UV_DISCONNECT;

    if (c->closing)
        return;
    if (!c->paused)
        events |= UV_READABLE;
    if (lbx_buf_len(&c->out) > 0)
        events |= UV_WRITABLE;
    uv_poll_start(&c->poll, events, on_ready);
}

static void give_back(struct lbx_buf *b)
{
    if (lbx_buf_len(b) == 0 && b->size > KEPT_BYTES)
        lbx_buf_fini(b);
}

static void flush(struct lbd_conn *c)
{
    int rc = lbx_sock_flush(c->fd, &c->out);

    if (rc < 0)
        lbd_conn_close(c, rc);
    else
        give_back(&c->out);
}

/* The loop says EBADF, whatever is wrong with the socket. */
static int socket_error(int fd)
{
    int error = 0;
    socklen_t n = sizeof(error);

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error ? -error : -ECONNRESET;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct lbd_conn *c = poll->data;
    ssize_t got;

    if (status < 0) {
        lbd_conn_close(c, status == UV_EBADF ? socket_error(c->fd) : status);
        return;
    }
    if (events & UV_WRITABLE)
        flush(c);
    if (!c->closing && (events & UV_READABLE)) {
        got = lbx_sock_fill(c->fd, &c->in);
        if (got < 0)
            lbd_conn_close(c, (int)got);
    } else if (!c->closing && (events & UV_DISCONNECT)) {
        lbd_conn_close(c, -EPIPE);
    }
    process(c);
    watch(c);
}

/* Hand over what is whole.  Answers that wait for a slow reader stop it, so that a peer cannot make us work ahead. */
static void process(struct lbd_conn *c)
{
    const uint8_t *body;
    size_t n;
    int rc;

    if (!c->closing && !c->framed && c->ops->on_bytes && !c->paused) {
        rc = c->ops->on_bytes(c);
        if (rc < 0)
            lbd_conn_close(c, rc);
        else
            c->framed = rc > 0;
    }
    while (!c->closing && c->framed && !c->paused && lbx_buf_len(&c->out) == 0) {
        rc = lbx_frame_next(&c->channel, &c->in, &body, &n);
        if (rc == 0)
            break;
        if (rc > 0)
            rc = c->ops->on_frame(c, body, n);
        if (rc < 0)
            lbd_conn_close(c, rc);
    }
    if (!c->closing)
        give_back(&c->in);
}

int lbd_conn_open(struct lbd_conn *c, uv_loop_t *loop, int fd, const struct lbd_conn_ops *ops,
                  size_t out_limit_bytes, bool framed)
{
    int rc;

    memset(c, 0, sizeof(*c));
    c->fd = fd;
    c->ops = ops;
    c->framed = framed;
    c->deadline_ns = INT64_MAX;
    lbx_channel_init_plain(&c->channel);
    lbx_buf_init(&c->in, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD);
    lbx_buf_init(&c->out, out_limit_bytes);
    rc = uv_poll_init(loop, &c->poll, fd);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    c->poll.data = c;
    watch(c);
    return 0;
}

void lbd_conn_flush(struct lbd_conn *c)
{
    if (c->closing)
        return;
    flush(c);
    watch(c);
}

int lbd_conn_send(struct lbd_conn *c, const void *body, size_t n)
{
    int rc;

    if (c->closing)
        return c->reason;
    rc = lbx_frame_append(&c->channel, &c->out, body, n);
    if (rc < 0) {
        lbd_conn_close(c, rc);
        return rc;
    }
    lbd_conn_flush(c);
    return c->closing ? c->reason : 0;
}

void lbd_conn_unframe(struct lbd_conn *c)
{
    lbx_buf_consume(&c->in, c->channel.taken); /* the frame handed out last */
    c->channel.taken = 0;
    c->framed = false;
}

void lbd_conn_pause(struct lbd_conn *c, bool paused)
{
    c->paused = paused;
    if (c->closing)
        return;
    if (!paused)
        process(c);
    watch(c);
}
