/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on lbd's unix socket: what comes back, what is refused, and asking a bad lbd. */
#include "wire/local.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/frame.h"
#include "common/sock.h"
#include "tests/unit/suite.h"

static struct lbw_local_msg msg, back;

static void fill_host(struct lbw_local_host *h, size_t i)
{
    snprintf(h->host, sizeof(h->host), "n%zu.example", i);
    h->core_speed = .4;
    h->capacity = 1.6 + (double)i;
    h->hardware = 1.25;
    h->index = 3.5;
    h->stable_ns = INT64_MAX;
    h->age_ns = INT64_C(5000000000) * (int64_t)i;
}

/* One message of each type, the fields at odd values. */
static void make(enum lbw_local_type type)
{
    memset(&msg, 0, sizeof(msg));
    msg.type = type;
    if (type == LBW_L_HOSTS) {
        msg.u.hosts.more = 1;
        msg.u.hosts.n = 3;
        for (size_t i = 0; i < 3; i++)
            fill_host(&msg.u.hosts.host[i], i);
    } else if (type == LBW_L_NOTICE) {
        msg.u.notice = (struct lbw_local_notice){1, 4000000000U, 0xfffffffbU, 70000};
    } else if (type == LBW_L_SCOPE) {
        strcpy(msg.u.scope.partition, "long");
    } else if (type == LBW_L_RULE) {
        msg.u.rule = (struct lbw_local_rule){.opt_out = 1, .trace = 1, .least_chunk_ns = 1000000};
        strcpy(msg.u.rule.policy, "liu,period=1s");
        strcpy(msg.u.rule.allowed, "liu,static");
    } else if (type == LBW_L_CLAIM || type == LBW_L_CLAIMS) {
        msg.u.claims = (struct lbw_local_claims){.generation = UINT64_MAX, .jobid = 7, .n = 2};
        msg.u.claims.claim[0] = (struct lbw_local_claim){"n1", .75, 3};
        msg.u.claims.claim[1] = (struct lbw_local_claim){"n2.example", 0, LBW_LOCAL_CLAIM_MOST};
    } else if (type == LBW_L_IDLE) {
        msg.u.idle_question = (struct lbw_local_idle_question){"long", 30000000};
    } else if (type == LBW_L_IDLE_HOSTS) {
        msg.u.idle = (struct lbw_local_idle){.age_ns = 7, .generation = UINT64_MAX, .n = 2};
        msg.u.idle.host[0] = (struct lbw_local_idle_host){"n1", 4, .5, 2, .75, 3};
        msg.u.idle.host[1] = (struct lbw_local_idle_host){"n2.example", 1, 1e-9, 1e9, 0, 0};
    } else if (type != LBW_L_SELF && type != LBW_L_RANK && type != LBW_L_OK) {
        strcpy(msg.u.text.text, "hosts --all \xc3\xa4");
    }
}

static const enum lbw_local_type types[] = {
    LBW_L_SELF,      LBW_L_RANK,    LBW_L_NOTICE, LBW_L_COMMAND, LBW_L_JOB,  LBW_L_HOSTS,
    LBW_L_OK,        LBW_L_TEXT,    LBW_L_ERROR,  LBW_L_SCOPE,   LBW_L_RULE, LBW_L_PLACE,
    LBW_L_DECISIONS, LBW_L_EXPLAIN, LBW_L_CLAIM,  LBW_L_CLAIMS,  LBW_L_IDLE, LBW_L_IDLE_HOSTS};
#define NTYPES (sizeof(types) / sizeof(types[0]))

static void encode(struct lbx_buf *b)
{
    lbx_buf_init(b, LBX_FRAME_CAP);
    ck_assert_int_eq(lbw_local_encode(&msg, b), 0);
}

