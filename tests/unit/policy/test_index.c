/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host is worth. */
#include "policy/index.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

START_TEST(index_is_that_of_the_source)
{
    struct lbp_index_weights w = {.scale = 10, .user = .1, .terminal = .01, .task = .5};

    ck_assert_double_eq_tol(lbp_index(&w, 2, 1.5, 0, 0, 0), 30, 1e-9);
    ck_assert_double_eq_tol(lbp_index(&w, 2, 1.5, 1, 2, 3), 30 * 2.62, 1e-9);
}
END_TEST

START_TEST(a_task_gets_what_is_left_or_its_fair_part)
{
    static const struct {
        double cpus, external, share, job;
    } t[] = {
        {4, 0, 1, 4},
        {4, 1, 1, 3.2},
        {4, 3.5, .8, 2},
        {4, 4, .8, 2},
        {4, 16, 4. / 17, .8},
        {1, 0, 1, 1},
        {1, .01, 1, 1},
        {1, .3, .7, .7},
        {1, 1, .5, .5},
        {.4, 0, .4, .4},
        {.4, .4, .2, .2},
        {.4, .1, .3, .3},
        {.4, .8, .4 / 3, .4 / 3},
        {.133, 0, .133, .133},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        ck_assert_double_eq_tol(lbp_index_task_share(t[i].cpus, t[i].external), t[i].share, 1e-9);
        ck_assert_double_eq_tol(lbp_index_job_cpus(t[i].cpus, t[i].external), t[i].job, 1e-9);
    }
}
END_TEST

START_TEST(more_load_is_never_better)
{
    for (double cpus = .1; cpus < 70; cpus *= 1.3) {
        double share = 2, job = 1e9;

        for (double e = 0; e < 2 * cpus; e += cpus / 50) {
            double s = lbp_index_task_share(cpus, e), j = lbp_index_job_cpus(cpus, e);

            ck_assert_double_gt(s, 0);
            ck_assert_double_le(s, 1);
            ck_assert_double_gt(j, 0);
            ck_assert_double_le(j, cpus);
            ck_assert_double_le(s, share + 1e-12);
            ck_assert_double_le(j, job + 1e-12);
            share = s;
            job = j;
        }
    }
}
END_TEST

/* Rises at once, falls as the load shows or as time goes by, and never below nothing. */
START_TEST(placed_tasks_count_until_they_show)
{
    static const struct {
        struct lbp_placed placed[2];
        double placed_cpus, cpus, expected;
    } table[] = {
        {{{4, 0}}, 0, 8, 4},           /* just placed */
        {{{4, 0}}, 3, 8, 1},           /* three of them show */
        {{{4, 0}}, 4, 8, 0},           /* all */
        {{{4, 0}}, 9, 8, 0},           /* with threads of their own */
        {{{4, 10}}, 0, 8, 2},          /* a half-life old */
        {{{4, 10}, {2, 0}}, 0, 8, 4},  /* two new ones beside them */
        {{{4, 1e6}, {2, 0}}, 4, 8, 2}, /* what shows are the old ones */
        {{{1, 0}}, .4, .4, 0},         /* a quota: one task is all of it */
        {{{0, 0}}, 0, 1, 0},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        ck_assert_double_eq_tol(
            lbp_index_fresh_tasks(table[i].placed, 2, table[i].placed_cpus, table[i].cpus, 10),
            table[i].expected, 1e-9);
    ck_assert_double_eq(lbp_index_fresh_tasks(NULL, 0, 0, 1, 10), 0);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("index");

    tcase_add_test(tc, index_is_that_of_the_source);
    tcase_add_test(tc, a_task_gets_what_is_left_or_its_fair_part);
    tcase_add_test(tc, more_load_is_never_better);
    tcase_add_test(tc, placed_tasks_count_until_they_show);
    return suite_run("policy/index", tc);
}
