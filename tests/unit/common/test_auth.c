/* SPDX-License-Identifier: BSD-3-Clause */
/* common/auth: both sides prove the key, or neither accepts. */
#include "common/auth.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

#define HELLO_BYTES 40
#define ANSWER_BYTES 76
#define CONFIRM_BYTES 32
#define CONTEXT "cluster/42.0/0"

/* One side: its state, what came and what goes. */
struct side {
    struct lbx_auth auth;
    struct lbx_buf in, out;
};

static const uint8_t key[LBX_KEY_BYTES] = "0123456789abcdef0123456789abcde";
static struct side server, client;

static void open_side(struct side *s, bool is_server, const uint8_t *k, const char *context,
                      uint32_t peer_id)
{
    if (is_server)
        lbx_auth_init_server(&s->auth, k, context, strlen(context));
    else
        lbx_auth_init_client(&s->auth, k, context, strlen(context), peer_id);
    lbx_buf_init(&s->in, 1024);
    lbx_buf_init(&s->out, 1024);
}

static void close_side(struct side *s)
{
    lbx_auth_fini(&s->auth);
    lbx_buf_fini(&s->in);
    lbx_buf_fini(&s->out);
}

static void setup(void)
{
    ck_assert_int_eq(lbx_auth_setup(), 0);
    open_side(&server, true, key, CONTEXT, 0);
    open_side(&client, false, key, CONTEXT, 3);
}

static void teardown(void)
{
    close_side(&server);
    close_side(&client);
}

static void again(void)
{
    teardown();
    setup();
}

static int step(struct side *s)
{
    return lbx_auth_step(&s->auth, &s->in, &s->out);
}

static void give(struct side *to, const void *data, size_t n)
{
    ck_assert_int_eq(lbx_buf_append(&to->in, data, n), 0);
}

static void carry(struct side *from, struct side *to)
{
    give(to, lbx_buf_data(&from->out), lbx_buf_len(&from->out));
    lbx_buf_consume(&from->out, lbx_buf_len(&from->out));
}

/* Steps both until neither sends; returns what each said last. */
static void talk(struct side *a, struct side *b, int *ret_a, int *ret_b)
{
    do {
        *ret_a = step(a);
        carry(a, b);
        *ret_b = step(b);
        carry(b, a);
    } while (lbx_buf_len(&a->in) + lbx_buf_len(&b->in) > 0 && *ret_a >= 0 && *ret_b >= 0 &&
             !(*ret_a == 1 && *ret_b == 1));
}

START_TEST(both_prove_it_and_the_frames_work)
{
    struct lbx_channel cs, cc;
    const uint8_t *body = NULL;
    int of_server, of_client;
    size_t n = 0;

    talk(&server, &client, &of_server, &of_client);
    ck_assert_int_eq(of_server, 1);
    ck_assert_int_eq(of_client, 1);
    ck_assert_uint_eq(server.auth.peer_id, 3);
    ck_assert_int_eq(step(&server), 1); /* once done, it stays so */
    lbx_auth_channel(&server.auth, &cs);
    lbx_auth_channel(&client.auth, &cc);
    ck_assert_mem_eq(cs.key_tx, cc.key_rx, LBX_KEY_BYTES);
    ck_assert_mem_eq(cs.key_rx, cc.key_tx, LBX_KEY_BYTES);
    ck_assert_mem_ne(cs.key_tx, cs.key_rx, LBX_KEY_BYTES);
    ck_assert_mem_ne(cs.key_tx, key, LBX_KEY_BYTES);
    ck_assert_int_eq(lbx_frame_append(&cc, &client.out, "up", 2), 0);
    carry(&client, &server);
    ck_assert_int_eq(lbx_frame_next(&cs, &server.in, &body, &n), 1);
    ck_assert_mem_eq(body, "up", 2);
    ck_assert_int_eq(lbx_frame_append(&cs, &server.out, "down", 4), 0);
    carry(&server, &client);
    ck_assert_int_eq(lbx_frame_next(&cc, &client.in, &body, &n), 1);
    ck_assert_mem_eq(body, "down", 4);
    lbx_channel_fini(&cs);
    lbx_channel_fini(&cc);
}
END_TEST

