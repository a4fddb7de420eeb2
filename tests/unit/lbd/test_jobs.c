/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs as balancers tell of them: what is shown and told on, what is capped and counted, and that they leave. */
#include "lbd/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "common/clock.h"
#include "tests/unit/suite.h"

static uv_loop_t loop;
static struct lbd_metrics *metrics;
static struct lbd_jobs *jobs;
static struct lbw_job last;
static int told, told_ended;
static int64_t now_ns;

static void on_told(void *data, const struct lbw_job *job)
{
    (void)data;
    told++;
    told_ended += (int)job->ended;
    memcpy(&last, job, lbw_job_bytes(job));
}

static void setup(void)
{
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    metrics = lbd_metrics_create();
    ck_assert_int_eq(lbd_jobs_create(&loop, metrics, on_told, NULL, &jobs), 0);
    now_ns = lbx_clock_mono_ns();
    told = told_ended = 0;
}

static void teardown(void)
{
    uv_run(&loop, UV_RUN_DEFAULT);
    lbd_jobs_destroy(jobs);
    lbd_metrics_destroy(metrics);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static int take(uint32_t uid, uint32_t jobid, uint32_t stepid, const char *json)
{
    struct lbx_error err = {0};
    int rc = lbd_jobs_take(jobs, uid, jobid, stepid, json, now_ns, &err);

    ck_assert_int_eq(rc < 0, err.text[0] != '\0');
    return rc;
}

#define HEAD "{\"policy\":\"auto\",\"account\":\"a\",\"partition\":\"p\",\"load_balance\":0.5,"
#define HOSTS                                                                                  \
    "\"hosts\":[{\"host\":\"n1\",\"share\":0.25,\"iterations\":10,\"compute_s\":1},{\"host\":" \
    "\"n2\",\"share\":0.75}]}"
#define RUNS HEAD HOSTS
#define ENDS HEAD "\"final\":true," HOSTS

static int lines(const char *name)
{
    char *page;
    size_t size;
    int n = 0;

    ck_assert_int_eq(lbd_metrics_render(metrics, false, &page, &size), 0);
    for (const char *p = page; (p = strstr(p, name)); p++)
        n += p > page && p[-1] == '\n';
    free(page);
    return n;
}

START_TEST(steps_of_a_job_are_told_apart)
{
    ck_assert_int_eq(take(0, 7, 0, RUNS), 0);
    ck_assert_int_eq(take(0, 7, 1, RUNS), 0);
    uv_run(&loop, UV_RUN_DEFAULT); /* the user's name is known */
    ck_assert_int_eq(lines("lb_job_info{jobid=\"7\",stepid=\"0\",username=\"root\""), 1);
    ck_assert_int_eq(lines("lb_job_info{jobid=\"7\",stepid=\"1\",username=\"root\""), 1);
    ck_assert_int_eq(lines("lb_job_share_ratio"), 4);
    ck_assert_int_eq(take(0, 7, 0, ENDS), 0);
    for (int i = 0; i < 3; i++)
        lines("x"); /* scrapes */
    lbd_jobs_expire(jobs, lbd_metrics_pages(metrics), now_ns);
    ck_assert_int_eq(lines("lb_job_info{jobid=\"7\",stepid=\"0\""), 0);
    ck_assert_int_eq(lines("lb_job_info{jobid=\"7\",stepid=\"1\""), 1);
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"7\",stepid=\"0\""), 0);
    ck_assert_int_eq(told_ended, 1);
}
END_TEST

START_TEST(three_scrapes_and_no_sooner)
{
    uint64_t scrapes = 10;

    lbd_jobs_expire(jobs, scrapes, now_ns);
    ck_assert_int_eq(take(0, 7, 0, ENDS), 0);
    for (; scrapes < 13; scrapes++) {
        lbd_jobs_expire(jobs, scrapes, now_ns);
        ck_assert_uint_eq(lbd_jobs_count(jobs), 1);
    }
    lbd_jobs_expire(jobs, scrapes, now_ns);
    ck_assert_uint_eq(lbd_jobs_count(jobs), 0);
    /* its number comes again: another job */
    ck_assert_int_eq(take(0, 7, 0, RUNS), 0);
    ck_assert_uint_eq(lbd_jobs_count(jobs), 1);
}
END_TEST

