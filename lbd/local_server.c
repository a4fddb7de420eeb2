/* SPDX-License-Identifier: BSD-3-Clause */
/* lbd's unix socket. */
#include "lbd/local_server_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/sock.h"

#define CONNECTIONS_MAX 256
#define CONNECTIONS_EACH 64 /* of one uid */
#define RATE_HZ 200.0       /* requests of one uid */
#define BURST 400.0
#define OUT_LIMIT_BYTES ((size_t)8 << 20) /* a ranking of 65536 hosts */
#define SWEEP_MS 1000

int lbd_local_send(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    int rc;

    lbx_buf_consume(&s->body, lbx_buf_len(&s->body));
    rc = lbw_local_encode(&s->msg, &s->body);
    if (rc == 0)
        rc = lbd_conn_send(&c->conn, lbx_buf_data(&s->body), lbx_buf_len(&s->body));
    if (s->body.size > 4096)
        lbx_buf_fini(&s->body);
    return rc;
}

int lbd_local_send_text(struct lbd_local_client *c, enum lbw_local_type type, const char *text)
{
    struct lbw_local_msg *msg = &c->server->msg;

    if (strlen(text) > LBW_LOCAL_TEXT_MAX)
        return lbd_local_send_text(c, LBW_L_ERROR, "the answer is too long for one message");
    msg->type = type;
    memmove(msg->u.text.text, text, strlen(text) + 1);
    return lbd_local_send(c);
}

static int on_frame(struct lbd_conn *conn, const uint8_t *body, size_t n)
{
    struct lbd_local_client *c = conn->data;
    struct lbd_local_server *s = c->server;
    int64_t now_ns = lbx_clock_mono_ns();

    if (c->peer.uid != 0 && !lbd_guard_message(&s->guard, c->peer.uid, now_ns))
        return -EUSERS;
    if (lbw_local_decode(body, n, &s->msg) < 0)
        return -EPROTO;
    s->stats.requests++;
    conn->deadline_ns = now_ns + LBD_LOCAL_IDLE_NS;
    return lbd_local_answer(c);
}

static void on_close(struct lbd_conn *conn, int reason)
{
    struct lbd_local_client *c = conn->data;
    struct lbd_local_server *s = c->server;

    if (reason == -EPROTO || reason == -EMSGSIZE || reason == -EUSERS || reason == -ETIMEDOUT)
        s->stats.bad++;
    lbd_guard_leave(&s->guard, c->peer.uid);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    free(c);
}

static const struct lbd_conn_ops client_ops = {.on_frame = on_frame, .on_close = on_close};

static void on_accept(struct lbd_listener *l, int fd)
{
    struct lbd_local_server *s = l->data;
    int64_t now_ns = lbx_clock_mono_ns();
    struct ucred cred;
    socklen_t len = sizeof(cred);
    struct lbd_local_client *c = NULL;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 ||
        !lbd_guard_enter(&s->guard, cred.uid, now_ns)) {
        s->stats.refused++;
        close(fd);
        return;
    }
    c = calloc(1, sizeof(*c));
    if (!c || lbd_conn_open(&c->conn, s->loop, fd, &client_ops, OUT_LIMIT_BYTES, true) < 0) {
        if (!c)
            close(fd);
        free(c);
        lbd_guard_leave(&s->guard, cred.uid);
        s->stats.refused++;
        return;
    }
    c->conn.data = c;
    c->conn.deadline_ns = now_ns + LBD_LOCAL_IDLE_NS;
    c->server = s;
    c->peer = (struct lbd_peer){cred.uid, cred.gid, cred.pid};
    c->next = s->clients;
    c->link = &s->clients;
    if (c->next)
        c->next->link = &c->next;
    s->clients = c;
    s->stats.accepted++;
}

/* Runs only while there are clients, so that an idle lbd sleeps. */
static void on_sweep(uv_timer_t *timer)
{
    struct lbd_local_server *s = timer->data;
    int64_t now_ns = lbx_clock_mono_ns();

    for (struct lbd_local_client *c = s->clients; c; c = c->next)
        if (now_ns > c->conn.deadline_ns)
            lbd_conn_close(&c->conn, -ETIMEDOUT);
    if (!s->clients)
        uv_timer_stop(timer);
}

static void on_accept_and_sweep(struct lbd_listener *l, int fd)
{
    struct lbd_local_server *s = l->data;

    on_accept(l, fd);
    if (!uv_is_active((uv_handle_t *)&s->sweep) && s->clients)
        uv_timer_start(&s->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
}

/* The socket's folder, when its parent is there. */
static void make_folder(const char *path)
{
    char folder[108];
    char *slash;

    snprintf(folder, sizeof(folder), "%s", path);
    slash = strrchr(folder, '/');
    if (!slash || slash == folder)
        return;
    *slash = '\0';
    if (mkdir(folder, 0755) == 0 && chmod(folder, 0755) < 0)
        lbx_log(LBX_LOG_WARNING, "%s: mode not set: %s", folder, strerror(errno));
}

int lbd_local_server_create(uv_loop_t *loop, const char *path,
                            const struct lbd_local_sources *sources, struct lbx_error *err,
                            struct lbd_local_server **ret_server)
{
    struct lbd_local_server *s = calloc(1, sizeof(*s));
    int fd, rc;

    if (!s)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    make_folder(path);
    fd = lbx_sock_listen_unix(path, 0666);
    if (fd < 0) {
        free(s);
        return lbx_error_set(err, fd, "socket %s: %s", path,
                             fd == -EADDRINUSE ? "another lbd listens there" : strerror(-fd));
    }
    snprintf(s->path, sizeof(s->path), "%s", path);
    s->loop = loop;
    s->sources = *sources;
    lbx_buf_init(&s->body, LBX_FRAME_CAP);
    lbd_guard_init(&s->guard, CONNECTIONS_MAX, CONNECTIONS_EACH, RATE_HZ, BURST);
    rc = lbd_listener_open(&s->listener, loop, fd, on_accept_and_sweep, s);
    if (rc < 0) {
        free(s);
        return lbx_error_set(err, rc, "socket %s: %s", path, strerror(-rc));
    }
    uv_timer_init(loop, &s->sweep);
    s->sweep.data = s;
    uv_timer_init(loop, &s->idle_wait);
    s->idle_wait.data = s;
    *ret_server = s;
    return 0;
}

void lbd_local_server_stop(struct lbd_local_server *s)
{
    unlink(s->path);
    lbd_listener_close(&s->listener);
    uv_close((uv_handle_t *)&s->sweep, NULL);
    uv_close((uv_handle_t *)&s->idle_wait, NULL);
    for (struct lbd_local_client *c = s->clients; c; c = c->next)
        lbd_conn_close(&c->conn, -ECANCELED);
}

void lbd_local_server_destroy(struct lbd_local_server *s)
{
    if (!s)
        return;
    lbx_buf_fini(&s->body);
    free(s);
}

void lbd_local_server_vacant(struct lbd_local_server *s)
{
    lbd_local_answer_waiting(s);
}

void lbd_local_server_stats(const struct lbd_local_server *s, struct lbd_local_stats *ret)
{
    *ret = s->stats;
    ret->connections = s->guard.connections;
}
