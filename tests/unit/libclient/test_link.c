/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection to the balancer: proof, loss, silence. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/sock.h"
#include "libclient/link.h"
#include "tests/unit/suite.h"

#define RANK 3
/* Ends what hangs; where little of a processor is left a wait may be long. */
#define WAIT_NS (30 * LBX_NS_PER_S)

/* One who listens as a balancer does, and knows a key. */
struct server {
    int listener, fd;
    uint8_t key[LBX_KEY_BYTES];
    const char *context;
    bool mute; /* accepts, and says nothing */
    int result;
    uint32_t peer;
    struct lbx_channel channel;
    struct lbx_buf in, out;
    pthread_t thread;
};

static void *serve(void *arg)
{
    struct server *s = arg;
    int64_t deadline_ns = lbx_clock_mono_ns() + WAIT_NS;
    struct lbx_auth auth;

    s->result = lbx_sock_wait(s->listener, POLLIN, deadline_ns);
    s->fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (s->fd < 0 || s->mute)
        return NULL;
    lbx_auth_init_server(&auth, s->key, s->context, strlen(s->context));
    while ((s->result = lbx_auth_step(&auth, &s->in, &s->out)) >= 0) {
        if (lbx_sock_flush(s->fd, &s->out) < 0 || s->result == 1)
            break;
        if (lbx_sock_wait(s->fd, POLLIN, deadline_ns) < 0 || lbx_sock_fill(s->fd, &s->in) < 0)
            break;
    }
    if (s->result == 1) {
        s->peer = auth.peer_id;
        lbx_auth_channel(&auth, &s->channel);
    } else {
        close(s->fd);
        s->fd = -1;
    }
    lbx_auth_fini(&auth);
    return NULL;
}

static void start_server(struct server *s, struct lbw_endpoint *ret_endpoint)
{
    uint16_t port = 0;

    ck_assert_int_eq(lbx_auth_setup(), 0);
    memset(s, 0, sizeof(*s));
    memset(ret_endpoint, 0, sizeof(*ret_endpoint));
    lbx_buf_init(&s->in, 1 << 20);
    lbx_buf_init(&s->out, 1 << 20);
    s->context = "cluster 1.0";
    s->listener = lbx_sock_listen_tcp("127.0.0.1", &port);
    ck_assert_int_ge(s->listener, 0);
    lbx_auth_random(s->key, sizeof(s->key));
    memcpy(ret_endpoint->key, s->key, sizeof(s->key));
    strcpy(ret_endpoint->context, s->context);
    ret_endpoint->port = port;
    ret_endpoint->naddresses = 1;
    strcpy(ret_endpoint->address[0], "127.0.0.1");
}

static void stop_server(struct server *s)
{
    if (s->fd > 0)
        close(s->fd);
    close(s->listener);
    lbx_buf_fini(&s->in);
    lbx_buf_fini(&s->out);
}

/* A link and its server, proved. */
static void connect_both(struct server *s, struct lbc_link *l)
{
    struct lbw_endpoint endpoint;

    start_server(s, &endpoint);
    pthread_create(&s->thread, NULL, serve, s);
    lbc_link_init(l);
    ck_assert_int_eq(lbc_link_connect(l, &endpoint, RANK, lbx_clock_mono_ns() + WAIT_NS), 0);
    pthread_join(s->thread, NULL);
    ck_assert_int_eq(s->result, 1);
    ck_assert_uint_eq(s->peer, RANK);
}

static void say(struct server *s, const struct lbw_rank_msg *msg)
{
    struct lbx_buf body;

    lbx_buf_init(&body, LBX_FRAME_CAP);
    ck_assert_int_eq(lbw_rank_encode(msg, &body), 0);
    ck_assert_int_eq(
        lbx_frame_append(&s->channel, &s->out, lbx_buf_data(&body), lbx_buf_len(&body)), 0);
    lbx_buf_fini(&body);
}

/* Poll until a message is there or the link is closed. */
static bool hear(struct lbc_link *l, struct lbw_rank_msg *ret_msg)
{
    for (int i = 0; i < 5000 && lbc_link_is_open(l); i++) {
        lbc_link_poll(l, lbx_clock_mono_ns());
        if (lbc_link_next(l, ret_msg))
            return true;
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
    }
    return false;
}