START_TEST(the_end_is_told_once)
{
    ck_assert_int_eq(take(0, 7, 0, RUNS), 0);
    ck_assert_int_eq(take(0, 7, 0, ENDS), 0);
    ck_assert_int_eq(take(0, 7, 0, ENDS), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(told_ended, 1);
    ck_assert_int_eq(take(0, 7, 0, ENDS), 0);
    ck_assert_int_eq(told_ended, 1);
    ck_assert_str_eq(last.user, "root");
    ck_assert_uint_eq(last.jobid, 7);
    ck_assert_uint_eq(last.nhost, 2);
    ck_assert_double_eq_tol(last.host[1].share, .75, 1e-12);
    ck_assert_double_eq_tol(last.load_balance, .5, 1e-12);
}
END_TEST

START_TEST(a_balancer_that_was_killed_has_ended)
{
    ck_assert_int_eq(take(0, 7, 0, RUNS), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    lbd_jobs_expire(jobs, 0, now_ns + 59 * LBX_NS_PER_S);
    ck_assert_int_eq(told_ended, 0);
    lbd_jobs_expire(jobs, 0, now_ns + 61 * LBX_NS_PER_S);
    ck_assert_int_eq(told_ended, 1);
    ck_assert_uint_eq(lbd_jobs_count(jobs), 0);
    ck_assert_int_eq(lines("lb_job"), 0);
}
END_TEST

START_TEST(a_balancer_that_is_gone_has_ended)
{
    ck_assert_int_eq(take(0, 7, 0, RUNS), 0);
    ck_assert_int_eq(take(0, 8, 0, ENDS), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(told_ended, 1);
    lbd_jobs_end(jobs, 7, 1);
    ck_assert_int_eq(told_ended, 1);
    lbd_jobs_end(jobs, 7, 0);
    lbd_jobs_end(jobs, 7, 0);
    ck_assert_int_eq(told_ended, 2);
    ck_assert_uint_eq(last.jobid, 7);
    lbd_jobs_end(jobs, 8, 0); /* had said so: it stays for its scrapes */
    ck_assert_int_eq(told_ended, 2);
    ck_assert_uint_eq(lbd_jobs_count(jobs), 1);
}
END_TEST

START_TEST(names_of_any_bytes)
{
    ck_assert_int_eq(
        take(0, 7, 0,
             "{\"policy\":\"a\\\"b\\\\c\\nd\",\"account\":\"\\u0001\\u00e4\",\"partition\":\"p\","
             "\"hosts\":[{\"host\":\"h\\\"1\\n\",\"share\":0.5},{\"host\":\"../"
             "x\",\"share\":0.5},{\"host\":7}]}"),
        0);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(lines("lb_job_info{jobid=\"7\",stepid=\"0\",username=\"root\",account=\"?"
                           "\xc3\xa4\",partition=\"p\","
                           "policy=\"a\\\"b\\\\c?d\"} 1\n"),
                     1);
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"7\",stepid=\"0\",host=\"h\\\"1\\n\"} 0.5\n"),
                     1);
    ck_assert_uint_eq(last.nhost, 0); /* such hosts are told to nobody else */
}
END_TEST

static const char *const garbage[] = {
    "",
    "{",
    "[]",
    "7",
    "{}",
    "{\"policy\":7,\"hosts\":[]}",
    "{\"policy\":\"auto\",\"hosts\":{}}",
    "{\"policy\":\"auto\",\"policy\":\"auto\",\"hosts\":[]}",
    "{\"policy\":\"auto\xff\",\"hosts\":[]}",
    "{\"policy\":\"a\\u0000b\",\"hosts\":[]}",
};

START_TEST(garbage_is_refused_and_counted)
{
    struct lbd_jobs_stats s;
    size_t n = sizeof(garbage) / sizeof(garbage[0]);

    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(take(0, 7, 0, garbage[i]), -EINVAL);
    lbd_jobs_stats(jobs, &s);
    ck_assert_uint_eq(s.refused[LBD_JOBS_GARBAGE], n);
    ck_assert_uint_eq(s.messages, n);
    ck_assert_uint_eq(s.jobs, 0);
}
END_TEST

START_TEST(senseless_numbers_harm_nobody)
{
    ck_assert_int_eq(take(0, 7, 0,
                          "{\"policy\":\"auto\",\"load_balance\":-1,\"efficiency\":1e300,\"moved_"
                          "bytes\":1e308,\"period_s\":1e308,"
                          "\"saved_s\":-1e308,\"ranks\":-5,\"loops\":\"many\",\"moved\":7,"
                          "\"skipped\":{\"filtered\":1e99},"
                          "\"hosts\":[7,{},{\"host\":\"n1\",\"share\":9,\"rate\":-1,\"iterations\":"
                          "1e40,\"compute_s\":1e300,\"wait_s\":1e300}]}"),
                     0);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(told, 1);
    ck_assert(last.efficiency == 1 && last.load_balance == 0);
    ck_assert_uint_eq(last.nhost, 1);
    ck_assert(last.host[0].share == 1 && last.host[0].rate_hz == 0 && last.host[0].compute_ns > 0);
    ck_assert_int_eq(lines("lb_job_rate_iterations_per_second"), 0);
}
END_TEST

/* A job that has computed nothing yet keeps nobody waiting, and shows no balance. */
START_TEST(no_balance_before_there_is_one)
{
    ck_assert_int_eq(take(0, 7, 0, "{\"policy\":\"auto\",\"hosts\":[]}"), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(lines("lb_job_load_balance_ratio"), 0);
    ck_assert(last.load_balance == 1);
    ck_assert_int_eq(take(0, 7, 0, RUNS), 0);
    ck_assert_int_eq(lines("lb_job_load_balance_ratio"), 1);
}
END_TEST

START_TEST(a_user_has_so_many_jobs)
{
    struct lbd_jobs_stats s;

    for (uint32_t i = 0; i < LBD_JOBS_PER_USER_MAX; i++)
        ck_assert_int_eq(take(0, 100 + i, 0, RUNS), 0);
    ck_assert_int_eq(take(0, 99, 0, RUNS), -EDQUOT);
    ck_assert_int_eq(take(1, 99, 0, RUNS), 0); /* another's are not counted against him */
    lbd_jobs_stats(jobs, &s);
    ck_assert_uint_eq(s.refused[LBD_JOBS_TOO_MANY], 1);
    ck_assert_uint_eq(s.jobs, LBD_JOBS_PER_USER_MAX + 1);
}
END_TEST

START_TEST(a_flood_is_cut)
{
    struct lbd_jobs_stats s;
    int taken = 0;

    for (int i = 0; i < 1000; i++)
        taken += take(0, 7, 0, RUNS) == 0;
    ck_assert_int_lt(taken, 200);
    ck_assert_int_eq(take(1, 8, 0, RUNS), 0);
    lbd_jobs_stats(jobs, &s);
    ck_assert_uint_eq(s.refused[LBD_JOBS_RATE], (uint64_t)(1000 - taken));
    now_ns += 10 * LBX_NS_PER_S;
    ck_assert_int_eq(take(0, 7, 0, RUNS), 0);
}
END_TEST

START_TEST(hosts_of_large_jobs_are_cut)
{
    static char json[60000];
    struct lbd_jobs_stats s;
    int n = snprintf(json, sizeof(json), "{\"policy\":\"auto\",\"hosts\":[");

    for (int i = 0; i < 200; i++)
        n += snprintf(json + n, sizeof(json) - (size_t)n,
                      "%s{\"host\":\"n%d\",\"share\":0.005,\"rate\":1,\"iterations\":1,\"compute_"
                      "s\":1,\"wait_s\":1}",
                      i ? "," : "", i);
    snprintf(json + n, sizeof(json) - (size_t)n, "]}");
    for (uint32_t i = 0; i < 20; i++)
        ck_assert_int_eq(take(0, 100 + i, 0, json), 0);
    ck_assert_int_eq(take(1, 200, 0, json), 0);
    lbd_jobs_stats(jobs, &s);
    ck_assert_uint_gt(s.refused[LBD_JOBS_SERIES], 0);
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"100\""),
                     200); /* who was first keeps what it has */
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"119\""), 0);
    ck_assert_int_eq(lines("lb_job_nodes{jobid=\"119\""), 1);
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"200\""), 200); /* another user */
    ck_assert_int_le(lines("lb_job"), 2 * LBD_JOBS_SERIES_PER_USER_MAX);
}
END_TEST

