/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling the controller. */
#include "lbd/node/dial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/sock.h"
#include "lbd/munge.h"

#define CONNECT_NS (3 * LBX_NS_PER_S)
#define ANSWER_NS (15 * LBX_NS_PER_S) /* the controller asks its munge */
#define PAYLOAD_BYTES 1024
#define TIMEOUT_MS 10000

static int try_address(struct lbd_dial *d, const struct addrinfo *ai)
{
    char text[INET6_ADDRSTRLEN] = "";
    const void *a = ai->ai_family == AF_INET
                        ? (const void *)&((struct sockaddr_in *)ai->ai_addr)->sin_addr
                        : (const void *)&((struct sockaddr_in6 *)ai->ai_addr)->sin6_addr;

    if (!inet_ntop(ai->ai_family, a, text, sizeof(text)))
        return -errno;
    return lbx_sock_connect_tcp(text, d->address.port, lbx_clock_mono_ns() + CONNECT_NS);
}

static int connect_any(struct lbd_dial *d)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int rc = getaddrinfo(d->address.host, NULL, &hints, &list), fd = -EADDRNOTAVAIL;

    if (rc != 0)
        return lbx_error_set(&d->err, -EADDRNOTAVAIL, "%s: %s", d->address.host, gai_strerror(rc));
    for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next)
        if (ai->ai_family == AF_INET || ai->ai_family == AF_INET6)
            fd = try_address(d, ai);
    freeaddrinfo(list);
    return fd < 0 ? lbx_error_set(&d->err, fd, "%s", strerror(-fd)) : fd;
}

/* Wait until more has come, and read it. */
static int read_more(struct lbd_dial *d, int64_t deadline_ns)
{
    int rc = lbx_sock_wait(d->fd, POLLIN, deadline_ns);
    ssize_t got;

    if (rc < 0)
        return rc;
    got = lbx_sock_fill(d->fd, &d->in);
    return got < 0 ? (int)got : 0;
}

static int write_all(struct lbd_dial *d, struct lbx_buf *out, int64_t deadline_ns)
{
    int rc = lbx_sock_flush(d->fd, out);

    while (rc == 0 && lbx_buf_len(out) > 0) {
        rc = lbx_sock_wait(d->fd, POLLOUT, deadline_ns);
        if (rc > 0)
            rc = lbx_sock_flush(d->fd, out);
    }
    return rc;
}

static int read_challenge(struct lbd_dial *d, struct lbw_node_msg *msg, int64_t deadline_ns)
{
    const uint8_t *body;
    size_t n;
    int rc;

    while ((rc = lbx_frame_next(&d->channel, &d->in, &body, &n)) == 0) {
        rc = read_more(d, deadline_ns);
        if (rc < 0)
            return rc;
    }
    if (rc > 0)
        rc = lbw_node_decode(body, n, msg);
    lbx_buf_consume(&d->in, d->channel.taken);
    d->channel.taken = 0;
    if (rc == 0 && msg->type != LBW_N_CHALLENGE)
        rc = -EPROTO;
    return rc;
}

/* The credential over nonce, names and a fresh key, framed into out. */
static int make_hello(struct lbd_dial *d, struct lbw_node_msg *msg, struct lbx_buf *out)
{
    struct lbx_buf body;
    int rc;

    memcpy(d->proof.nonce, msg->u.nonce, sizeof(d->proof.nonce));
    lbx_auth_random(d->proof.session_key, sizeof(d->proof.session_key));
    lbx_buf_init(&body, LBX_FRAME_CAP);
    rc = lbw_node_proof_encode(&d->proof, &body);
    msg->type = LBW_N_HELLO;
    if (rc == 0)
        rc = lbd_munge_encode(lbx_buf_data(&body), lbx_buf_len(&body), msg->u.credential,
                              sizeof(msg->u.credential), &d->err);
    sodium_memzero(lbx_buf_data(&body), lbx_buf_len(&body));
    lbx_buf_consume(&body, lbx_buf_len(&body));
    if (rc == 0)
        rc = lbw_node_encode(msg, &body);
    if (rc == 0)
        rc = lbx_frame_append(&d->channel, out, lbx_buf_data(&body), lbx_buf_len(&body));
    lbx_buf_fini(&body);
    return rc;
}

static int agree_on_keys(struct lbd_dial *d, struct lbx_buf *out)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + ANSWER_NS;
    struct lbx_auth auth;
    int rc;

    lbx_auth_init_client(&auth, d->proof.session_key, d->proof.nonce, sizeof(d->proof.nonce), 0);
    for (;;) {
        rc = lbx_auth_step(&auth, &d->in, out);
        if (rc == 0 || (rc == 1 && lbx_buf_len(out) > 0)) {
            int sent = write_all(d, out, deadline_ns);

            rc = sent < 0 ? sent : rc;
        }
        if (rc != 0)
            break;
        rc = read_more(d, deadline_ns);
        if (rc < 0)
            break;
    }
    if (rc == 1)
        lbx_auth_channel(&auth, &d->channel);
    lbx_auth_fini(&auth);
    return rc == 1 ? 0 : rc;
}

static int talk(struct lbd_dial *d)
{
    struct lbw_node_msg *msg = malloc(sizeof(*msg));
    struct lbx_buf out;
    int rc = msg ? 0 : -ENOMEM;

    lbx_buf_init(&out, LBX_FRAME_CAP);
    if (rc == 0)
        rc = read_challenge(d, msg, lbx_clock_mono_ns() + CONNECT_NS);
    if (rc == 0)
        rc = make_hello(d, msg, &out);
    if (rc == 0)
        rc = write_all(d, &out, lbx_clock_mono_ns() + CONNECT_NS);
    if (rc == 0)
        rc = agree_on_keys(d, &out);
    lbx_buf_fini(&out);
    free(msg);
    if (rc < 0 && !d->err.code)
        lbx_error_set(&d->err, rc, "%s",
                      rc == -EPIPE    ? "it closed the connection: see its log"
                      : rc == -EPROTO ? "it does not speak our protocol"
                                      : strerror(-rc));
    return rc;
}

static void work(uv_work_t *w)
{
    struct lbd_dial *d = w->data;

    d->fd = connect_any(d);
    d->rc = d->fd < 0 ? d->fd : 0;
    if (d->fd < 0)
        return;
    lbx_sock_tune_tcp(d->fd, TIMEOUT_MS);
    d->rc = talk(d);
    sodium_memzero(d->proof.session_key, sizeof(d->proof.session_key));
    if (d->rc < 0) {
        close(d->fd);
        d->fd = -1;
    }
}

static void after(uv_work_t *w, int status)
{
    struct lbd_dial *d = w->data;

    if (status < 0)
        d->rc = lbx_error_set(&d->err, -ECANCELED, "lbd is ending");
    d->on_done(d, d->rc);
}

int lbd_dial_start(struct lbd_dial *d, uv_loop_t *loop, void (*on_done)(struct lbd_dial *d, int rc))
{
    d->work.data = d;
    d->on_done = on_done;
    d->fd = -1;
    d->err.code = 0;
    lbx_channel_init_plain(&d->channel);
    lbx_buf_init(&d->in, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD);
    return uv_queue_work(loop, &d->work, work, after);
}
