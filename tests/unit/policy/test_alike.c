/* SPDX-License-Identifier: BSD-3-Clause */
/* Which measured values count as the same. */
#include "policy/alike.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

START_TEST(one_kind_of_host_is_one_value)
{
    double v[] = {0.696, 0.788, 0.767, 0.728};

    lbp_alike(v, 4, 1, LBP_ALIKE_HARDWARE);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(v[i], 0.74475, 1e-9);
}
END_TEST

START_TEST(another_kind_stays_apart)
{
    double v[] = {0.4, 0.133, 0.39, 0.41};

    lbp_alike(v, 4, 1, LBP_ALIKE_HARDWARE);
    ck_assert_double_eq(v[1], 0.133);
    ck_assert_double_eq_tol(v[0], 0.4, 1e-9);
    ck_assert(v[0] == v[2] && v[2] == v[3]);
}
END_TEST

START_TEST(only_every_stride_is_looked_at)
{
    double v[] = {1, 7, 1.1, 8, 2, 9};

    lbp_alike(v, 3, 2, 1.2);
    ck_assert(v[1] == 7 && v[3] == 8 && v[5] == 9);
    ck_assert_double_eq_tol(v[0], 1.05, 1e-9);
    ck_assert(v[2] == v[0] && v[4] == 2);
}
END_TEST

START_TEST(what_is_not_known_stays)
{
    double v[] = {0, 1, -3, NAN, INFINITY, 1.1};

    lbp_alike(v, 6, 1, 1.2);
    ck_assert(v[0] == 0 && v[2] == -3 && isnan(v[3]) && isinf(v[4]));
    ck_assert(v[1] == v[5]);
    lbp_alike(v, 0, 1, 1.2);
}
END_TEST

/* Drawn values: the sum stays, nobody changes by more than the ratio, the order stays, and each is in one group only. */
START_TEST(groups_are_narrow_and_keep_their_sum)
{
    unsigned seed = (unsigned)_i;

    for (int run = 0; run < 200; run++) {
        size_t n = 1 + (size_t)rand_r(&seed) % 40;
        double v[40], was[40], sum = 0, ratio = 1 + (rand_r(&seed) % 50) / 100.0;

        for (size_t i = 0; i < n; i++)
            sum += was[i] = v[i] = exp(rand_r(&seed) % 1000 / 100.0 - 5);
        lbp_alike(v, n, 1, ratio);
        for (size_t i = 0; i < n; i++) {
            sum -= v[i];
            ck_assert_msg(v[i] <= was[i] * ratio * 1.0000001 && was[i] <= v[i] * ratio * 1.0000001,
                          "seed %d: %g became %g", _i, was[i], v[i]);
            for (size_t k = 0; k < n; k++)
                ck_assert(was[i] > was[k] || v[i] <= v[k] * 1.0000001);
        }
        ck_assert_double_eq_tol(sum, 0, 1e-6);
    }
}
END_TEST

int main(void)
{
    TCase *t = suite_case("alike");

    tcase_add_test(t, one_kind_of_host_is_one_value);
    tcase_add_test(t, another_kind_stays_apart);
    tcase_add_test(t, only_every_stride_is_looked_at);
    tcase_add_test(t, what_is_not_known_stays);
    tcase_add_loop_test(t, groups_are_narrow_and_keep_their_sum, 0, 5);
    return suite_run("alike", t);
}
