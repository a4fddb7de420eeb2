/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the protocol of policy/balance.c where ranks are silent, messages are lost, and reports are such as no rank makes. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "policy/balance.h"
#include "tests/unit/policy/talk.h"
#include "tests/unit/suite.h"

/* A rank that is silent gets nothing more and its promised speed decays; no FINAL, no storm of ticks. */
START_TEST(test_silent)
{
    int64_t now = 50 * MS, ticks = 0;

    (void)first_move();
    out.n = 0;
    while (now < 20000 * MS) {
        int64_t wake = lbp_balance_wake_ns(b);

        ck_assert_int_gt(wake, now);
        if (wake == INT64_MAX)
            break;
        now = wake;
        ck_assert_int_eq(lbp_balance_tick(b, now, &out), 0);
        ticks++;
    }
    ck_assert_int_eq(count(LBP_FINAL), 0);
    ck_assert_int_le(count(LBP_MOVE), 48);
    ck_assert_int_le(ticks, 20000 / 2);
    done();
}
END_TEST

/* Any reports at all: no crash, no hang, epochs ascend, moves name what their source told, n up to 2^62. */
START_TEST(test_any_reports)
{
    static const char *const policy[] = {"auto", "siegell", "liu", "auto,filter=0,threshold=0"};

    for (unsigned round = 1; round <= 400; round++) {
        unsigned seed = round;
        uint32_t nranks = 1 + (uint32_t)(rand_r(&seed) % 6);
        int64_t n = rand_r(&seed) % 3 ? rand_r(&seed) % 1000 : INT64_C(1) << (rand_r(&seed) % 63);
        int64_t now = 0, final = -1;
        uint64_t epoch = 0;

        make(policy[round % 4], nranks, n);
        for (uint32_t i = 0; i < nranks; i++)
            ck_assert_int_eq(lbp_balance_join(b, i, n / nranks * i, n / nranks * (i + 1), 0, &out),
                             0);
        for (int step = 0; step < 200; step++) {
            int64_t at = n ? rand_r(&seed) % n : 0, last = n ? at + (n - at) / 2 : 0;
            struct lbx_span span = {at, last};
            struct lbp_sample s = {at / 2, at, rand_r(&seed), rand_r(&seed)};
            struct lbp_done d = {100 + (uint64_t)(rand_r(&seed) % 20),
                                 (enum lbp_done_role)(rand_r(&seed) % 3),
                                 rand_r(&seed) % 50,
                                 10,
                                 rand_r(&seed),
                                 5};
            struct lbp_report r = {.rank = (uint32_t)(rand_r(&seed) % 7),
                                   .pass = final + 1 - rand_r(&seed) % 2,
                                   .dry = rand_r(&seed) % 2,
                                   .executed = rand_r(&seed) % 4 ? n - last : rand_r(&seed),
                                   .remaining = last - at,
                                   .span = &span,
                                   .nspans = last > at,
                                   .sample = &s,
                                   .nsamples = (size_t)(rand_r(&seed) % 2),
                                   .done = &d,
                                   .ndone = (size_t)(rand_r(&seed) % 2)};
            bool ticked = rand_r(&seed) % 3 == 0;
            int ret;

            out.n = 0;
            now += rand_r(&seed) % (100 * MS);
            ret = ticked ? lbp_balance_tick(b, now, &out) : lbp_balance_report(b, &r, now, &out);
            ck_assert_msg(ret == 0 || ret == -EINVAL, "seed %u", round);
            ck_assert_msg(!ticked || lbp_balance_wake_ns(b) > now, "seed %u", round);
            for (size_t i = 0; i < out.n; i++) {
                const struct lbp_action *a = &out.action[i];

                if (a->type == LBP_FINAL && a->pass > final) /* else said once more */
                    ck_assert_msg(a->pass == ++final, "seed %u", round);
                if (a->type != LBP_MOVE)
                    continue;
                ck_assert_msg(a->epoch > epoch && a->rank < nranks && a->dest < nranks &&
                                  a->rank != a->dest && a->first >= 0 && a->first < a->last &&
                                  a->last <= n && a->pass == final + 1,
                              "seed %u step %d", round, step);
                epoch = a->epoch;
            }
        }
        done();
    }
}
END_TEST

