/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection to the balancer. */
#include "libclient/link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/sock.h"

#define IN_BYTES_MAX (4 * LBX_FRAME_CAP)
#define OUT_BYTES_MAX (8 * LBX_FRAME_CAP)
#define AUTH_BYTES_MAX 1024
#define TCP_TIMEOUT_MS 3000
#define LEAVE_NS (250 * LBX_NS_PER_MS)

void lbc_link_init(struct lbc_link *l)
{
    memset(l, 0, sizeof(*l));
    l->fd = -1;
    l->silence_ns = LBW_SILENCE_NS;
    lbx_buf_init(&l->in, IN_BYTES_MAX);
    lbx_buf_init(&l->out, OUT_BYTES_MAX);
}

void lbc_link_attach(struct lbc_link *l, int fd, const struct lbx_channel *channel)
{
    l->fd = fd;
    l->channel = *channel;
    l->quiet_since_ns = l->polled_ns = lbx_clock_mono_ns();
}

bool lbc_link_is_open(const struct lbc_link *l)
{
    return l->fd >= 0;
}

void lbc_link_close(struct lbc_link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    lbx_channel_fini(&l->channel);
    lbx_buf_fini(&l->in);
    lbx_buf_fini(&l->out);
}

/* Prove the key to each other over fd.  Returns 0 with the channel, or a negative errno. */
static int prove(int fd, struct lbx_auth *auth, struct lbx_buf *in, struct lbx_buf *out,
                 int64_t deadline_ns)
{
    for (;;) {
        ssize_t n;
        int rc = lbx_auth_step(auth, in, out);

        if (rc < 0)
            return rc;
        if (lbx_sock_flush(fd, out) < 0)
            return -EPIPE;
        if (rc == 1 && lbx_buf_len(out) == 0)
            return 0;
        rc = lbx_sock_wait(fd, lbx_buf_len(out) > 0 ? POLLIN | POLLOUT : POLLIN, deadline_ns);
        if (rc < 0)
            return rc;
        n = lbx_sock_fill(fd, in);
        if (n < 0)
            return (int)n;
    }
}

static int connect_to(struct lbc_link *l, const struct lbw_endpoint *endpoint, const char *address,
                      uint32_t rank, int64_t deadline_ns)
{
    struct lbx_channel channel;
    struct lbx_auth auth;
    struct lbx_buf out;
    int fd, rc;

    fd = lbx_sock_connect_tcp(address, endpoint->port, deadline_ns);
    if (fd < 0)
        return fd;
    lbx_sock_tune_tcp(fd, TCP_TIMEOUT_MS);
    lbx_buf_init(&out, AUTH_BYTES_MAX);
    lbx_auth_init_client(&auth, endpoint->key, endpoint->context, strlen(endpoint->context), rank);
    rc = prove(fd, &auth, &l->in, &out, deadline_ns);
    if (rc == 0) {
        lbx_auth_channel(&auth, &channel);
        lbc_link_attach(l, fd, &channel);
        lbx_channel_fini(&channel);
    } else {
        close(fd);
        lbx_buf_fini(&l->in);
    }
    lbx_auth_fini(&auth);
    lbx_buf_fini(&out);
    return rc;
}

int lbc_link_connect(struct lbc_link *l, const struct lbw_endpoint *endpoint, uint32_t rank,
                     int64_t deadline_ns)
{
    int rc = lbx_auth_setup();

    if (rc < 0)
        return rc;
    rc = -EHOSTUNREACH;
    for (size_t i = 0; i < endpoint->naddresses; i++) {
        /* an address that swallows packets shall leave time for those behind it */
        int64_t now_ns = lbx_clock_mono_ns();
        int64_t share_ns = (deadline_ns - now_ns) / (int64_t)(endpoint->naddresses - i);

        rc = connect_to(l, endpoint, endpoint->address[i], rank, now_ns + share_ns);
        if (rc == 0)
            return 0;
    }
    return rc;
}

