/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/stepped.c and stepped_decide.c, message by message. */
#include "policy/stepped.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "policy/stepped_impl.h"
#include "tests/unit/policy/halves.h"
#include "tests/unit/suite.h"

START_TEST(test_plan)
{
    struct lbp_stepped *s = make();
    const struct lbp_stepped_action *plan;
    struct lbp_stepped_stats stats;
    int64_t bound;

    ck_assert_int_eq(say(s, did(0, 5, 5, 50 * MS), 100 * MS), 0);
    ck_assert(n == 1 && action[0].type == LBP_STEPPED_INSTRUCT && action[0].period_ns > 0);
    ck_assert_int_eq(say(s, did(1, 5, 5, 100 * MS), 100 * MS), 0); /* at half the speed */
    ck_assert_uint_ge(n, 1);
    plan = &action[n - 1];
    ck_assert(plan->type == LBP_STEPPED_PLAN && plan->epoch == 1 && plan->at_step >= 6);
    bound = plan->bound[1];
    ck_assert_int_le(llabs(bound - 667), 3);
    /* no second plan before all have applied the first */
    for (int i = 1; i < 10; i++) {
        ck_assert_int_eq(say(s, did(0, 5 + i, 1, 10 * MS), (100 + 100 * i) * MS), 0);
        ck_assert_int_eq(say(s, did(1, 5 + i, 1, 20 * MS), (100 + 100 * i) * MS), 0);
        for (size_t k = 0; k < n; k++)
            ck_assert(action[k].type != LBP_STEPPED_PLAN);
    }
    /* a rank that says it applied the plan, and has other bounds, cannot be right */
    struct lbp_stepped_report r = did(0, 20, 1, 10 * MS);
    r.epoch = 1;
    ck_assert_int_eq(say(s, r, 2000 * MS), -EINVAL);
    r.last = bound;
    ck_assert_int_eq(say(s, r, 2000 * MS), 0);
    r.epoch = 2;
    ck_assert_int_eq(say(s, r, 2000 * MS), -EINVAL);
    lbp_stepped_stats(s, &stats);
    ck_assert_uint_eq(stats.epoch, 1);
    ck_assert_int_eq(stats.decisions[LBP_REASON_PROPORTIONAL], 1);
    ck_assert_int_eq(stats.moved_iterations, bound - 500);
    ck_assert_double_gt(stats.last.before_ns, stats.last.after_ns);
    lbp_stepped_destroy(s);
}
END_TEST

/*
 * The second half's rows cost twice as much, on hosts that are alike: auto learns it and cuts where both have the same to do; siegell
 * sees a host that does half as many rows a second.  And it learns nothing from plans that brought nothing.
 */
