/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of the web server share: its running (http.c), its answers (http_answer.c). */
#ifndef LBD_METRICS_HTTP_IMPL_H
#define LBD_METRICS_HTTP_IMPL_H

#include <microhttpd.h>
#include <pthread.h>

#include "lbd/metrics/deadline.h"
#include "lbd/metrics/http.h"
#include "lbd/metrics/users.h"
#include "lbd/metrics/webconf.h"

/* One web.yml's server; a reload makes another. */
struct lbd_web_server {
    struct lbd_http *http;
    struct MHD_Daemon *daemon;
    struct lbd_http_loop *loop; /* runs it */
    struct lbd_webconf conf;
    struct lbd_users *users; /* NULL: anybody may ask */
};

struct lbd_http {
    struct lbd_metrics *metrics;
    const char *web;
    int listen_fd;
    uint16_t port;
    struct lbd_deadlines *deadlines;
    struct lbd_web_server *server;
    pthread_mutex_t lock; /* of what follows */
    char *targets;
    char why[LBX_ERROR_TEXT_MAX];
    bool targets_asked;
};

/* A connection has so long from now on. */
void lbd_http_give(struct lbd_web_server *s, struct MHD_Connection *c, int seconds);

enum MHD_Result lbd_http_answer(void *data, struct MHD_Connection *c, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_n, void **state);

#endif
