/* SPDX-License-Identifier: BSD-3-Clause */
/* What the database gives back: reports, benchmarks, ended steps, and questions to the store. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/lbd/store.h"
#include "tests/unit/suite.h"

static void on_commit(void *data)
{
    (void)data;
}

static void on_host(void *data, const struct lbd_db_host *host, int64_t at_s,
                    const struct lbw_node_report *report)
{
    (void)data, (void)host, (void)at_s, (void)report;
}

static struct lbd_store *start_store(int64_t max_bytes)
{
    struct lbd_store_settings settings = settings_of(max_bytes);
    struct lbd_store *store;

    ck_assert_int_eq(lbd_store_create(&settings, on_host, on_commit, NULL, &store), 0);
    return store;
}

static void fill_job(struct lbd_db_job *j, struct lbd_db_job_host host[2])
{
    host[0] = (struct lbd_db_job_host){
        .host = "n1", .share_ratio = .75, .iterations = 750, .compute_s = 3, .wait_s = .5};
    host[1] = (struct lbd_db_job_host){.host = "nobody", .share_ratio = .25, .iterations = 250};
    *j = (struct lbd_db_job){.nonce = -77,
                             .jobid = 12,
                             .stepid = 3,
                             .user = "ada",
                             .account = "it's \"me\"",
                             .partition = "p",
                             .policy = "auto,report",
                             .hosts = 2,
                             .ranks = 4,
                             .started_s = 1000,
                             .ended_s = 1060,
                             .load_balance = .95,
                             .efficiency = .9,
                             .balance_before = .6,
                             .compute_s = 220.5,
                             .wait_s = 12.25,
                             .overhead_s = .125,
                             .saved_s = -3.5,
                             .moved_bytes = INT64_C(1) << 40,
                             .moves = 9,
                             .nhost = 2,
                             .host = host};
}

static void check_job(const struct lbd_db_job *j)
{
    ck_assert_uint_eq(j->jobid, 12);
    ck_assert_uint_eq(j->stepid, 3);
    ck_assert_str_eq(j->user, "ada");
    ck_assert_str_eq(j->account, "it's \"me\"");
    ck_assert_str_eq(j->policy, "auto,report");
    ck_assert_int_eq(j->ended_s - j->started_s, 60);
    ck_assert_double_eq_tol(j->load_balance, .95, 1e-9);
    ck_assert_double_eq_tol(j->balance_before, .6, 1e-9);
    ck_assert_double_eq_tol(j->compute_s, 220.5, 1e-9);
    ck_assert_double_eq_tol(j->saved_s, -3.5, 1e-9);
    ck_assert_double_eq(j->predicted_s, 0);
    ck_assert_int_eq(j->moved_bytes, INT64_C(1) << 40);
    ck_assert_int_eq(j->moves, 9);
}

START_TEST(a_job_comes_back_once_with_the_hosts_that_are_known)
{
    struct lbd_db_host host = a_host("n1");
    struct lbd_db_job_host hosts[2];
    struct lbd_db_job job, back[3];
    struct lbd_db *db;
    int64_t id, first, again;
    size_t n;

    fill_job(&job, hosts);
    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), 0);
    ck_assert_int_eq(lbd_db_put_host(db, &host, &id), 0);
    ck_assert_int_eq(lbd_db_put_job(db, &job, &first), 0);
    ck_assert_int_gt(first, 0);
    ck_assert_int_eq(lbd_db_put_job(db, &job, &again), 0);
    ck_assert_int_eq(again, 0);
    job.nonce = 0; /* without one, each is another */
    job.stepid = 4;
    job.balance_before = -1;
    job.nhost = 0;
    ck_assert_int_eq(lbd_db_put_job(db, &job, &again), 0);
    ck_assert_int_eq(lbd_db_put_job(db, &job, &again), 0);
    ck_assert_int_eq(lbd_db_read_jobs(db, 1060, 1060, 3, back, &n), 0);
    ck_assert_uint_eq(n, 3);
    check_job(&back[2]);
    ck_assert_double_lt(back[0].balance_before, 0);
    ck_assert_int_eq(lbd_db_read_jobs(db, 1061, 2000, 3, back, &n), 0);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(lbd_db_read_job(db, 12, 3, back, &n), 0);
    ck_assert_uint_eq(n, 3);
    check_job(&back[2]);
    ck_assert_uint_eq(back[0].nhost, 0);
    ck_assert_uint_eq(back[2].nhost, 1);
    ck_assert_str_eq(back[2].host[0].host, "n1");
    ck_assert_double_eq_tol(back[2].host[0].share_ratio, .75, 1e-9);
    ck_assert_int_eq(back[2].host[0].iterations, 750);
    free(back[2].host);
    lbd_db_close(db);
    ck_assert_int_eq(query("SELECT count(*) FROM host"), 1);
}
END_TEST

