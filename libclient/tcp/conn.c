/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection between two ranks. */
#include "libclient/tcp/conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sock.h"

#define KEEP_IDLE_S 60 /* then it is asked whether the other host is there, */
#define KEEP_BETWEEN_S 20
#define KEEP_COUNT 6        /* so often: three minutes in all */
#define STRANGER_BYTES 1024 /* that one who has proved nothing may make us hold */
#define IN_BYTES (2 * (LBX_FRAME_CAP + LBX_FRAME_OVERHEAD))
#define ROOM_BYTES (4 * LBX_FRAME_CAP) /* of rows that wait to be sent */
#define OUT_BYTES (2 * ROOM_BYTES)
#define QUEUE_BYTES (16U << 20) /* of short frames: so many are never under way */

static void tune(int fd)
{
    int one = 1, idle_s = KEEP_IDLE_S, between_s = KEEP_BETWEEN_S, count = KEEP_COUNT;

    /* Patient, other than with the balancer: what is lost here are rows.  The kernel gives up after
     * a quarter of an hour without any answer to what is sent; and where nothing is, but the other host has died, too. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between_s, sizeof(between_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

static struct lbc_conn *create(int fd, bool ours, int peer)
{
    struct lbc_conn *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    tune(fd);
    c->fd = fd;
    c->ours = ours;
    c->peer = peer;
    lbx_buf_init(&c->in, STRANGER_BYTES);
    lbx_buf_init(&c->out, STRANGER_BYTES);
    lbx_buf_init(&c->queue, QUEUE_BYTES);
    return c;
}

/* Connect to the first that answers of the addresses that were not tried.  Returns the descriptor or a negative errno. */
static int connect_next(const struct lbw_endpoint *endpoint, size_t *tried, int64_t deadline_ns)
{
    int fd = -EHOSTUNREACH, first = 0;

    for (size_t i = *tried; i < endpoint->naddresses && fd < 0; i++) {
        /* an address that swallows packets shall leave time for those behind it */
        int64_t now_ns = lbx_clock_mono_ns();
        int64_t share_ns = (deadline_ns - now_ns) / (int64_t)(endpoint->naddresses - i);

        fd = lbx_sock_connect_tcp(endpoint->address[i], endpoint->port, now_ns + share_ns);
        if (i == 0)
            first = fd; /* the others may be of networks that only the other host is in */
        *tried = i + 1;
    }
    return fd < 0 && first < 0 ? first : fd;
}

static void begin_proof(struct lbc_conn *c, const struct lbw_endpoint *endpoint, int rank)
{
    lbx_auth_init_client(&c->auth, endpoint->key, endpoint->context, strlen(endpoint->context),
                         (uint32_t)rank);
}

int lbc_conn_connect(const struct lbw_endpoint *endpoint, int rank, int peer, int64_t deadline_ns,
                     struct lbc_conn **ret)
{
    size_t tried = 0;
    int fd = connect_next(endpoint, &tried, deadline_ns);

    if (fd < 0)
        return fd;
    *ret = create(fd, true, peer);
    if (!*ret) {
        close(fd);
        return -ENOMEM;
    }
    (*ret)->tried = tried;
    begin_proof(*ret, endpoint, rank);
    return 0;
}

int lbc_conn_elsewhere(struct lbc_conn *c, const struct lbw_endpoint *endpoint, int rank,
                       int64_t deadline_ns)
{
    int fd = connect_next(endpoint, &c->tried, deadline_ns);

    if (fd < 0)
        return fd;
    close(c->fd);
    tune(fd);
    c->fd = fd;
    c->fresh = true;
    c->watched = 0;
    lbx_buf_fini(&c->in);
    lbx_buf_fini(&c->out);
    begin_proof(c, endpoint, rank);
    return 0;
}

int lbc_conn_accept(const struct lbw_endpoint *ours, int fd, struct lbc_conn **ret)
{
    struct lbc_conn *c = create(fd, false, -1);

    if (!c)
        return -ENOMEM;
    lbx_auth_init_server(&c->auth, ours->key, ours->context, strlen(ours->context));
    if (lbc_conn_io(c) < 0) { /* it speaks first */
        c->fd = -1;
        lbc_conn_destroy(c);
        return -EIO;
    }
    *ret = c;
    return 0;
}

void lbc_conn_shut(struct lbc_conn *c)
{
    char rest[4096];

    if (c->fd < 0)
        return;
    /* closing over unread bytes would take back what we have sent */
    shutdown(c->fd, SHUT_WR);
    while (recv(c->fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
        ;
    close(c->fd);
    c->fd = -1;
    lbx_auth_fini(&c->auth);
    lbx_channel_fini(&c->channel);
    lbx_buf_fini(&c->in);
    lbx_buf_fini(&c->out);
    lbx_buf_fini(&c->queue);
}

void lbc_conn_destroy(struct lbc_conn *c)
{
    if (!c)
        return;
    lbc_conn_shut(c);
    lbx_auth_fini(&c->auth);
    lbx_channel_fini(&c->channel);
    lbx_buf_fini(&c->in);
    lbx_buf_fini(&c->out);
    lbx_buf_fini(&c->queue);
    free(c);
}

int lbc_conn_queue(struct lbc_conn *c, const void *head, size_t nhead, const void *tail,
                   size_t ntail)
{
    uint32_t n = (uint32_t)(nhead + ntail);
    uint8_t *room;
    int rc;

    if (c->fd < 0)
        return -EPIPE;
    if (n == 0 || nhead + ntail > LBX_FRAME_CAP)
        return -EMSGSIZE;
    rc = lbx_buf_room(&c->queue, sizeof(n) + n, &room);
    if (rc < 0)
        return rc;
    memcpy(room, &n, sizeof(n));
    memcpy(room + sizeof(n), head, nhead);
    if (ntail > 0)
        memcpy(room + sizeof(n) + nhead, tail, ntail);
    lbx_buf_wrote(&c->queue, sizeof(n) + n);
    c->fresh = true;
    return 0;
}

void lbc_conn_queue_bye(struct lbc_conn *c)
{
    if (!c || c->fd < 0)
        return;
    c->bye = true;
    c->fresh = true;
}

bool lbc_conn_has_room(const struct lbc_conn *c)
{
    return c->fd >= 0 && c->proved && lbx_buf_len(&c->queue) + lbx_buf_len(&c->out) < ROOM_BYTES;
}

bool lbc_conn_is_flushed(const struct lbc_conn *c)
{
    return c->fd < 0 ||
           (lbx_buf_len(&c->queue) == 0 && lbx_buf_len(&c->out) == 0 && !(c->bye && c->proved));
}

/* What is queued behind frames that all leave at once has nothing else that would wake it. */
bool lbc_conn_wants_out(const struct lbc_conn *c)
{
    return c->proved ? !lbc_conn_is_flushed(c) : lbx_buf_len(&c->out) > 0;
}

/* The proof, as far as it goes.  Returns 0 or a negative errno. */
static int prove(struct lbc_conn *c)
{
    int rc = lbx_auth_step(&c->auth, &c->in, &c->out);

    if (rc <= 0)
        return rc;
    lbx_auth_channel(&c->auth, &c->channel);
    if (!c->ours)
        c->peer = c->auth.peer_id > INT32_MAX ? INT32_MAX : (int)c->auth.peer_id;
    lbx_auth_fini(&c->auth);
    c->in.limit = IN_BYTES;
    c->out.limit = OUT_BYTES;
    c->proved = true;
    return 0;
}

/* From the queue into frames, as long as there is room. */
static int frame_queued(struct lbc_conn *c)
{
    static const uint8_t bye = 'B';
    uint32_t n;
    int rc = 0;

    while (rc == 0 && lbx_buf_len(&c->queue) > 0 && lbx_buf_len(&c->out) < ROOM_BYTES) {
        memcpy(&n, lbx_buf_data(&c->queue), sizeof(n));
        rc = lbx_frame_append(&c->channel, &c->out, lbx_buf_data(&c->queue) + sizeof(n), n);
        if (rc == 0)
            lbx_buf_consume(&c->queue, sizeof(n) + n);
    }
    if (rc == 0 && c->bye && lbx_buf_len(&c->queue) == 0) {
        rc = lbx_frame_append(&c->channel, &c->out, &bye, 1);
        if (rc == 0)
            c->bye = false;
    }
    return rc;
}

int lbc_conn_io(struct lbc_conn *c)
{
    ssize_t n;
    int rc = 0, sent;

    if (c->fd < 0)
        return -EPIPE;
    c->fresh = false;
    n = lbx_sock_fill(c->fd, &c->in);
    if (n == -EMSGSIZE && c->proved)
        n = 0; /* frames are taken first */
    if (!c->proved)
        rc = prove(c);
    if (rc == 0 && c->proved)
        rc = frame_queued(c);
    sent = lbx_sock_flush(c->fd, &c->out);
    if (rc < 0)
        return rc;
    return n < 0 ? (int)n : sent;
}

int lbc_conn_next(struct lbc_conn *c, const uint8_t **ret_body, size_t *ret_n)
{
    return c->proved && c->fd >= 0 ? lbx_frame_next(&c->channel, &c->in, ret_body, ret_n) : 0;
}