START_TEST(sessions_have_keys_of_their_own)
{
    struct lbx_channel first, second;
    int a, b;

    talk(&server, &client, &a, &b);
    lbx_auth_channel(&server.auth, &first);
    again();
    talk(&server, &client, &a, &b);
    ck_assert_int_eq(a, 1);
    lbx_auth_channel(&server.auth, &second);
    ck_assert_mem_ne(first.key_tx, second.key_tx, LBX_KEY_BYTES);
    ck_assert_mem_ne(first.key_rx, second.key_rx, LBX_KEY_BYTES);
}
END_TEST

/* The client is refused with not one byte of proof for it; so it never accepts either. */
static void check_refused(void)
{
    int of_server, of_client;

    talk(&server, &client, &of_server, &of_client);
    ck_assert_int_eq(of_server, -EACCES);
    ck_assert_int_eq(of_client, 0);
    ck_assert_uint_eq(lbx_buf_len(&server.out), 0);
    ck_assert_int_eq(step(&server), -EACCES); /* for ever */
}

START_TEST(wrong_key)
{
    uint8_t wrong[LBX_KEY_BYTES];

    for (size_t i = 0; i < LBX_KEY_BYTES; i++) {
        memcpy(wrong, key, sizeof(wrong));
        wrong[i] ^= 0x80;
        close_side(&client);
        open_side(&client, false, wrong, CONTEXT, 3);
        check_refused();
        close_side(&server);
        open_side(&server, true, key, CONTEXT, 0);
    }
}
END_TEST

START_TEST(wrong_context)
{
    static const char *const wrong[] = {"cluster/42.0/1",
                                        "cluster/42.1/0",
                                        "cluster/43.0/0",
                                        "Cluster/42.0/0",
                                        "cluster/42.0/",
                                        "cluster/42.0/00",
                                        ""};

    close_side(&client);
    open_side(&client, false, key, wrong[_i], 3);
    check_refused();
}
END_TEST

/* A client of the job that says in its answer that it is another rank. */
START_TEST(wrong_peer_id)
{
    ck_assert_int_eq(step(&server), 0);
    carry(&server, &client);
    ck_assert_int_eq(step(&client), 0);
    ck_assert_uint_eq(lbx_buf_len(&client.out), ANSWER_BYTES);
    ck_assert_uint_eq(lbx_buf_data(&client.out)[8 + 32 + 3], 3);
    lbx_buf_data(&client.out)[8 + 32 + 3] = 2;
    carry(&client, &server);
    ck_assert_int_eq(step(&server), -EACCES);
}
END_TEST

/* A server that does not know the key cannot make the client accept. */
START_TEST(false_server)
{
    uint8_t wrong[LBX_KEY_BYTES] = {0}, confirm[CONFIRM_BYTES];

    close_side(&server);
    open_side(&server, true, wrong, CONTEXT, 0);
    ck_assert_int_eq(step(&server), 0);
    carry(&server, &client);
    ck_assert_int_eq(step(&client), 0);
    memset(confirm, 0, sizeof(confirm));
    give(&client, confirm, sizeof(confirm));
    ck_assert_int_eq(step(&client), -EACCES);
}
END_TEST

/* The client's own proof sent back as the server's. */
START_TEST(reflected_proof)
{
    uint8_t proof[CONFIRM_BYTES];

    ck_assert_int_eq(step(&server), 0);
    carry(&server, &client);
    ck_assert_int_eq(step(&client), 0);
    memcpy(proof, lbx_buf_data(&client.out) + 8 + 32 + 4, sizeof(proof));
    give(&client, proof, sizeof(proof));
    ck_assert_int_eq(step(&client), -EACCES);
}
END_TEST

/* A server's hello, with its own nonce, sent back to it, and its whole stream to a client. */
START_TEST(reflected_stream)
{
    uint8_t answer[ANSWER_BYTES] = {0};

    ck_assert_int_eq(step(&server), 0);
    memcpy(answer, lbx_buf_data(&server.out), HELLO_BYTES);
    give(&server, answer, sizeof(answer));
    ck_assert_int_eq(step(&server), -EACCES);
    again();
    ck_assert_int_eq(step(&server), 0);
    carry(&server, &client);
    ck_assert_int_eq(step(&client), 0);
    carry(&client, &client); /* hears itself */
    ck_assert_int_eq(step(&client), -EACCES);
}
END_TEST

