/* SPDX-License-Identifier: BSD-3-Clause */
/* common/frame: what is framed comes out; whatever was changed on the way is refused. */
#include "common/frame.h"

#include <errno.h>
#include <string.h>

#include "common/auth.h"
#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

#define LIMIT (4 * (LBX_FRAME_CAP + LBX_FRAME_OVERHEAD))
#define MAC_BYTES 16

static const uint8_t key_a[LBX_KEY_BYTES] = {1, 2, 3}, key_b[LBX_KEY_BYTES] = {4, 5, 6};
static struct lbx_channel tx, rx;
static struct lbx_buf out, in;

static void setup(void)
{
    ck_assert_int_eq(lbx_auth_setup(), 0);
    lbx_channel_init_keyed(&tx, key_a, key_b);
    lbx_channel_init_keyed(&rx, key_b, key_a);
    lbx_buf_init(&out, LIMIT);
    lbx_buf_init(&in, LIMIT);
}

static void teardown(void)
{
    lbx_channel_fini(&tx);
    lbx_channel_fini(&rx);
    lbx_channel_fini(NULL);
    lbx_buf_fini(&out);
    lbx_buf_fini(&in);
}

/* A fresh receiver that is given n bytes. */
static int receive(const uint8_t *wire, size_t n, const uint8_t **ret_body, size_t *ret_n)
{
    lbx_channel_init_keyed(&rx, key_b, key_a);
    lbx_buf_consume(&in, lbx_buf_len(&in));
    ck_assert_int_eq(lbx_buf_append(&in, wire, n), 0);
    return lbx_frame_next(&rx, &in, ret_body, ret_n);
}

static void expect(const char *text)
{
    const uint8_t *body = NULL;
    size_t n = 0;

    ck_assert_int_eq(lbx_frame_next(&rx, &in, &body, &n), 1);
    ck_assert_uint_eq(n, strlen(text));
    ck_assert_mem_eq(body, text, n);
}

static void expect_code(int code)
{
    const uint8_t *body = key_a;
    size_t n = 77;

    ck_assert_int_eq(lbx_frame_next(&rx, &in, &body, &n), code);
    ck_assert_ptr_eq(body, key_a); /* ret_* untouched */
    ck_assert_uint_eq(n, 77);
}

static void append(const char *text)
{
    ck_assert_int_eq(lbx_frame_append(&tx, &out, text, strlen(text)), 0);
}

START_TEST(wire_form)
{
    append("abc");
    ck_assert_uint_eq(lbx_buf_len(&out), 4 + 3 + MAC_BYTES);
    ck_assert_mem_eq(lbx_buf_data(&out), "\0\0\0\3abc", 7);
    lbx_buf_consume(&out, lbx_buf_len(&out));
    lbx_channel_init_plain(&tx);
    append("abc");
    ck_assert_uint_eq(lbx_buf_len(&out), 7);
    ck_assert_mem_eq(lbx_buf_data(&out), "\0\0\0\3abc", 7);
}
END_TEST

/* Frames of random sizes, delivered in random pieces, on a keyed and on a plain channel. */
START_TEST(sequence_in_pieces)
{
    struct prop p = prop_start("sequence_in_pieces");
    static uint8_t bodies[200][700];
    size_t sizes[200], got = 0, n = 0;
    const uint8_t *body = NULL;

    if (_i == 0) {
        lbx_channel_init_plain(&tx);
        lbx_channel_init_plain(&rx);
    }
    for (size_t i = 0; i < 200; i++) {
        sizes[i] = 1 + prop_below(&p, sizeof(bodies[i]));
        prop_bytes(&p, bodies[i], sizes[i]);
        ck_assert_int_eq(lbx_frame_append(&tx, &out, bodies[i], sizes[i]), 0);
    }
    while (lbx_buf_len(&out) > 0) {
        size_t piece = 1 + prop_below(&p, 900);
        int rc;

        piece = piece > lbx_buf_len(&out) ? lbx_buf_len(&out) : piece;
        ck_assert_int_eq(lbx_buf_append(&in, lbx_buf_data(&out), piece), 0);
        lbx_buf_consume(&out, piece);
        while ((rc = lbx_frame_next(&rx, &in, &body, &n)) == 1) {
            ck_assert_uint_lt(got, 200);
            ck_assert_uint_eq(n, sizes[got]);
            ck_assert_mem_eq(body, bodies[got], n);
            got++;
        }
        ck_assert_int_eq(rc, 0);
    }
    ck_assert_uint_eq(got, 200);
    ck_assert_uint_eq(lbx_buf_len(&in), 0);
}
END_TEST