START_TEST(test_published)
{
    static const struct {
        const char *policy;
        int64_t bound, slack;
    } cases[] = {{"siegell", 667, 3}, {"auto", 625, 10}};

    for (size_t i = 0; i < 2; i++) {
        struct lbp_stepped *s = make_with(cases[i].policy);
        int64_t at_ns = 3000 * MS, bound = 0;
        double margin = s->profit.margin;

        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_stepped_report d = did(r, 5, 5, (r + 1) * 1000 * MS);

            d.cpu_ns = d.wall_ns;
            ck_assert_int_eq(say(s, d, at_ns), 0);
        }
        ck_assert(n > 0 && action[n - 1].type == LBP_STEPPED_PLAN);
        bound = action[n - 1].bound[1];
        ck_assert_msg(llabs(bound - cases[i].bound) <= cases[i].slack, "%s: %lld", cases[i].policy,
                      (long long)bound);
        /* with the new bounds all takes as long as before: the next plan judges this one */
        for (int k = 1; k < 20; k++)
            for (uint32_t r = 0; r < 2; r++) {
                struct lbp_stepped_report d = did(r, 5 + 5 * k, 5, (r + 1 + k % 2) * 1000 * MS);

                d.cpu_ns = d.wall_ns;
                d.epoch = s->epoch;
                d.first = r == 0 ? 0 : s->bound[1];
                d.last = r == 0 ? s->bound[1] : 1000;
                ck_assert_int_eq(say(s, d, at_ns + 3000 * k * MS), 0);
            }
        ck_assert_uint_gt(s->epoch, 1); /* (there were further plans) */
        ck_assert_msg((s->profit.margin != margin) == (i == 1), "%s: margin %g, was %g",
                      cases[i].policy, s->profit.margin, margin);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/* The mean speed of rank 0, whose half takes 1 and 3 units of elapsed time in turn, and 2 at last: its work is that of a unit. */
START_TEST(test_mean)
{
    static const int64_t units[] = {
        100 * MS, 20000 * MS}; /* many in the 5 s of a mean, and more than those */

    for (size_t i = 0; i < 2; i++) {
        struct lbp_stepped *s = make_with("static");
        int64_t unit = units[i], now_ns = 0;

        for (int k = 0; k < 40; k++) {
            struct lbp_stepped_report a = did(0, 5 + 5 * k, 5,
                                              k < 39 ? (1 + k % 2 * 2) * unit : 2 * unit),
                                      b = a;

            a.cpu_ns = b.cpu_ns = unit;
            b.rank = 1;
            b.first = 500;
            b.last = 1000;
            now_ns += a.wall_ns;
            ck_assert_int_eq(say(s, a, now_ns), 0);
            ck_assert_int_eq(say(s, b, now_ns), 0);
        }
        if (i == 0)
            ck_assert_double_eq_tol(s->rank[0].speed[STEPPED_KINDS - 1], 0.5, 0.05);
        else
            ck_assert_double_eq_tol(s->rank[0].speed[STEPPED_KINDS - 1], 0.5, 1e-9);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/* A plan that a rank has not heard of is told again, the same, as long as none has applied it. */
START_TEST(test_lost_plan)
{
    struct lbp_stepped *s = make();
    int64_t bound, now_ns = 100 * MS, told = 0, step = 5;

    ck_assert_int_eq(say(s, did(0, 5, 5, 50 * MS), now_ns), 0);
    ck_assert_int_eq(say(s, did(1, 5, 5, 100 * MS), now_ns), 0);
    ck_assert(n > 0 && action[n - 1].type == LBP_STEPPED_PLAN);
    bound = action[n - 1].bound[1];
    for (int i = 0; i < 100; i++) {
        now_ns += 100 * MS;
        step++;
        for (uint32_t r = 0; r < 2; r++) {
            ck_assert_int_eq(say(s, did(r, step, 1, (r + 1) * 10 * MS), now_ns), 0);
            for (size_t k = 0; k < n; k++) {
                if (action[k].type != LBP_STEPPED_PLAN)
                    continue;
                ck_assert(action[k].epoch == 1 && action[k].bound[1] == bound);
                told++;
            }
        }
        if (i < 29)
            ck_assert_int_eq(told, 0);
    }
    ck_assert_int_ge(told, 2); /* in ten seconds */
    ck_assert_int_le(told, 3);
    for (uint32_t r = 0; r < 2; r++) {
        struct lbp_stepped_report d = did(r, step + 1, 1, 15 * MS);

        d.epoch = 1;
        d.first = r == 0 ? 0 : bound;
        d.last = r == 0 ? bound : 1000;
        ck_assert_int_eq(say(s, d, now_ns + 10000 * MS), 0);
        for (size_t k = 0; k < n && r == 0; k++)
            ck_assert(action[k].type != LBP_STEPPED_PLAN || action[k].epoch == 1);
    }
    lbp_stepped_destroy(s);
}
END_TEST

/*
 * Two hosts of .4 and .2 cores: with half of the rows each, and steps that are long enough for it, both look like whole cores.
 * By their quotas the second gets half of what the first does; with equal ones nothing is moved for what noise shows.
 */
START_TEST(test_quota)
{
    static const struct {
        const char *policy;
        double quota[2];
        int64_t wall_ms[2], bound; /* bound: 0: no plan */
        uint64_t group[2];
    } table[] = {{"auto", {.4, .2}, {50, 50}, 667, {1, 2}},
                 {"auto", {.4, .2}, {50, 50}, 0, {1, 1}}, /* each half of what they share */
                 {"auto", {.4, 0}, {50, 50}, 286, {1, 0}},
                 {"auto", {.4, .4}, {50, 80}, 0, {1, 2}},
                 {"auto", {0, 0}, {50, 80}, 615, {0, 0}},
                 {"siegell", {.4, .2}, {50, 50}, 0, {1, 2}}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct lbp_stepped *s = make_with(table[i].policy);
        int64_t bound = 0;

        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_stepped_report d = did(r, 5, 5, table[i].wall_ms[r] * MS);

            d.quota_cpus = i == 1 ? 0.2 : table[i].quota[r];
            d.quota_period_ns = 100 * MS;
            d.quota_group = table[i].group[r];
            ck_assert_int_eq(say(s, d, 1200 * MS), 0);
        }
        for (size_t k = 0; k < n; k++)
            if (action[k].type == LBP_STEPPED_PLAN)
                bound = action[k].bound[1];
        ck_assert_msg(llabs(bound - table[i].bound) <= 3, "case %zu: %ld", i, (long)bound);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/* What a person says that a plan must bring is asked of it, and nothing else. */
START_TEST(test_profit)
{
    static const struct {
        const char *policy;
        bool plans;
    } table[] = {{"auto", true},
                 {"auto,profit=0", true},
                 {"auto,profit=1000", false},
                 {"auto,stable=10ms,profit=3", false},
                 {"auto,stable=10s,profit=3", true}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct lbp_stepped *s = make_with(table[i].policy);

        ck_assert_int_eq(say(s, did(0, 5, 5, 50 * MS), 100 * MS), 0);
        ck_assert_int_eq(say(s, did(1, 5, 5, 100 * MS), 100 * MS), 0);
        ck_assert_msg((n > 0 && action[n - 1].type == LBP_STEPPED_PLAN) == table[i].plans, "%s",
                      table[i].policy);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/*
 * A gain that lasts is not taken when rows are so long that the way there and back could cost more than may be lost; with shorter ones
 * a part of the way is gone, or all of it.  What was moved and made it slower is moved back, and the next plan waits: each is said.
 */
START_TEST(test_detail)
{
    static const struct {
        int64_t row_bytes;
        enum lbp_reason reason;
        enum lbp_detail detail;
    } table[] = {{1000, LBP_REASON_PROPORTIONAL, LBP_DETAIL_NONE},
                 {100000, LBP_REASON_PROPORTIONAL, LBP_DETAIL_PART},
                 {10000000, LBP_REASON_UNPROFITABLE, LBP_DETAIL_STAKE}};
    int said[LBP_DETAILS] = {0};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct lbp_stepped_config c = {.kind = LBP_STEPPED,
                                       .nranks = 2,
                                       .n = 1000,
                                       .first_epoch = 1,
                                       .row_bytes = table[i].row_bytes};
        struct lbp_decision d;
        struct lbp_stepped *s;

        lbp_params_init(&c.params);
        ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), 0);
        ck_assert(!lbp_stepped_decided(s, &d));
        ck_assert_int_eq(say(s, did(0, 5, 5, 50 * MS), 100 * MS), 0);
        ck_assert_int_eq(say(s, did(1, 5, 5, 100 * MS), 100 * MS), 0);
        ck_assert(lbp_stepped_decided(s, &d));
        ck_assert_msg(d.reason == table[i].reason && d.detail == table[i].detail,
                      "rows of %lld: reason %d, detail %d", (long long)table[i].row_bytes, d.reason,
                      d.detail);
        said[d.detail]++;
        /* rank 0's host is slow with more than it had: back, and the same is not tried at once */
        for (int k = 1; k < 60 && i == 0; k++)
            for (uint32_t r = 0; r < 2; r++) {
                struct lbp_stepped_report w = did(r, 5 + 5 * k, 5, 0);
                int64_t rows, more = s->bound[1] > 500 ? s->bound[1] - 500 : 0;
                int64_t wall_ms[2] = {50 + more, (1000 - s->bound[1]) / 5};

                w.epoch = s->epoch;
                w.first = r == 0 ? 0 : s->bound[1];
                w.last = r == 0 ? s->bound[1] : 1000;
                rows = w.last - w.first;
                w.cpu_ns = rows * MS / 10;
                w.wall_ns = wall_ms[r] * MS;
                w.wait_ns = wall_ms[1 - r] > wall_ms[r] ? (wall_ms[1 - r] - wall_ms[r]) * MS : 0;
                ck_assert_int_eq(say(s, w, (100 + 250 * k) * MS), 0);
                if (lbp_stepped_decided(s, &d))
                    said[d.detail]++;
            }
        lbp_stepped_destroy(s);
    }
    for (int i = 0; i < LBP_DETAILS; i++) /* test_stepped_amend.c has one more */
        ck_assert_msg(said[i] > 0 || i == LBP_DETAIL_AMENDS, "detail %d was never said", i);
}
END_TEST

/* Of four steps only one would be left when new bounds are in force; of forty many. */
START_TEST(test_too_late)
{
    for (int64_t steps = 4; steps <= 40; steps += 36) {
        struct lbp_stepped_config c = {
            .kind = LBP_STEPPED, .nranks = 2, .n = 1000, .steps = steps, .first_epoch = 1};
        struct lbp_stepped *s;

        ck_assert_int_eq(lbp_params_parse(&c.params, "auto", NULL), 0);
        ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), 0);
        ck_assert_int_eq(say(s, did(0, 1, 1, 50 * MS), 200 * MS), 0);
        ck_assert_int_eq(say(s, did(1, 1, 1, 150 * MS), 200 * MS), 0);
        ck_assert_uint_eq(s->epoch, steps == 4 ? 0 : 1);
        ck_assert_int_eq(s->last.reason,
                         steps == 4 ? LBP_REASON_UNPROFITABLE : LBP_REASON_PROPORTIONAL);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/* Slow steps until there is a plan: rank 1 takes twice as long after two steps of so long, or from the first one on.  100: none. */
static int slow_steps(int64_t step_ms, bool from_the_first)
{
    struct lbp_stepped *s = make();
    int64_t now_ns = 0, fast = from_the_first ? 0 : 2;
    int slow = 0;

    for (int64_t k = 1; k <= 100 && s->epoch == 0; k++) {
        int64_t wall_ns[2] = {step_ms * MS, step_ms * MS * (k > fast ? 2 : 1)};

        now_ns += wall_ns[1];
        slow += k > fast;
        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_stepped_report d = did(r, k, 1, wall_ns[r]);

            d.wait_ns = wall_ns[1] - wall_ns[r];
            ck_assert_int_eq(say(s, d, now_ns), 0);
        }
    }
    lbp_stepped_destroy(s);
    return slow;
}

/*
 * A plan is in force only a step and a half after it was made.  Speeds have stayed for two seconds or so: of short steps that is
 * enough; of steps of eight seconds a change has to last for some before it is followed.  What was so from the beginning was
 * there before, and is not waited for.
 */
START_TEST(test_late)
{
    ck_assert_int_le(slow_steps(50, false), 4);
    ck_assert_int_eq(slow_steps(4000, true), 1);
    ck_assert_int_ge(slow_steps(4000, false), 2);
    ck_assert_int_le(slow_steps(4000, false), 5);
}
END_TEST

/* The block size that a person has set is told, whatever is measured. */
START_TEST(test_grain)
{
    struct lbp_stepped_config c = {
        .kind = LBP_DOACROSS, .nranks = 2, .n = 1000, .pipelined = 500, .first_epoch = 1};
    struct lbp_stepped *s;

    ck_assert_int_eq(lbp_params_parse(&c.params, "auto,grain=17", NULL), 0);
    ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), 0);
    for (uint32_t r = 0; r < 2; r++) {
        struct lbp_stepped_report d = did(r, 5, 5, r == 0 ? 50 * MS : 100 * MS);

        d.shift_iterations = 10;
        d.shift_ns = 1000;
        ck_assert_int_eq(say(s, d, 100 * MS), 0);
    }
    ck_assert(n > 0 && action[n - 1].type == LBP_STEPPED_PLAN && action[n - 1].block == 17);
    lbp_stepped_destroy(s);
}
END_TEST