START_TEST(test_both_ways)
{
    struct lbw_rank_msg final = {.type = LBW_FINAL, .u.final = {2, 7}}, got;
    struct lbc_link l;
    struct server s;
    const uint8_t *body;
    size_t n;
    int rc;

    connect_both(&s, &l);
    say(&s, &final);
    say(&s, &final);
    ck_assert_int_eq(lbx_sock_flush(s.fd, &s.out), 0);
    ck_assert(hear(&l, &got));
    ck_assert_int_eq(got.type, LBW_FINAL);
    ck_assert_int_eq(got.u.final.pass, 7);
    ck_assert(hear(&l, &got));
    got.type = LBW_CLOSE;
    memset(&got.u, 0, sizeof(got.u));
    got.u.close.iterations = 42;
    lbc_link_send(&l, &got);
    while ((rc = lbx_frame_next(&s.channel, &s.in, &body, &n)) == 0)
        ck_assert_int_ge(lbx_sock_wait(s.fd, POLLIN, lbx_clock_mono_ns() + WAIT_NS) < 0
                             ? -1
                             : lbx_sock_fill(s.fd, &s.in),
                         0);
    ck_assert_int_eq(rc, 1);
    ck_assert_int_eq(lbw_rank_decode(body, n, &got), 0);
    ck_assert_int_eq(got.u.close.iterations, 42);
    lbc_link_close(&l);
    lbc_link_close(&l);
    stop_server(&s);
}
END_TEST

START_TEST(test_wrong_key)
{
    struct lbw_endpoint endpoint;
    struct lbc_link l;
    struct server s;

    start_server(&s, &endpoint);
    if (_i == 0)
        endpoint.key[31] ^= 1;
    else
        strcpy(endpoint.context, "cluster 1.1");
    pthread_create(&s.thread, NULL, serve, &s);
    lbc_link_init(&l);
    ck_assert_int_lt(lbc_link_connect(&l, &endpoint, RANK, lbx_clock_mono_ns() + WAIT_NS), 0);
    ck_assert(!lbc_link_is_open(&l));
    pthread_join(s.thread, NULL);
    ck_assert_int_eq(s.result, -EACCES);
    stop_server(&s);
}
END_TEST

/* Nobody there, somebody mute: an error by the deadline, and the next address is tried. */
START_TEST(test_addresses)
{
    struct lbw_endpoint endpoint;
    struct lbc_link l;
    struct server s;

    start_server(&s, &endpoint);
    s.mute = true;
    pthread_create(&s.thread, NULL, serve, &s);
    lbc_link_init(&l);
    ck_assert_int_eq(
        lbc_link_connect(&l, &endpoint, RANK, lbx_clock_mono_ns() + 50 * LBX_NS_PER_MS),
        -ETIMEDOUT);
    pthread_join(s.thread, NULL);
    close(s.fd);
    s.fd = 0;
    s.mute = false;
    endpoint.naddresses = 3;
    strcpy(endpoint.address[0], "no address");
    strcpy(endpoint.address[1], "127.0.0.9");
    strcpy(endpoint.address[2], "127.0.0.1");
    pthread_create(&s.thread, NULL, serve, &s);
    ck_assert_int_eq(lbc_link_connect(&l, &endpoint, RANK, lbx_clock_mono_ns() + WAIT_NS), 0);
    pthread_join(s.thread, NULL);
    lbc_link_close(&l);
    endpoint.naddresses = 0;
    ck_assert_int_eq(lbc_link_connect(&l, &endpoint, RANK, lbx_clock_mono_ns() + WAIT_NS),
                     -EHOSTUNREACH);
    stop_server(&s);
}
END_TEST

/* A flipped bit, a frame twice, a message that is none: the link closes and nothing is taken. */
START_TEST(test_forged)
{
    struct lbw_rank_msg beat = {.type = LBW_BEAT}, got;
    uint64_t seq;
    struct lbc_link l;
    struct server s;

    connect_both(&s, &l);
    if (_i == 0) {
        say(&s, &beat);
        lbx_buf_data(&s.out)[lbx_buf_len(&s.out) - 1] ^= 1;
    } else if (_i == 1) {
        seq = s.channel.seq_tx;
        say(&s, &beat);
        s.channel.seq_tx = seq;
        say(&s, &beat);
    } else {
        ck_assert_int_eq(lbx_frame_append(&s.channel, &s.out, "\xff\xff\xff", 3), 0);
    }
    ck_assert_int_eq(lbx_sock_flush(s.fd, &s.out), 0);
    if (_i == 1)
        ck_assert(hear(&l, &got));
    ck_assert(!hear(&l, &got));
    ck_assert(!lbc_link_is_open(&l));
    stop_server(&s);
}
END_TEST

/* What came before the end of the stream is still heard. */
START_TEST(test_last_words)
{
    struct lbw_rank_msg final = {.type = LBW_FINAL, .u.final = {0, 1}}, got;
    struct lbc_link l;
    struct server s;

    connect_both(&s, &l);
    say(&s, &final);
    say(&s, &final);
    ck_assert_int_eq(lbx_sock_flush(s.fd, &s.out), 0);
    close(s.fd);
    s.fd = -1;
    ck_assert(hear(&l, &got));
    ck_assert(hear(&l, &got));
    ck_assert(!hear(&l, &got));
    ck_assert(!lbc_link_is_open(&l));
    stop_server(&s);
}
END_TEST

