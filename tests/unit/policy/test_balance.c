/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/balance.c, model.c, act.c, auto.c and liu.c: the protocol; what harms it is in test_balance_harm.c. */
#include "policy/balance.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/policy/talk.h"
#include "tests/unit/suite.h"

START_TEST(test_create)
{
    struct lbp_balance_config c = {.nranks = 0, .n = 1};
    struct lbx_error err = {0, ""};
    static const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
    double weight[2] = {1, 0};
    struct lbp_balance *none = NULL;

    lbp_params_init(&c.params);
    ck_assert_int_eq(lbp_balance_create(&c, 0, &none, &err), -EINVAL);
    ck_assert_str_ne(err.text, "");
    c.nranks = 2;
    c.n = -1;
    ck_assert_int_eq(lbp_balance_create(&c, 0, &none, NULL), -EINVAL);
    c.n = 1;
    for (int i = 0; i < 5; i++) {
        weight[1] = bad[i];
        c.hardware = weight;
        ck_assert_int_eq(lbp_balance_create(&c, 0, &none, NULL), -EINVAL);
        c.hardware = NULL;
        c.weight = weight;
        if (i > 0) /* a weight may be 0 */
            ck_assert_int_eq(lbp_balance_create(&c, 0, &none, NULL), -EINVAL);
        c.weight = NULL;
    }
    ck_assert_ptr_null(none);
    lbp_balance_destroy(NULL);
    lbp_actions_fini(NULL);
}
END_TEST

START_TEST(test_join)
{
    make("auto", 2, 10);
    ck_assert_int_eq(lbp_balance_join(b, 2, 0, 5, 0, &out), -EINVAL);
    ck_assert_int_eq(lbp_balance_join(b, 0, 5, 4, 0, &out), -EINVAL);
    ck_assert_int_eq(lbp_balance_join(b, 0, 0, 11, 0, &out), -EINVAL);
    ck_assert_int_eq(lbp_balance_join(b, 0, -1, 5, 0, &out), -EINVAL);
    ck_assert_int_eq((int)out.n, 0);
    ck_assert_int_eq(lbp_balance_join(b, 0, 0, 5, 0, &out), 0);
    ck_assert_int_eq(count(LBP_INSTRUCT), 1);
    ck_assert(out.action[0].period_ns > 0 && out.action[0].chunk_ns > 0 &&
              out.action[0].low_ns >= 0);
    ck_assert_int_eq(lbp_balance_join(b, 0, 0, 5, 0, &out), -EINVAL); /* twice */
    ck_assert_int_eq(tell(working(1, 5, 6, 10, 1), MS), -EINVAL);     /* not joined */
    ck_assert_int_eq(tell(working(0, 0, 1, 5, 1), MS), 0);            /* the other is missing */
    ck_assert_int_eq(count(LBP_MOVE) + count(LBP_FINAL), 0);
    done();
}
END_TEST