/* Under sync=yes both go on when both have reported, and the plan is told before. */
START_TEST(test_sync)
{
    struct lbp_stepped *s = make_with("auto,sync=yes");

    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(say(s, did(0, 5 + i, 1, 10 * MS), (100 + 100 * i) * MS), 0);
        ck_assert(n == 0 || action[n - 1].type != LBP_STEPPED_ANSWER);
        ck_assert_int_eq(say(s, did(0, 5 + i, 0, 0), (101 + 100 * i) * MS), 0); /* once more */
        ck_assert(n == 0 || action[n - 1].type != LBP_STEPPED_ANSWER);
        ck_assert_int_eq(say(s, did(1, 4 + i, 1, 20 * MS), (102 + 100 * i) * MS), 0);
        ck_assert(n > 0 && action[n - 1].type == LBP_STEPPED_ANSWER);
        ck_assert_int_eq(lbp_stepped_step(s, 0), 5 + i);
        ck_assert_int_eq(lbp_stepped_step(s, 1), 4 + i);
    }
    lbp_stepped_destroy(s);
}
END_TEST

/* Each of these changes nothing. */
START_TEST(test_refuses)
{
    struct lbp_stepped *s = make();
    struct lbp_stepped_report bad[9];

    for (int i = 0; i < 9; i++)
        bad[i] = did(0, 5, 5, 50 * MS);
    bad[0].rank = 2;
    bad[1].steps = 6;
    bad[2].step = -1;
    bad[3].wall_ns = -1;
    bad[4].last = 1001;
    bad[5].epoch = 1;
    bad[6].cpu_ns = -5;
    bad[7].first = 1;
    bad[8].step = bad[8].steps = INT64_MAX / 499; /* more iterations than can be counted */
    for (int i = 0; i < 9; i++)
        ck_assert_msg(say(s, bad[i], 100 * MS) == -EINVAL, "report %d was taken", i);
    lbp_stepped_destroy(s);
}
END_TEST