/* Two parties in the same role: nobody accepts. */
START_TEST(same_roles)
{
    struct side other;
    int a, b;

    open_side(&other, true, key, CONTEXT, 0);
    ck_assert_int_eq(step(&server), 0);
    ck_assert_int_eq(step(&other), 0);
    carry(&server, &other);
    carry(&other, &server);
    ck_assert_int_eq(step(&server), 0); /* 40 bytes are no answer yet */
    give(&server, "0123456789012345678901234567890123456789", 36);
    ck_assert_int_eq(step(&server), -EACCES);
    close_side(&other);
    open_side(&other, false, key, CONTEXT, 3);
    talk(&client, &other, &a, &b);
    ck_assert_int_eq(a, 0);
    ck_assert_int_eq(b, 0);
    close_side(&other);
}
END_TEST

/* An answer recorded in one session does not open another. */
START_TEST(replayed_answer)
{
    uint8_t answer[ANSWER_BYTES];

    ck_assert_int_eq(step(&server), 0);
    carry(&server, &client);
    ck_assert_int_eq(step(&client), 0);
    memcpy(answer, lbx_buf_data(&client.out), sizeof(answer));
    carry(&client, &server);
    ck_assert_int_eq(step(&server), 1); /* it was good once */
    close_side(&server);
    open_side(&server, true, key, CONTEXT, 0);
    ck_assert_int_eq(step(&server), 0);
    give(&server, answer, sizeof(answer));
    ck_assert_int_eq(step(&server), -EACCES);
}
END_TEST

/* Flip one byte of message m (0 hello, 1 answer, 2 confirm): somebody refuses, and the one that
 * must not be misled does not accept. */
static void flip_and_talk(int m, size_t at, uint8_t with)
{
    bool refused = false;

    again();
    ck_assert_int_eq(step(&server), 0);
    if (m == 0)
        lbx_buf_data(&server.out)[at] ^= with;
    carry(&server, &client);
    if (step(&client) < 0) {
        refused = true;
    } else {
        if (m == 1)
            lbx_buf_data(&client.out)[at] ^= with;
        carry(&client, &server);
        if (step(&server) < 0) {
            refused = true;
        } else {
            lbx_buf_data(&server.out)[at] ^= with;
            carry(&server, &client);
            refused = step(&client) == -EACCES;
        }
    }
    ck_assert_msg(refused, "message %d byte %zu", m, at);
    if (m < 2)
        ck_assert_int_eq(step(&server) == 1 || step(&client) == 1, 0);
}

START_TEST(each_byte_flipped)
{
    static const size_t bytes[] = {HELLO_BYTES, ANSWER_BYTES, CONFIRM_BYTES};

    for (size_t at = 0; at < bytes[_i]; at++) {
        flip_and_talk(_i, at, 0x01);
        flip_and_talk(_i, at, 0x80);
    }
}
END_TEST

/* One byte at a time: 0 until the last, and the same end. */
START_TEST(one_byte_at_a_time)
{
    ck_assert_int_eq(step(&server), 0);
    for (size_t i = 0; i < HELLO_BYTES; i++) {
        ck_assert_uint_eq(lbx_buf_len(&client.out), 0);
        give(&client, lbx_buf_data(&server.out) + i, 1);
        ck_assert_int_eq(step(&client), 0);
    }
    lbx_buf_consume(&server.out, HELLO_BYTES);
    ck_assert_uint_eq(lbx_buf_len(&client.out), ANSWER_BYTES);
    for (size_t i = 0; i < ANSWER_BYTES; i++) {
        ck_assert_uint_eq(lbx_buf_len(&server.out), 0); /* no proof before the whole answer */
        give(&server, lbx_buf_data(&client.out) + i, 1);
        ck_assert_int_eq(step(&server), i + 1 == ANSWER_BYTES ? 1 : 0);
    }
    for (size_t i = 0; i < CONFIRM_BYTES; i++) {
        give(&client, lbx_buf_data(&server.out) + i, 1);
        ck_assert_int_eq(step(&client), i + 1 == CONFIRM_BYTES ? 1 : 0);
    }
}
END_TEST

