/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting connections on the loop. */
#include "lbd/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_AT_ONCE 16 /* then the others get their turn */

/* Out of descriptors: take the connection with the spare one and close it, else the loop would spin on a ready socket. */
static void turn_away(struct lbd_listener *l)
{
    int fd;

    if (l->spare >= 0)
        close(l->spare);
    fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    l->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct lbd_listener *l = poll->data;

    (void)events;
    if (status < 0)
        return;
    for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0)
            l->on_accept(l, fd);
        else if (errno == EMFILE || errno == ENFILE)
            turn_away(l);
        else if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

int lbd_listener_open(struct lbd_listener *l, uv_loop_t *loop, int fd,
                      void (*on_accept)(struct lbd_listener *l, int fd), void *data)
{
    int rc = uv_poll_init(loop, &l->poll, fd);

    if (rc < 0) {
        close(fd);
        return rc;
    }
    l->fd = fd;
    l->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    l->on_accept = on_accept;
    l->data = data;
    l->poll.data = l;
    return uv_poll_start(&l->poll, UV_READABLE, on_ready);
}

static void on_closed(uv_handle_t *handle)
{
    struct lbd_listener *l = handle->data;

    close(l->fd);
    if (l->spare >= 0)
        close(l->spare);
}

void lbd_listener_close(struct lbd_listener *l)
{
    uv_close((uv_handle_t *)&l->poll, on_closed);
}
