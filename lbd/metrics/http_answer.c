/* SPDX-License-Identifier: BSD-3-Clause */
/* What the web server answers. */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "common/clock.h"
#include "lbd/metrics/http_impl.h"

#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_CLASSIC "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define GZIP_WINDOW (15 + 16)
#define GZIP_LEAST ((size_t)1024) /* less is not worth it */

static enum MHD_Result send_response(struct lbd_web_server *s, struct MHD_Connection *c,
                                     unsigned status, const char *type, struct MHD_Response *r)
{
    enum MHD_Result result;

    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    for (size_t i = 0; i < s->conf.nheaders; i++)
        MHD_add_response_header(r, s->conf.header[i].name, s->conf.header[i].value);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, HEAD");
    if (status == MHD_HTTP_UNAUTHORIZED)
        result = MHD_queue_basic_auth_fail_response(c, "lbd", r);
    else
        result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result answer_text(struct lbd_web_server *s, struct MHD_Connection *c,
                                   unsigned status, const char *text)
{
    return send_response(s, c, status, TYPE_TEXT,
                         MHD_create_response_from_buffer(strlen(text), (char *)(uintptr_t)text,
                                                         MHD_RESPMEM_PERSISTENT));
}

/* Whether gzip is among what the client takes, and not with q=0. */
static bool takes_gzip(struct MHD_Connection *c)
{
    const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept-Encoding");
    const char *at = accept ? strstr(accept, "gzip") : NULL;
    size_t n;

    if (!at)
        return false;
    at += strlen("gzip");
    at += strspn(at, " ;");
    if (strncasecmp(at, "q=0", 3) != 0)
        return true;
    n = strspn(at + 3, ".0");
    return at[3 + n] >= '1' && at[3 + n] <= '9';
}

/* Compressed text in place of *text, which is freed; it stays when that does not work. */
static bool compress_text(char **text, size_t *n)
{
    z_stream z = {0};
    size_t room;
    char *out;
    int rc;

    if (*n < GZIP_LEAST || deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL,
                                        Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    room = deflateBound(&z, *n);
    out = malloc(room);
    z.next_in = (Bytef *)*text;
    z.avail_in = (uInt)*n;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)room;
    rc = out ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
    room -= z.avail_out;
    deflateEnd(&z);
    if (rc != Z_STREAM_END) {
        free(out);
        return false;
    }
    free(*text);
    *text = out;
    *n = room;
    return true;
}

static enum MHD_Result answer_page(struct lbd_web_server *s, struct MHD_Connection *c)
{
    const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
    bool openmetrics = accept && strstr(accept, "application/openmetrics-text"), zipped;
    struct MHD_Response *r;
    char *text;
    size_t n;

    if (lbd_metrics_render(s->http->metrics, openmetrics, &text, &n) < 0)
        return answer_text(s, c, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    zipped = takes_gzip(c) && compress_text(&text, &n);
    r = MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE);
    if (!r)
        free(text);
    else if (zipped)
        MHD_add_response_header(r, "Content-Encoding", "gzip");
    if (r)
        MHD_add_response_header(r, "Vary", "Accept, Accept-Encoding");
    return send_response(s, c, MHD_HTTP_OK, openmetrics ? TYPE_OPENMETRICS : TYPE_CLASSIC, r);
}

static enum MHD_Result answer_targets(struct lbd_web_server *s, struct MHD_Connection *c)
{
    struct lbd_http *h = s->http;
    struct MHD_Response *r;
    bool known;

    pthread_mutex_lock(&h->lock);
    h->targets_asked = true;
    known = h->targets != NULL;
    if (known)
        r = MHD_create_response_from_buffer(strlen(h->targets), h->targets, MHD_RESPMEM_MUST_COPY);
    else
        r = MHD_create_response_from_buffer(strlen(h->why), h->why, MHD_RESPMEM_MUST_COPY);
    pthread_mutex_unlock(&h->lock);
    return send_response(s, c, known ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
                         known ? "application/json" : TYPE_TEXT, r);
}

/* The certificate that the client has shown, against client_ca_file. */
static bool is_trusted(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned status = 0;

    return info && info->tls_session &&
           gnutls_certificate_verify_peers2(info->tls_session, &status) == 0 && status == 0;
}

/* Returns 0, -EACCES, -EAGAIN. */
static int check_user(struct lbd_web_server *s, struct MHD_Connection *c)
{
    char *password = NULL, *name = MHD_basic_auth_get_username_password(c, &password);
    int rc = -EACCES;

    if (name && password)
        rc = lbd_users_check(s->users, name, password, lbx_clock_mono_ns());
    if (password)
        sodium_memzero(password, strlen(password));
    MHD_free(name);
    MHD_free(password);
    return rc;
}

static enum MHD_Result answer(struct lbd_web_server *s, struct MHD_Connection *c, const char *url,
                              const char *method)
{
    int rc;

    if (s->conf.client_auth && !is_trusted(c))
        return answer_text(s, c, MHD_HTTP_FORBIDDEN, "a certificate that is trusted is needed\n");
    rc = s->users ? check_user(s, c) : 0;
    if (rc == -EAGAIN)
        return answer_text(s, c, MHD_HTTP_SERVICE_UNAVAILABLE,
                           "too many passwords were tried just now\n");
    if (rc < 0)
        return answer_text(s, c, MHD_HTTP_UNAUTHORIZED, "a user and password are needed\n");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return answer_text(s, c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    if (strcmp(url, "/metrics") == 0)
        return answer_page(s, c);
    if (strcmp(url, "/sd") == 0)
        return answer_targets(s, c);
    if (strcmp(url, "/") == 0)
        return answer_text(s, c, MHD_HTTP_OK, "lbd: see /metrics\n");
    return answer_text(s, c, MHD_HTTP_NOT_FOUND, "only /metrics and /sd are here\n");
}

enum MHD_Result lbd_http_answer(void *data, struct MHD_Connection *c, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_n, void **state)
{
    static int started;

    (void)version;
    (void)upload;
    if (!*state) { /* headers only; answered when the request is whole */
        *state = &started;
        lbd_http_give(data, c, LBD_HTTP_ANSWER_S);
        return MHD_YES;
    }
    if (*upload_n > 0) { /* of no use to us; the answer comes when it is over */
        *upload_n = 0;
        return MHD_YES;
    }
    return answer(data, c, url, method);
}