START_TEST(test_impossible)
{
    struct lbx_span span[2] = {{10, 20}, {15, 30}};
    struct lbp_sample sample = {0, 5, -1, 1};
    struct lbp_done move = {.epoch = 100, .iterations = -1};
    struct lbp_report ok = {.rank = 0, .executed = 10, .remaining = 40}, r;
    struct lbp_balance_stats before, after;

    make("auto", 2, 100);
    join_even(2, 100);
    out.n = 0;
    lbp_balance_stats(b, &before);
#define REFUSED(change)                                                         \
    do {                                                                        \
        r = ok;                                                                 \
        change;                                                                 \
        ck_assert_msg(lbp_balance_report(b, &r, MS, &out) == -EINVAL, #change); \
    } while (0)
    REFUSED(r.rank = 2);
    REFUSED(r.pass = -1);
    REFUSED(r.pass = 1);
    REFUSED(r.executed = -1);
    REFUSED(r.executed = 101);
    REFUSED(r.remaining = -1);
    REFUSED(r.remaining = 91);
    REFUSED((r.span = span, r.nspans = 2));
    REFUSED((r.span = span, r.nspans = 1, r.remaining = 9));
    REFUSED((span[0].last = 101, r.span = span, r.nspans = 1));
    REFUSED((r.sample = &sample, r.nsamples = 1));
    REFUSED((sample.wall_ns = 1, sample.last = 101, r.sample = &sample, r.nsamples = 1));
    REFUSED((r.done = &move, r.ndone = 1));
    REFUSED((move.iterations = 1, move.role = (enum lbp_done_role)7, r.done = &move, r.ndone = 1));
#undef REFUSED
    ck_assert_int_eq((int)out.n, 0);
    lbp_balance_stats(b, &after);
    ck_assert_int_eq(memcmp(&before, &after, sizeof(before)), 0);
    ck_assert_int_eq(lbp_balance_report(b, &ok, MS, &out), 0);
    done();
}
END_TEST

/* Policies that move nothing, one rank, and loops of nothing: FINAL with the first report of each pass, once. */
START_TEST(test_final_at_once)
{
    static const struct {
        const char *policy;
        uint32_t nranks;
    } cases[] = {{"static", 3}, {"none", 3}, {"auto", 1}, {"liu", 1}, {"siegell", 1}};

    make(cases[_i].policy, cases[_i].nranks, 30);
    join_even(cases[_i].nranks, 30);
    for (int64_t pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < cases[_i].nranks; i++) {
            struct lbp_report r = {.rank = i, .pass = pass, .dry = true};

            out.n = 0;
            ck_assert_int_eq(tell(r, (pass + 1) * MS), 0);
            ck_assert_int_eq(count(LBP_FINAL), i == 0);
            if (i == 0)
                ck_assert_int_eq(find(LBP_FINAL)->pass, pass);
        }
    done();
}
END_TEST

START_TEST(test_empty_loop)
{
    static const char *const policy[] = {"auto", "siegell", "liu"};

    make(policy[_i], 3, 0);
    join_even(3, 0);
    for (int64_t pass = 0; pass < 3; pass++) {
        out.n = 0;
        for (uint32_t i = 0; i < 3; i++) {
            struct lbp_report r = {.rank = i, .pass = pass, .dry = true};

            /* auto waits for the last; liu sees at once that nobody has anything */
            ck_assert(count(LBP_FINAL) == 0 || _i == 2);
            ck_assert_int_eq(tell(r, (pass + 1) * MS), 0);
        }
        ck_assert_int_eq(count(LBP_FINAL), 1);
    }
    done();
}
END_TEST

START_TEST(test_move)
{
    struct lbp_action m = *first_move();
    struct lbp_balance_stats stats;
    int64_t moved = m.last - m.first;

    ck_assert(m.rank == 1 && m.dest == 0 && m.pass == 0 && m.epoch == 100 && m.last == 2000);
    ck_assert_int_eq(m.reason, LBP_REASON_PROPORTIONAL);
    /* 1945 remain; ten elevenths of them belong to the fast one, which has 950 */
    ck_assert_int_ge(moved, 780);
    ck_assert_int_le(moved, 860);
    lbp_balance_stats(b, &stats);
    ck_assert_int_eq((int)stats.next_epoch, 101);
    ck_assert_int_eq((int)stats.decisions[LBP_REASON_PROPORTIONAL], 1);
    ck_assert_int_eq((int)stats.moved_iterations, 0); /* nothing was told yet */
    /* ticks and reports from before the move was obeyed change nothing */
    out.n = 0;
    for (int i = 1; i < 10; i++)
        ck_assert_int_eq(lbp_balance_tick(b, (50 + 2 * i) * MS, &out), 0);
    ck_assert_int_eq(tell(working(1, 1000, 1007, 2000, 0.1), 70 * MS), 0);
    ck_assert_int_eq(count(LBP_MOVE) + count(LBP_FINAL), 0);
    done();
}
END_TEST

START_TEST(test_small_gain_waits)
{
    static const char *const policy[] = {"auto", "auto", "auto,threshold=0.1", "auto"};
    struct lbp_balance_config c = {.nranks = 2, .n = 20000, .row_bytes = _i == 1 ? 100000 : 8};
    int64_t ms = _i == 3 ? 9900 : 5000;
    ck_assert_int_eq(lbp_params_parse(&c.params, policy[_i], NULL), 0);
    ck_assert_int_eq(lbp_balance_create(&c, 0, &b, NULL), 0);
    join_even(2, 20000);
    ck_assert_int_eq(tell(working(0, 0, ms, 10000, 1), ms * MS), 0);
    ck_assert_int_eq(tell(working(1, 10000, 10000 + ms * 85 / 100, 20000, 0.85), ms * MS), 0);
    ck_assert_int_eq(count(LBP_MOVE) > 0, _i > 0);
    done();
}
END_TEST

START_TEST(test_refused)
{
    struct lbp_action m = *first_move();
    struct lbp_done refused = {.epoch = m.epoch, .role = LBP_REFUSED};
    struct lbp_report r = working(1, 1000, 1020, 2000, 0.1);
    double share[2];

    out.n = 0;
    r.done = &refused;
    r.ndone = 1;
    ck_assert_int_eq(tell(r, 200 * MS), 0);
    ck_assert_int_eq(count(LBP_MOVE), 1); /* it is still slow: decided anew, with another epoch */
    ck_assert_int_eq((int)find(LBP_MOVE)->epoch, (int)m.epoch + 1);
    lbp_balance_ranks(b, NULL, share);
    ck_assert_double_eq(share[0], 0.5);
    done();
}
END_TEST

/* Partly sent: the rest stays with its source; either end may tell first; a repeated word changes nothing. */
START_TEST(test_partly)
{
    struct lbp_action m = *first_move();
    struct lbp_done sent = {m.epoch, LBP_SENT, 100, 800, MS, 0};
    struct lbp_done received = {m.epoch, LBP_RECEIVED, 100, 800, MS, 0};
    struct lbp_report from = working(1, 1000, 1010, 1900, 0.1);
    struct lbp_report to = working(0, 0, 80, 1000, 1);
    struct lbp_balance_stats stats;
    double share[2];

    for (int again = 0; again < 2; again++) {
        from.done = &sent;
        to.done = &received;
        from.ndone = to.ndone = 1;
        ck_assert_int_eq(_i ? tell(from, 100 * MS) : tell(to, 100 * MS), 0);
        ck_assert_int_eq(_i ? tell(to, 101 * MS) : tell(from, 101 * MS), 0);
        lbp_balance_stats(b, &stats);
        ck_assert_int_eq((int)stats.moved_iterations, 100);
        ck_assert_int_eq((int)stats.moved_bytes, 800);
        lbp_balance_ranks(b, NULL, share);
        ck_assert_double_eq(share[0], 0.55);
        ck_assert_double_eq(share[1], 0.45);
    }
    done();
}
END_TEST

/* FINAL waits for a move under way, and comes when all is told. */
START_TEST(test_final_waits)
{
    struct lbp_action m = *first_move();
    int64_t k = m.last - m.first;
    struct lbp_done sent = {m.epoch, LBP_SENT, k, 8 * k, MS, 0};
    struct lbp_done received = {m.epoch, LBP_RECEIVED, k, 8 * k, MS, 0};
    struct lbp_done refused = {.role = LBP_REFUSED};
    struct lbp_report from = {.rank = 1, .executed = m.first - 1000, .dry = true};
    struct lbp_report to = {.rank = 0, .executed = 1000, .dry = true};

    out.n = 0;
    from.done = &sent;
    from.ndone = 1;
    ck_assert_int_eq(tell(to, 5000 * MS), 0);
    ck_assert_int_eq(tell(from, 5000 * MS), 0);
    ck_assert_int_eq(lbp_balance_tick(b, 5001 * MS, &out), 0);
    ck_assert_int_eq(count(LBP_FINAL), 0);
    /* what was asked for when rank 0 ran dry came too late */
    ck_assert_int_eq(count(LBP_MOVE), 1);
    refused.epoch = find(LBP_MOVE)->epoch;
    from.done = &refused;
    ck_assert_int_eq(tell(from, 5002 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 0);
    to.executed += k;
    to.done = &received;
    to.ndone = 1;
    ck_assert_int_eq(tell(to, 6000 * MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 1);
    out.n = 0;
    ck_assert_int_eq(lbp_balance_tick(b, 6001 * MS, &out), 0);
    ck_assert_int_eq(count(LBP_FINAL) + count(LBP_MOVE), 0); /* once, and nothing after it */
    done();
}
END_TEST

/*
 * Policy siegell knows iterations a second and nothing else: rank 0's iterations cost twice as much on a host that is no slower, and it
 * is taken for half as fast.  It decides each second; where a message takes 100 ms, each 4 s.
 */
START_TEST(test_published)
{
    int64_t moved = 0;

    make("siegell,threshold=0", 2, 20000);
    join_even(2, 20000);
    for (uint32_t r = 0; r < 2; r++) {
        struct lbp_report w = working(r, r * 10000, r * 10000 + (r + 1) * 500, (r + 1) * 10000, 1);
        struct lbp_sample s = w.sample[0];

        s.wall_ns = s.cpu_ns = 1000 * MS;
        w.sample = &s;
        ck_assert_int_eq(tell(w, 1000 * MS), 0);
    }
    ck_assert_int_eq(lbp_balance_tick(b, 2000 * MS, &out), 0); /* now both are known */
    for (size_t i = 0; i < out.n; i++)
        if (out.action[i].type == LBP_MOVE) {
            ck_assert_uint_eq(out.action[i].rank, 0);
            moved += out.action[i].last - out.action[i].first;
        }
    /* of 9500 and 9000 that remain, to shares of 1 : 2 */
    ck_assert_int_ge(moved, 3300);
    ck_assert_int_le(moved, 3367);
    done();
    struct lbp_balance_config c = {.nranks = 2, .n = 20000, .t_interact_ns = 200 * MS};
    ck_assert_int_eq(lbp_params_parse(&c.params, "siegell,threshold=0", NULL), 0);
    ck_assert_int_eq(lbp_balance_create(&c, 0, &b, NULL), 0);
    join_even(2, 20000);
    for (uint32_t r = 0; r < 2; r++)
        ck_assert_int_eq(
            tell(working(r, r * 10000, r * 10000 + 1000, (r + 1) * 10000, 1), 1000 * MS), 0);
    ck_assert_int_eq(find(LBP_INSTRUCT)->period_ns, 1000 * MS); /* when they joined */
    ck_assert_int_eq(out.action[out.n - 1].period_ns, 4000 * MS);
    done();
}
END_TEST

int main(void)
{
    TCase *t = suite_case("balance");

    tcase_add_test(t, test_create);
    tcase_add_test(t, test_join);
    tcase_add_test(t, test_impossible);
    tcase_add_loop_test(t, test_final_at_once, 0, 5);
    tcase_add_loop_test(t, test_empty_loop, 0, 3);
    tcase_add_test(t, test_move);
    tcase_add_loop_test(t, test_small_gain_waits, 0, 4);
    tcase_add_test(t, test_refused);
    tcase_add_loop_test(t, test_partly, 0, 2);
    tcase_add_test(t, test_final_waits);
    tcase_add_test(t, test_published);
    return suite_run("balance", t);
}
