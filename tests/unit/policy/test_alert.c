/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/alert.c and of what auto.c and view.c make of it: ranks that are alike are seldom heard of and left alone. */
#include "policy/alert.h"

#include <check.h>
#include <stdlib.h>

#include "policy/balance.h"
#include "policy/period.h"
#include "tests/unit/suite.h"

#define MS INT64_C(1000000)

static struct lbp_balance *b;
static struct lbp_actions out;
static int64_t at[2]; /* where rank 0 and rank 1 of the loop are, from 0 and from n/2 */

/* A window of `ms` at `cores` of a core. */
static void sample(struct lbp_alert *a, double ms, double cores)
{
    lbp_alert_sample(a, ms * cores, ms * 1e6, ms * 1e6 * cores);
}

/* What was told of 20 ms is no measure of what 100 ms show; what was told of 100 ms is. */
START_TEST(test_short_window)
{
    struct lbp_alert a = {0};

    sample(&a, 20, 0.45);
    lbp_alert_told(&a);
    sample(&a, 100, 0.35);
    ck_assert(!lbp_alert_due(&a, 100 * MS, 1000 * MS));
    lbp_alert_told(&a);
    sample(&a, 100, 0.35);
    ck_assert(!lbp_alert_due(&a, 100 * MS, 1000 * MS));
    lbp_alert_told(&a);
    sample(&a, 100, 0.27);
    ck_assert(lbp_alert_due(&a, 100 * MS, 1000 * MS));
}
END_TEST

/* A host that lost most of its speed is told of at once, whatever was told before. */
START_TEST(test_large_change)
{
    struct lbp_alert a = {0};

    sample(&a, 20, 0.35);
    lbp_alert_told(&a);
    sample(&a, 100, 0.1);
    ck_assert(!lbp_alert_due(&a, 99 * MS, 1000 * MS));
    ck_assert(lbp_alert_due(&a, 100 * MS, 1000 * MS));
}
END_TEST

static void begin(int64_t n)
{
    struct lbp_balance_config c = {.nranks = 2, .n = n, .row_bytes = 8, .first_epoch = 1};

    ck_assert_int_eq(lbp_params_parse(&c.params, "auto", NULL), 0);
    ck_assert_int_eq(lbp_balance_create(&c, 0, &b, NULL), 0);
    for (uint32_t r = 0; r < 2; r++)
        ck_assert_int_eq(lbp_balance_join(b, r, n / 2 * r, n / 2 * (r + 1), 0, &out), 0);
    at[0] = 0;
    at[1] = n / 2;
}

static void end(void)
{
    lbp_balance_destroy(b);
    lbp_actions_fini(&out);
}

/* A rank reports at now_ms: it has run an iteration of 1 ms in each of them. */
static void report(uint32_t rank, int64_t n, int64_t now_ms)
{
    int64_t first = n / 2 * rank, to = first + now_ms, last = first + n / 2;
    struct lbp_sample s = {at[rank], to, (to - at[rank]) * MS, (to - at[rank]) * MS};
    struct lbx_span left = {to, last};
    struct lbp_report r = {.rank = rank,
                           .executed = to - first,
                           .remaining = last - to,
                           .span = &left,
                           .nspans = 1,
                           .sample = &s,
                           .nsamples = 1};

    at[rank] = to;
    ck_assert_int_eq(lbp_balance_report(b, &r, now_ms * MS, &out), 0);
}

static int moves(void)
{
    int k = 0;

    for (size_t i = 0; i < out.n; i++)
        k += out.action[i].type == LBP_MOVE;
    return k;
}

/* Periods of a short loop are 20 ms at first, and hooks come each 25: a rank is not slow because it reports after 45. */
START_TEST(test_late_by_a_hook)
{
    begin(1000);
    for (int64_t ms = 25; ms < 200; ms += 45) {
        report(0, 1000, ms);
        report(1, 1000, ms + 2);
        report(0, 1000, ms + 42);
        ck_assert_int_eq(lbp_balance_tick(b, (ms + 43) * MS, &out), 0);
    }
    ck_assert_int_eq(moves(), 0);
    end();
}
END_TEST

/* One that is silent for much longer is. */
START_TEST(test_late)
{
    begin(8000);
    for (int64_t ms = 25; ms < 200; ms += 25) {
        report(0, 8000, ms);
        report(1, 8000, ms + 2);
    }
    for (int64_t ms = 225; ms < 4000 && moves() == 0; ms += 25)
        report(0, 8000, ms);
    ck_assert_int_gt(moves(), 0);
    end();
}
END_TEST

static int64_t period_told(int64_t n, int64_t from_ms, int64_t to_ms)
{
    int64_t period_ns = 0;

    for (int64_t ms = from_ms; ms <= to_ms; ms += 25) {
        report(0, n, ms);
        report(1, n, ms + 2);
    }
    for (size_t i = 0; i < out.n; i++)
        if (out.action[i].type == LBP_INSTRUCT)
            period_ns = out.action[i].period_ns;
    return period_ns;
}

/* At the beginning they come the sooner the less is left. */
START_TEST(test_early)
{
    static const int64_t n[] = {600, 3200, 8000};
    static const int64_t least[] = {LBP_PERIOD_QUICK_NS, 45 * MS, LBP_PERIOD_MIN_NS},
                         most[] = {LBP_PERIOD_QUICK_NS, 55 * MS, LBP_PERIOD_MIN_NS};
    int64_t period_ns;

    begin(n[_i]);
    period_ns = period_told(n[_i], 25, 25);
    ck_assert_int_ge((int)period_ns, (int)least[_i]);
    ck_assert_int_le((int)period_ns, (int)most[_i]);
    end();
}
END_TEST

/* Reports get rare where nothing changes, and come more often as the end comes near. */
START_TEST(test_calm)
{
    begin(8000);
    ck_assert_int_ge((int)period_told(8000, 25, 500), 800 * MS);
    /* nobody looks without need either */
    ck_assert_int_ge((int)(lbp_balance_wake_ns(b) - 502 * MS), 500 * MS);
    ck_assert_int_eq((int)period_told(8000, 525, 2500), 300 * MS);
    ck_assert_int_eq((int)period_told(8000, 2525, 3500), 100 * MS);
    ck_assert_int_eq((int)period_told(8000, 3525, 3950), (int)LBP_PERIOD_QUICK_NS);
    ck_assert_int_eq(moves(), 0);
    end();
}
END_TEST

int main(void)
{
    TCase *t = suite_case("alert");

    tcase_add_test(t, test_short_window);
    tcase_add_test(t, test_large_change);
    tcase_add_test(t, test_late_by_a_hook);
    tcase_add_test(t, test_late);
    tcase_add_loop_test(t, test_early, 0, 3);
    tcase_add_test(t, test_calm);
    return suite_run("alert", t);
}
