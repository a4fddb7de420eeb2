/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/horizon.c: how long speeds are expected to stay. */
#include "policy/horizon.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

#define S 1e9

static struct lbp_horizon h;

static void begin(double history_ns, double set_ns)
{
    lbp_horizon_init(&h, 0);
    lbp_horizon_expect(&h, history_ns);
    lbp_horizon_set(&h, set_ns);
}

static double at(double s)
{
    return lbp_horizon_ns(&h, (int64_t)(s * S));
}

static void changes(double from_s, double each_s, int n)
{
    for (int i = 0; i < n; i++)
        lbp_horizon_changed(&h, (int64_t)((from_s + i * each_s) * S));
}

/* Before a change is seen the hosts' history counts, if there is one; and what has lasted lasts on. */
START_TEST(test_history)
{
    begin(0, -1);
    ck_assert_double_eq(at(0), 2 * S);
    ck_assert_double_eq(at(7), 7 * S);
    begin(30 * S, -1);
    ck_assert_double_eq(at(0), 30 * S);
    ck_assert_double_eq(at(29), 30 * S);
    ck_assert_double_eq(at(31), 31 * S);
    begin(1, -1); /* a nanosecond is no history */
    ck_assert_double_ge(at(0), 0.1 * S);
}
END_TEST

/* The job's own changes come to count for more than any history, whichever way that errs. */
START_TEST(test_changes)
{
    begin(30 * S, -1);
    changes(0.5, 0.5, 40);
    ck_assert_double_le(at(20), 0.6 * S);
    ck_assert(lbp_horizon_unstable(&h, (int64_t)(20.1 * S)));
    ck_assert(!lbp_horizon_unstable(&h, (int64_t)(30 * S)));
    ck_assert_double_eq(at(50), 30 * S); /* a long quiet time counts again */
    begin(1 * S, -1);
    changes(20, 20, 10);
    ck_assert_double_ge(at(200), 15 * S);
}
END_TEST

/*
 * Twenty minutes were expected, and a great change comes after three seconds: what the job has seen counts from then on.  One after
 * four minutes is no such surprise, nor is a small one.
 */
START_TEST(test_surprise)
{
    begin(1200 * S, -1);
    lbp_horizon_surprise(&h, (int64_t)(3 * S));
    changes(3, 1, 1);
    ck_assert_double_eq_tol(at(3), 2.25 * S, 1); /* 2 s, and a quarter of the way to 3 */
    begin(1200 * S, -1);
    lbp_horizon_surprise(&h, (int64_t)(240 * S));
    changes(240, 1, 1);
    ck_assert_double_eq_tol(at(240), 960 * S, 1);
    begin(1200 * S, -1);
    changes(3, 1, 1);
    ck_assert_double_ge(at(3), 900 * S);
    begin(1200 * S, 600 * S); /* who has said it himself is believed */
    lbp_horizon_surprise(&h, (int64_t)(3 * S));
    ck_assert_double_eq(at(3), 600 * S);
}
END_TEST

/* Several ranks see one change at about the same time. */
START_TEST(test_once)
{
    begin(0, -1);
    changes(10, 0.01, 8);
    ck_assert_double_eq_tol(at(10.08), 4 * S,
                            1); /* 2 s, and a quarter of the way to the 10 that it lasted */
    ck_assert_int_eq(h.changed_ns, (int64_t)(10 * S));
}
END_TEST

/* What a person sets stays, and a least that is asked for holds whatever is seen. */
START_TEST(test_set)
{
    begin(30 * S, 5 * S);
    ck_assert_double_eq(at(100), 5 * S);
    changes(1, 1, 20);
    ck_assert_double_eq(at(100), 5 * S);
    begin(0, -1);
    h.least_ns = 1 * S;
    changes(0.3, 0.3, 40);
    ck_assert_double_eq(at(12), 1 * S);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("horizon");

    tcase_add_test(t, test_history);
    tcase_add_test(t, test_changes);
    tcase_add_test(t, test_surprise);
    tcase_add_test(t, test_once);
    tcase_add_test(t, test_set);
    return suite_run("horizon", t);
}