/* A move of which nothing is heard: the pass ends all the same, and the source may tell of it later. */
START_TEST(test_lost_move)
{
    struct lbp_action m = *first_move();
    int64_t k = m.last - m.first;
    struct lbp_done sent = {m.epoch, LBP_SENT, k, 8 * k, MS, 0};
    struct lbp_report late;

    out.n = 0;
    ck_assert_int_eq(tell(working(0, 0, 1000, 1000, 1), 1000 * MS), 0);
    ck_assert_int_eq(tell(working(1, 1000, 2000, 2000, 0.1), 2000 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 0); /* it may still be on its way */
    ck_assert_int_eq(tell(working(0, 0, 1000, 1000, 1), 3000 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 0);
    ck_assert_int_eq(tell(working(0, 0, 1000, 1000, 1), 6000 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 0);
    ck_assert_int_eq(tell(working(1, 1000, 2000, 2000, 0.1), 8000 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 1);
    late = working(1, 1000, 2000, 2000, 0.1);
    late.done = &sent;
    late.ndone = 1;
    ck_assert_int_eq(tell(late, 8001 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 1);
    done();
}
END_TEST

/* A rank that did not hear FINAL waits, and says so: it is told again, but not at once. */
START_TEST(test_lost_final)
{
    make("auto", 2, 2000);
    join_even(2, 2000);
    out.n = 0;
    ck_assert_int_eq(tell(working(0, 0, 1000, 1000, 1), 1000 * MS), 0);
    ck_assert_int_eq(tell(working(1, 1000, 2000, 2000, 1), 1001 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 1);
    ck_assert_int_eq(tell(working(1, 1000, 2000, 2000, 1), 3001 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 1); /* it crossed the other */
    ck_assert_int_eq(tell(working(1, 1000, 2000, 2000, 1), 5001 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 2);
    ck_assert_int_eq((int)out.action[out.n - 1].pass, 0);
    done();
}
END_TEST

/* Samples that make rates of 0, of infinity, of nothing over nothing: decisions stay sound, and the pass ends. */
START_TEST(test_rates)
{
    static const struct {
        int64_t wall_ns, cpu_ns;
        int rc;
    } sample[] = {
        {0, 0, 0},         {0, 5 * MS, 0},    {5 * MS, 0, 0},
        {1, INT64_MAX, 0}, {INT64_MAX, 1, 0}, {INT64_MAX, INT64_MAX, 0},
        {-1, MS, -EINVAL}, {MS, -1, -EINVAL}, {INT64_MIN, INT64_MIN, -EINVAL},
    };
    static const char *const policy[] = {"auto", "siegell", "liu"};
    int which = _i % 9;
    struct lbp_sample s = {0, 50, sample[which].wall_ns, sample[which].cpu_ns};
    struct lbp_report odd = working(0, 0, 50, 1000, 1);

    make(policy[_i / 9], 2, 2000);
    join_even(2, 2000);
    out.n = 0;
    odd.sample = &s;
    for (int k = 1; k < 20; k++) {
        ck_assert_int_eq(tell(odd, k * 50 * MS), sample[which].rc);
        ck_assert_int_eq(tell(working(1, 1000, 1000 + k, 2000, 0.1), k * 50 * MS), 0);
        ck_assert_int_eq(lbp_balance_tick(b, k * 50 * MS + MS, &out), 0);
    }
    for (size_t i = 0; i < out.n; i++) {
        const struct lbp_action *a = &out.action[i];

        if (a->type == LBP_MOVE)
            ck_assert(a->rank < 2 && a->dest < 2 && a->rank != a->dest && a->first >= 0 &&
                      a->first < a->last && a->last <= 2000);
        if (a->type == LBP_INSTRUCT)
            ck_assert(a->period_ns > 0 && a->chunk_ns > 0 && a->low_ns >= 0);
    }
    out.n = 0;
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(tell(working(0, 0, 1000, 1000, 1), (2000 + 2000 * k) * MS), 0);
        ck_assert_int_eq(tell(working(1, 1000, 2000, 2000, 1), (2001 + 2000 * k) * MS), 0);
    }
    ck_assert_int_ge(count(LBP_FINAL), 1);
    ck_assert_int_eq((int)find(LBP_FINAL)->pass, 0);
    done();
}
END_TEST

int main(void)
{
    TCase *t = suite_case("harm");

    tcase_add_test(t, test_silent);
    tcase_add_test(t, test_any_reports);
    tcase_add_test(t, test_lost_move);
    tcase_add_test(t, test_lost_final);
    tcase_add_loop_test(t, test_rates, 0, 3 * 9);
    return suite_run("balance/harm", t);
}
