/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that runs a web server. */
#include "lbd/metrics/http_loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)128 * 1024)

struct lbd_http_loop {
    struct MHD_Daemon *daemon;
    int epoll_fd; /* the server's */
    int stop_fd;  /* readable when it is to stop */
    pthread_t thread;
};

/* How long the server can sleep, as poll takes it. */
static int sleep_ms(struct MHD_Daemon *daemon)
{
    MHD_UNSIGNED_LONG_LONG ms;

    if (MHD_get_timeout(daemon, &ms) != MHD_YES)
        return -1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static void *run(void *data)
{
    struct lbd_http_loop *l = data;
    struct pollfd p[] = {{.fd = l->stop_fd, .events = POLLIN},
                         {.fd = l->epoll_fd, .events = POLLIN}};

    for (;;) {
        poll(p, 2, sleep_ms(l->daemon));
        if (p[0].revents)
            return NULL;
        MHD_run(l->daemon);
    }
}

int lbd_http_loop_start(struct MHD_Daemon *daemon, struct lbd_http_loop **ret)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct lbd_http_loop *l = calloc(1, sizeof(*l));
    pthread_attr_t attr;
    int rc;

    if (!l)
        return -ENOMEM;
    l->daemon = daemon;
    l->epoll_fd = info ? info->epoll_fd : -1;
    l->stop_fd = eventfd(0, EFD_CLOEXEC);
    rc = l->stop_fd < 0 ? errno : l->epoll_fd < 0 ? EINVAL : 0;
    if (rc == 0) {
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, STACK_BYTES);
        rc = pthread_create(&l->thread, &attr, run, l);
        pthread_attr_destroy(&attr);
    }
    if (rc == 0) {
        *ret = l;
        return 0;
    }
    if (l->stop_fd >= 0)
        close(l->stop_fd);
    free(l);
    return -rc;
}

void lbd_http_loop_stop(struct lbd_http_loop *l)
{
    if (!l)
        return;
    eventfd_write(l->stop_fd, 1);
    pthread_join(l->thread, NULL);
    close(l->stop_fd);
    free(l);
}
