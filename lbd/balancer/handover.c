/* SPDX-License-Identifier: BSD-3-Clause */
/* Giving the endpoint to rank 0. */
#include "lbd/balancer/handover.h"

#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/frame.h"
#include "common/log.h"
#include "common/proc.h"
#include "common/sock.h"

#define PATH_BYTES 128

struct lbd_handover {
    int fd;
    uv_poll_t poll;
    char dir[PATH_BYTES], path[PATH_BYTES + 16];
    pid_t parent;
    const struct lbw_endpoint *endpoint;
    void (*over)(void *);
    void *arg;
};

/* The endpoint as one plain frame; the socket is new and takes it whole. */
static int write_endpoint(int fd, const struct lbw_endpoint *endpoint)
{
    struct lbx_channel plain;
    struct lbx_buf body, out;
    int rc;

    lbx_channel_init_plain(&plain);
    lbx_buf_init(&body, LBW_ENDPOINT_BYTES_MAX);
    lbx_buf_init(&out, LBW_ENDPOINT_BYTES_MAX + LBX_FRAME_OVERHEAD);
    rc = lbw_endpoint_encode(endpoint, &body);
    if (rc == 0)
        rc = lbx_frame_append(&plain, &out, lbx_buf_data(&body), lbx_buf_len(&body));
    if (rc == 0)
        rc = lbx_sock_flush(fd, &out);
    if (rc == 0 && lbx_buf_len(&out) > 0)
        rc = -EAGAIN;
    if (body.base)
        sodium_memzero(body.base, body.size);
    if (out.base)
        sodium_memzero(out.base, out.size);
    lbx_buf_fini(&body);
    lbx_buf_fini(&out);
    return rc;
}

static void on_connect(uv_poll_t *poll, int status, int events)
{
    struct lbd_handover *h = poll->data;
    struct ucred cred;
    socklen_t len = sizeof(cred);
    int fd, rc;

    (void)events;
    if (status < 0)
        return;
    fd = accept4(h->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.uid != getuid() ||
        !lbx_proc_descends(cred.pid, h->parent)) {
        lbx_log(LBX_LOG_WARNING, "process %d is refused: not a task of this step", (int)cred.pid);
    } else {
        rc = write_endpoint(fd, h->endpoint);
        if (rc < 0)
            lbx_log(LBX_LOG_WARNING, "cannot hand over the endpoint: %s", strerror(-rc));
    }
    close(fd);
}

static struct lbd_handover *new_handover(uv_loop_t *loop, int fd,
                                         const struct lbw_endpoint *endpoint)
{
    struct lbd_handover *h = calloc(1, sizeof(*h));

    if (!h)
        return NULL;
    h->fd = fd;
    h->endpoint = endpoint;
    h->parent = getppid();
    if (uv_poll_init(loop, &h->poll, fd) < 0) {
        free(h);
        return NULL;
    }
    h->poll.data = h;
    return h;
}

int lbd_handover_serve(uv_loop_t *loop, const char *dir, const struct lbw_endpoint *endpoint,
                       struct lbd_handover **ret, struct lbx_error *err)
{
    char path[PATH_BYTES + 16];
    struct lbd_handover *h;
    int fd;

    if (strlen(dir) >= PATH_BYTES - 32)
        return lbx_error_set(err, -ENAMETOOLONG, "%s: longer than a socket's path may be", dir);
    if (mkdir(dir, 0700) < 0)
        return lbx_error_set(err, -errno, "cannot make folder %s: %s", dir, strerror(errno));
    snprintf(path, sizeof(path), "%s/balancer.sock", dir);
    fd = lbx_sock_listen_unix(path, 0600);
    if (fd < 0) {
        rmdir(dir);
        return lbx_error_set(err, fd, "cannot listen at %s: %s", path, strerror(-fd));
    }
    h = new_handover(loop, fd, endpoint);
    if (!h) {
        close(fd);
        unlink(path);
        rmdir(dir);
        return lbx_error_set(err, -ENOMEM, "no memory");
    }
    snprintf(h->dir, sizeof(h->dir), "%s", dir);
    snprintf(h->path, sizeof(h->path), "%s", path);
    uv_poll_start(&h->poll, UV_READABLE, on_connect);
    *ret = h;
    return 0;
}

/* Rank 0 says nothing on it: whatever comes means that it is gone. */
static void on_parent(uv_poll_t *poll, int status, int events)
{
    struct lbd_handover *h = poll->data;
    char byte;

    (void)events;
    if (status == 0 && recv(h->fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
        return;
    uv_poll_stop(poll);
    h->over(h->arg);
}

int lbd_handover_write(uv_loop_t *loop, int fd, const struct lbw_endpoint *endpoint,
                       void (*over)(void *), void *arg, struct lbd_handover **ret,
                       struct lbx_error *err)
{
    struct lbd_handover *h;
    int rc = write_endpoint(fd, endpoint);

    if (rc < 0) {
        close(fd);
        return lbx_error_set(err, rc, "cannot hand over the endpoint: %s", strerror(-rc));
    }
    h = new_handover(loop, fd, endpoint);
    if (!h) {
        close(fd);
        return lbx_error_set(err, -ENOMEM, "no memory");
    }
    h->over = over;
    h->arg = arg;
    uv_poll_start(&h->poll, UV_READABLE | UV_DISCONNECT, on_parent);
    *ret = h;
    return 0;
}

static void on_poll_closed(uv_handle_t *poll)
{
    struct lbd_handover *h = poll->data;

    close(h->fd);
    free(h);
}

void lbd_handover_close(struct lbd_handover *h)
{
    if (!h)
        return;
    if (h->path[0]) {
        unlink(h->path);
        rmdir(h->dir);
    }
    uv_close((uv_handle_t *)&h->poll, on_poll_closed);
}
