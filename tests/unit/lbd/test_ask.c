/* SPDX-License-Identifier: BSD-3-Clause */
/* A question to lbd: it is answered, or given up in time, whatever lbd does; once, and nothing of it stays. */
#include "lbd/balancer/ask.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

#define CROWD 16

static const uint8_t said_ok[] = {0, 0, 0, 3, 0x92, 1, LBW_L_OK};
static struct lbw_local_msg request = {.type = LBW_L_SELF};
static struct sockaddr_un sa = {.sun_family = AF_UNIX};
static char folder[64];
static uv_loop_t loop;
static int listener, before, times, result;

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void start(int backlog)
{
    make_folder(folder);
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/lbd.sock", folder);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
    ck_assert_int_eq(listen(listener, backlog), 0);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    uv_run(&loop, UV_RUN_NOWAIT);
    times = 0;
    before = descriptors();
}

static void on_done(void *arg, int rc)
{
    ck_assert_ptr_eq(arg, &loop);
    times++;
    result = rc;
}

/* ask, then run to the end. */
static void run(void)
{
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(times, 1);
    ck_assert_int_eq(descriptors(), before);
}

static void end(void)
{
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    close(listener);
    remove_folder(folder);
}

START_TEST(what_lbd_says)
{
    static const uint8_t self[] = {0, 0, 0, 3, 0x92, 1, LBW_L_SELF}, half[] = {0, 0, 0, 3, 0x92},
                         rubbish[] = "HTTP/1.1 400 Bad Request\r\n";
    static const struct {
        const uint8_t *bytes;
        size_t n;
        int rc;
    } c[] = {{said_ok, sizeof(said_ok), 0},
             {self, sizeof(self), -EPROTO},
             {rubbish, sizeof(rubbish), -EPROTO},
             {half, sizeof(half), -EPIPE},
             {said_ok, 0, -EPIPE}};
    struct lbd_ask a;
    uint8_t bytes[64];
    int fd;

    start(8);
    lbd_ask_begin(&a, &loop, sa.sun_path, &request, on_done, &loop);
    ck_assert_int_eq(times, 0); /* never from within */
    fd = accept(listener, NULL, NULL);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_gt(read(fd, bytes, sizeof(bytes)), 0);
    ck_assert_int_eq(send(fd, c[_i].bytes, c[_i].n, 0), (ssize_t)c[_i].n);
    close(fd);
    run();
    ck_assert_int_eq(result, c[_i].rc);
    end();
}
END_TEST

/* Who gets no CPU for longer than it would wait finds what has come meanwhile. */
START_TEST(an_answer_found_late)
{
    struct lbd_ask a;
    int fd;

    start(8);
    lbd_ask_begin(&a, &loop, sa.sun_path, &request, on_done, &loop);
    fd = accept(listener, NULL, NULL);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(send(fd, said_ok, sizeof(said_ok), 0), (ssize_t)sizeof(said_ok));
    close(fd);
    lbx_clock_sleep_ns(100 * LBX_NS_PER_MS);
    run();
    ck_assert_int_eq(result, 0);
    end();
}
END_TEST

START_TEST(nobody_there)
{
    struct lbd_ask a;

    start(8);
    ck_assert_int_eq(unlink(sa.sun_path), 0);
    lbd_ask_begin(&a, &loop, sa.sun_path, &request, on_done, &loop);
    ck_assert_int_eq(times, 0);
    run();
    ck_assert_int_eq(result, -ENOENT);
    end();
}
END_TEST

START_TEST(a_silent_one)
{
    struct lbd_ask a;

    start(8);
    lbd_ask_begin(&a, &loop, sa.sun_path, &request, on_done, &loop);
    run();
    ck_assert_int_eq(result, -ETIMEDOUT);
    end();
}
END_TEST

static int crowd[CROWD];

/* Until nobody more is let in. */
static void fill(void)
{
    int n = 0;

    for (;; n++) {
        ck_assert_int_lt(n, CROWD);
        crowd[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(crowd[n], (struct sockaddr *)&sa, sizeof(sa)) < 0)
            break;
    }
    ck_assert_int_eq(errno, EAGAIN);
    close(crowd[n]);
    while (++n < CROWD)
        crowd[n] = -1;
    before = descriptors();
}

static void leave(void)
{
    for (int i = 0; i < CROWD; i++)
        if (crowd[i] > 0)
            close(crowd[i]);
}

/* All are let in, and answered. */
static void on_room(uv_timer_t *h)
{
    uint8_t bytes[64];
    int fd = accept(listener, NULL, NULL);

    if (fd >= 0) {
        (void)!recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        (void)!send(fd, said_ok, sizeof(said_ok), MSG_NOSIGNAL);
        close(fd);
    }
    if (times > 0)
        uv_close((uv_handle_t *)h, NULL);
}

START_TEST(a_crowd_before_it)
{
    uv_timer_t timer;
    struct lbd_ask a;

    start(1);
    fill();
    lbd_ask_begin(&a, &loop, sa.sun_path, &request, on_done, &loop);
    if (_i == 1) {
        uv_timer_init(&loop, &timer);
        uv_timer_start(&timer, on_room, 2, 2);
    }
    run();
    ck_assert_int_eq(result, _i == 1 ? 0 : -ETIMEDOUT);
    leave();
    end();
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("ask");

    tcase_add_loop_test(tc, what_lbd_says, 0, 5);
    tcase_add_test(tc, an_answer_found_late);
    tcase_add_test(tc, nobody_there);
    tcase_add_test(tc, a_silent_one);
    tcase_add_loop_test(tc, a_crowd_before_it, 0, 2);
    return suite_run("lbd/balancer/ask", tc);
}