/* Silence counts only while we look often, and the sooner for who waits; the clock is ours.  _i: it waits */
START_TEST(test_silence)
{
    struct lbw_rank_msg beat = {.type = LBW_BEAT}, got, dry = {.type = LBW_REPORT};
    int64_t t, ms = LBX_NS_PER_MS;
    int most = _i ? 10 : 10 * LBW_BUSY; /* tenths of a second */
    struct lbc_link l;
    struct server s;

    connect_both(&s, &l);
    dry.u.report.flags = _i ? LBW_DRY : LBW_LOW;
    lbc_link_send(&l, &dry);
    t = lbx_clock_mono_ns();
    for (int i = 0; i < 100; i++) /* each poll after a long time: no silence */
        lbc_link_poll(&l, t += 500 * ms);
    ck_assert(lbc_link_is_open(&l));
    for (int i = 0; i < most - 1; i++)
        lbc_link_poll(&l, t += 100 * ms);
    ck_assert(lbc_link_is_open(&l));
    say(&s, &beat);
    ck_assert_int_eq(lbx_sock_flush(s.fd, &s.out), 0);
    ck_assert_int_gt(lbx_sock_wait(l.fd, POLLIN, lbx_clock_mono_ns() + WAIT_NS), 0);
    lbc_link_poll(&l, t += 50 * ms); /* heard: it begins again */
    ck_assert(lbc_link_next(&l, &got));
    for (int i = 0; i < most; i++)
        lbc_link_poll(&l, t += 100 * ms);
    ck_assert(lbc_link_is_open(&l));
    lbc_link_poll(&l, t += 100 * ms);
    ck_assert(!lbc_link_is_open(&l));
    lbc_link_poll(&l, t);
    ck_assert(!lbc_link_next(&l, &got));
    lbc_link_send(&l, &beat);
    lbc_link_leave(&l);
    stop_server(&s);
}
END_TEST

/* Two seconds of silence are not too long for who computes, and count for nothing when it then begins to wait: the balancer learns of
 * that only now. */
START_TEST(test_silence_begins)
{
    struct lbw_rank_msg dry = {.type = LBW_REPORT};
    int64_t t, ms = LBX_NS_PER_MS;
    struct lbc_link l;
    struct server s;

    connect_both(&s, &l);
    t = lbx_clock_mono_ns() - 2000 * ms;
    l.quiet_since_ns = l.polled_ns = t;
    for (int i = 0; i < 20; i++)
        lbc_link_poll(&l, t += 100 * ms);
    ck_assert(lbc_link_is_open(&l));
    dry.u.report.flags = LBW_DRY;
    lbc_link_send(&l, &dry);
    t = lbx_clock_mono_ns();
    for (int i = 0; i < 9; i++) {
        lbc_link_poll(&l, t += 100 * ms);
        lbc_link_send(&l, &dry); /* said again: it has begun before */
    }
    ck_assert(lbc_link_is_open(&l));
    lbc_link_poll(&l, t += 200 * ms);
    ck_assert(!lbc_link_is_open(&l));
    lbc_link_leave(&l);
    stop_server(&s);
}
END_TEST

/* Who does not read is given up before it costs memory. */
START_TEST(test_slow_reader)
{
    struct lbw_rank_msg msg = {.type = LBW_REPORT};
    struct lbc_link l;
    struct server s;
    int i;

    connect_both(&s, &l);
    memset(&msg.u, 0, sizeof(msg.u));
    msg.u.report.nsamples = LBW_SAMPLES_MAX;
    for (int k = 0; k < LBW_SAMPLES_MAX; k++)
        msg.u.report.sample[k] = (struct lbw_sample){k * INT64_C(1000000000000),
                                                     k * INT64_C(1000000000000) + 9, 1 << 30, 9};
    for (i = 0; i < 1000000 && lbc_link_is_open(&l); i++)
        lbc_link_send(&l, &msg);
    ck_assert(!lbc_link_is_open(&l));
    stop_server(&s);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("link");

    tcase_add_test(tc, test_both_ways);
    tcase_add_loop_test(tc, test_wrong_key, 0, 2);
    tcase_add_test(tc, test_addresses);
    tcase_add_loop_test(tc, test_forged, 0, 3);
    tcase_add_test(tc, test_last_words);
    tcase_add_loop_test(tc, test_silence, 0, 2);
    tcase_add_test(tc, test_silence_begins);
    tcase_add_test(tc, test_slow_reader);
    return suite_run("link", tc);
}
