/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank said before its connection ended is heard, also where the balancer wrote to it meanwhile. */
#include "lbd/balancer/peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/sock.h"
#include "tests/unit/suite.h"

#define RANK 3
#define REPORTS 2000 /* of 23 bytes and more each: several reads of the socket */

struct heard {
    struct lbd_peer *peer;
    int reports, leaves, ends, error;
};

static bool on_proved(void *owner, struct lbd_peer *p, uint32_t rank)
{
    ((struct heard *)owner)->peer = p;
    return rank == RANK;
}

static void on_message(void *owner, struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    struct heard *h = owner;

    (void)p;
    h->reports += msg->type == LBW_REPORT;
    h->leaves += msg->type == LBW_LEAVE;
}

static void on_closed(void *owner, struct lbd_peer *p, int error)
{
    struct heard *h = owner;

    (void)p;
    h->ends++;
    h->error = error;
}

static const struct lbd_peer_events events = {on_proved, on_message, on_closed};

/* Both sides prove the key; returns the rank's channel. */
static void prove(uv_loop_t *loop, const struct lbw_endpoint *e, int fd,
                  struct lbx_channel *ret_channel)
{
    struct lbx_auth auth;
    struct lbx_buf in, out;

    lbx_buf_init(&in, 1024);
    lbx_buf_init(&out, 1024);
    lbx_auth_init_client(&auth, e->key, e->context, 0, RANK);
    while (lbx_auth_step(&auth, &in, &out) == 0) {
        ck_assert_int_eq(lbx_sock_flush(fd, &out), 0);
        uv_run(loop, UV_RUN_NOWAIT);
        ck_assert_int_ge(lbx_sock_fill(fd, &in), 0);
    }
    lbx_auth_channel(&auth, ret_channel);
    lbx_auth_fini(&auth);
    lbx_buf_fini(&in);
    lbx_buf_fini(&out);
}

static void say(struct lbx_channel *channel, const struct lbw_rank_msg *msg, struct lbx_buf *out)
{
    struct lbx_buf body;

    lbx_buf_init(&body, LBX_FRAME_CAP);
    ck_assert_int_eq(lbw_rank_encode(msg, &body), 0);
    ck_assert_int_eq(lbx_frame_append(channel, out, lbx_buf_data(&body), lbx_buf_len(&body)), 0);
    lbx_buf_fini(&body);
}

/* The rank says so much, leaves, and closes. */
static void go(int fd, struct lbx_channel *channel, int reports)
{
    static const struct lbw_rank_msg report = {.type = LBW_REPORT}, leave = {.type = LBW_LEAVE};
    struct lbx_buf out;

    lbx_buf_init(&out, 1 << 20);
    for (int i = 0; i < reports; i++)
        say(channel, &report, &out);
    say(channel, &leave, &out);
    ck_assert_int_eq(lbx_sock_flush(fd, &out), 0);
    ck_assert_uint_eq(lbx_buf_len(&out), 0);
    lbx_buf_fini(&out);
    close(fd);
}

static void beat(struct lbd_peer *p)
{
    static const struct lbw_rank_msg msg = {.type = LBW_BEAT};

    ck_assert_int_eq(lbd_peer_send(p, &msg), 0);
}

enum way { IDLE, PAUSED, RESET, WAYS }; /* RESET: by a message that the rank did not read */

/* What is heard of a rank that has gone before the balancer writes to it, and only then reads. */
static struct heard hear_out(int reports, enum way way)
{
    struct lbw_endpoint endpoint = {.key = {1}};
    struct heard heard = {0};
    struct lbx_channel channel;
    uv_loop_t loop;
    int fd[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd), 0);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(lbd_peer_open(&loop, fd[0], &endpoint, &events, &heard), 0);
    prove(&loop, &endpoint, fd[1], &channel);
    ck_assert_ptr_nonnull(heard.peer);
    if (way == PAUSED)
        lbd_peer_pause(heard.peer);
    if (way == RESET) {
        beat(heard.peer);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    go(fd[1], &channel, reports);
    beat(heard.peer);
    if (way == PAUSED) {
        uv_run(&loop, UV_RUN_NOWAIT);
        ck_assert_int_eq(heard.leaves, 0);
        lbd_peer_resume(heard.peer);
    }
    uv_run(&loop, UV_RUN_DEFAULT); /* until it is over: nothing else is on the loop */
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    lbx_channel_fini(&channel);
    return heard;
}

START_TEST(a_rank_that_has_gone_is_heard_out)
{
    static const int reports[] = {0, 1, REPORTS};

    for (int way = 0; way < WAYS; way++) {
        struct heard h = hear_out(reports[_i], (enum way)way);

        ck_assert_int_eq(h.reports, reports[_i]);
        ck_assert_int_eq(h.leaves, 1);
        ck_assert_int_eq(h.ends, 1);
        ck_assert_int_eq(h.error, -EPIPE);
    }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("peer");

    if (lbx_auth_setup() < 0)
        return 1;
    tcase_add_loop_test(tc, a_rank_that_has_gone_is_heard_out, 0, 3);
    return suite_run("lbd/peer", tc);
}
