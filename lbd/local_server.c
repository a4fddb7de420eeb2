/* SPDX-License-Identifier: BSD-3-Clause */
/* lbd's unix socket. */
#include "lbd/local_server.h"

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
#include "lbd/conn.h"
#include "lbd/guard.h"
#include "lbd/listener.h"
#include "wire/local.h"

#define CONNECTIONS_MAX 256
#define CONNECTIONS_EACH 64 /* of one uid */
#define RATE_HZ 200.0       /* requests of one uid */
#define BURST 400.0
#define OUT_LIMIT_BYTES ((size_t)8 << 20) /* a ranking of 65536 hosts */
#define IDLE_NS (10 * LBX_NS_PER_S)       /* without a request, or without reading the answer */
#define SWEEP_MS 1000

struct client {
    struct lbd_conn conn;
    struct lbd_local_server *server;
    struct lbd_peer peer;
    struct client *next, **link;
    uint64_t request; /* whose answer is awaited; 0: none */
};

struct lbd_local_server {
    uv_loop_t *loop;
    struct lbd_listener listener;
    uv_timer_t sweep;
    struct lbd_local_sources sources;
    struct lbd_guard guard;
    struct lbd_local_stats stats;
    struct client *clients;
    struct lbw_local_msg msg; /* one for all: it is large */
    struct lbx_buf body;
    uint64_t next_request;
    char path[108];
};

static int send_message(struct client *c)
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

static int send_text(struct client *c, enum lbw_local_type type, const char *text)
{
    struct lbw_local_msg *msg = &c->server->msg;

    if (strlen(text) > LBW_LOCAL_TEXT_MAX)
        return send_text(c, LBW_L_ERROR, "the answer is too long for one message");
    msg->type = type;
    memmove(msg->u.text.text, text, strlen(text) + 1);
    return send_message(c);
}

static int send_ok(struct client *c)
{
    c->server->msg.type = LBW_L_OK;
    return send_message(c);
}

static int answer_self(struct client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_host self;

    if (!s->sources.node)
        return send_text(c, LBW_L_ERROR, "this lbd has no node role");
    if (lbd_node_self(s->sources.node, &self) < 0)
        return send_text(c, LBW_L_ERROR, "not measured yet");
    self.stable_ns = lbd_ranking_stable_ns(s->sources.ranking, self.host, lbx_clock_mono_ns());
    s->msg.type = LBW_L_HOSTS;
    s->msg.u.hosts.more = 0;
    s->msg.u.hosts.n = 1;
    s->msg.u.hosts.host[0] = self;
    return send_message(c);
}

static int refuse_ranking(struct client *c, int64_t now_ns)
{
    bool never = lbd_ranking_age_ns(c->server->sources.ranking, now_ns) == INT64_MAX;

    return send_text(c, LBW_L_ERROR, never ? LBW_LOCAL_NO_RANKING : LBW_LOCAL_STALE_RANKING);
}

static int answer_rank(struct client *c)
{
    struct lbd_local_server *s = c->server;
    int64_t now_ns = lbx_clock_mono_ns();
    size_t first = 0;
    int rc;

    if (lbd_ranking_age_ns(s->sources.ranking, now_ns) > LBD_RANKING_UNUSED_NS)
        return refuse_ranking(c, now_ns);
    do {
        s->msg.type = LBW_L_HOSTS;
        lbd_ranking_get(s->sources.ranking, &first, now_ns, &s->msg.u.hosts);
        rc = send_message(c);
    } while (rc == 0 && s->msg.u.hosts.more);
    return rc;
}

static int answer_scope(struct client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_scope scope = s->msg.u.scope;

    s->msg.type = LBW_L_RULE;
    s->sources.rule(s->sources.data, &scope, &s->msg.u.rule);
    return send_message(c);
}

static void count_placement(struct lbd_local_server *s, int64_t took_ns)
{
    static const double bounds_s[LBD_PLACE_BUCKETS - 1] = {.001, .005, .02, .1, .5, 2, 10};
    double took_s = (double)took_ns / 1e9;
    int i = 0;

    while (i < LBD_PLACE_BUCKETS - 1 && took_s > bounds_s[i])
        i++;
    s->stats.place_counts[i]++;
    s->stats.place_sum_s += took_s;
}

static int answer_place(struct client *c)
{
    struct lbd_local_server *s = c->server;
    int64_t now_ns = lbx_clock_mono_ns();
    char *names;
    int rc;

    if (lbd_ranking_age_ns(s->sources.ranking, now_ns) > LBD_RANKING_UNUSED_NS)
        return refuse_ranking(c, now_ns);
    names = strdup(s->msg.u.text.text);
    rc = names ? lbd_ranking_among(s->sources.ranking, names, now_ns, &s->msg.u.hosts) : -ENOMEM;
    free(names);
    if (rc < 0)
        return send_text(c, LBW_L_ERROR, strerror(-rc));
    s->msg.type = LBW_L_HOSTS;
    rc = send_message(c);
    count_placement(s, lbx_clock_mono_ns() - now_ns);
    return rc;
}

static int take_claim(struct client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_claims *want = malloc(sizeof(*want));
    int rc = s->sources.spread ? -ENOMEM : -ENOTSUP;

    if (want && s->sources.spread) {
        memcpy(want, &s->msg.u.claims, sizeof(*want));
        rc = lbd_spread_take(s->sources.spread, c->peer.uid, c->peer.pid, want,
                             s->sources.load_interval_ns(s->sources.data), &s->msg.u.claims);
    }
    free(want);
    if (rc < 0)
        return send_text(c, LBW_L_ERROR, strerror(-rc));
    s->msg.type = rc == 1 ? LBW_L_CLAIMS : LBW_L_OK;
    return send_message(c);
}

