/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/pair_cost.c, and of what the balancer makes of it. */
#include "policy/pair_cost.h"

#include <math.h>
#include <stdlib.h>

#include "policy/balance_impl.h"
#include "tests/unit/policy/talk.h"
#include "tests/unit/suite.h"

static struct lbp_pair_cost c;
static struct lbp_profit profit; /* moves of 0 bytes take 1 ms, and 2 ns a byte */

static void begin(uint32_t nranks)
{
    lbp_profit_init(&profit, 0, 0);
    lbp_pair_cost_init(&c, nranks);
}

static void teach(struct lbp_pair_cost *cost, uint32_t from, uint32_t to, double ns, int times)
{
    for (int i = 0; i < times; i++)
        lbp_pair_cost_measured(cost, from, to, 0, ns);
}

static double factor(uint32_t from, uint32_t to)
{
    return lbp_pair_cost_factor(&c, &profit, from, to);
}

/* Ranks 0 to 3 have a fast link to one another, 4 has a slow one: of few bytes and of many. */
START_TEST(test_classes)
{
    begin(6);
    ck_assert_double_eq(lbp_pair_cost_factor(NULL, &profit, 0, 1), 1);
    ck_assert_double_eq(factor(0, 1), 1);
    for (int k = 0; k < 3; k++) {
        double bytes = k * 1e6;

        for (uint32_t i = 1; i < 4; i++)
            lbp_pair_cost_measured(&c, 0, i, bytes, 0.25 * lbp_profit_transfer_ns(&profit, bytes));
        lbp_pair_cost_measured(&c, 0, 4, bytes, 8 * lbp_profit_transfer_ns(&profit, bytes));
        lbp_pair_cost_measured(&c, 5, 4, bytes, 8 * lbp_profit_transfer_ns(&profit, bytes));
    }
    for (uint32_t i = 1; i < 4; i++)
        ck_assert_double_eq_tol(factor(0, i), 0.25, 1e-6);
    ck_assert_double_eq_tol(factor(0, 4), 8, 1e-6);
    /* who was not measured together: by what both have shown, 0.25 and 8, and 0.25 and 0.25 */
    ck_assert_double_eq(factor(1, 4), 1); /* sqrt 2 is noise */
    ck_assert_double_eq_tol(factor(1, 2), 0.25, 1e-6);
    ck_assert_double_eq_tol(factor(4, 5), 8, 1e-6);
    ck_assert_double_eq(factor(4, 4), 1);
    /* the job's moves turn out to be dearer: then the slow pair is less of an exception */
    profit.fixed_ns *= 4;
    profit.byte_ns *= 4;
    ck_assert_double_eq_tol(factor(0, 4), 2, 1e-6);
    lbp_pair_cost_fini(&c);
    lbp_pair_cost_fini(&c);
}
END_TEST

/* A link that is alike stays so through single outliers and noise of a half. */
START_TEST(test_noise)
{
    unsigned seed = 7;

    begin(2);
    teach(&c, 0, 1, 1e9, 1);
    ck_assert_double_eq(factor(0, 1), 1);
    for (int i = 0; i < 1000; i++) {
        teach(&c, 0, 1, 1e6 * (0.55 + rand_r(&seed) / (double)RAND_MAX), 1);
        if (i % 5 == 4)
            teach(&c, 0, 1, i % 2 ? 1e9 : 10, 1);
        ck_assert_double_eq(factor(0, 1), 1);
    }
    teach(&c, 0, 1, 8e6, 3);
    teach(&c, 0, 1, 1e3, 1);
    ck_assert_double_eq_tol(factor(0, 1), 8, 1e-6);
    lbp_pair_cost_fini(&c);
}
END_TEST

START_TEST(test_bounds)
{
    static const double nonsense[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e300};

    begin(2);
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
        teach(&c, 0, 1, nonsense[i], 3);
    lbp_pair_cost_measured(&c, 0, 1, NAN, 1e6);
    lbp_pair_cost_measured(&c, 0, 1, -1, 1e6);
    ck_assert_ptr_null(c.rank);
    lbp_pair_cost_init(&c, 0); /* as published: all are alike */
    teach(&c, 0, 1, 8e6, 3);
    ck_assert_ptr_null(c.rank);
    ck_assert_double_eq(factor(0, 1), 1);
    begin(2);
    teach(&c, 0, 1, 1e17, 3);
    ck_assert_double_eq(factor(0, 1), LBP_PAIR_MOST);
    teach(&c, 0, 1, 1, 3);
    ck_assert_double_eq(factor(0, 1), 1 / LBP_PAIR_MOST);
    profit.fixed_ns = 0;
    ck_assert_double_eq(factor(0, 1), LBP_PAIR_MOST);
    lbp_pair_cost_fini(&c);
}
END_TEST

