/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/stepped_account.c: what plans have brought, as loads come and plans are taken back. */
#include <check.h>
#include <math.h>

#include "policy/firsts.h"
#include "policy/stepped.h"
#include "policy/stepped_impl.h"
#include "tests/unit/policy/halves.h"
#include "tests/unit/suite.h"

/* Steps take so much longer than their slowest rank's mean, as ranks are slow in turn; ms. */
static double in_turn_ms;

/* Ranks wait for others outside of the library, where nobody measures it. */
static bool elsewhere;

/* Cores that each rank's control group may use; 0: it has no quota. */
static double quota;

/* So many times the CPU time do iterations take as on a processor as it is usually: ratio. */
static double slower[] = {1, 1};

/* So much sooner the first rank reports. */
static int64_t apart_ns;

/* Five steps more of each rank with the bounds as told, by the time that a row takes it. */
static void five_steps(struct lbp_stepped *s, int k, const double *row_ms)
{
    double longest =
        fmax((double)s->bound[1] * row_ms[0], (double)(1000 - s->bound[1]) * row_ms[1]);

    for (uint32_t r = 0; r < 2; r++) {
        struct lbp_stepped_report d = did(r, 5 * k, 5, 0);

        d.epoch = s->epoch;
        d.first = r == 0 ? 0 : s->bound[1];
        d.last = r == 0 ? s->bound[1] : 1000;
        d.quota_cpus = quota;
        d.quota_period_ns = quota > 0 ? 10 * MS : 0;
        d.quota_group = r + 1;
        d.cpu_ns = (int64_t)((double)(d.last - d.first) * slower[r] * (double)MS / 10);
        d.wall_ns = (int64_t)((double)(d.last - d.first) * row_ms[r] * 5 * (double)MS);
        d.wait_ns = elsewhere ? 0 : (int64_t)((longest + in_turn_ms) * 5 * (double)MS) - d.wall_ns;
        ck_assert_int_eq(say(s, d, (int64_t)k * 120 * MS + r * apart_ns), 0);
    }
}

/*
 * A load comes after a second on equal hosts, and the plan for it makes steps take a third longer than before it came: for the
 * load, not for the plan, which stays.
 */
START_TEST(test_load_comes)
{
    struct lbp_stepped *s = make_with("auto,period=0.1s,threshold=0.2");
    int k = 1;

    for (; k <= 10; k++)
        five_steps(s, k, (double[]){.02, .02});
    ck_assert_uint_eq(s->epoch, 0);
    for (; k <= 20 && s->epoch == 0; k++)
        five_steps(s, k, (double[]){.02, .04});
    ck_assert_uint_eq(s->epoch, 1);
    ck_assert_int_gt(s->bound[1], 640);
    for (int i = 0; i < 10; i++, k++) {
        five_steps(s, k, (double[]){.0215, .037});
        ck_assert_int_ne(s->last.detail, LBP_DETAIL_BACK);
    }
    ck_assert_uint_eq(s->epoch, 1);
    lbp_stepped_destroy(s);
}
END_TEST

/*
 * Under quotas, a load comes and goes again.  What the first bounds took when it had just come, so that a plan was made, says
 * nothing of them afterwards: the plan loses then.
 */
START_TEST(test_load_goes)
{
    struct lbp_stepped *s;
    int k = 1;

    quota = 1;
    s = make_with("auto,period=0.1s,threshold=0.2");
    for (; k <= 10; k++)
        five_steps(s, k, (double[]){.02, .02});
    for (; k <= 20 && s->epoch == 0; k++)
        five_steps(s, k, (double[]){.02, .04});
    ck_assert_uint_eq(s->epoch, 1);
    five_steps(s, k++, (double[]){.02, .04});
    for (int i = 0; i < 3 && s->epoch == 1; i++, k++) {
        double won = s->our_steps - s->first_steps;

        five_steps(s, k, (double[]){.02, .02});
        ck_assert_double_lt(s->our_steps - s->first_steps, won - .5);
    }
    quota = 0;
    lbp_stepped_destroy(s);
}
END_TEST

/*
 * A plan for a small gain made a host slow, and was taken back: the like of it waits, what a load asks for then does not.
 */
