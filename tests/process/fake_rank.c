/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank played by a test. */
#include "tests/process/fake_rank.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sock.h"

#define PATIENCE_NS (10 * LBX_NS_PER_S)

void fake_endpoint_read(int fd, struct lbw_endpoint *ret)
{
    struct lbx_channel plain;
    struct lbx_buf in;
    const uint8_t *body;
    size_t n;
    int rc;

    lbx_channel_init_plain(&plain);
    lbx_buf_init(&in, 4096);
    while ((rc = lbx_frame_next(&plain, &in, &body, &n)) == 0) {
        ck_assert_int_gt(lbx_sock_wait(fd, POLLIN, lbx_clock_mono_ns() + PATIENCE_NS), 0);
        ck_assert_int_gt(lbx_sock_fill(fd, &in), 0);
    }
    ck_assert_int_eq(rc, 1);
    ck_assert_int_eq(lbw_endpoint_decode(body, n, ret), 0);
    lbx_buf_fini(&in);
}

void fake_balancer_start(struct fake_balancer *b, uint32_t nranks, const char *policy)
{
    const char *dir = getenv("top_builddir");
    char path[4096], count[16];
    int sv[2];

    snprintf(path, sizeof(path), "%s/lb-balancer", dir ? dir : ".");
    snprintf(count, sizeof(count), "%u", (unsigned)nranks);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    b->pid = fork();
    ck_assert_int_ge(b->pid, 0);
    if (b->pid == 0) {
        dup2(sv[1], 3);
        execl(path, "lb-balancer", "--fd", "3", "--nranks", count, "--policy", policy,
              (char *)NULL);
        _exit(127);
    }
    close(sv[1]);
    b->fd = sv[0];
    fake_endpoint_read(b->fd, &b->endpoint);
}

int fake_balancer_end(struct fake_balancer *b)
{
    int status;

    close(b->fd);
    ck_assert_int_eq(waitpid(b->pid, &status, 0), b->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int fake_connect(const struct lbw_endpoint *e)
{
    int fd = lbx_sock_connect_tcp("127.0.0.1", e->port, lbx_clock_mono_ns() + PATIENCE_NS);

    ck_assert_int_ge(fd, 0);
    return fd;
}

bool fake_rank_prove(struct fake_rank *r, const struct lbw_endpoint *e, uint32_t rank)
{
    struct lbx_auth auth;
    int rc;

    ck_assert_int_eq(lbx_auth_setup(), 0);
    r->fd = fake_connect(e);
    lbx_buf_init(&r->in, 1 << 18);
    lbx_buf_init(&r->out, 1 << 18);
    lbx_auth_init_client(&auth, e->key, e->context, strlen(e->context), rank);
    while ((rc = lbx_auth_step(&auth, &r->in, &r->out)) == 0) {
        ck_assert_int_eq(lbx_sock_flush(r->fd, &r->out), 0);
        ck_assert_int_gt(lbx_sock_wait(r->fd, POLLIN, lbx_clock_mono_ns() + PATIENCE_NS), 0);
        if (lbx_sock_fill(r->fd, &r->in) < 0)
            break;
    }
    if (rc == 1)
        lbx_auth_channel(&auth, &r->channel);
    lbx_auth_fini(&auth);
    return rc == 1;
}

void fake_rank_join(struct fake_rank *r, const struct lbw_endpoint *e, uint32_t rank,
                    uint32_t nranks)
{
    struct lbw_rank_msg msg = {.type = LBW_JOIN};

    ck_assert(fake_rank_prove(r, e, rank));
    msg.u.join = (struct lbw_join){nranks, (uint32_t)getpid(), "here", 1.0, 0, 0};
    fake_rank_send(r, &msg);
}

void fake_rank_send(struct fake_rank *r, const struct lbw_rank_msg *msg)
{
    struct lbx_buf body;

    lbx_buf_init(&body, LBX_FRAME_CAP);
    ck_assert_int_eq(lbw_rank_encode(msg, &body), 0);
    ck_assert_int_eq(
        lbx_frame_append(&r->channel, &r->out, lbx_buf_data(&body), lbx_buf_len(&body)), 0);
    ck_assert_int_eq(lbx_sock_flush(r->fd, &r->out), 0);
    lbx_buf_fini(&body);
}

void fake_rank_send_raw(struct fake_rank *r, const void *bytes, size_t n)
{
    ck_assert_int_eq(lbx_buf_append(&r->out, bytes, n), 0);
    ck_assert_int_eq(lbx_sock_flush(r->fd, &r->out), 0);
}

bool fake_rank_read(struct fake_rank *r, struct lbw_rank_msg *ret)
{
    const uint8_t *body;
    size_t n;
    int rc;

    for (;;) {
        rc = lbx_frame_next(&r->channel, &r->in, &body, &n);
        ck_assert_int_ge(rc, 0);
        if (rc == 1) {
            ck_assert_int_eq(lbw_rank_decode(body, n, ret), 0);
            if (ret->type != LBW_BEAT)
                return true;
            continue;
        }
        ck_assert_int_gt(lbx_sock_wait(r->fd, POLLIN, lbx_clock_mono_ns() + PATIENCE_NS), 0);
        if (lbx_sock_fill(r->fd, &r->in) < 0)
            return false;
    }
}

bool fake_rank_await(struct fake_rank *r, enum lbw_rank_type type, struct lbw_rank_msg *ret)
{
    while (fake_rank_read(r, ret))
        if (ret->type == type)
            return true;
    return false;
}

void fake_rank_close(struct fake_rank *r)
{
    close(r->fd);
    lbx_buf_fini(&r->in);
    lbx_buf_fini(&r->out);
    lbx_channel_fini(&r->channel);
}
