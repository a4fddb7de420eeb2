/* SPDX-License-Identifier: BSD-3-Clause */
/* Buckets of node weights: their order, that noise changes nothing, and that ours are known for ours. */
#include "policy/nodeweight.h"

#include <check.h>
#include <math.h>

#include "tests/unit/suite.h"

START_TEST(test_bucket)
{
    ck_assert_uint_eq(lbp_nodeweight_bucket(1, 1, LBP_NODEWEIGHT_UNKNOWN), 0);
    ck_assert_uint_eq(lbp_nodeweight_bucket(1.25, 1, LBP_NODEWEIGHT_UNKNOWN), 1);
    ck_assert_uint_eq(lbp_nodeweight_bucket(2, 1, LBP_NODEWEIGHT_UNKNOWN), 3);
    ck_assert_uint_eq(lbp_nodeweight_bucket(20, 10, LBP_NODEWEIGHT_UNKNOWN), 3);
    ck_assert_uint_eq(lbp_nodeweight_bucket(.5, 1, 7), 0);
    ck_assert_uint_eq(lbp_nodeweight_bucket(1e300, 1, 0), LBP_NODEWEIGHT_UNKNOWN - 1);
    ck_assert_uint_eq(lbp_nodeweight_bucket(NAN, 1, LBP_NODEWEIGHT_UNKNOWN), 0);
    for (double index = 1; index < 1e9; index *= 1.01) /* a worse host is never before a better */
        ck_assert_uint_le(lbp_nodeweight_bucket(index, 1, LBP_NODEWEIGHT_UNKNOWN),
                          lbp_nodeweight_bucket(index * 1.01, 1, LBP_NODEWEIGHT_UNKNOWN));
}
END_TEST

START_TEST(test_hysteresis)
{
    double border = pow(1.25, 2.5);
    uint32_t low = lbp_nodeweight_bucket(border * .99, 1, 2), high;

    ck_assert_uint_eq(low, 2);
    ck_assert_uint_eq(lbp_nodeweight_bucket(border * 1.01, 1, low), 2);
    high = lbp_nodeweight_bucket(border * 1.1, 1, low);
    ck_assert_uint_eq(high, 3);
    ck_assert_uint_eq(lbp_nodeweight_bucket(border * .99, 1, high), 3);
}
END_TEST

START_TEST(test_weight)
{
    ck_assert_uint_eq(lbp_nodeweight(1, 0), 100);
    ck_assert_uint_eq(lbp_nodeweight(3, 7), 307);
    ck_assert(lbp_nodeweight(1, LBP_NODEWEIGHT_UNKNOWN) < lbp_nodeweight(2, 0));
    ck_assert(lbp_nodeweight_is_ours(307, 3));
    ck_assert(!lbp_nodeweight_is_ours(3, 3));
    ck_assert(!lbp_nodeweight_is_ours(400, 3));
    ck_assert(!lbp_nodeweight_is_ours(50, 4000000000U));
    ck_assert(lbp_nodeweight(LBP_NODEWEIGHT_MOST, LBP_NODEWEIGHT_UNKNOWN) > LBP_NODEWEIGHT_MOST);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("all");

    tcase_add_test(t, test_bucket);
    tcase_add_test(t, test_hysteresis);
    tcase_add_test(t, test_weight);
    return suite_run("policy/nodeweight", t);
}