START_TEST(points_come_back_by_host_and_time)
{
    struct lbd_db_host host[2] = {a_host("n1"), a_host("n2")};
    struct lbw_node_report r = a_report();
    struct lbd_db_point p[100];
    struct lbd_db *db;
    int64_t id[2];
    size_t n = 77;

    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), 0);
    for (int h = 0; h < 2; h++) {
        ck_assert_int_eq(lbd_db_put_host(db, &host[h], &id[h]), 0);
        for (int i = 0; i < 20; i++) {
            r.external_cpus = h + i;
            ck_assert_int_eq(lbd_db_put_report(db, id[h], 1000 + 10 * i, &r), 0);
        }
    }
    ck_assert_int_eq(lbd_db_read_points(db, "n3", LBD_RAW, 0, 2000, 100, p, &n), -ENOENT);
    ck_assert_uint_eq(n, 77);
    ck_assert_int_eq(lbd_db_read_points(db, "n2", LBD_RAW, 1010, 1050, 100, p, &n), 0);
    ck_assert_uint_eq(n, 5);
    ck_assert_int_eq(p[0].at_s, 1010);
    ck_assert_int_eq(p[4].at_s, 1050);
    ck_assert_double_eq_tol(p[0].external_cpus, 2, 1e-9);
    ck_assert_double_eq_tol(p[0].core_speed, .5, 1e-9);
    ck_assert_double_eq_tol(p[0].tasks, 5, 1e-9);
    ck_assert_int_eq(p[0].reports, 1);
    ck_assert_int_eq(lbd_db_read_points(db, "n1", LBD_RAW, -5, 5000, 3, p, &n), 0);
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(p[0].at_s, 1000);
    ck_assert_int_eq(lbd_db_read_points(db, "n1", LBD_RAW, 1200, 1100, 3, p, &n), 0);
    ck_assert_uint_eq(n, 0);
    lbd_db_close(db);
}
END_TEST

START_TEST(a_benchmark_is_one_row)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_db *db;
    int64_t id;

    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), 0);
    ck_assert_int_eq(lbd_db_put_host(db, &host, &id), 0);
    for (int i = 0; i < 20; i++) {
        r.bench_age_ns = (10 * (i % 10) + i % 2) * LBX_NS_PER_S; /* a second is lost now and then */
        ck_assert_int_eq(lbd_db_put_report(db, id, 1000 + 10 * i, &r), 0);
    }
    lbd_db_close(db);
    ck_assert_int_eq(query("SELECT count(*) FROM benchmark"), 2);
    ck_assert_int_eq(query("SELECT min(key) >> 20 FROM benchmark"), 1000);
    ck_assert_int_eq(query("SELECT max(key) >> 20 FROM benchmark"), 1100);
    ck_assert_int_eq(query("SELECT hardware_us FROM benchmark LIMIT 1"), 800000);
    ck_assert_int_eq(query("SELECT dispersion FROM benchmark LIMIT 1"), 50);
    ck_assert_int_eq(query("SELECT memory_hz FROM benchmark LIMIT 1"), 30000000000);
    ck_assert_int_eq(query("SELECT triad_hz FROM benchmark LIMIT 1"), 5000000000);
    ck_assert_int_eq(query("SELECT triad_all_hz FROM history_benchmark LIMIT 1"), 6000000000);
}
END_TEST

static int answered;

static void on_answer(struct lbd_ask *a)
{
    answered++;
    if (a->data)
        ck_assert_int_eq(a->rc, *(int *)a->data);
    else
        ck_assert(a->rc == -ENOENT || a->rc == -ECANCELED);
    if (a->rc == 0 && a->what == LBD_ASK_POINTS)
        ck_assert_uint_eq(a->n, 1);
    if (a->rc == 0 && a->what == LBD_ASK_JOB)
        check_job(&a->job[0]);
    lbd_ask_destroy(a);
}

static int ask(struct lbd_store *store, enum lbd_ask_what what, int *rc)
{
    struct lbd_ask *a = calloc(1, sizeof(*a));
    int ret;

    ck_assert_ptr_nonnull(a);
    *a = (struct lbd_ask){.what = what,
                          .host = "n1",
                          .jobid = 12,
                          .to_s = 3000,
                          .max = 10,
                          .done = on_answer,
                          .data = rc};
    ret = lbd_store_ask(store, a);
    if (ret < 0)
        lbd_ask_destroy(a);
    return ret;
}

START_TEST(questions_are_answered_and_cancelled)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_store *store = start_store(MAX_BYTES);
    struct lbd_db_job_host hosts[2];
    struct lbd_db_job job;
    int good = 0, rc;

    fill_job(&job, hosts);
    lbd_store_put_host(store, 0, &host);
    lbd_store_put_report(store, 0, 2000, &r);
    wait_for(store, lbd_store_put_job(store, &job));
    answered = 0;
    ck_assert_int_eq(ask(store, LBD_ASK_POINTS, &good), 0);
    ck_assert_int_eq(ask(store, LBD_ASK_JOB, &good), 0);
    while (answered < 2) {
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
        lbd_store_answer(store);
    }
    lbd_store_destroy(store);

    /* what is not read by the end is cancelled */
    unlink(path);
    answered = 0;
    store = start_store(MAX_BYTES);
    rc = 0;
    while (ask(store, LBD_ASK_POINTS, NULL) == 0 && rc < 2 * LBD_STORE_ASKS_MAX)
        rc++;
    ck_assert_int_eq(rc, LBD_STORE_ASKS_MAX); /* none is given back before we call for it */
    lbd_store_destroy(store);
    ck_assert_int_eq(answered, LBD_STORE_ASKS_MAX);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("past");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_job_comes_back_once_with_the_hosts_that_are_known);
    tcase_add_test(tc, points_come_back_by_host_and_time);
    tcase_add_test(tc, a_benchmark_is_one_row);
    tcase_add_test(tc, questions_are_answered_and_cancelled);
    return suite_run("lbd/past", tc);
}
