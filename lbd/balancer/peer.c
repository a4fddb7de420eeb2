/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection of a rank. */
#include "lbd/balancer/peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sock.h"

#define UNPROVED_BYTES 1024
#define PROOF_MS 2000
#define IN_BYTES (2 * (LBX_FRAME_CAP + LBX_FRAME_OVERHEAD))
#define OUT_BYTES (4 * LBX_FRAME_CAP) /* a rank that reads so little is stuck */
#define USER_TIMEOUT_MS 3000

struct lbd_peer {
    int fd;
    uv_poll_t poll;
    uv_timer_t timer;     /* proof deadline */
    uv_prepare_t prepare; /* flushes once a turn */
    int handles;          /* libuv handles that are not closed yet */
    const struct lbd_peer_events *events;
    void *owner;
    bool proved;
    bool closing;
    bool paused, held;
    int watching; /* events that poll waits for */
    struct lbx_auth auth;
    struct lbx_channel channel;
    struct lbx_buf in, out, body;
    int64_t last_sent_ns;
};

static void on_handle_closed(uv_handle_t *h)
{
    struct lbd_peer *p = h->data;

    if (--p->handles > 0)
        return;
    close(p->fd);
    lbx_buf_fini(&p->in);
    lbx_buf_fini(&p->out);
    lbx_buf_fini(&p->body);
    lbx_auth_fini(&p->auth);
    lbx_channel_fini(&p->channel);
    free(p);
}

void lbd_peer_close(struct lbd_peer *p)
{
    if (p->closing)
        return;
    p->closing = true;
    if (lbx_sock_flush(p->fd, &p->out) < 0)
        lbx_buf_consume(&p->out, lbx_buf_len(&p->out));
    uv_close((uv_handle_t *)&p->poll, on_handle_closed);
    uv_close((uv_handle_t *)&p->timer, on_handle_closed);
    uv_close((uv_handle_t *)&p->prepare, on_handle_closed);
}

static void fail(struct lbd_peer *p, int error)
{
    if (p->closing)
        return;
    p->events->closed(p->owner, p, error);
    lbd_peer_close(p);
}

static void on_io(uv_poll_t *h, int status, int events);

static void flush(struct lbd_peer *p)
{
    int rc = 0, want;

    if (p->closing)
        return;
    if (!p->held)
        rc = lbx_sock_flush(p->fd, &p->out);
    if (rc == -EPIPE && p->proved) {
        /* nobody hears this any more, but what the rank said before it closed is still to be read: it may have left */
        lbx_buf_consume(&p->out, lbx_buf_len(&p->out));
        rc = 0;
    }
    if (rc < 0) {
        fail(p, rc);
        return;
    }
    want = (p->paused ? 0 : UV_READABLE) | (!p->held && lbx_buf_len(&p->out) > 0 ? UV_WRITABLE : 0);
    if (want != p->watching) {
        p->watching = want;
        uv_poll_start(&p->poll, want, on_io);
    }
}

/* Nothing is read from a stranger but the fixed messages of the proof. */
static void step_auth(struct lbd_peer *p)
{
    int rc = lbx_auth_step(&p->auth, &p->in, &p->out);

    if (rc < 0) {
        fail(p, rc);
        return;
    }
    if (rc == 0)
        return;
    lbx_auth_channel(&p->auth, &p->channel);
    p->in.limit = IN_BYTES;
    p->proved = true;
    uv_timer_stop(&p->timer);
    if (!p->events->proved(p->owner, p, p->auth.peer_id))
        fail(p, -EACCES);
}

static void take_frames(struct lbd_peer *p)
{
    static struct lbw_rank_msg msg; /* large, and the daemon has one thread */
    const uint8_t *body;
    size_t n;
    int rc = 0;

    while (!p->closing && !p->paused &&
           (rc = lbx_frame_next(&p->channel, &p->in, &body, &n)) == 1) {
        rc = lbw_rank_decode(body, n, &msg);
        if (rc < 0)
            break;
        p->events->message(p->owner, p, &msg);
    }
    if (rc < 0)
        fail(p, rc);
}