START_TEST(test_other_gain)
{
    static const double slow[] = {.0218, .04}; /* of rank 1; small: waits, great: does not */

    for (int i = 0; i < 2; i++) {
        struct lbp_stepped_config config = {
            .kind = LBP_STEPPED, .nranks = 2, .n = 1000, .first_epoch = 1, .row_bytes = 30000};
        struct lbp_stepped *s;
        uint64_t epoch;
        int k = 1;

        ck_assert_int_eq(lbp_params_parse(&config.params, "auto,period=0.1s", NULL), 0);
        ck_assert_int_eq(lbp_stepped_create(&config, even, 0, &s, NULL), 0);
        for (; k <= 20 && s->epoch == 0; k++)
            five_steps(s, k, (double[]){.02, .0218});
        ck_assert_uint_eq(s->epoch, 1);
        for (; k <= 40 && s->epoch == 1; k++)
            five_steps(s, k, (double[]){.02165, .0218});
        ck_assert_int_eq(s->last.detail, LBP_DETAIL_BACK);
        ck_assert_int_eq(s->bound[1], 500);
        epoch = s->epoch;
        for (int j = 0; j < 3 && s->epoch == epoch; j++, k++) {
            five_steps(s, k, (double[]){.02, slow[i]});
            if (s->last.detail == LBP_DETAIL_UNDONE)
                ck_assert_double_lt(1 - s->last.after_ns / s->last.before_ns, .2);
        }
        ck_assert_msg((s->epoch > epoch) == (i == 1), "case %d: epoch %d", i, (int)s->epoch);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/*
 * A load comes to the host that the last plan gave a little more to, just as that is in force: what is right is a plan for the load,
 * not the way back, which would gain a tenth of it.
 */
START_TEST(test_load_meets_plan)
{
    struct lbp_stepped *s = make_with("auto,period=0.1s");
    int64_t given;
    int k = 1;

    apart_ns = _i * MS; /* who was slowed reports before the other, with whom it is decided */
    for (; k <= 20 && s->epoch == 0; k++)
        five_steps(s, k, (double[]){.02, .0218});
    ck_assert_uint_eq(s->epoch, 1);
    given = s->bound[1];
    ck_assert_int_gt(given, 500);
    for (int i = 0; i < 5 && s->epoch == 1; i++, k++)
        five_steps(s, k, (double[]){.04, .0218});
    ck_assert_uint_eq(s->epoch, 2);
    ck_assert_int_ne(s->last.detail, LBP_DETAIL_BACK);
    ck_assert_int_lt(s->bound[1], 400);
    apart_ns = 0;
    lbp_stepped_destroy(s);
}
END_TEST

/* But if the shares for the load are not worth it, the way back is. */
START_TEST(test_load_refused)
{
    struct lbp_stepped *s = make_with("auto,period=0.1s");
    int k = 1;

    for (; k <= 20 && s->epoch == 0; k++)
        five_steps(s, k, (double[]){.02, .0218});
    s->threshold.now = 0.95;
    five_steps(s, k, (double[]){.04, .0218});
    ck_assert_uint_eq(s->epoch,
                      2); /* at once: nothing has changed since, in the decision after it */
    ck_assert_int_eq(s->last.detail, LBP_DETAIL_BACK);
    ck_assert_int_eq(s->bound[1], 500);
    lbp_stepped_destroy(s);
}
END_TEST

/* Ranks of a stepped loop wait for the longest way of a layout; in a pipeline those wait that are ahead, as they would have. */
START_TEST(test_layout_cost)
{
    struct lbp_layout_cost c = {0};

    ck_assert_double_eq(lbp_layout_cost_ns(&c, true), 0);
    ck_assert_double_eq(lbp_layout_cost_ns(&c, false), 0);
    lbp_layout_cost_add(&c, 100000, 110 * MS);
    lbp_layout_cost_add(&c, 300000, 10 * MS);
    ck_assert_double_eq(lbp_layout_cost_ns(&c, false), 110e6);
    ck_assert_double_eq_tol(lbp_layout_cost_ns(&c, true), 35e6, 1);

    for (int flows = 0; flows < 2; flows++) {
        struct lbp_stepped_config config = {.kind = flows ? LBP_DOACROSS : LBP_STEPPED,
                                            .nranks = 2,
                                            .n = 1000,
                                            .first_epoch = 1,
                                            .row_bytes = 3000,
                                            .pipelined = flows ? 1000 : 0};
        struct lbp_stepped *s;
        int k = 1;

        ck_assert_int_eq(lbp_params_parse(&config.params, "auto,period=0.1s", NULL), 0);
        ck_assert_int_eq(lbp_stepped_create(&config, even, 0, &s, NULL), 0);
        for (; k <= 40 && s->bound[1] == 500; k++)
            five_steps(s, k, (double[]){.02, .04});
        ck_assert_int_gt(s->bound[1], 600);
        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_stepped_report d = did(r, 5 * k, 5, 0);

            d.epoch = s->epoch;
            d.first = r == 0 ? 0 : s->bound[1];
            d.last = r == 0 ? s->bound[1] : 1000;
            d.wall_ns = d.cpu_ns =
                (int64_t)((double)(d.last - d.first) * .1 * (1 + r) * (double)MS);
            d.move_bytes = 300000;
            d.move_wall_ns = r == 0 ? 110 * MS : 10 * MS;
            ck_assert_int_eq(say(s, d, (int64_t)k * 120 * MS), 0);
        }
        ck_assert_double_eq_tol(lbp_profit_transfer_ns(&s->profit, 300000), flows ? 60e6 : 110e6,
                                1e6);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/*
 * Who moved less than others waits for them in the next step, and the layout has cost that already: no step is longer by it.  What the
 * first steps take longer all the same, 1 ms each, the layout has cost, too; later ones count for the bounds.
 */
START_TEST(test_layout_is_no_waiting)
{
    static const double row_ms[] = {.02, .04};
    static const int64_t move_ms[] = {100, 30};
    struct lbp_stepped *s = make_with("auto,period=0.1s,threshold=0.2");
    double longest;
    int k = 1;

    for (; k <= 40 && s->epoch == 0; k++)
        five_steps(s, k, row_ms);
    ck_assert_uint_eq(s->epoch, 1);
    s->turned = false; /* the plan is not amended */
    longest = fmax((double)s->bound[1] * row_ms[0], (double)(1000 - s->bound[1]) * row_ms[1]);
    for (int i = 0; i < 3; i++) {
        int64_t steps = i > 0 ? 5 : 0;

        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_stepped_report d = did(r, 5 * (k - 1 + i), steps, 0);

            d.epoch = 1;
            d.first = r == 0 ? 0 : s->bound[1];
            d.last = r == 0 ? s->bound[1] : 1000;
            d.cpu_ns = i > 0 ? (d.last - d.first) * MS / 10 : 0;
            d.wall_ns = (int64_t)((double)(d.last - d.first) * row_ms[r] * (double)(steps * MS));
            d.wait_ns = (int64_t)((longest + 1) * (double)(steps * MS)) - d.wall_ns +
                        (i == 1 ? (100 - move_ms[r]) * MS : 0);
            d.move_wall_ns = i > 0 ? 0 : move_ms[r] * MS;
            d.move_bytes = i > 0 || r > 0 ? 0 : 300000;
            ck_assert_int_eq(say(s, d, (int64_t)(k + i) * 120 * MS), 0);
        }
        ck_assert_uint_eq(s->epoch, 1);
    }
    ck_assert_double_gt(s->over_sure, 0.1);
    ck_assert_double_eq_tol(s->cost_ns, 100e6 + s->over_sure * 5e6, 10);
    ck_assert_double_eq_tol(s->over_ns / s->over_steps, 0.5e6, 10);
    lbp_stepped_destroy(s);
}
END_TEST

/* The account of the first bounds counts the same cost; ranks of a stepped loop wait for the longest, whatever they say of flowing. */
START_TEST(test_layout_cost_of_firsts)
{
    for (int flows = 0; flows < 2; flows++) {
        struct lbp_firsts_answer answer;
        struct lbp_firsts *f;

        ck_assert_int_eq(lbp_firsts_create(2, even, NULL, flows ? 1000 : 0, true, &f), 0);
        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_stepped_report d = did(r, 5, 5, 50 * MS);

            d.epoch = 1;
            d.move_bytes = r == 0 ? 100000 : 300000;
            d.move_wall_ns = r == 0 ? 110 * MS : 10 * MS;
            lbp_firsts_report(f, &d, flows ? 100 : 0, 100 * MS);
        }
        lbp_firsts_ask(f, &answer);
        ck_assert_double_eq_tol(answer.saved_ns, flows ? -35e6 : -110e6, 1);
        lbp_firsts_destroy(f);
    }
}
END_TEST

/* The very first bounds are in force again: against themselves they win and lose nothing, however hosts are slow in turn. */
START_TEST(test_first_again)
{
    struct lbp_stepped *s = make_with("auto,period=0.1s");
    double won_steps;
    int k = 1;

    in_turn_ms = 1;
    for (; k <= 20 && s->epoch == 0; k++)
        five_steps(s, k, (double[]){.02, .0218});
    ck_assert_uint_eq(s->epoch, 1);
    for (; k <= 40 && s->epoch == 1; k++)
        five_steps(s, k, (double[]){.02165, .0218});
    ck_assert_int_eq(s->bound[1], 500);
    five_steps(s, k++, (double[]){.02, .02});
    won_steps = s->our_steps - s->first_steps;
    in_turn_ms = 0; /* a time in which they are not: no merit of the bounds */
    for (int i = 0; i < 20; i++, k++) {
        five_steps(s, k, i % 2 ? (double[]){.02, .0203} : (double[]){.0206, .02});
        ck_assert_int_eq(s->bound[1], 500);
        ck_assert_double_eq_tol(s->our_steps - s->first_steps, won_steps, 1e-9);
    }
    lbp_stepped_destroy(s);
}
END_TEST

/* The program's own barrier has ranks wait where nobody measures it: steps take no less than their slowest rank all the same. */
START_TEST(test_elsewhere)
{
    struct lbp_stepped *s = make_with("auto,period=0.1s");
    double won_ns = 0;
    int k = 1;

    elsewhere = true;
    for (; k <= 40 && s->epoch == 0; k++)
        five_steps(s, k, (double[]){.02, .0218});
    ck_assert_uint_eq(s->epoch, 1);
    for (int i = 0; i < 10; i++, k++) {
        double first_ms = 500 * .0218, now_ms = (double)s->bound[1] * .0204;

        ck_assert_double_gt(now_ms, (double)(1000 - s->bound[1]) * .0218);
        five_steps(s, k, (double[]){.0204, .0218});
        won_ns += (1 - now_ms / first_ms) * 120e6;
    }
    ck_assert_uint_eq(s->epoch, 1);
    ck_assert_double_gt(s->account_ns, won_ns * 0.9);
    ck_assert_double_lt(s->account_ns, won_ns * 1.1);
    elsewhere = false;
    lbp_stepped_destroy(s);
}
END_TEST

/*
 * A plan gives less to the slower host, which becomes slower still just then, and a step's rows happen to cost it more CPU time:
 * what it was given has not made it slow, and it is given less again.
 */
START_TEST(test_slowed)
{
    struct lbp_stepped *s = make();
    int64_t first;

    ck_assert_int_eq(say(s, did(0, 5, 5, 50 * MS), 100 * MS), 0);
    ck_assert_int_eq(say(s, did(1, 5, 5, 100 * MS), 100 * MS), 0);
    ck_assert_uint_eq(s->epoch, 1);
    first = s->bound[1];
    ck_assert_int_gt(first, 500);
    for (int k = 1; k < 20 && s->epoch == 1; k++)
        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_stepped_report d = did(r, 5 + 5 * k, 5, r == 0 ? 50 * MS : 240 * MS);

            d.epoch = s->epoch;
            d.first = r == 0 ? 0 : s->bound[1];
            d.last = r == 0 ? s->bound[1] : 1000;
            d.cpu_ns = r == 0 ? 50 * MS : 50500000;
            ck_assert_int_eq(say(s, d, (100 + 250 * k) * MS), 0);
        }
    ck_assert_uint_eq(s->epoch, 2);
    ck_assert_int_ne(s->last.detail, LBP_DETAIL_BACK);
    ck_assert_int_gt(s->bound[1], first);
    lbp_stepped_destroy(s);
}
END_TEST

