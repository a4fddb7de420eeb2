/* SPDX-License-Identifier: BSD-3-Clause */
/* One of two cases has a test that fails: the program must fail, or no test of the tree could. */
#include "tests/unit/suite.h"

START_TEST(holds)
{
    ck_assert_int_eq(1, 1);
}
END_TEST

START_TEST(fails)
{
    ck_assert_int_eq(1, 2);
}
END_TEST

int main(void)
{
    TCase *first = suite_case("first"), *second = suite_case("second");

    tcase_add_test(first, holds);
    tcase_add_test(second, fails);
    return suite_run("planted", first, second);
}