START_TEST(test_config)
{
    static const double no_hardware[] = {0, -1, NAN, INFINITY, -INFINITY};
    struct lbp_stepped_config c = {.nranks = 2, .n = 1000, .first_epoch = 1};
    double hardware[2] = {1, 0};
    int64_t wrong[3] = {0, 1200, 1000};
    struct lbp_stepped *s = NULL;

    lbp_params_init(&c.params);
    ck_assert_int_eq(lbp_stepped_create(&c, wrong, 0, &s, NULL), -EINVAL);
    for (int i = 0; i < 5; i++) {
        hardware[1] = no_hardware[i];
        c.hardware = hardware;
        ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), -EINVAL);
        c.hardware = NULL;
        c.weight = hardware; /* where 0 is one */
        ck_assert_int_eq(lbp_stepped_first(1000, 2, hardware, 0, wrong), i ? -EINVAL : 0);
        if (i > 0)
            ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), -EINVAL);
        c.weight = NULL;
    }
    c.first_epoch = 0;
    ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), -EINVAL);
    ck_assert_ptr_null(s);
    lbp_stepped_destroy(NULL);
}
END_TEST

/* The same CPU time on hardware twice as fast is twice the work: the iterations there cost more, the host is not slow. */
START_TEST(test_hardware)
{
    struct lbp_stepped_config c = {.kind = LBP_STEPPED, .nranks = 2, .n = 1000, .first_epoch = 1};
    double hardware[2] = {2, 1}, speed[2];
    struct lbp_stepped *s;

    lbp_params_init(&c.params);
    c.hardware = hardware;
    ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), 0);
    ck_assert_int_eq(say(s, did(0, 5, 5, 50 * MS), 100 * MS), 0);
    ck_assert_int_eq(say(s, did(1, 5, 5, 50 * MS), 100 * MS), 0);
    lbp_stepped_ranks(s, speed, NULL);
    ck_assert_double_eq_tol(speed[0], 2, 1e-9);
    ck_assert_double_eq_tol(speed[1], 1, 1e-9);
    lbp_stepped_destroy(s);
}
END_TEST

