/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a connection ended, as its owner is told. */
#include "lbd/conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/suite.h"

static int closed_for;

static int on_frame(struct lbd_conn *c, const uint8_t *body, size_t n)
{
    (void)c;
    (void)body;
    (void)n;
    return 0;
}

static void on_close(struct lbd_conn *c, int reason)
{
    (void)c;
    closed_for = reason;
}

static const struct lbd_conn_ops ops = {.on_frame = on_frame, .on_close = on_close};

/* Two ends of a TCP connection: [0] is ours. */
static void connect_two(int fd[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&at, &n), 0);
    fd[1] = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd[1], (struct sockaddr *)&at, sizeof(at)), 0);
    fd[0] = accept(listener, NULL, NULL);
    ck_assert_int_ge(fd[0], 0);
    close(listener);
}

/* What the owner is told when the peer goes, having sent `text` and with or without a reset. */
static int told(const char *text, bool reset)
{
    struct linger hard = {.l_onoff = 1};
    struct lbd_conn c;
    uv_loop_t loop;
    int fd[2];

    connect_two(fd);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(lbd_conn_open(&c, &loop, fd[0], &ops, 65536, true), 0);
    ck_assert_int_eq(send(fd[1], text, strlen(text), 0), (ssize_t)strlen(text));
    if (reset)
        ck_assert_int_eq(setsockopt(fd[1], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)), 0);
    close(fd[1]);
    closed_for = 0;
    uv_run(&loop, UV_RUN_DEFAULT); /* until the connection is closed: nothing else is on it */
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    return closed_for;
}

START_TEST(the_reason_is_the_true_one)
{
    ck_assert_int_eq(told("", false), -EPIPE);
    ck_assert_int_eq(told("", true), -ECONNRESET);
    ck_assert_int_eq(told("\xff\xff\xff\xff", false), -EMSGSIZE);
}
END_TEST

START_TEST(it_has_words)
{
    ck_assert_str_eq(lbd_conn_why(-EPIPE), "the other side has closed the connection");
    ck_assert_str_eq(lbd_conn_why(-ECONNRESET), "the connection was reset");
    ck_assert_str_eq(lbd_conn_why(-EPROTO), strerror(EPROTO));
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("conn");

    tcase_add_test(tc, the_reason_is_the_true_one);
    tcase_add_test(tc, it_has_words);
    return suite_run("lbd/conn", tc);
}