/* Of more partners than there is room for, the one least recently measured is forgotten: the mean is left of it. */
START_TEST(test_forgets)
{
    begin(65536);
    ck_assert_int_le((int)sizeof(struct lbp_pair_rank), 164);
    teach(&c, 0, 1, 8e6, 3);
    for (uint32_t i = 2; i <= LBP_PAIR_PARTNERS; i++)
        teach(&c, 0, i, 1e6, 3);
    ck_assert_double_eq_tol(factor(0, 1), 8, 1e-6);
    teach(&c, 0, 1, 8e6, 1); /* 2 is the oldest now */
    teach(&c, 0, 65535, 4e6, 3);
    ck_assert_double_eq_tol(factor(0, 1), 8, 1e-6);
    ck_assert_double_eq_tol(factor(0, 65535), 4, 1e-6);
    ck_assert_double_eq_tol(factor(0, 2), 2, 1e-6); /* of 0's last moves, 4, and its own, 1 */
    lbp_pair_cost_fini(&c);
}
END_TEST

/* What a source tells of a move teaches of that pair. */
START_TEST(test_told)
{
    struct lbp_action m = *first_move();
    struct lbp_done sent = {m.epoch, LBP_SENT, 100, 800, 20 * MS, 0};
    struct lbp_report r = working(1, 1000, 1010, 1900, 0.1);

    ck_assert_ptr_null(b->model.pair_cost.rank);
    r.done = &sent;
    r.ndone = 1;
    ck_assert_int_eq(tell(r, 100 * MS), 0);
    ck_assert_uint_eq(b->model.pair_cost.rank[1].partner[0], 0);
    ck_assert_float_eq(b->model.pair_cost.rank[1].with[0].ns[0], 20e6F);
    ck_assert_float_eq(b->model.pair_cost.rank[1].with[0].bytes[0], 800);
    ck_assert_float_eq(b->model.pair_cost.rank[0].with[0].ns[0], 0);
    done();
}
END_TEST

/*
 * Rank 0 ends last, 1 and 2 are alike but for a millisecond: 1, which ends first, gets the rows; where its link is dear 2 gets
 * them; and nobody does where both links are dear and little is left.
 */
START_TEST(test_links)
{
    static const struct {
        uint32_t dear; /* ranks that 0 has a dear link to */
        int64_t more;  /* iterations that 0 has more than the others */
        int dest;
    } cases[] = {{0, 60, 1}, {1, 60, 2}, {0, 18, 1}, {2, 18, -1}};
    const int64_t more = cases[_i].more, bound[] = {0, 497 + more, 994 + more, 1492 + more};
    const int dest = cases[_i].dest;

    make("auto,threshold=0.9", 3, bound[3]);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(lbp_balance_join(b, i, bound[i], bound[i + 1], 0, &out), 0);
    for (uint32_t i = 1; i <= cases[_i].dear; i++)
        teach(&b->model.pair_cost, 0, i, 100e6, 3);
    for (int64_t ms = 50; ms <= 494; ms += 4)
        for (uint32_t i = 0; i < 3; i++)
            ck_assert_int_eq(tell(working(i, bound[i], bound[i] + ms, bound[i + 1], 1), ms * MS),
                             0);
    ck_assert_int_eq(count(LBP_MOVE) > 0, dest >= 0);
    if (dest >= 0) {
        ck_assert_uint_eq(find(LBP_MOVE)->rank, 0);
        ck_assert_uint_eq(find(LBP_MOVE)->dest, (uint32_t)dest);
        ck_assert_int_eq(find(LBP_MOVE)->reason, LBP_REASON_DRY);
    }
    done();
}
END_TEST

int main(void)
{
    TCase *t = suite_case("pair_cost");

    tcase_add_test(t, test_classes);
    tcase_add_test(t, test_noise);
    tcase_add_test(t, test_bounds);
    tcase_add_test(t, test_forgets);
    tcase_add_test(t, test_told);
    tcase_add_loop_test(t, test_links, 0, 4);
    return suite_run("pair_cost", t);
}