/* What comes right behind the last message is left for the frames. */
START_TEST(bytes_behind_belong_to_the_frames)
{
    ck_assert_int_eq(step(&server), 0);
    carry(&server, &client);
    ck_assert_int_eq(step(&client), 0);
    carry(&client, &server);
    ck_assert_int_eq(step(&server), 1);
    carry(&server, &client);
    give(&client, "frame", 5);
    ck_assert_int_eq(step(&client), 1);
    ck_assert_uint_eq(lbx_buf_len(&client.in), 5);
    ck_assert_mem_eq(lbx_buf_data(&client.in), "frame", 5);
}
END_TEST

/* An out that is too small: nothing consumed, and with room it goes on. */
START_TEST(full_out_can_go_on)
{
    server.out.limit = HELLO_BYTES - 1;
    ck_assert_int_eq(step(&server), -EMSGSIZE);
    server.out.limit = HELLO_BYTES;
    ck_assert_int_eq(step(&server), 0);
    carry(&server, &client);
    client.out.limit = ANSWER_BYTES - 1;
    ck_assert_int_eq(step(&client), -EMSGSIZE);
    ck_assert_uint_eq(lbx_buf_len(&client.in), HELLO_BYTES);
    client.out.limit = ANSWER_BYTES;
    ck_assert_int_eq(step(&client), 0);
    carry(&client, &server);
    server.out.limit = CONFIRM_BYTES - 1;
    ck_assert_int_eq(step(&server), -EMSGSIZE);
    ck_assert_uint_eq(lbx_buf_len(&server.in), ANSWER_BYTES);
    server.out.limit = CONFIRM_BYTES;
    ck_assert_int_eq(step(&server), 1);
    carry(&server, &client);
    ck_assert_int_eq(step(&client), 1);
}
END_TEST

START_TEST(keys_are_wiped)
{
    static const struct lbx_auth zero;

    give(&server, "0123456789", 10);
    lbx_auth_fini(&server.auth);
    ck_assert_mem_eq(&server.auth, &zero, sizeof(zero));
    lbx_auth_fini(NULL);
    give(&client, key, sizeof(key));
    give(&client, key, sizeof(key)); /* no magic */
    ck_assert_int_eq(step(&client), -EACCES);
    ck_assert_mem_eq(client.auth.key, zero.key, LBX_KEY_BYTES);
}
END_TEST

/* Streams of random bytes of any length never open anything. */
START_TEST(noise)
{
    struct prop p = prop_start("noise");
    uint8_t bytes[300];

    for (int i = 0; i < 2000; i++) {
        size_t n = prop_below(&p, sizeof(bytes));
        struct side *s = i % 2 ? &server : &client;

        again();
        prop_bytes(&p, bytes, n);
        if (n >= 8 && prop_below(&p, 2) == 0)
            memcpy(bytes, "lbauth\0\1", 8); /* past the first gate */
        give(s, bytes, n);
        ck_assert_int_ne(step(s), 1);
    }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("auth");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, both_prove_it_and_the_frames_work);
    tcase_add_test(tc, sessions_have_keys_of_their_own);
    tcase_add_test(tc, wrong_key);
    tcase_add_loop_test(tc, wrong_context, 0, 7);
    tcase_add_test(tc, wrong_peer_id);
    tcase_add_test(tc, false_server);
    tcase_add_test(tc, reflected_proof);
    tcase_add_test(tc, reflected_stream);
    tcase_add_test(tc, same_roles);
    tcase_add_test(tc, replayed_answer);
    tcase_add_loop_test(tc, each_byte_flipped, 0, 3);
    tcase_add_test(tc, one_byte_at_a_time);
    tcase_add_test(tc, bytes_behind_belong_to_the_frames);
    tcase_add_test(tc, full_out_can_go_on);
    tcase_add_test(tc, keys_are_wiped);
    tcase_add_test(tc, noise);
    return suite_run("common/auth", tc);
}