void lbc_link_send(struct lbc_link *l, const struct lbw_rank_msg *msg)
{
    bool waits = lbw_rank_waits(msg);
    struct lbx_buf body;
    int rc;

    if (l->fd < 0)
        return;
    if (waits && !l->waits)
        l->waits_since_ns = lbx_clock_mono_ns();
    l->waits = waits;
    lbx_buf_init(&body, LBX_FRAME_CAP);
    rc = lbw_rank_encode(msg, &body);
    if (rc == 0)
        rc = lbx_frame_append(&l->channel, &l->out, lbx_buf_data(&body), lbx_buf_len(&body));
    lbx_buf_fini(&body);
    if (rc == 0)
        rc = lbx_sock_flush(l->fd, &l->out);
    if (rc < 0)
        lbc_link_close(l);
}

/* Has nothing come for longer than beats are apart, as the balancer knows whether we wait? */
static bool is_silent(const struct lbc_link *l, int64_t now_ns)
{
    int64_t quiet_ns = now_ns - l->quiet_since_ns;

    if (!l->waits)
        return quiet_ns / LBW_BUSY > l->silence_ns;
    return quiet_ns > l->silence_ns && now_ns - l->waits_since_ns > l->silence_ns;
}

void lbc_link_poll(struct lbc_link *l, int64_t now_ns)
{
    int64_t gap_ns = now_ns - l->polled_ns;
    ssize_t n;

    if (l->fd < 0)
        return;
    l->polled_ns = now_ns;
    if (lbx_buf_len(&l->out) > 0 && lbx_sock_flush(l->fd, &l->out) < 0) {
        lbc_link_close(l);
        return;
    }
    n = lbx_sock_fill(l->fd, &l->in);
    if (n > 0) {
        l->quiet_since_ns = now_ns;
    } else if (n == -EPIPE) {
        l->ended = true; /* what came before the end is read first: it may say FINAL */
    } else if (n < 0) {
        lbc_link_close(l);
    } else if (n == 0) {
        /* We may have been away (a long chunk, a suspended job): silence counts from here. */
        if (gap_ns > LBC_LINK_GAP_NS)
            l->quiet_since_ns = now_ns;
        if (is_silent(l, now_ns))
            lbc_link_close(l);
    }
}

void lbc_link_wait(struct lbc_link *l, int64_t deadline_ns)
{
    if (l->fd >= 0 && !l->ended)
        (void)!lbx_sock_wait(l->fd, POLLIN, deadline_ns); /* the next poll sees what there is */
}

bool lbc_link_next(struct lbc_link *l, struct lbw_rank_msg *ret_msg)
{
    const uint8_t *body;
    size_t n;
    int rc;

    if (l->fd < 0)
        return false;
    rc = lbx_frame_next(&l->channel, &l->in, &body, &n);
    if (rc == 1 && lbw_rank_decode(body, n, ret_msg) < 0)
        rc = -EPROTO;
    if (rc < 0 || (rc == 0 && l->ended))
        lbc_link_close(l);
    return rc == 1;
}

void lbc_link_leave(struct lbc_link *l)
{
    const struct lbw_rank_msg leave = {.type = LBW_LEAVE};
    int64_t deadline_ns = lbx_clock_mono_ns() + LEAVE_NS;

    lbc_link_send(l, &leave);
    while (l->fd >= 0 && lbx_buf_len(&l->out) > 0)
        if (lbx_sock_wait(l->fd, POLLOUT, deadline_ns) < 0 || lbx_sock_flush(l->fd, &l->out) < 0)
            break;
    /* Closing with unread bytes would reset the connection under our last message. */
    if (l->fd >= 0)
        shutdown(l->fd, SHUT_WR);
    while (l->fd >= 0 && lbx_sock_wait(l->fd, POLLIN, deadline_ns) > 0) {
        if (lbx_sock_fill(l->fd, &l->in) < 0)
            break;
        lbx_buf_consume(&l->in, lbx_buf_len(&l->in));
    }
    lbc_link_close(l);
}
