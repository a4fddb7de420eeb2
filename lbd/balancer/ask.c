/* SPDX-License-Identifier: BSD-3-Clause */
/* A question to the lbd of this host. */
#include "lbd/balancer/ask.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sock.h"

#define ASK_NS (40 * LBX_NS_PER_MS)
#define AGAIN_NS (2 * LBX_NS_PER_MS) /* nothing wakes us when there is room among those that wait */
#define READ_NS \
    LBX_NS_PER_MS /* an answer is written at once, so that nearly always all of it is there */

static void on_closed(uv_handle_t *h)
{
    struct lbd_ask *a = h->data;

    if (--a->handles > 0)
        return;
    if (a->fd >= 0)
        close(a->fd);
    a->done(a->arg, a->rc);
}

static void end(struct lbd_ask *a, int rc)
{
    a->rc = rc;
    uv_close((uv_handle_t *)&a->timer, on_closed);
    if (a->handles > 1)
        uv_close((uv_handle_t *)&a->poll, on_closed);
}

static void on_answer(uv_poll_t *h, int status, int events)
{
    static struct lbw_local_msg answer; /* large, and one is read at a time */
    struct lbd_ask *a = h->data;
    int rc = status;

    (void)events;
    uv_poll_stop(h);
    if (rc == 0) {
        rc = lbw_local_end(a->fd, lbx_clock_mono_ns() + READ_NS, &answer);
        a->fd = -1;
    }
    end(a, rc < 0 ? rc : answer.type == LBW_L_OK ? 0 : -EPROTO);
}

static void on_timer(uv_timer_t *h);

static void start_timer(struct lbd_ask *a, int64_t ns)
{
    uv_timer_start(&a->timer, on_timer, (uint64_t)((ns + LBX_NS_PER_MS - 1) / LBX_NS_PER_MS), 0);
}

/* Knock. */
static void try(struct lbd_ask *a)
{
    int64_t left_ns = a->deadline_ns - lbx_clock_mono_ns();

    a->fd = lbw_local_begin(a->socket, a->request, 0);
    if (a->fd == -ETIMEDOUT && left_ns > AGAIN_NS) {
        start_timer(a, AGAIN_NS);
        return;
    }
    if (a->fd < 0 || uv_poll_init(a->timer.loop, &a->poll, a->fd) < 0) {
        end(a, a->fd < 0 ? a->fd : -EIO);
        return;
    }
    a->handles++;
    a->poll.data = a;
    uv_poll_start(&a->poll, UV_READABLE, on_answer);
    start_timer(a, left_ns > 0 ? left_ns : 0);
}

static void on_timer(uv_timer_t *h)
{
    struct lbd_ask *a = h->data;

    if (a->fd < 0)
        try(a);
    else if (lbx_sock_wait(a->fd, POLLIN, 0) > 0)
        on_answer(&a->poll, 0, UV_READABLE); /* timers come first where we had no CPU for long */
    else
        end(a, -ETIMEDOUT);
}

void lbd_ask_begin(struct lbd_ask *a, uv_loop_t *loop, const char *socket,
                   const struct lbw_local_msg *request, lbd_ask_done *done, void *arg)
{
    *a = (struct lbd_ask){.fd = -1,
                          .handles = 1,
                          .deadline_ns = lbx_clock_mono_ns() + ASK_NS,
                          .socket = socket,
                          .request = request,
                          .done = done,
                          .arg = arg};
    uv_timer_init(loop, &a->timer);
    a->timer.data = a;
    try(a);
}