static int take_notice(struct client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_notice notice = s->msg.u.notice;
    int rc;

    if (c->peer.uid != 0)
        return send_text(c, LBW_L_ERROR, "only root's slurmstepd tells of tasks");
    if (!s->sources.node)
        return send_text(c, LBW_L_ERROR, "this lbd has no node role");
    rc = lbd_node_notice(s->sources.node, &notice, c->peer.pid);
    return rc < 0 ? send_text(c, LBW_L_ERROR, strerror(-rc)) : send_ok(c);
}

/* Root, our own user, and whom policy.conf names. */
static bool may_command(const struct client *c)
{
    const struct lbd_local_server *s = c->server;

    return c->peer.uid == 0 || c->peer.uid == geteuid() ||
           s->sources.may_command(s->sources.data, c->peer.uid);
}

static int take_command(struct client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbx_error err = {0};
    char *json;
    int rc;

    if (!may_command(c))
        return send_text(c, LBW_L_ERROR,
                         "permission denied: ask as root, or name your user in lbctl_users of "
                         "policy.conf");
    c->request = ++s->next_request;
    json = s->sources.command(s->sources.data, c->request, s->msg.u.text.text, &err);
    if (!json && err.code == -EINPROGRESS) { /* the next question waits for this answer */
        c->conn.deadline_ns = INT64_MAX;
        lbd_conn_pause(&c->conn, true);
        return 0;
    }
    c->request = 0;
    rc = send_text(c, json ? LBW_L_TEXT : LBW_L_ERROR, json ? json : err.text);
    free(json);
    return rc;
}

void lbd_local_server_answer(struct lbd_local_server *s, uint64_t request, const char *json,
                             const struct lbx_error *err)
{
    struct client *c = s->clients;

    while (c && c->request != request)
        c = c->next;
    if (!c || c->conn.closing)
        return;
    c->request = 0;
    c->conn.deadline_ns = lbx_clock_mono_ns() + IDLE_NS;
    if (send_text(c, json ? LBW_L_TEXT : LBW_L_ERROR, json ? json : err->text) == 0)
        lbd_conn_pause(&c->conn, false);
}

static int take_job(struct client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbx_error err = {0};
    int rc = s->sources.job(s->sources.data, &c->peer, s->msg.u.text.text, &err);

    return rc < 0 ? send_text(c, LBW_L_ERROR, err.text) : send_ok(c);
}

static int take_decisions(struct client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbx_error err = {0};
    int rc = s->sources.decisions(s->sources.data, &c->peer, s->msg.u.text.text, &err);

    return rc < 0 ? send_text(c, LBW_L_ERROR, err.text) : send_ok(c);
}

static int answer_explain(struct client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbx_error err = {0};
    char *json =
        s->sources.explain(s->sources.data, c->peer.uid, may_command(c), s->msg.u.text.text, &err);
    int rc = send_text(c, json ? LBW_L_TEXT : LBW_L_ERROR, json ? json : err.text);

    free(json);
    return rc;
}

static int on_frame(struct lbd_conn *conn, const uint8_t *body, size_t n)
{
    struct client *c = conn->data;
    struct lbd_local_server *s = c->server;
    int64_t now_ns = lbx_clock_mono_ns();

    if (c->peer.uid != 0 && !lbd_guard_message(&s->guard, c->peer.uid, now_ns))
        return -EUSERS;
    if (lbw_local_decode(body, n, &s->msg) < 0)
        return -EPROTO;
    s->stats.requests++;
    conn->deadline_ns = now_ns + IDLE_NS;
    switch (s->msg.type) {
    case LBW_L_SELF:
        return answer_self(c);
    case LBW_L_RANK:
        return answer_rank(c);
    case LBW_L_SCOPE:
        return answer_scope(c);
    case LBW_L_PLACE:
        return answer_place(c);
    case LBW_L_CLAIM:
        return take_claim(c);
    case LBW_L_NOTICE:
        return take_notice(c);
    case LBW_L_COMMAND:
        return take_command(c);
    case LBW_L_JOB:
        return take_job(c);
    case LBW_L_DECISIONS:
        return take_decisions(c);
    case LBW_L_EXPLAIN:
        return answer_explain(c);
    default: /* an answer is no request */
        return -EPROTO;
    }
}

static void on_close(struct lbd_conn *conn, int reason)
{
    struct client *c = conn->data;
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
    struct client *c = NULL;

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
    c->conn.deadline_ns = now_ns + IDLE_NS;
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

    for (struct client *c = s->clients; c; c = c->next)
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
    *ret_server = s;
    return 0;
}

void lbd_local_server_stop(struct lbd_local_server *s)
{
    unlink(s->path);
    lbd_listener_close(&s->listener);
    uv_close((uv_handle_t *)&s->sweep, NULL);
    for (struct client *c = s->clients; c; c = c->next)
        lbd_conn_close(&c->conn, -ECANCELED);
}

void lbd_local_server_destroy(struct lbd_local_server *s)
{
    if (!s)
        return;
    lbx_buf_fini(&s->body);
    free(s);
}

void lbd_local_server_stats(const struct lbd_local_server *s, struct lbd_local_stats *ret)
{
    *ret = s->stats;
    ret->connections = s->guard.connections;
}
