/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller's connections with nodes. */
#include "lbd/controller/sessions.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/sock.h"
#include "lbd/controller/sessions_impl.h"

#define SESSIONS_MAX 16384
#define SESSIONS_EACH 64             /* from one address */
#define PROOF_NS (15 * LBX_NS_PER_S) /* all of the proof; munge alone may take ten */
#define HELLO_NS (5 * LBX_NS_PER_S)  /* until the credential is there */
#define UNPROVED_BYTES 8192          /* that a peer may send before it has proved itself */
#define OUT_BYTES ((size_t)8 << 20)  /* a ranking of 65536 hosts */
#define TIMEOUT_MS 10000
#define SWEEP_MS 5000

static void forget_proof(struct session *s)
{
    if (s->prove)
        sodium_memzero(s->prove, sizeof(*s->prove));
    free(s->prove);
    s->prove = NULL;
}

static void free_session(struct session *s)
{
    lbx_auth_fini(&s->auth);
    forget_proof(s);
    free(s->waiting);
    free(s);
}

static void count_refused(struct session *s, int reason)
{
    struct lbd_sessions_refused *n = &s->all->refused;

    if (reason == -ETIMEDOUT)
        n->timeout++;
    else if (reason == -EPROTO || reason == -EMSGSIZE || reason == -EBADMSG)
        n->garbage++;
    else if (s->state == KEYING && reason == -EACCES)
        n->proof++;
    else if (reason == -EACCES)
        n->credential++;
    else if (reason == -EADDRNOTAVAIL)
        n->address++;
}

static void on_close(struct lbd_conn *conn, int reason)
{
    struct session *s = conn->data;

    count_refused(s, reason);
    if (s->state == READY) {
        lbx_log(LBX_LOG_INFO, "node %s has left: %s", s->name, lbd_conn_why(reason));
        lbd_hosts_leave(s->all->config.hosts, s->host, lbd_conn_why(reason));
    }
    lbd_guard_leave(&s->all->guard, s->guard_key);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->gone = true;
    if (!s->pooled)
        free_session(s);
}

/* The pool has looked at the credential. */
static void on_proved(struct lbd_prove *p, int rc)
{
    struct session *s = p->data;

    s->pooled = false;
    if (s->gone) {
        free_session(s);
        return;
    }
    if (rc < 0) {
        lbx_log(LBX_LOG_WARNING, "a node is refused: %s", p->err.text);
        lbd_conn_close(&s->conn, rc);
        return;
    }
    s->state = KEYING;
    lbd_conn_unframe(&s->conn);
    lbx_auth_init_server(&s->auth, p->proof.session_key, s->nonce, sizeof(s->nonce));
    rc = lbx_auth_step(&s->auth, &s->conn.in, &s->conn.out);
    if (rc < 0) {
        lbd_conn_close(&s->conn, rc);
        return;
    }
    lbd_conn_pause(&s->conn, false);
    lbd_conn_flush(&s->conn);
}

static int take_hello(struct session *s)
{
    struct lbd_prove *p = s->prove = calloc(1, sizeof(*p));
    int rc;

    if (!p)
        return -ENOMEM;
    s->state = PROVING;
    s->conn.deadline_ns = lbx_clock_mono_ns() + PROOF_NS;
    memcpy(p->credential, s->all->msg.u.credential, sizeof(p->credential));
    memcpy(p->nonce, s->nonce, sizeof(p->nonce));
    p->peer = s->peer;
    p->verify_address = s->all->config.verify_address;
    p->data = s;
    rc = lbd_prove_start(p, s->all->loop, on_proved);
    if (rc < 0)
        return rc;
    s->pooled = true;
    lbd_conn_pause(&s->conn, true);
    return 0;
}

/* Another session of the same host is one that the node has given up. */
static void close_others(struct session *s)
{
    for (struct session *o = s->all->list; o; o = o->next)
        if (o != s && o->state == READY && o->host == s->host)
            lbd_conn_close(&o->conn, -ECONNRESET);
}

static int join(struct session *s)
{
    const struct lbw_node_proof *p = &s->prove->proof;

    s->host = lbd_hosts_join(s->all->config.hosts, p->host, p->boot, p->instance);
    if (s->host == UINT32_MAX)
        return -ENOSPC;
    close_others(s);
    s->state = READY;
    s->conn.in.limit = LBX_FRAME_CAP + LBX_FRAME_OVERHEAD;
    s->conn.deadline_ns = lbx_clock_mono_ns() + SILENT_NS;
    lbx_auth_channel(&s->auth, &s->conn.channel);
    lbx_auth_fini(&s->auth);
    lbx_log(LBX_LOG_INFO, "node %s has joined", p->host);
    memcpy(s->name, p->host, sizeof(s->name));
    forget_proof(s); /* large, and secret */
    lbd_session_rank_later(s);
    return 0;
}

static int on_bytes(struct lbd_conn *conn)
{
    struct session *s = conn->data;
    int rc;

    if (s->state != KEYING)
        return -EPROTO;
    rc = lbx_auth_step(&s->auth, &conn->in, &conn->out);
    if (rc == 1)
        rc = join(s) < 0 ? -ENOMEM : 1;
    return rc;
}

static int on_frame(struct lbd_conn *conn, const uint8_t *body, size_t n)
{
    struct session *s = conn->data;

    if (lbw_node_decode(body, n, &s->all->msg) < 0)
        return -EPROTO;
    if (s->state == WAIT_HELLO && s->all->msg.type == LBW_N_HELLO)
        return take_hello(s);
    return s->state == READY ? lbd_session_take(s) : -EPROTO;
}