/* The second processor stays slower from decision k on, which is answered within ten: the first rank gets more than least.  Ends s. */
static void stays_slower(struct lbp_stepped *s, int k, int64_t least)
{
    slower[1] = 1.3;
    for (int i = 0; i < 10 && s->epoch == 0; i++)
        five_steps(s, k + i, (double[]){.02, .026});
    ck_assert_uint_eq(s->epoch, 1);
    ck_assert_int_gt(s->bound[1], least);
    slower[1] = 1;
    lbp_stepped_destroy(s);
}

/*
 * Processors are slower by a quarter for two decisions, one and then the other: what that makes iterations take is no cost of theirs, and
 * nothing moves.  What stays is answered.
 */
START_TEST(test_moment)
{
    struct lbp_stepped *s = make_with("auto,period=0.1s");
    int k = 1;

    for (; k <= 24; k++) {
        int r = (k - 1) / 2 % 2;

        slower[r] = 1.3;
        slower[1 - r] = 1;
        five_steps(s, k, (double[]){.02 * slower[0], .02 * slower[1]});
        ck_assert_msg(s->epoch == 0, "a processor was slow for a moment, and decision %d moved %d",
                      k, (int)(s->bound[1] - 500));
    }
    slower[0] = 1;
    stays_slower(s, k, 530);
}
END_TEST

