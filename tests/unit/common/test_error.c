/* SPDX-License-Identifier: BSD-3-Clause */
/* common/error: texts are recorded, prefixed and cut; the code comes back. */
#include "common/error.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

START_TEST(records_code_and_text)
{
    struct lbx_error err = {0};

    ck_assert_int_eq(lbx_error_set(&err, -EINVAL, "line %d: %s", 7, "bad"), -EINVAL);
    ck_assert_int_eq(err.code, -EINVAL);
    ck_assert_str_eq(err.text, "line 7: bad");
    ck_assert_int_eq(lbx_error_set(&err, -ENOENT, "other"), -ENOENT);
    ck_assert_int_eq(err.code, -ENOENT);
    ck_assert_str_eq(err.text, "other");
}
END_TEST

START_TEST(null_is_fine)
{
    ck_assert_int_eq(lbx_error_set(NULL, -EIO, "%s", "unseen"), -EIO);
    lbx_error_prefix(NULL, "%s", "unseen");
}
END_TEST

START_TEST(prefix_keeps_code)
{
    struct lbx_error err = {0};

    ck_assert_int_eq(lbx_error_set(&err, -EIO, "cannot read"), -EIO);
    lbx_error_prefix(&err, "%s:%d", "policy.conf", 3);
    ck_assert_str_eq(err.text, "policy.conf:3: cannot read");
    ck_assert_int_eq(err.code, -EIO);
}
END_TEST

START_TEST(argument_may_be_the_text_itself)
{
    struct lbx_error err = {0};

    ck_assert_int_eq(lbx_error_set(&err, -EIO, "inner"), -EIO);
    ck_assert_int_eq(lbx_error_set(&err, -EPROTO, "outer (%s) again (%s)", err.text, err.text),
                     -EPROTO);
    ck_assert_str_eq(err.text, "outer (inner) again (inner)");
    lbx_error_prefix(&err, "<%s>", err.text);
    ck_assert_str_eq(err.text, "<outer (inner) again (inner)>: outer (inner) again (inner)");
}
END_TEST

/* Every length round the end of the text: always terminated, never written past. */
START_TEST(too_long_is_cut)
{
    struct {
        struct lbx_error err;
        char guard[8];
    } b;
    char text[LBX_ERROR_TEXT_MAX + 8];

    for (size_t n = LBX_ERROR_TEXT_MAX - 8; n < sizeof(text); n++) {
        size_t kept = n < LBX_ERROR_TEXT_MAX ? n : LBX_ERROR_TEXT_MAX - 1;

        memset(&b, 'G', sizeof(b));
        memset(text, 'x', n);
        text[n] = '\0';
        ck_assert_int_eq(lbx_error_set(&b.err, -EIO, "%s", text), -EIO);
        ck_assert_uint_eq(strlen(b.err.text), kept);
        lbx_error_prefix(&b.err, "abc");
        ck_assert_uint_eq(strlen(b.err.text),
                          kept + 5 < LBX_ERROR_TEXT_MAX ? kept + 5 : LBX_ERROR_TEXT_MAX - 1);
        ck_assert_int_eq(strncmp(b.err.text, "abc: xxx", 8), 0);
        lbx_error_prefix(&b.err, "%s", text);
        ck_assert_uint_eq(strlen(b.err.text), LBX_ERROR_TEXT_MAX - 1);
        ck_assert_mem_eq(b.guard, "GGGGGGGG", 8);
    }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("error");

    tcase_add_test(tc, records_code_and_text);
    tcase_add_test(tc, null_is_fine);
    tcase_add_test(tc, prefix_keeps_code);
    tcase_add_test(tc, argument_may_be_the_text_itself);
    tcase_add_test(tc, too_long_is_cut);
    return suite_run("common/error", tc);
}