static const struct lbd_conn_ops session_ops = {
    .on_bytes = on_bytes, .on_frame = on_frame, .on_close = on_close};

/* One key an address: all of IPv4, the network half of IPv6 (who has one address of it has all). */
static uint64_t key_of(const struct sockaddr_storage *peer)
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)peer;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)peer;
    uint64_t key = 0;

    if (peer->ss_family == AF_INET)
        return v4->sin_addr.s_addr;
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        memcpy(&key, v6->sin6_addr.s6_addr + 12, 4);
    else
        memcpy(&key, v6->sin6_addr.s6_addr, 8);
    return key;
}

static struct session *new_session(struct lbd_sessions *all, int fd,
                                   const struct sockaddr_storage *peer)
{
    struct session *s = calloc(1, sizeof(*s));

    if (!s) {
        close(fd);
        return NULL;
    }
    if (lbd_conn_open(&s->conn, all->loop, fd, &session_ops, OUT_BYTES, true) < 0) {
        free(s);
        return NULL;
    }
    s->conn.in.limit = UNPROVED_BYTES;
    s->conn.data = s;
    s->conn.deadline_ns = lbx_clock_mono_ns() + HELLO_NS;
    s->all = all;
    s->peer = *peer;
    s->guard_key = key_of(peer);
    s->next = all->list;
    s->link = &all->list;
    if (s->next)
        s->next->link = &s->next;
    all->list = s;
    return s;
}

static void on_sweep(uv_timer_t *timer)
{
    struct lbd_sessions *all = timer->data;
    int64_t now_ns = lbx_clock_mono_ns();

    for (struct session *s = all->list; s; s = s->next)
        if (now_ns > s->conn.deadline_ns)
            lbd_conn_close(&s->conn, -ETIMEDOUT);
    if (!all->list)
        uv_timer_stop(timer);
}

static void on_accept(struct lbd_listener *l, int fd)
{
    struct lbd_sessions *all = l->data;
    struct sockaddr_storage peer = {0};
    socklen_t len = sizeof(peer);
    struct session *s;

    if (getpeername(fd, (struct sockaddr *)&peer, &len) < 0 ||
        !lbd_guard_enter(&all->guard, key_of(&peer), lbx_clock_mono_ns())) {
        all->refused.cap++;
        close(fd);
        return;
    }
    lbx_sock_tune_tcp(fd, TIMEOUT_MS);
    s = new_session(all, fd, &peer);
    if (!s) {
        lbd_guard_leave(&all->guard, key_of(&peer));
        all->refused.cap++;
        return;
    }
    if (!uv_is_active((uv_handle_t *)&all->sweep))
        uv_timer_start(&all->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    lbx_auth_random(s->nonce, sizeof(s->nonce));
    all->msg.type = LBW_N_CHALLENGE;
    memcpy(all->msg.u.nonce, s->nonce, sizeof(s->nonce));
    (void)lbd_session_send(s);
}

int lbd_sessions_create(uv_loop_t *loop, const struct lbd_sessions_config *config,
                        struct lbx_error *err, struct lbd_sessions **ret_sessions)
{
    struct lbd_sessions *all = calloc(1, sizeof(*all));
    uint16_t port = config->port;
    int fd, rc;

    if (!all)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    fd = lbx_sock_listen_tcp(config->address, &port);
    if (fd < 0) {
        free(all);
        return lbx_error_set(err, fd, "listening for nodes at %s:%u: %s", config->address, port,
                             strerror(-fd));
    }
    all->loop = loop;
    all->config = *config;
    all->config.address = NULL;
    lbx_buf_init(&all->body, LBX_FRAME_CAP);
    lbd_guard_init(&all->guard, SESSIONS_MAX, SESSIONS_EACH, 0, 0);
    rc = lbd_listener_open(&all->listener, loop, fd, on_accept, all);
    if (rc < 0) {
        free(all);
        return lbx_error_set(err, rc, "listening for nodes: %s", uv_strerror(rc));
    }
    uv_timer_init(loop, &all->sweep);
    uv_timer_init(loop, &all->spread);
    all->sweep.data = all->spread.data = all;
    lbx_log(LBX_LOG_INFO, "listening for nodes at %s port %u",
            config->address[0] ? config->address : "all addresses", port);
    *ret_sessions = all;
    return 0;
}

void lbd_sessions_stop(struct lbd_sessions *all)
{
    if (!all)
        return;
    lbd_listener_close(&all->listener);
    uv_close((uv_handle_t *)&all->sweep, NULL);
    uv_close((uv_handle_t *)&all->spread, NULL);
    for (struct session *s = all->list; s; s = s->next)
        lbd_conn_close(&s->conn, -ECANCELED);
}

void lbd_sessions_destroy(struct lbd_sessions *all)
{
    if (!all)
        return;
    lbx_buf_fini(&all->body);
    for (size_t i = 0; i < all->nparts; i++)
        lbx_buf_fini(&all->part[i]);
    free(all->part);
    free(all);
}

void lbd_sessions_set(struct lbd_sessions *all, bool verify_address)
{
    all->config.verify_address = verify_address;
}

const struct lbd_sessions_refused *lbd_sessions_refused(const struct lbd_sessions *all)
{
    return &all->refused;
}