/* Each byte and bit: a length made greater waits for more or is above the cap, all else is forged.
 */
START_TEST(each_bit_flipped)
{
    const uint8_t *body = NULL;
    uint8_t wire[64];
    size_t len, n = 0;

    append("the body of a frame");
    len = lbx_buf_len(&out);
    memcpy(wire, lbx_buf_data(&out), len);
    ck_assert_int_eq(receive(wire, len, &body, &n), 1); /* sound without a flip */
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++) {
            int rc;

            wire[i] ^= (uint8_t)(1 << bit);
            rc = receive(wire, len, &body, &n);
            if (i < 2)
                ck_assert_int_eq(rc, -EMSGSIZE); /* 65536 + 19 and more */
            else if (i >= 4)
                ck_assert_int_eq(rc, -EBADMSG);
            ck_assert_int_ne(rc, 1);
            wire[i] ^= (uint8_t)(1 << bit);
        }
}
END_TEST

/* A length that was made greater and is then satisfied by what follows is refused by its MAC. */
START_TEST(grown_length_with_bytes_behind)
{
    const uint8_t *body = NULL;
    uint8_t wire[200] = {0};
    size_t n = 0, len;

    append("one");
    append("two");
    len = lbx_buf_len(&out);
    memcpy(wire, lbx_buf_data(&out), len);
    for (uint8_t length = 0; length < 40; length++) {
        int want = length == 3 ? 1 : length == 0 ? -EMSGSIZE : -EBADMSG;

        wire[3] = length;
        ck_assert_int_eq(receive(wire, sizeof(wire), &body, &n), want);
    }
}
END_TEST

START_TEST(each_truncation_waits)
{
    const uint8_t *body = key_a;
    size_t len, n = 77;

    append("the body of a frame");
    len = lbx_buf_len(&out);
    for (size_t cut = 0; cut < len; cut++) {
        ck_assert_int_eq(receive(lbx_buf_data(&out), cut, &body, &n), 0);
        ck_assert_ptr_eq(body, key_a);
        ck_assert_uint_eq(n, 77);
        ck_assert_uint_eq(lbx_buf_len(&in), cut);
    }
    ck_assert_int_eq(receive(lbx_buf_data(&out), len, &body, &n), 1);
}
END_TEST

START_TEST(trailing_bytes_are_the_next_frame)
{
    append("one");
    ck_assert_int_eq(lbx_buf_append(&in, lbx_buf_data(&out), lbx_buf_len(&out)), 0);
    ck_assert_int_eq(lbx_buf_append(&in, "\0\0\0\1x0123456789abcdef", 21), 0);
    expect("one");
    expect_code(-EBADMSG);
    expect_code(-EBADMSG); /* it stays refused */
}
END_TEST

/* Orders in which three sent frames may come: the first that is out of turn is refused. */
static const struct {
    int order[4];
    int good; /* that many are accepted */
} orders[] = {
    {{0, 1, 2, -1}, 3},   {{0, 0, -1, -1}, 1}, {{0, 1, 0, -1}, 2}, {{0, 1, 1, -1}, 2},
    {{1, -1, -1, -1}, 0}, {{0, 2, -1, -1}, 1}, {{2, 1, 0, -1}, 0}, {{0, 1, 2, 2}, 3},
};

START_TEST(repeated_dropped_reordered)
{
    static const char *const text[] = {"same", "same", "same"}; /* differing in sequence only */
    uint8_t wire[3][24];
    int i;

    for (i = 0; i < 3; i++) {
        append(text[i]);
        ck_assert_uint_eq(lbx_buf_len(&out), sizeof(wire[i]));
        memcpy(wire[i], lbx_buf_data(&out), sizeof(wire[i]));
        lbx_buf_consume(&out, sizeof(wire[i]));
    }
    for (i = 0; i < 4 && orders[_i].order[i] >= 0; i++)
        ck_assert_int_eq(lbx_buf_append(&in, wire[orders[_i].order[i]], sizeof(wire[0])), 0);
    for (int good = 0; good < orders[_i].good; good++)
        expect("same");
    expect_code(orders[_i].good == i ? 0 : -EBADMSG);
}
END_TEST

