/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/balance.c where ranks wait for answers: sync=yes. */
#include "policy/balance.h"

#include <check.h>

#include "tests/unit/suite.h"

#define MS INT64_C(1000000)

static struct lbp_balance *b;
static struct lbp_actions out;

static void make(const char *policy, uint32_t nranks, int64_t n)
{
    struct lbp_balance_config c = {.nranks = nranks, .n = n, .row_bytes = 8, .first_epoch = 100};

    ck_assert_int_eq(lbp_params_parse(&c.params, policy, NULL), 0);
    ck_assert_int_eq(lbp_balance_create(&c, 0, &b, NULL), 0);
}

static void join_even(uint32_t nranks, int64_t n)
{
    for (uint32_t i = 0; i < nranks; i++)
        ck_assert_int_eq(lbp_balance_join(b, i, n * i / nranks, n * (i + 1) / nranks, 0, &out), 0);
    out.n = 0;
}

static int count(enum lbp_action_type type)
{
    int k = 0;

    for (size_t i = 0; i < out.n; i++)
        k += out.action[i].type == type;
    return k;
}

/* Rank has got from first to `to` at `cores` of a core, 1 ms each; last - to remain. */
static struct lbp_report at(uint32_t rank, int64_t first, int64_t to, int64_t last, double cores)
{
    static struct lbp_sample sample;
    static struct lbx_span span;

    sample = (struct lbp_sample){first, to, (int64_t)((double)((to - first) * MS) / cores),
                                 (to - first) * MS};
    span = (struct lbx_span){to, last};
    return (struct lbp_report){.rank = rank,
                               .executed = to - first,
                               .remaining = last - to,
                               .sample = &sample,
                               .nsamples = 1,
                               .span = &span,
                               .nspans = last > to,
                               .dry = last == to};
}

static int tell(struct lbp_report r, int64_t now_ns)
{
    return lbp_balance_report(b, &r, now_ns, &out);
}

/* All ranks that wait are answered when the last has reported, after what was decided by all of it; and nobody who need not
 * be there is waited for. */
START_TEST(test_sync)
{
    struct lbp_report r;

    make("auto,sync=yes", 3, 3000);
    join_even(3, 3000);
    r = at(0, 0, 900, 1000, 1);
    r.asks = 7;
    ck_assert_int_eq(tell(r, 1500 * MS), 0);
    r = at(1, 1000, 1900, 2000, 1);
    r.asks = 8;
    ck_assert_int_eq(tell(r, 1501 * MS), 0);
    ck_assert_int_eq((int)out.n, 0); /* rank 2 has not reported */
    r = at(2, 2000, 2100, 3000, 0.1);
    r.asks = 9;
    ck_assert_int_eq(tell(r, 1502 * MS), 0);
    ck_assert_int_gt(count(LBP_MOVE), 0);
    ck_assert_int_eq(count(LBP_ANSWER), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct lbp_action *a = &out.action[out.n - 3 + i];

        ck_assert(a->type == LBP_ANSWER && a->rank == i && a->asks == 7 + i);
    }
    out.n = 0;
    r = at(0, 0, 1000, 1000, 1); /* it waits at the end of the pass, and for no answer */
    ck_assert_int_eq(tell(r, 1600 * MS), 0);
    r = at(1, 1000, 1950, 2000, 1);
    r.asks = 10;
    ck_assert_int_eq(tell(r, 2700 * MS), 0);
    ck_assert_int_eq(count(LBP_ANSWER), 0);
    r = at(2, 2000, 2110, 2400, 0.1); /* a report out of turn */
    ck_assert_int_eq(tell(r, 2701 * MS), 0);
    ck_assert_int_eq(count(LBP_ANSWER), 0);
    r.asks = 11;
    ck_assert_int_eq(tell(r, 2702 * MS), 0);
    ck_assert_int_eq(count(LBP_ANSWER), 2);
    lbp_balance_destroy(b);
    lbp_actions_fini(&out);
}
END_TEST

/* Of a pass that is over, of policies that move nothing, of a rank alone: answered at once. */
START_TEST(test_sync_at_once)
{
    struct lbp_report r;

    make("static,sync=yes", 2, 10);
    join_even(2, 10);
    r = at(0, 0, 1, 5, 1);
    r.asks = 3;
    ck_assert_int_eq(tell(r, MS), 0);
    ck_assert_int_eq(count(LBP_FINAL), 1);
    ck_assert_int_eq(count(LBP_ANSWER), 1);
    r.asks = 4;
    ck_assert_int_eq(tell(r, 2 * MS), 0); /* of the pass before */
    ck_assert_int_eq(count(LBP_ANSWER), 2);
    ck_assert_int_eq(out.action[out.n - 1].asks, 4);
    lbp_balance_destroy(b);
    lbp_actions_fini(&out);
    make("auto,sync=yes", 1, 10);
    join_even(1, 10);
    r = at(0, 0, 1, 10, 1);
    r.asks = 5;
    ck_assert_int_eq(tell(r, MS), 0);
    ck_assert_int_eq(count(LBP_ANSWER), 1);
    lbp_balance_destroy(b);
    lbp_actions_fini(&out);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("sync");

    tcase_add_test(t, test_sync);
    tcase_add_test(t, test_sync_at_once);
    return suite_run("sync", t);
}