/* As balancers tell it, with all that there is to tell. */
static int take_whole(uint32_t uid, uint32_t jobid, bool final)
{
    char json[1000];

    snprintf(
        json, sizeof(json),
        "{\"policy\":\"auto\",\"account\":\"physics\",\"partition\":\"main\",\"begun_s\":"
        "1768503600,\"final\":%s,\"ranks\":4,\"load_balance\":0.97,\"efficiency\":0.91,"
        "\"period_s\":0.5,\"block\":12.5,\"loops\":3,\"moved\":{\"proportional\":12,\"dry\":4},"
        "\"skipped\":{\"below_threshold\":120,\"unprofitable\":3,\"filtered\":1,\"unstable\":0},"
        "\"moved_bytes\":123456789,\"moved_iterations\":120000,\"moving_s\":1.25,"
        "\"balancer_cpu_s\":0.75,\"hosts\":[{\"host\":\"n0001\",\"share\":1,\"rate\":1234.56,"
        "\"iterations\":123456,\"compute_s\":123.456,\"wait_s\":1.234}]}",
        final ? "true" : "false");
    return take(uid, jobid, 0, json);
}

static size_t page_bytes(void)
{
    char *page;
    size_t size;

    ck_assert_int_eq(lbd_metrics_render(metrics, false, &page, &size), 0);
    free(page);
    return size;
}

