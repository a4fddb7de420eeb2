/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node keeps for its controller: in order, until it is acknowledged, and never more than there is room for. */
#include "lbd/node/backlog.h"

#include "common/clock.h"
#include "tests/unit/suite.h"

static struct lbd_backlog b;
static struct lbw_node_msg msg;

static void report(unsigned i)
{
    struct lbw_node_report r = {.running = i, .bench_age_ns = 5};

    ck_assert_int_eq(lbd_backlog_report(&b, &r, i), 0);
}

static void job(unsigned i)
{
    struct lbw_job *j = calloc(1, sizeof(*j));

    ck_assert_ptr_nonnull(j);
    j->ended = 1;
    j->jobid = i;
    j->nhost = 2;
    strcpy(j->host[1].host, "n2");
    ck_assert_int_eq(lbd_backlog_job(&b, j, i), 0);
    free(j);
}

/* What was added as the i-th (from 1), every seventh a job, is the one kept at this place. */
static void check_kept(unsigned at, unsigned i)
{
    const struct lbd_kept *k = lbd_backlog_at(&b, at);

    ck_assert_uint_eq(k->seq, i);
    lbd_backlog_message(k, i + 3, &msg);
    if (i % 7 == 0) {
        ck_assert_int_eq(msg.type, LBW_N_JOB);
        ck_assert_uint_eq(msg.u.job.seq, i);
        ck_assert_uint_eq(msg.u.job.jobid, i);
        ck_assert_str_eq(msg.u.job.host[1].host, "n2");
        ck_assert_int_eq(msg.u.job.age_ns, 3);
        return;
    }
    ck_assert_int_eq(msg.type, LBW_N_REPORT);
    ck_assert_uint_eq(msg.u.report.seq, i);
    ck_assert_uint_eq(msg.u.report.running, i);
    ck_assert_int_eq(msg.u.report.age_ns, 3);
    ck_assert_int_eq(msg.u.report.bench_age_ns, 8);
}

START_TEST(the_oldest_are_dropped_and_counted)
{
    unsigned beyond = LBD_BACKLOG_MAX + LBD_BACKLOG_MAX / 2;

    for (unsigned i = 1; i <= beyond; i++) {
        if (i % 7 == 0)
            job(i);
        else
            report(i);
        ck_assert_uint_eq(b.n, i < LBD_BACKLOG_MAX ? i : LBD_BACKLOG_MAX);
        ck_assert_uint_eq(b.dropped, i < LBD_BACKLOG_MAX ? 0 : i - LBD_BACKLOG_MAX);
    }
    for (unsigned at = 0; at < b.n; at++)
        check_kept(at, beyond - LBD_BACKLOG_MAX + 1 + at);
    ck_assert_uint_eq(b.acknowledged, 0);
    lbd_backlog_fini(&b);
}
END_TEST

START_TEST(what_is_acknowledged_makes_room)
{
    for (unsigned i = 1; i <= LBD_BACKLOG_MAX; i++)
        report(i);
    lbd_backlog_acknowledge(&b, 10);
    ck_assert_uint_eq(b.n, LBD_BACKLOG_MAX - 10);
    ck_assert_uint_eq(b.acknowledged, 10);
    lbd_backlog_acknowledge(&b, 9); /* late: it is known already */
    ck_assert_uint_eq(b.n, LBD_BACKLOG_MAX - 10);
    for (unsigned i = 1; i <= 10; i++)
        report(LBD_BACKLOG_MAX + i);
    ck_assert_uint_eq(b.dropped, 0);
    report(LBD_BACKLOG_MAX + 11);
    ck_assert_uint_eq(b.dropped, 1);
    ck_assert_uint_eq(lbd_backlog_at(&b, 0)->seq, 12);
    lbd_backlog_acknowledge(&b, UINT64_MAX);
    ck_assert_uint_eq(b.n, 0);
    report(1); /* the numbers go on */
    ck_assert_uint_eq(lbd_backlog_at(&b, 0)->seq, LBD_BACKLOG_MAX + 12);
    lbd_backlog_fini(&b);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("backlog");

    tcase_add_test(tc, the_oldest_are_dropped_and_counted);
    tcase_add_test(tc, what_is_acknowledged_makes_room);
    return suite_run("lbd/node/backlog", tc);
}
