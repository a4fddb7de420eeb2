/* SPDX-License-Identifier: BSD-3-Clause */
/* common/buf: a queue of bytes against a plain model; limits; what a failure leaves. */
#include "common/buf.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

/* The address sanitizer ends a program that asks for too much, where malloc says no. */
#ifdef __SANITIZE_ADDRESS__
#define ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN
#endif
#endif

START_TEST(empty)
{
    struct lbx_buf b;

    lbx_buf_init(&b, 10);
    ck_assert_uint_eq(lbx_buf_len(&b), 0);
    lbx_buf_consume(&b, 0);
    ck_assert_int_eq(lbx_buf_append(&b, NULL, 0), 0);
    ck_assert_uint_eq(lbx_buf_len(&b), 0);
    lbx_buf_fini(&b);
    lbx_buf_fini(&b);
    lbx_buf_fini(NULL);
}
END_TEST

START_TEST(room_for_nothing_is_writable_memory)
{
    struct lbx_buf b;
    uint8_t *room = NULL;

    lbx_buf_init(&b, 10);
    ck_assert_int_eq(lbx_buf_room(&b, 0, &room), 0);
    ck_assert_ptr_nonnull(room);
    lbx_buf_wrote(&b, 0);
    ck_assert_uint_eq(lbx_buf_len(&b), 0);
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(limit_is_kept_to_the_byte)
{
    static const size_t limits[] = {1, 2, 255, 256, 257, 1000, 1024, 65536 + 20};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        uint8_t *room = (uint8_t *)&limits, *was = room;
        struct lbx_buf b;

        lbx_buf_init(&b, limits[i]);
        ck_assert_int_eq(lbx_buf_room(&b, limits[i] + 1, &room), -EMSGSIZE);
        ck_assert_int_eq(lbx_buf_room(&b, SIZE_MAX, &room), -EMSGSIZE);
        ck_assert_ptr_eq(room, was); /* untouched on failure */
        for (size_t n = 0; n < limits[i]; n++)
            ck_assert_int_eq(lbx_buf_append(&b, "x", 1), 0);
        ck_assert_int_eq(lbx_buf_append(&b, "y", 1), -EMSGSIZE);
        ck_assert_uint_eq(lbx_buf_len(&b), limits[i]);
        ck_assert_uint_le(b.size, limits[i]); /* nor is more allocated */
        lbx_buf_consume(&b, 1);
        ck_assert_int_eq(lbx_buf_append(&b, "z", 1), 0);
        ck_assert_int_eq(lbx_buf_data(&b)[limits[i] - 1], 'z');
        lbx_buf_fini(&b);
    }
}
END_TEST

/* No limit to speak of: sizes near the largest number must be refused by malloc, not wrap round. */
START_TEST(huge_sizes_do_not_wrap)
{
    uint8_t *room = NULL;
    struct lbx_buf b;

    lbx_buf_init(&b, SIZE_MAX);
    ck_assert_int_eq(lbx_buf_append(&b, "abc", 3), 0);
    lbx_buf_consume(&b, 1);
    ck_assert_int_eq(lbx_buf_room(&b, SIZE_MAX - 1, &room), -EMSGSIZE);
#ifndef ASAN
    ck_assert_int_eq(lbx_buf_room(&b, SIZE_MAX - 2, &room), -ENOMEM);
    ck_assert_int_eq(lbx_buf_room(&b, SIZE_MAX / 2 + 1, &room), -ENOMEM);
#endif
    ck_assert_ptr_null(room);
    ck_assert_uint_eq(lbx_buf_len(&b), 2);
    ck_assert_mem_eq(lbx_buf_data(&b), "bc", 2);
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(limit_may_be_changed)
{
    struct lbx_buf b;

    lbx_buf_init(&b, 4);
    ck_assert_int_eq(lbx_buf_append(&b, "abcd", 4), 0);
    b.limit = 300;
    for (int i = 0; i < 296; i++)
        ck_assert_int_eq(lbx_buf_append(&b, "e", 1), 0);
    ck_assert_int_eq(lbx_buf_append(&b, "f", 1), -EMSGSIZE);
    b.limit = 4; /* below what is in it */
    ck_assert_int_eq(lbx_buf_append(&b, "f", 1), -EMSGSIZE);
    ck_assert_int_eq(lbx_buf_append(&b, "", 0), -EMSGSIZE);
    ck_assert_uint_eq(lbx_buf_len(&b), 300);
    ck_assert_mem_eq(lbx_buf_data(&b), "abcde", 5);
    lbx_buf_fini(&b);
}
END_TEST

#define MODEL_LIMIT 3000

START_TEST(behaves_as_a_queue)
{
    struct prop p = prop_start("behaves_as_a_queue");
    uint8_t model[MODEL_LIMIT], chunk[MODEL_LIMIT];
    size_t len = 0;
    struct lbx_buf b;

    lbx_buf_init(&b, MODEL_LIMIT);
    for (int step = 0; step < 20000; step++) {
        size_t n = prop_below(&p, prop_below(&p, 8) == 0 ? MODEL_LIMIT : 200);

        if (prop_below(&p, 2) == 0) {
            prop_bytes(&p, chunk, n);
            if (n > MODEL_LIMIT - len) {
                ck_assert_int_eq(lbx_buf_append(&b, chunk, n), -EMSGSIZE);
            } else {
                ck_assert_int_eq(lbx_buf_append(&b, chunk, n), 0);
                memcpy(model + len, chunk, n);
                len += n;
            }
        } else {
            n = n > len ? len : n;
            lbx_buf_consume(&b, n);
            memmove(model, model + n, len - n);
            len -= n;
        }
        ck_assert_uint_eq(lbx_buf_len(&b), len);
        ck_assert_uint_le(b.size, MODEL_LIMIT);
        if (len > 0)
            ck_assert_mem_eq(lbx_buf_data(&b), model, len);
    }
    lbx_buf_fini(&b);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("buf");

    tcase_add_test(tc, empty);
    tcase_add_test(tc, room_for_nothing_is_writable_memory);
    tcase_add_test(tc, limit_is_kept_to_the_byte);
    tcase_add_test(tc, huge_sizes_do_not_wrap);
    tcase_add_test(tc, limit_may_be_changed);
    tcase_add_test(tc, behaves_as_a_queue);
    return suite_run("common/buf", tc);
}