/* A quiet loop; then the processor of one is slower for two decisions, which is no reason to move; and later for good. */
START_TEST(test_once)
{
    struct lbp_stepped *s = make_with("auto,period=0.1s");
    int k = 1;

    for (; k <= 36; k++) {
        slower[1] = k == 25 || k == 26 ? 1.3 : 1 + k % 2 * .01;
        five_steps(s, k, (double[]){.02, .02 * slower[1]});
        ck_assert_msg(s->epoch == 0, "a processor was slow for a moment, and decision %d moved %d",
                      k, (int)(s->bound[1] - 500));
    }
    stays_slower(s, k, 510);
}
END_TEST

/* Five steps more of two rows of 20 ms of CPU time each, the second of which takes so long where it is; sets the time then. */
static void two_rows(struct lbp_stepped *s, int64_t *steps, int64_t *now_ns, double second_ms)
{
    double longest = s->bound[1] == 2 ? 40 : fmax(20, second_ms);

    *steps += 5;
    *now_ns += (int64_t)(5 * longest * (double)MS);
    for (uint32_t r = 0; r < 2; r++) {
        struct lbp_stepped_report d = did(r, *steps, 5, 0);

        d.epoch = s->epoch;
        d.first = s->bound[r];
        d.last = s->bound[r + 1];
        d.cpu_ns = (d.last - d.first) * 5 * 20 * MS;
        d.wall_ns = r == 0 ? d.cpu_ns : (d.last - d.first) * (int64_t)(5 * second_ms * (double)MS);
        d.wait_ns = (int64_t)(5 * longest * (double)MS) - d.wall_ns;
        ck_assert_int_eq(say(s, d, *now_ns), 0);
    }
}

