/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that is given lines and answers by lines. */
#include "lbd/helper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX ((size_t)65536)

struct sending {
    uv_write_t req;
    char text[];
};

void lbd_helper_init(struct lbd_helper *h, uv_loop_t *loop)
{
    memset(h, 0, sizeof(*h));
    h->loop = loop;
    lbx_buf_init(&h->in, LINE_BYTES_MAX);
}

void lbd_helper_fini(struct lbd_helper *h)
{
    lbx_buf_fini(&h->in);
}

/* The last of the handles: it may be started again. */
static void on_closed(uv_handle_t *handle)
{
    struct lbd_helper *h = handle->data;

    if (--h->open > 0)
        return;
    h->running = false;
    lbx_buf_consume(&h->in, lbx_buf_len(&h->in));
    if (h->on_end)
        h->on_end(h->data);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

void lbd_helper_drop(struct lbd_helper *h, bool kill)
{
    uv_handle_t *process = (uv_handle_t *)&h->process;

    if (!h->running)
        return;
    close_handle((uv_handle_t *)&h->to);
    close_handle((uv_handle_t *)&h->from);
    /* one that is killed has its handle until its end: libuv waits for no process without */
    if (!kill)
        close_handle(process);
    else if (!uv_is_closing(process))
        uv_process_kill(&h->process, SIGKILL);
}

static void on_exit_of(uv_process_t *process, int64_t status, int sig)
{
    (void)status, (void)sig;
    lbd_helper_drop(process->data, false);
}

static void take_lines(struct lbd_helper *h)
{
    char *end;

    while (lbx_buf_len(&h->in) > 0 &&
           (end = memchr(lbx_buf_data(&h->in), '\n', lbx_buf_len(&h->in)))) {
        char *line = (char *)lbx_buf_data(&h->in);
        size_t n = (size_t)(end - line) + 1;

        *end = '\0';
        h->on_line(h->data, line);
        lbx_buf_consume(&h->in, n);
    }
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
    struct lbd_helper *h = handle->data;

    (void)size;
    *ret = uv_buf_init(h->chunk, sizeof(h->chunk));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct lbd_helper *h = stream->data;

    if (n == 0)
        return;
    if (n < 0 || lbx_buf_append(&h->in, buf->base, (size_t)n) < 0) {
        lbd_helper_drop(h, true);
        return;
    }
    take_lines(h);
}

int lbd_helper_start(struct lbd_helper *h, const char *path)
{
    char *argv[] = {(char *)path, NULL};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&h->to},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&h->from},
        {.flags = UV_INHERIT_FD, .data.fd = 2}};
    uv_process_options_t options = {
        .file = path, .args = argv, .exit_cb = on_exit_of, .stdio_count = 3, .stdio = stdio};
    int rc;

    if (h->running)
        return 0;
    uv_pipe_init(h->loop, &h->to, 0);
    uv_pipe_init(h->loop, &h->from, 0);
    h->open = 3; /* a process that was not started has its handle, too */
    h->running = true;
    rc = uv_spawn(h->loop, &h->process, &options);
    h->to.data = h->from.data = h->process.data = h;
    if (rc < 0) {
        lbd_helper_drop(h, false);
        return rc;
    }
    rc = uv_read_start((uv_stream_t *)&h->from, on_alloc, on_read);
    if (rc < 0)
        lbd_helper_drop(h, true);
    return rc;
}

static void on_sent(uv_write_t *req, int status)
{
    (void)status; /* one that is gone is noticed by its end */
    free(req->data);
}

int lbd_helper_send(struct lbd_helper *h, const char *text)
{
    size_t n = strlen(text);
    struct sending *s;
    uv_buf_t buf;
    int rc;

    if (!h->running || uv_is_closing((uv_handle_t *)&h->to))
        return -EPIPE;
    s = malloc(sizeof(*s) + n + 1);
    if (!s)
        return -ENOMEM;
    memcpy(s->text, text, n + 1);
    s->req.data = s;
    buf = uv_buf_init(s->text, (unsigned)n);
    rc = uv_write(&s->req, (uv_stream_t *)&h->to, &buf, 1, on_sent);
    if (rc < 0)
        free(s);
    return rc;
}

static void on_finished(uv_shutdown_t *req, int status)
{
    struct lbd_helper *h = req->data;

    (void)status;
    free(req);
    close_handle((uv_handle_t *)&h->to);
}

void lbd_helper_finish(struct lbd_helper *h)
{
    uv_shutdown_t *req;

    if (!h->running || uv_is_closing((uv_handle_t *)&h->to))
        return;
    req = malloc(sizeof(*req));
    if (req)
        req->data = h;
    if (!req || uv_shutdown(req, (uv_stream_t *)&h->to, on_finished) < 0) {
        free(req);
        lbd_helper_drop(h, true);
    }
}
