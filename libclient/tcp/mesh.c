/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections between the ranks of a job that has no MPI: who is connected, and for how long. */
#include "libclient/tcp/mesh.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/sock.h"
#include "libclient/tcp/conn.h"

#define CONNECT_NS (2 * LBX_NS_PER_S) /* of one attempt */
#define HEAL_NS (30 * LBX_NS_PER_S)   /* of all: a network may be cut for so long */
#define AGAIN_NS (50 * LBX_NS_PER_MS)
#define LEAVE_NS (5 * LBX_NS_PER_S)
#define PROOF_NS (2 * LBX_NS_PER_S)
#define STRANGERS_MAX 64 /* connections that have proved nothing yet */
#define EVENTS 32
#define ROUNDS 16 /* of events in one call: then the program's turn comes */

struct lbc_mesh {
    struct lbc_mesh_config config;
    struct lbw_endpoint endpoint;
    int epoll_fd;
    bool failed;
    bool fresh;            /* something was queued since the last progress */
    struct lbc_conn **out; /* [size]; NULL: not connected */
    struct lbc_conn **in;  /* [size]; NULL: it has not connected */
    bool *gone;            /* [size] */
    struct lbc_conn *stranger[STRANGERS_MAX];
};

int lbc_mesh_create(const struct lbc_mesh_config *config, struct lbc_mesh **ret)
{
    struct lbc_mesh *m = calloc(1, sizeof(*m));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    int rc = -ENOMEM;

    if (!m) {
        close(config->listen_fd);
        return -ENOMEM;
    }
    m->config = *config;
    m->endpoint = *config->endpoint;
    m->config.endpoint = NULL;
    m->out = calloc((size_t)config->size, sizeof(struct lbc_conn *));
    m->in = calloc((size_t)config->size, sizeof(struct lbc_conn *));
    m->gone = calloc((size_t)config->size, sizeof(*m->gone));
    m->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (m->out && m->in && m->gone && m->epoll_fd >= 0)
        rc = epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, config->listen_fd, &event) < 0 ? -errno : 0;
    if (rc < 0) {
        m->failed = true;
        lbc_mesh_destroy(m);
        return rc;
    }
    *ret = m;
    return 0;
}

/* Wait in the kernel for what a connection waits for. */
static int watch(struct lbc_mesh *m, struct lbc_conn *c)
{
    uint32_t wanted = EPOLLIN | (lbc_conn_wants_out(c) ? EPOLLOUT : 0);
    struct epoll_event event = {.events = wanted, .data.ptr = c};

    if (wanted == c->watched)
        return 0;
    if (epoll_ctl(m->epoll_fd, c->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, &event) < 0)
        return -errno;
    c->watched = wanted;
    return 0;
}