/*
 * A load comes to the second of two hosts, and its only row goes to the first.  From then on nobody knows how fast the second is: what
 * was won is not taken to be won for ever, but less and less, as loads that were there for some time are with that probability.
 */
START_TEST(test_unseen)
{
    static const int64_t one_each[3] = {0, 1, 2};
    struct lbp_stepped_config c = {.kind = LBP_STEPPED, .nranks = 2, .n = 2, .first_epoch = 1};
    struct lbp_stepped *s;
    int64_t steps = 0, now_ns = 0, came_ns, went_ns;
    int seen = 0;

    ck_assert_int_eq(lbp_params_parse(&c.params, "auto,period=0.1s", NULL), 0);
    ck_assert_int_eq(lbp_stepped_create(&c, one_each, 0, &s, NULL), 0);
    while (now_ns < 2000 * MS)
        two_rows(s, &steps, &now_ns, 20);
    ck_assert_uint_eq(s->epoch, 0);
    came_ns = now_ns;
    while (now_ns < 10000 * MS && s->epoch == 0)
        two_rows(s, &steps, &now_ns, 100);
    ck_assert_uint_eq(s->epoch, 1);
    ck_assert_int_eq(s->bound[1], 2);
    went_ns = now_ns;
    while (now_ns < 10000 * MS && s->epoch == 1) {
        double lasted = (double)(went_ns - came_ns), since;

        two_rows(s, &steps, &now_ns, 100);
        since = (double)(now_ns - went_ns);
        if (s->epoch > 1 || s->last.at_ns != now_ns)
            continue;
        ck_assert_double_eq_tol(s->without_ns / 1e6, 20 + 80 * lasted / (lasted + since), 8);
        seen += since > lasted;
    }
    ck_assert_int_gt(seen, 2);
    ck_assert_uint_eq(s->epoch, 2); /* and it is tried again */
    ck_assert_int_eq(s->bound[1], 1);
    lbp_stepped_destroy(s);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("account");

    tcase_add_test(t, test_load_comes);
    tcase_add_test(t, test_load_goes);
    tcase_add_test(t, test_other_gain);
    tcase_add_loop_test(t, test_load_meets_plan, 0, 2);
    tcase_add_test(t, test_load_refused);
    tcase_add_test(t, test_layout_cost);
    tcase_add_test(t, test_layout_is_no_waiting);
    tcase_add_test(t, test_layout_cost_of_firsts);
    tcase_add_test(t, test_first_again);
    tcase_add_test(t, test_elsewhere);
    tcase_add_test(t, test_slowed);
    tcase_add_test(t, test_moment);
    tcase_add_test(t, test_once);
    tcase_add_test(t, test_unseen);
    return suite_run("stepped_account", t);
}
