/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks tell adds up, to no more than a number can hold, whatever they say. */
#include <check.h>
#include <stdlib.h>

#include "lbd/balancer/loops_state.h"
#include "lbd/balancer/loops_stats.h"
#include "lbd/balancer/sums.h"
#include "tests/unit/suite.h"

static struct lbd_rank_stats rank;
static struct lbd_wait waits;
static struct lbd_loop loop;
static struct lbd_loops loops = {.rank = &rank, .wait = &waits};

static void is(int64_t iterations, int64_t ns)
{
    ck_assert_int_eq(rank.iterations, iterations);
    ck_assert_int_eq(rank.compute_ns, ns);
    ck_assert_int_eq(rank.wait_ns, ns);
    ck_assert_int_eq(loops.stats.moving_ns, ns);
}

START_TEST(test_reports)
{
    static struct lbw_report m = {.nsamples = 2, .ndone = 2};

    m.sample[0] = (struct lbw_sample){0, 30, 40, 40};
    m.sample[1] = (struct lbw_sample){30, 50, 60, 60};
    m.done[0].cpu_ns = m.done[1].cpu_ns = 50;
    m.wait_ns = 100;
    lbd_sums_report(&loops, &loop, 0, &m);
    is(50, 100);
    m.sample[0] = m.sample[1] = (struct lbw_sample){0, INT64_MAX - 1, INT64_MAX - 1, 0};
    m.done[0].cpu_ns = m.done[1].cpu_ns = m.wait_ns = INT64_MAX - 1;
    for (int i = 0; i < 3; i++) {
        m.pass++; /* its waiting is told anew */
        lbd_sums_report(&loops, &loop, 0, &m);
        is(INT64_MAX, INT64_MAX);
    }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("sums");

    tcase_add_test(tc, test_reports);
    return suite_run("sums", tc);
}