/* Free a connection.  What the kernel tells of it does not end with its descriptor where a child of the program's has that, too. */
static void drop(struct lbc_mesh *m, struct lbc_conn *c)
{
    if (c && c->fd >= 0 && c->watched)
        epoll_ctl(m->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    lbc_conn_destroy(c);
}

static bool may_heal(int rc)
{
    return rc == -ETIMEDOUT || rc == -EHOSTUNREACH || rc == -ENETUNREACH || rc == -ENETDOWN;
}

/* Rows are already meant to be at the other rank: to give up would break the job, so a network that is cut has time to heal. */
static int connect_to(const struct lbc_mesh *m, int dest, const struct lbw_endpoint *endpoint,
                      struct lbc_conn **ret)
{
    int64_t began_ns = lbx_clock_mono_ns();
    int rc;

    while ((rc = lbc_conn_connect(endpoint, m->config.rank, dest, lbx_clock_mono_ns() + CONNECT_NS,
                                  ret)) < 0 &&
           may_heal(rc) && lbx_clock_mono_ns() - began_ns < HEAL_NS)
        lbx_clock_sleep_ns(AGAIN_NS);
    return rc;
}

int lbc_mesh_connect(struct lbc_mesh *m, int dest)
{
    struct lbw_endpoint endpoint;
    struct lbc_conn *c = NULL;
    int rc;

    if (dest < 0 || dest >= m->config.size || dest == m->config.rank)
        return -EINVAL;
    if (m->failed || m->gone[dest])
        return -EPIPE;
    if (m->out[dest])
        return 0;
    rc = m->config.find(m->config.arg, dest, &endpoint);
    if (rc == 0)
        rc = connect_to(m, dest, &endpoint, &c);
    explicit_bzero(&endpoint, sizeof(endpoint));
    if (rc == 0)
        rc = watch(m, c);
    if (rc < 0) {
        lbc_conn_destroy(c);
        return rc;
    }
    m->out[dest] = c;
    return 0;
}

int lbc_mesh_send(struct lbc_mesh *m, int dest, const void *head, size_t nhead, const void *tail,
                  size_t ntail)
{
    int rc = lbc_mesh_connect(m, dest);

    m->fresh = true;
    return rc < 0 ? rc : lbc_conn_queue(m->out[dest], head, nhead, tail, ntail);
}

bool lbc_mesh_has_room(const struct lbc_mesh *m, int dest)
{
    return m->out[dest] && lbc_conn_has_room(m->out[dest]);
}

bool lbc_mesh_is_flushed(const struct lbc_mesh *m, int dest)
{
    return !m->out[dest] || lbc_conn_is_flushed(m->out[dest]);
}

int lbc_mesh_fd(const struct lbc_mesh *m)
{
    return m->epoll_fd;
}

bool lbc_mesh_has_failed(const struct lbc_mesh *m)
{
    return m->failed;
}

bool lbc_mesh_is_gone(const struct lbc_mesh *m, int rank)
{
    return m->gone[rank];
}

int lbc_mesh_heed(struct lbc_mesh *m, int rank)
{
    if (m->failed || m->gone[rank])
        return -EPIPE;
    return m->in[rank] ? 0 : lbc_mesh_connect(m, rank);
}

void lbc_mesh_fail(struct lbc_mesh *m)
{
    m->failed = true;
    for (int r = 0; r < m->config.size; r++) {
        if (m->out[r])
            lbc_conn_shut(m->out[r]);
        if (m->in[r])
            lbc_conn_shut(m->in[r]);
    }
    for (int i = 0; i < STRANGERS_MAX; i++) {
        lbc_conn_destroy(m->stranger[i]);
        m->stranger[i] = NULL;
    }
    /* those that have connected, and were not taken yet, hear of it by this */
    if (m->config.listen_fd >= 0)
        close(m->config.listen_fd);
    m->config.listen_fd = -1;
}

/* A stranger has proved to be a rank, which has one connection to us; or it is to go.  Returns whether it stays. */
static bool settle_stranger(struct lbc_mesh *m, struct lbc_conn *c, bool stays)
{
    for (int i = 0; i < STRANGERS_MAX; i++)
        if (m->stranger[i] == c)
            m->stranger[i] = NULL;
    stays = stays && c->peer < m->config.size && c->peer != m->config.rank && !m->in[c->peer];
    if (stays)
        m->in[c->peer] = c;
    else
        drop(m, c);
    return stays;
}

/* The frames of a connection.  Returns 0 or a negative errno. */
static int take_frames(struct lbc_mesh *m, struct lbc_conn *c)
{
    const uint8_t *body;
    size_t n;
    int rc;

    while ((rc = lbc_conn_next(c, &body, &n)) == 1) {
        if (n == 1) {
            m->gone[c->peer] = true;
            continue;
        }
        if (c->ours) /* the other side has a connection of its own for that */
            return -EPROTO;
        rc = m->config.deliver(m->config.arg, c->peer, body, n);
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* One of ours is over: where the other side has not proved to be the rank, it may be at another of its addresses, as hosts may have
 * some in common.  Returns whether it goes on there. */
static bool go_elsewhere(struct lbc_mesh *m, struct lbc_conn *c)
{
    struct lbw_endpoint endpoint;
    int rc;

    if (!c->ours || c->proved || m->gone[c->peer])
        return false;
    epoll_ctl(m->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    rc = m->config.find(m->config.arg, c->peer, &endpoint);
    if (rc == 0)
        rc = lbc_conn_elsewhere(c, &endpoint, m->config.rank, lbx_clock_mono_ns() + CONNECT_NS);
    explicit_bzero(&endpoint, sizeof(endpoint));
    return rc == 0 && watch(m, c) == 0;
}

/* Go on with one connection. */
static void serve(struct lbc_mesh *m, struct lbc_conn *c)
{
    bool stranger = !c->ours && !c->proved;
    int rc = lbc_conn_io(c);

    if (rc < 0 && go_elsewhere(m, c))
        return;
    if (stranger && (rc < 0 || c->proved)) {
        if (!settle_stranger(m, c, c->proved))
            return;
        stranger = false;
    }
    if (c->proved) {
        int taken = take_frames(m, c);

        rc = rc < 0 ? rc : taken;
        if (taken < 0)
            m->failed = true;
    }
    if (rc == 0)
        rc = watch(m, c);
    if (rc < 0 && !stranger) {
        /* over: that is well where it was announced, and for good in any case */
        if (c->peer < 0 || !m->gone[c->peer])
            m->failed = true;
        epoll_ctl(m->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
        lbc_conn_shut(c);
    }
}

/* A place for a connection that has proved nothing yet: where all are taken, that of one which has not for long, and has not come
 * with its proof while this rank was away.  Returns -1 when none is to be had. */
static int find_place(struct lbc_mesh *m)
{
    int64_t now_ns = lbx_clock_mono_ns();

    for (int i = 0; i < STRANGERS_MAX; i++)
        if (!m->stranger[i])
            return i;
    for (int i = 0; i < STRANGERS_MAX && !m->failed; i++) {
        if (now_ns <= m->stranger[i]->proof_ns)
            continue;
        serve(m, m->stranger[i]);
        drop(m, m->stranger[i]);
        m->stranger[i] = NULL;
        return i;
    }
    return -1;
}

static void take_connections(struct lbc_mesh *m)
{
    int i, fd;

    while ((i = find_place(m)) >= 0) {
        fd = accept4(m->config.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (lbc_conn_accept(&m->endpoint, fd, &m->stranger[i]) < 0) {
            close(fd);
            continue;
        }
        m->stranger[i]->proof_ns = lbx_clock_mono_ns() + PROOF_NS;
        if (watch(m, m->stranger[i]) < 0) {
            drop(m, m->stranger[i]);
            m->stranger[i] = NULL;
        }
    }
}

int lbc_mesh_progress(struct lbc_mesh *m)
{
    struct epoll_event event[EVENTS];
    bool comes;

    /* what was queued since the last call */
    for (int r = 0; r < m->config.size && m->fresh && !m->failed; r++)
        if (m->out[r] && m->out[r]->fresh)
            serve(m, m->out[r]);
    m->fresh = false;
    for (int round = 0; round < ROUNDS && !m->failed; round++) {
        int n = epoll_wait(m->epoll_fd, event, EVENTS, 0);

        if (n <= 0)
            break;
        comes = false;
        for (int i = 0; i < n && !m->failed; i++) {
            if (event[i].data.ptr)
                serve(m, event[i].data.ptr);
            else
                comes = true;
        }
        if (comes && !m->failed) /* last: it may free connections that there are events of */
            take_connections(m);
    }
    if (m->failed)
        lbc_mesh_fail(m);
    return m->failed ? -EIO : 0;
}

/* Is anything still to be sent to a rank that may read it? */
static bool has_left(const struct lbc_mesh *m)
{
    for (int r = 0; r < m->config.size; r++) {
        if (m->out[r] && m->out[r]->fd >= 0 && !lbc_conn_is_flushed(m->out[r]))
            return true;
        if (m->in[r] && m->in[r]->fd >= 0 && !lbc_conn_is_flushed(m->in[r]))
            return true;
    }
    return false;
}

static void say_goodbye(struct lbc_mesh *m)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + LEAVE_NS;

    for (int r = 0; r < m->config.size; r++) {
        lbc_conn_queue_bye(m->out[r]);
        lbc_conn_queue_bye(m->in[r]);
        if (m->in[r] && m->in[r]->fd >= 0)
            serve(m, m->in[r]);
    }
    m->fresh = true;
    while (lbc_mesh_progress(m) == 0 && has_left(m) && lbx_clock_mono_ns() < deadline_ns) {
        struct pollfd p = {m->epoll_fd, POLLIN, 0};

        poll(&p, 1, 100);
    }
}

void lbc_mesh_destroy(struct lbc_mesh *m)
{
    if (!m)
        return;
    if (!m->failed)
        say_goodbye(m);
    for (int r = 0; r < m->config.size; r++) {
        if (m->out)
            lbc_conn_destroy(m->out[r]);
        if (m->in)
            lbc_conn_destroy(m->in[r]);
    }
    for (int i = 0; i < STRANGERS_MAX; i++)
        lbc_conn_destroy(m->stranger[i]);
    if (m->epoll_fd >= 0)
        close(m->epoll_fd);
    if (m->config.listen_fd >= 0)
        close(m->config.listen_fd);
    explicit_bzero(&m->endpoint, sizeof(m->endpoint));
    free(m->out);
    free(m->in);
    free(m->gone);
    free(m);
}