START_TEST(own_frames_reflected)
{
    append("mine");
    ck_assert_int_eq(lbx_buf_append(&in, lbx_buf_data(&out), lbx_buf_len(&out)), 0);
    lbx_channel_init_keyed(&rx, key_a, key_b); /* the sender itself receives them */
    expect_code(-EBADMSG);
}
END_TEST

START_TEST(plain_is_not_taken_for_keyed)
{
    lbx_channel_init_plain(&tx);
    append("no MAC here, but enough bytes for one");
    append("and many more bytes");
    ck_assert_int_eq(lbx_buf_append(&in, lbx_buf_data(&out), lbx_buf_len(&out)), 0);
    expect_code(-EBADMSG);
}
END_TEST

/* The size of a body: 0 and cap + 1 are refused on both sides, 1 and cap pass. */
START_TEST(sizes_at_the_ends)
{
    static uint8_t body[LBX_FRAME_CAP + 1];
    static const uint8_t lengths[][4] = {
        {0, 0, 0, 0}, {0, 1, 0, 1}, {0xff, 0xff, 0xff, 0xff}, {0x80, 0, 0, 0}};
    static const size_t good[] = {1, LBX_FRAME_CAP};
    const uint8_t *got = NULL;
    size_t n = 0;

    ck_assert_int_eq(lbx_frame_append(&tx, &out, body, 0), -EMSGSIZE);
    ck_assert_int_eq(lbx_frame_append(&tx, &out, body, LBX_FRAME_CAP + 1), -EMSGSIZE);
    ck_assert_int_eq(lbx_frame_append(&tx, &out, body, SIZE_MAX), -EMSGSIZE);
    ck_assert_uint_eq(lbx_buf_len(&out), 0);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(lbx_frame_append(&tx, &out, body, good[i]), 0);
        ck_assert_int_eq(lbx_buf_append(&in, lbx_buf_data(&out), lbx_buf_len(&out)), 0);
        lbx_buf_consume(&out, lbx_buf_len(&out));
        ck_assert_int_eq(lbx_frame_next(&rx, &in, &got, &n), 1);
        ck_assert_uint_eq(n, good[i]);
    }
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]);
         i++) /* the header alone is enough */
        ck_assert_int_eq(receive(lengths[i], 4, &got, &n), -EMSGSIZE);
}
END_TEST

/* A full out loses no sequence number: what was refused can be sent later. */
START_TEST(full_out_changes_nothing)
{
    lbx_buf_fini(&out);
    lbx_buf_init(&out, 30);
    append("one");
    ck_assert_int_eq(lbx_frame_append(&tx, &out, "two", 3), -EMSGSIZE);
    ck_assert_uint_eq(lbx_buf_len(&out), 23);
    ck_assert_int_eq(lbx_buf_append(&in, lbx_buf_data(&out), 23), 0);
    lbx_buf_consume(&out, 23);
    append("two");
    ck_assert_int_eq(lbx_buf_append(&in, lbx_buf_data(&out), 23), 0);
    expect("one");
    expect("two");
    expect_code(0);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("frame");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, wire_form);
    tcase_add_loop_test(tc, sequence_in_pieces, 0, 2);
    tcase_add_test(tc, each_bit_flipped);
    tcase_add_test(tc, grown_length_with_bytes_behind);
    tcase_add_test(tc, each_truncation_waits);
    tcase_add_test(tc, trailing_bytes_are_the_next_frame);
    tcase_add_loop_test(tc, repeated_dropped_reordered, 0, sizeof(orders) / sizeof(orders[0]));
    tcase_add_test(tc, own_frames_reflected);
    tcase_add_test(tc, plain_is_not_taken_for_keyed);
    tcase_add_test(tc, sizes_at_the_ends);
    tcase_add_test(tc, full_out_changes_nothing);
    return suite_run("common/frame", tc);
}
