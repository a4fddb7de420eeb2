/* SPDX-License-Identifier: BSD-3-Clause */
/* /metrics over HTTP: the server, its limits, and its replacement on reload. */
#include "lbd/metrics/http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sock.h"
#include "lbd/metrics/http_impl.h"
#include "lbd/metrics/http_loop.h"

#define MEMORY_BYTES ((size_t)8192) /* of one connection: headers and what is sent at a time */
#define OPTIONS_MAX 16

/* Its messages would go to stderr in a form of their own. */
static void be_silent(void *data, const char *fmt, va_list ap)
{
    (void)data;
    (void)fmt;
    (void)ap;
}

static int64_t in_seconds(int s)
{
    return lbx_clock_mono_ns() + s * LBX_NS_PER_S;
}

static void on_connection(void *data, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct lbd_web_server *s = data;
    const union MHD_ConnectionInfo *info;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (!info)
            return;
        *context = (void *)(intptr_t)(info->connect_fd + 1);
        lbd_deadlines_set(s->http->deadlines, info->connect_fd, in_seconds(LBD_HTTP_HEADER_S));
    } else if (*context) {
        lbd_deadlines_remove(s->http->deadlines, (int)(intptr_t)*context - 1);
    }
}

void lbd_http_give(struct lbd_web_server *s, struct MHD_Connection *c, int seconds)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (info)
        lbd_deadlines_set(s->http->deadlines, info->connect_fd, in_seconds(seconds));
}

static void on_completed(void *data, struct MHD_Connection *c, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)state;
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        lbd_http_give(data, c, LBD_HTTP_HEADER_S); /* for the next request */
}

static void free_server(struct lbd_web_server *s)
{
    if (!s)
        return;
    lbd_http_loop_stop(s->loop);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    lbd_users_destroy(s->users);
    lbd_webconf_fini(&s->conf);
    free(s);
}

static struct MHD_Daemon *start_daemon(struct lbd_web_server *s, int fd)
{
    unsigned flags = MHD_USE_EPOLL;
    struct MHD_OptionItem tls[OPTIONS_MAX] = {{MHD_OPTION_END, 0, NULL}};
    int n = 0;

    if (s->conf.tls) {
        flags |= MHD_USE_TLS;
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, s->conf.cert};
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, s->conf.key};
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, s->conf.priorities};
        if (s->conf.client_auth)
            tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, s->conf.client_ca};
        tls[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    }
    return MHD_start_daemon(
        flags, 0, NULL, NULL, lbd_http_answer, s, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, LBD_HTTP_CONNECTIONS,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, LBD_HTTP_CONNECTIONS_EACH,
        MHD_OPTION_CONNECTION_TIMEOUT, LBD_HTTP_HEADER_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        MEMORY_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, s, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

/* A server on a copy of the listening socket, by what web.yml says now. */
static int start_server(struct lbd_http *h, struct lbx_error *err, struct lbd_web_server **ret)
{
    struct lbd_web_server *s = calloc(1, sizeof(*s));
    int fd, rc = s ? 0 : lbx_error_set(err, -ENOMEM, "out of memory");

    if (rc == 0) {
        s->http = h;
        rc = lbd_webconf_read(h->web, &s->conf, err);
    }
    if (rc == 0 && s->conf.nusers > 0) {
        s->users = lbd_users_create(&s->conf);
        if (!s->users)
            rc = lbx_error_set(err, -ENOMEM, "out of memory");
    }
    if (rc == 0) {
        fd = fcntl(h->listen_fd, F_DUPFD_CLOEXEC, 3);
        s->daemon = fd < 0 ? NULL : start_daemon(s, fd); /* closes it at its end */
        if (!s->daemon && fd >= 0)
            close(fd);
        if (!s->daemon || lbd_http_loop_start(s->daemon, &s->loop) < 0)
            rc = lbx_error_set(err, -EIO, "%s%sthe web server did not start", h->web ? h->web : "",
                               h->web ? ": " : "");
    }
    if (rc < 0)
        free_server(s);
    else
        *ret = s;
    return rc;
}

int lbd_http_start(const char *address, uint16_t port, const char *web, struct lbd_metrics *m,
                   struct lbx_error *err, struct lbd_http **ret_http)
{
    struct lbd_http *h = calloc(1, sizeof(*h));
    int rc = 0;

    if (!h)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    h->metrics = m;
    h->web = web;
    pthread_mutex_init(&h->lock, NULL);
    h->deadlines = lbd_deadlines_create();
    h->listen_fd = h->deadlines ? lbx_sock_listen_tcp(address, &port) : -ENOMEM;
    if (h->listen_fd < 0)
        rc = lbx_error_set(err, h->listen_fd, "metrics at %s:%u: %s", address, port,
                           strerror(-h->listen_fd));
    h->port = port;
    if (rc == 0)
        rc = start_server(h, err, &h->server);
    if (rc < 0)
        lbd_http_stop(h);
    else
        *ret_http = h;
    return rc;
}

uint16_t lbd_http_port(const struct lbd_http *h)
{
    return h->port;
}

void lbd_http_stop(struct lbd_http *h)
{
    if (!h)
        return;
    free_server(h->server);
    if (h->listen_fd >= 0)
        close(h->listen_fd);
    lbd_deadlines_destroy(h->deadlines);
    pthread_mutex_destroy(&h->lock);
    free(h->targets);
    free(h);
}

int lbd_http_reload(struct lbd_http *h, struct lbx_error *err)
{
    struct lbd_web_server *old = h->server;
    int rc = h->web ? start_server(h, err, &h->server) : 0;

    if (rc == 0 && h->web) /* both listen for a moment: no connection is lost */
        free_server(old);
    return rc;
}

void lbd_http_set_targets(struct lbd_http *h, const char *json, const char *why)
{
    char *copy = json ? strdup(json) : NULL;

    pthread_mutex_lock(&h->lock);
    if (copy) {
        free(h->targets);
        h->targets = copy;
    }
    snprintf(h->why, sizeof(h->why), "%s", why ? why : "");
    pthread_mutex_unlock(&h->lock);
}

bool lbd_http_targets_asked(struct lbd_http *h)
{
    bool asked;

    pthread_mutex_lock(&h->lock);
    asked = h->targets_asked;
    h->targets_asked = false;
    pthread_mutex_unlock(&h->lock);
    return asked;
}