START_TEST(many_jobs_are_shown_in_brief)
{
    struct lbd_jobs_stats s;

    for (uint32_t i = 0; i < 64; i++)
        ck_assert_int_eq(take_whole(1000 + i, 100 + i, false), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(lines("lb_job_share_ratio"), LBD_JOBS_FULL_MAX);
    ck_assert_int_eq(lines("lb_job_balancer_cpu_seconds_total"), LBD_JOBS_FULL_MAX);
    /* who is unbalanced and why is answered for every one */
    ck_assert_int_eq(lines("lb_job_info"), 64);
    ck_assert_int_eq(lines("lb_job_nodes"), 64);
    ck_assert_int_eq(lines("lb_job_load_balance_ratio"), 64);
    ck_assert_int_eq(lines("lb_job_parallel_efficiency_ratio"), 64);
    ck_assert_int_eq(lines("lb_job_redistributions_total"), 2 * 64);
    ck_assert_int_eq(lines("lb_job_redistributions_skipped_total"), 3 * 64 + LBD_JOBS_FULL_MAX);
    ck_assert_uint_lt(page_bytes(), 64 * 1024);
    lbd_jobs_stats(jobs, &s);
    ck_assert_uint_eq(s.refused[LBD_JOBS_SERIES], 64 - LBD_JOBS_FULL_MAX);
    /* when one ends another has its place; those that had one keep it */
    ck_assert_int_eq(take_whole(1000, 100, true), 0);
    for (int i = 0; i < 3; i++)
        lines("x"); /* scrapes */
    lbd_jobs_expire(jobs, lbd_metrics_pages(metrics), now_ns);
    ck_assert_int_eq(lines("lb_job_share_ratio"), LBD_JOBS_FULL_MAX - 1);
    ck_assert_int_eq(take_whole(1063, 163, false), 0);
    ck_assert_int_eq(take_whole(1062, 162, false), 0);
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"163\""), 1);
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"162\""), 0);
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"101\""), 1);
}
END_TEST

START_TEST(one_user_leaves_room_for_others)
{
    for (uint32_t i = 0; i < LBD_JOBS_PER_USER_MAX; i++)
        ck_assert_int_eq(take_whole(0, 100 + i, false), 0);
    ck_assert_int_eq(lines("lb_job_share_ratio"), LBD_JOBS_FULL_PER_USER_MAX);
    ck_assert_int_eq(take_whole(1, 200, false), 0);
    ck_assert_int_eq(lines("lb_job_share_ratio{jobid=\"200\""), 1);
    ck_assert_int_le(lines("lb_job"), LBD_JOBS_SERIES_PER_USER_MAX + 23);
}
END_TEST

static atomic_bool stop;

static void *scrape(void *data)
{
    int *bad = data;

    while (!stop) {
        char *page;
        size_t n;

        if (lbd_metrics_render(metrics, true, &page, &n) < 0)
            break;
        *bad += n < 6 || strcmp(page + n - 6, "# EOF\n") != 0;
        free(page);
    }
    return NULL;
}

START_TEST(jobs_end_during_scrapes)
{
    pthread_t thread;
    int bad = 0;

    stop = false;
    ck_assert_int_eq(pthread_create(&thread, NULL, scrape, &bad), 0);
    for (uint32_t i = 0; i < 500; i++) {
        now_ns += LBX_NS_PER_S;
        ck_assert_int_eq(take(0, 1000 + i, 0, RUNS), 0);
        ck_assert_int_eq(take(0, 1000 + i, 0, ENDS), 0);
        lbd_jobs_expire(jobs, lbd_metrics_pages(metrics), now_ns);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    lbd_jobs_expire(jobs, lbd_metrics_pages(metrics), now_ns + 1000 * LBX_NS_PER_S);
    stop = true;
    pthread_join(thread, NULL);
    ck_assert_int_eq(bad, 0);
    ck_assert_int_eq(told_ended, 500);
    ck_assert_int_eq(lines("lb_job"), 0);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("jobs");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, steps_of_a_job_are_told_apart);
    tcase_add_test(tc, three_scrapes_and_no_sooner);
    tcase_add_test(tc, the_end_is_told_once);
    tcase_add_test(tc, a_balancer_that_was_killed_has_ended);
    tcase_add_test(tc, a_balancer_that_is_gone_has_ended);
    tcase_add_test(tc, names_of_any_bytes);
    tcase_add_test(tc, garbage_is_refused_and_counted);
    tcase_add_test(tc, senseless_numbers_harm_nobody);
    tcase_add_test(tc, no_balance_before_there_is_one);
    tcase_add_test(tc, a_user_has_so_many_jobs);
    tcase_add_test(tc, a_flood_is_cut);
    tcase_add_test(tc, hosts_of_large_jobs_are_cut);
    tcase_add_test(tc, many_jobs_are_shown_in_brief);
    tcase_add_test(tc, one_user_leaves_room_for_others);
    tcase_add_test(tc, jobs_end_during_scrapes);
    return suite_run("lbd/jobs", tc);
}