START_TEST(every_type_comes_back)
{
    struct lbx_buf b;

    make(types[_i]);
    encode(&b);
    memset(&back, 0, sizeof(back));
    ck_assert_int_eq(lbw_local_decode(lbx_buf_data(&b), lbx_buf_len(&b), &back), 0);
    ck_assert_mem_eq(&msg, &back, sizeof(msg));
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(truncated_and_trailing_are_refused)
{
    struct lbx_buf b;

    make(types[_i]);
    encode(&b);
    for (size_t n = 0; n < lbx_buf_len(&b); n++) {
        /* a copy of exactly that size lets the sanitizer see a read past the end */
        uint8_t *part = malloc(n + 1);

        memcpy(part, lbx_buf_data(&b), n);
        part = realloc(part, n ? n : 1);
        ck_assert_int_eq(lbw_local_decode(part, n, &back), -EPROTO);
        free(part);
    }
    ck_assert_int_eq(lbx_buf_append(&b, "\0", 1), 0);
    ck_assert_int_eq(lbw_local_decode(lbx_buf_data(&b), lbx_buf_len(&b), &back), -EPROTO);
    lbx_buf_fini(&b);
}
END_TEST

/* Whatever a changed byte makes of a message: refused, or again a message that can be told. */
START_TEST(changed_bytes_stay_in_bounds)
{
    struct lbx_buf b, again;

    make(types[_i]);
    encode(&b);
    for (size_t k = 0; k < lbx_buf_len(&b); k++) {
        uint8_t old = lbx_buf_data(&b)[k];

        for (int v = 0; v < 256; v++) {
            lbx_buf_data(&b)[k] = (uint8_t)v;
            if (lbw_local_decode(lbx_buf_data(&b), lbx_buf_len(&b), &back) < 0)
                continue;
            msg = back;
            encode(&again);
            ck_assert_int_eq(lbw_local_decode(lbx_buf_data(&again), lbx_buf_len(&again), &back), 0);
            lbx_buf_fini(&again);
        }
        lbx_buf_data(&b)[k] = old;
    }
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(a_full_answer_fits_a_frame)
{
    struct lbx_buf b;

    make(LBW_L_HOSTS);
    msg.u.hosts.n = LBW_LOCAL_HOSTS_MAX;
    for (size_t i = 0; i < msg.u.hosts.n; i++) {
        fill_host(&msg.u.hosts.host[i], i);
        memset(msg.u.hosts.host[i].host, 'n', LBW_LOCAL_HOST_MAX - 1);
        msg.u.hosts.host[i].age_ns = INT64_MAX;
    }
    encode(&b);
    memset(&back, 0, sizeof(back)); /* what lies between the fields is compared, too */
    ck_assert_int_eq(lbw_local_decode(lbx_buf_data(&b), lbx_buf_len(&b), &back), 0);
    ck_assert_mem_eq(&msg, &back, sizeof(msg));
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(values_out_of_bounds_are_not_encoded)
{
    struct lbx_buf b;
    struct lbw_local_host *h = &msg.u.hosts.host[1];

    lbx_buf_init(&b, LBX_FRAME_CAP);
    for (int which = 0; which < 9; which++) {
        make(LBW_L_HOSTS);
        if (which == 0)
            msg.u.hosts.n = LBW_LOCAL_HOSTS_MAX + 1;
        else if (which == 1)
            h->host[0] = '\0';
        else if (which == 2)
            strcpy(h->host, "a\nb");
        else if (which == 3)
            h->core_speed = 0;
        else if (which == 4)
            h->capacity = NAN;
        else if (which == 5)
            h->hardware = INFINITY;
        else if (which == 6)
            h->index = NAN;
        else if (which == 7)
            h->age_ns = -1;
        else
            msg.u.hosts.more = 2;
        ck_assert_int_eq(lbw_local_encode(&msg, &b), -EINVAL);
        ck_assert_uint_eq(lbx_buf_len(&b), 0);
    }
    for (int which = 0; which < 4; which++) {
        make(LBW_L_CLAIM);
        if (which == 0)
            msg.u.claims.n = LBW_LOCAL_HOSTS_MAX + 1;
        else if (which == 1)
            strcpy(msg.u.claims.claim[1].host, "a b");
        else if (which == 2)
            msg.u.claims.claim[1].tasks = NAN;
        else
            msg.u.claims.claim[1].cpus = LBW_LOCAL_CLAIM_MOST + 1;
        ck_assert_int_eq(lbw_local_encode(&msg, &b), -EINVAL);
        ck_assert_uint_eq(lbx_buf_len(&b), 0);
    }
    for (int which = 0; which < 8; which++) {
        make(LBW_L_IDLE_HOSTS);
        if (which == 0)
            msg.u.idle.n = LBW_LOCAL_HOSTS_MAX + 1;
        else if (which == 1)
            strcpy(msg.u.idle.host[1].host, "a b");
        else if (which == 2)
            msg.u.idle.host[1].cpus = 0;
        else if (which == 3)
            msg.u.idle.host[1].core_speed = 0;
        else if (which == 4)
            msg.u.idle.host[1].capacity = NAN;
        else if (which == 5)
            msg.u.idle.host[1].claimed = -1;
        else if (which == 6)
            msg.u.idle.host[1].held_cpus = LBW_LOCAL_CLAIM_MOST + 1;
        else
            msg.u.idle.age_ns = -1;
        ck_assert_int_eq(lbw_local_encode(&msg, &b), -EINVAL);
        ck_assert_uint_eq(lbx_buf_len(&b), 0);
    }
    make(LBW_L_IDLE);
    msg.u.idle_question.wait_ns = -1;
    ck_assert_int_eq(lbw_local_encode(&msg, &b), -EINVAL);
    make(LBW_L_TEXT);
    memset(msg.u.text.text, 'x', sizeof(msg.u.text.text)); /* no NUL */
    ck_assert_int_eq(lbw_local_encode(&msg, &b), -EINVAL);
    msg.type = (enum lbw_local_type)7;
    ck_assert_int_eq(lbw_local_encode(&msg, &b), -EINVAL);
    ck_assert_uint_eq(lbx_buf_len(&b), 0);
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(a_full_buffer_is_left_alone)
{
    struct lbx_buf b;

    lbx_buf_init(&b, 20);
    ck_assert_int_eq(lbx_buf_append(&b, "before", 6), 0);
    make(LBW_L_HOSTS);
    ck_assert_int_eq(lbw_local_encode(&msg, &b), -EMSGSIZE);
    ck_assert_uint_eq(lbx_buf_len(&b), 6);
    ck_assert_mem_eq(lbx_buf_data(&b), "before", 6);
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(forged_messages_are_refused)
{
    static const struct {
        const char *what;
        uint8_t bytes[16];
        size_t n;
    } forged[] = {
        {"version 2", {0x92, 2, 1}, 3},
        {"type 0", {0x92, 1, 0}, 3},
        {"type 9", {0x92, 1, 9}, 3},
        {"a map", {0x82, 1, 1}, 3},
        {"one field too many", {0x93, 1, 1, 0}, 4},
        {"NUL in a text", {0x93, 1, 4, 0xa3, 'a', 0, 'b'}, 7},
        {"text longer than the body", {0x93, 1, 4, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'}, 9},
        {"513 hosts", {0x94, 1, 32, 0, 0xcd, 2, 1}, 7},
        {"4 billion hosts",
         {0xdd, 0xff, 0xff, 0xff, 0xff, 1, 32, 0, 0xce, 0xff, 0xff, 0xff, 0xff},
         13},
        {"begin 2", {0x96, 1, 3, 2, 1, 1, 1}, 7},
        {"negative job", {0x96, 1, 3, 1, 0xff, 1, 1}, 7},
    };
    static const uint8_t good[] = {0x96, 1, 3, 1, 0xd1, 0, 9, 1, 1};

    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++)
        ck_assert_msg(lbw_local_decode(forged[i].bytes, forged[i].n, &back) == -EPROTO, "%s",
                      forged[i].what);
    ck_assert_int_eq(lbw_local_decode(good, sizeof(good), &back), 0); /* a signed form is fine */
    ck_assert_uint_eq(back.u.notice.jobid, 9);
}
END_TEST

/* A server of one connection that answers `bytes`, one by one with a pause when slow, then keeps
 * the connection open. */
struct server {
    char dir[32], path[64];
    int fd;
    const void *bytes;
    size_t n;
    bool slow, closes;
    volatile bool stop;
    pthread_t thread;
};

static void *serve(void *data)
{
    struct server *s = data;
    int fd;

    while ((fd = accept(s->fd, NULL, NULL)) < 0 && !s->stop)
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
    for (size_t i = 0; fd >= 0 && i < s->n && !s->stop; i += s->slow ? 1 : s->n) {
        if (send(fd, (const char *)s->bytes + i, s->slow ? 1 : s->n, MSG_NOSIGNAL) < 0)
            break;
        if (s->slow)
            lbx_clock_sleep_ns(LBX_NS_PER_MS);
    }
    while (fd >= 0 && !s->stop && !s->closes)
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void start(struct server *s)
{
    strcpy(s->dir, "/tmp/lbtest.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
    snprintf(s->path, sizeof(s->path), "%s/s", s->dir);
    s->fd = lbx_sock_listen_unix(s->path, 0600);
    ck_assert_int_ge(s->fd, 0);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(struct server *s)
{
    s->stop = true;
    pthread_join(s->thread, NULL);
    close(s->fd);
    unlink(s->path);
    rmdir(s->dir);
}

static int ask(const char *path, int64_t ns)
{
    make(LBW_L_SELF);
    return lbw_local_ask(path, &msg, lbx_clock_mono_ns() + ns, &back);
}

START_TEST(asking_gets_the_answer)
{
    static const uint8_t answer[] = {0, 0, 0, 3, 0x92, 1, LBW_L_OK};
    struct server s = {.bytes = answer, .n = sizeof(answer), .slow = _i == 1};

    start(&s);
    ck_assert_int_eq(ask(s.path, 10 * LBX_NS_PER_S), 0);
    ck_assert_int_eq(back.type, LBW_L_OK);
    stop(&s);
}
END_TEST

START_TEST(asking_a_bad_lbd_fails_in_time)
{
    static uint8_t flood[60000] = {0, 0, 0xff, 0xff};
    static const uint8_t garbage[] = "HTTP/1.1 400 Bad Request\r\n", wrong[] = {0, 0, 0, 1, 7};
    struct server silent = {0}, gone = {.closes = true},
                  rubbish = {.bytes = garbage, .n = sizeof(garbage)},
                  small = {.bytes = wrong, .n = sizeof(wrong)},
                  dribble = {.bytes = flood, .n = sizeof(flood), .slow = true};

    start(&silent);
    ck_assert_int_eq(ask(silent.path, 30 * LBX_NS_PER_MS), -ETIMEDOUT);
    stop(&silent);
    start(&gone);
    ck_assert_int_lt(ask(gone.path, 10 * LBX_NS_PER_S), 0);
    stop(&gone);
    start(&rubbish);
    ck_assert_int_eq(ask(rubbish.path, 10 * LBX_NS_PER_S), -EPROTO);
    stop(&rubbish);
    start(&small);
    ck_assert_int_eq(ask(small.path, 10 * LBX_NS_PER_S), -EPROTO);
    stop(&small);
    start(&dribble);
    ck_assert_int_eq(ask(dribble.path, 30 * LBX_NS_PER_MS), -ETIMEDOUT);
    stop(&dribble);
}
END_TEST

START_TEST(asking_nobody_says_so)
{
    char dir[] = "/tmp/lbtest.XXXXXX", path[64];
    int fd;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/s", dir);
    ck_assert_int_eq(ask(path, LBX_NS_PER_S), -ENOENT);
    fd = lbx_sock_listen_unix(path, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(ask(path, LBX_NS_PER_S), -ECONNREFUSED);
    unlink(path);
    rmdir(dir);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("codec"), *ask = suite_case("ask");

    tcase_add_loop_test(tc, every_type_comes_back, 0, NTYPES);
    tcase_add_loop_test(tc, truncated_and_trailing_are_refused, 0, NTYPES);
    tcase_add_loop_test(tc, changed_bytes_stay_in_bounds, 0, NTYPES);
    tcase_add_test(tc, a_full_answer_fits_a_frame);
    tcase_add_test(tc, values_out_of_bounds_are_not_encoded);
    tcase_add_test(tc, a_full_buffer_is_left_alone);
    tcase_add_test(tc, forged_messages_are_refused);
    tcase_add_loop_test(ask, asking_gets_the_answer, 0, 2);
    tcase_add_test(ask, asking_a_bad_lbd_fails_in_time);
    tcase_add_test(ask, asking_nobody_says_so);
    return suite_run("wire/local", tc, ask);
}
