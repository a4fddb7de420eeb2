/* SPDX-License-Identifier: BSD-3-Clause */
/* /metrics over HTTP. */
#include "lbd/metrics/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sock.h"

#define CONNECTIONS 16u
#define TIMEOUT_S 2u
#define MEMORY_BYTES ((size_t)8192) /* of one connection: headers and what is sent at a time */
#define STACK_BYTES ((size_t)128 * 1024)

#define TYPE_CLASSIC "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct lbd_http {
    struct MHD_Daemon *daemon;
    struct lbd_metrics *metrics;
};

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type,
                              char *text, size_t n, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(n, text, mode);
    enum MHD_Result result;

    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, HEAD");
    result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned status, const char *text)
{
    return answer(c, status, "text/plain; charset=utf-8", (char *)(uintptr_t)text, strlen(text),
                  MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer_page(struct lbd_http *h, struct MHD_Connection *c)
{
    const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
    bool openmetrics = accept && strstr(accept, "application/openmetrics-text");
    char *text;
    size_t n;

    if (lbd_metrics_render(h->metrics, openmetrics, &text, &n) < 0)
        return answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    return answer(c, MHD_HTTP_OK, openmetrics ? TYPE_OPENMETRICS : TYPE_CLASSIC, text, n,
                  MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_n, void **state)
{
    static int started;

    (void)version;
    (void)upload;
    if (!*state) { /* headers only; answered when the request is whole */
        *state = &started;
        return MHD_YES;
    }
    *upload_n = 0;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    if (strcmp(url, "/metrics") == 0)
        return answer_page(data, c);
    if (strcmp(url, "/") == 0)
        return answer_text(c, MHD_HTTP_OK, "lbd: see /metrics\n");
    return answer_text(c, MHD_HTTP_NOT_FOUND, "only /metrics is here\n");
}

/* Its messages would go to stderr in a form of their own. */
static void be_silent(void *data, const char *fmt, va_list ap)
{
    (void)data;
    (void)fmt;
    (void)ap;
}

int lbd_http_start(const char *address, uint16_t port, struct lbd_metrics *m, struct lbx_error *err,
                   struct lbd_http **ret_http)
{
    struct lbd_http *h = calloc(1, sizeof(*h));
    int fd;

    if (!h)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    fd = lbx_sock_listen_tcp(address, &port);
    if (fd < 0) {
        free(h);
        return lbx_error_set(err, fd, "metrics at %s:%u: %s", address, port, strerror(-fd));
    }
    h->metrics = m;
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC, port, NULL, NULL, on_request,
        h, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_BYTES, MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES,
        MHD_OPTION_END);
    if (!h->daemon) {
        close(fd);
        free(h);
        return lbx_error_set(err, -EIO, "metrics at %s:%u: the web server did not start", address,
                             port);
    }
    *ret_http = h;
    return 0;
}

void lbd_http_stop(struct lbd_http *h)
{
    if (!h)
        return;
    MHD_stop_daemon(h->daemon);
    free(h);
}
