/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/stepped_decide.c: plans that give work to a rank which nobody has measured. */
#include "policy/stepped.h"

#include <check.h>
#include <stdlib.h>

#include "policy/stepped_impl.h"
#include "tests/unit/policy/halves.h"
#include "tests/unit/suite.h"

/* Three ranks tell of a step with these first bounds; the second and third are thrice as slow as the first. */
static void tell_three(struct lbp_stepped *s, const int64_t *first)
{
    for (uint32_t r = 0; r < 3; r++) {
        struct lbp_stepped_report d = did(0, 1, 1, 0);

        d.rank = r;
        d.first = first[r];
        d.last = first[r + 1];
        d.cpu_ns = (d.last - d.first) * MS / 10;
        d.wall_ns = d.cpu_ns * (r == 0 ? 1 : 3);
        d.wait_ns = 150 * MS - d.wall_ns;
        ck_assert_int_eq(say(s, d, 200 * MS), 0);
    }
}

/*
 * Who has no row at first was measured by nobody, and may be slow: with three steps left that is not worth what it may win, with
 * many it is; where it had some rows, and is as slow as the slowest, three are enough.
 */
START_TEST(test_unmeasured)
{
    static const int64_t first[2][4] = {{0, 500, 1000, 1000}, {0, 350, 850, 1000}};

    for (int measured = 0; measured < 2; measured++)
        for (int64_t steps = 7; steps <= 47; steps += 40) {
            struct lbp_stepped_config c = {
                .kind = LBP_STEPPED, .nranks = 3, .n = 1000, .steps = steps, .first_epoch = 1};
            bool risked = measured || steps > 7;
            struct lbp_stepped *s;

            ck_assert_int_eq(lbp_params_parse(&c.params, "auto", NULL), 0);
            ck_assert_int_eq(lbp_stepped_create(&c, first[measured], 0, &s, NULL), 0);
            tell_three(s, first[measured]);
            ck_assert_msg(s->epoch == risked,
                          "measured %d, steps %lld: reason %d, cost %.1f ms, benefit %.1f ms",
                          measured, (long long)steps, s->last.reason, s->last.cost_ns / 1e6,
                          s->last.benefit_ns / 1e6);
            ck_assert_int_eq(s->last.cost_ns >= 2 * 150e6, !measured);
            ck_assert_int_eq(s->last.unmeasured_ns > 0, !measured);
            lbp_stepped_destroy(s);
        }
}
END_TEST

/*
 * Of a plan that goes a part of the way the moves alone, both ways, are taken from what waiting has lost: what a rank may lose
 * that nobody has measured is in what the plan costs, and is no move.
 */
START_TEST(test_part_unmeasured)
{
    static const int64_t first[] = {0, 500, 1000, 1000};
    const double ahead_ns = 10e9;
    int parts = 0;

    for (int64_t row_bytes = 1000; row_bytes < 10000000; row_bytes += row_bytes / 2) {
        struct lbp_stepped_config c = {
            .kind = LBP_STEPPED, .nranks = 3, .n = 1000, .first_epoch = 1, .row_bytes = row_bytes};
        struct lbp_stepped *s;

        ck_assert_int_eq(lbp_params_parse(&c.params, "auto", NULL), 0);
        ck_assert_int_eq(lbp_stepped_create(&c, first, 0, &s, NULL), 0);
        s->ahead_ns[0] = ahead_ns;
        tell_three(s, first);
        if (s->epoch == 1 && s->last.detail == LBP_DETAIL_PART) {
            parts++;
            ck_assert_double_gt(s->last.unmeasured_ns, 0);
            ck_assert_double_eq_tol(ahead_ns - s->ahead_ns[0],
                                    2 * (s->last.cost_ns - s->last.unmeasured_ns), 1000);
        }
        lbp_stepped_destroy(s);
    }
    ck_assert_int_gt(parts, 0);
}
END_TEST

/*
 * A rank whose rows take no time to speak of, .1 ms of steps of a second, is measured after 200 of them.  The others do not wait for
 * that, but for the time in which a rank that is merely quick would have been.
 */
START_TEST(test_light)
{
    static const int64_t first[] = {0, 400, 700, 1000};
    static const int64_t cpu_us[] = {1000000, 500000, 100};
    struct lbp_stepped_config c = {.kind = LBP_STEPPED, .nranks = 3, .n = 1000, .first_epoch = 1};
    struct lbp_stepped *s;

    ck_assert_int_eq(lbp_params_parse(&c.params, "auto", NULL), 0);
    ck_assert_int_eq(lbp_stepped_create(&c, first, 0, &s, NULL), 0);
    for (int64_t k = 1; k <= 5 && s->epoch == 0; k++)
        for (uint32_t r = 0; r < 3; r++) {
            struct lbp_stepped_report d = did(0, k, 1, 0);

            d.rank = r;
            d.first = first[r];
            d.last = first[r + 1];
            d.cpu_ns = d.wall_ns = cpu_us[r] * 1000;
            d.wait_ns = 1000 * MS - d.wall_ns;
            ck_assert_int_eq(say(s, d, k * 1000 * MS), 0);
        }
    ck_assert_uint_eq(s->epoch, 1);
    ck_assert_int_lt(s->bound[1], first[1]);
    ck_assert_double_gt(s->last.unmeasured_ns, 0);
    lbp_stepped_destroy(s);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("stepped_unmeasured");

    tcase_add_test(t, test_unmeasured);
    tcase_add_test(t, test_part_unmeasured);
    tcase_add_test(t, test_light);
    return suite_run("stepped_unmeasured", t);
}