START_TEST(test_first)
{
    static const double weight[3] = {1, 0, 3};
    int64_t bound[4];

    ck_assert_int_eq(lbp_stepped_first(100, 3, weight, 0, bound), 0);
    ck_assert_int_eq(bound[1], 25);
    ck_assert_int_eq(bound[2], 25);
    ck_assert_int_eq(lbp_stepped_first(7, 3, NULL, 3, bound), 0);
    for (int r = 0; r < 3; r++)
        ck_assert(bound[r + 1] == bound[r] || bound[r + 1] - bound[r] >= 3);
    ck_assert_int_eq(lbp_stepped_first(-1, 3, NULL, 0, bound), -EINVAL);
    ck_assert_int_eq(lbp_stepped_first(0, 3, NULL, 0, bound), 0);
    ck_assert_int_eq(bound[3], 0);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("stepped");

    tcase_add_test(t, test_plan);
    tcase_add_test(t, test_published);
    tcase_add_test(t, test_sync);
    tcase_add_test(t, test_mean);
    tcase_add_test(t, test_lost_plan);
    tcase_add_test(t, test_profit);
    tcase_add_test(t, test_detail);
    tcase_add_test(t, test_quota);
    tcase_add_test(t, test_too_late);
    tcase_add_test(t, test_late);
    tcase_add_test(t, test_grain);
    tcase_add_test(t, test_refuses);
    tcase_add_test(t, test_config);
    tcase_add_test(t, test_hardware);
    tcase_add_test(t, test_first);
    return suite_run("stepped", t);
}