static void on_io(uv_poll_t *h, int status, int events)
{
    struct lbd_peer *p = h->data;
    ssize_t n = 0;

    if (p->closing)
        return;
    if (status < 0 || (events & UV_READABLE)) { /* on an error the read says which */
        n = lbx_sock_fill(p->fd, &p->in);
        if (!p->proved)
            step_auth(p);
        if (p->proved)
            take_frames(p);
        if (!p->closing && (n < 0 || (status < 0 && n == 0)))
            fail(p, n < 0 ? (int)n : status);
        if (status < 0)
            p->watching = 0; /* the loop has stopped it, and more may be there to be read */
    }
    flush(p);
}

static void on_proof_deadline(uv_timer_t *h)
{
    fail(h->data, -ETIMEDOUT);
}

static void on_prepare(uv_prepare_t *h)
{
    struct lbd_peer *p = h->data;

    uv_prepare_stop(h);
    flush(p);
}

int lbd_peer_open(uv_loop_t *loop, int fd, const struct lbw_endpoint *endpoint,
                  const struct lbd_peer_events *events, void *owner)
{
    struct lbd_peer *p = calloc(1, sizeof(*p));
    int rc;

    if (!p) {
        close(fd);
        return -ENOMEM;
    }
    rc = uv_poll_init(loop, &p->poll, fd);
    if (rc < 0) {
        close(fd);
        free(p);
        return rc;
    }
    lbx_sock_tune_tcp(fd, USER_TIMEOUT_MS);
    p->fd = fd;
    p->events = events;
    p->owner = owner;
    lbx_buf_init(&p->in, UNPROVED_BYTES);
    lbx_buf_init(&p->out, OUT_BYTES);
    lbx_buf_init(&p->body, LBX_FRAME_CAP);
    lbx_auth_init_server(&p->auth, endpoint->key, endpoint->context, strlen(endpoint->context));
    uv_timer_init(loop, &p->timer);
    uv_prepare_init(loop, &p->prepare);
    p->handles = 3;
    p->poll.data = p->timer.data = p->prepare.data = p;
    uv_timer_start(&p->timer, on_proof_deadline, PROOF_MS, 0);
    step_auth(p);
    flush(p);
    return 0;
}

int lbd_peer_send(struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    int rc;

    if (p->closing)
        return -EPIPE;
    rc = lbw_rank_encode(msg, &p->body);
    if (rc == 0)
        rc = lbx_frame_append(&p->channel, &p->out, lbx_buf_data(&p->body), lbx_buf_len(&p->body));
    lbx_buf_consume(&p->body, lbx_buf_len(&p->body));
    if (rc < 0)
        return rc;
    p->last_sent_ns = lbx_clock_mono_ns();
    uv_prepare_start(&p->prepare, on_prepare);
    return 0;
}

void lbd_peer_hold(struct lbd_peer *p, bool hold)
{
    if (p->held == hold)
        return;
    p->held = hold;
    if (!p->closing)
        uv_prepare_start(&p->prepare, on_prepare);
}

void lbd_peer_pause(struct lbd_peer *p)
{
    p->paused = true;
}

void lbd_peer_resume(struct lbd_peer *p)
{
    p->paused = false;
    take_frames(p);
    flush(p);
}

uint32_t lbd_peer_rank(const struct lbd_peer *p)
{
    return p->auth.peer_id;
}

int64_t lbd_peer_rtt_ns(const struct lbd_peer *p)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);

    if (getsockopt(p->fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
        return 0;
    return (int64_t)info.tcpi_rtt * LBX_NS_PER_US;
}

int64_t lbd_peer_last_sent_ns(const struct lbd_peer *p)
{
    return p->last_sent_ns;
}
