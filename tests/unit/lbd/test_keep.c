/* SPDX-License-Identifier: BSD-3-Clause */
/* The housekeeping of the database, in a time of its own: means against sums made here, retention, copies. */
#include "lbd/controller/keep.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/policyconf.h"
#include "lbd/controller/db_impl.h"
#include "tests/unit/lbd/store.h"
#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

#define HOSTS 3
#define BEGIN_S INT64_C(1700000400) /* not at the beginning of an hour, but of five minutes */

static struct lbd_db *db;
static struct lbd_keep keep;
static struct lbd_keep_settings settings;
static int64_t id[HOSTS];

static void begin(void)
{
    memset(&settings, 0, sizeof(settings));
    for (int i = 0; i < LBD_TABLES; i++)
        settings.keep_s[i] = INT64_C(1) << 33;
    settings.backups = 2;
    lbd_keep_init(&keep);
    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), 0);
    for (int h = 0; h < HOSTS; h++) {
        struct lbd_db_host host = a_host("");

        snprintf(host.name, sizeof(host.name), "n%d", h);
        ck_assert_int_eq(lbd_db_put_host(db, &host, &id[h]), 0);
    }
}

static void end(void)
{
    lbd_keep_fini(&keep);
    lbd_db_close(db);
}

static void put(int h, int64_t at_s, double external)
{
    struct lbw_node_report r = a_report();

    r.external_cpus = external;
    lbd_keep_note(&keep, at_s);
    ck_assert_int_eq(lbd_db_put_report(db, id[h], at_s, &r), 0);
}

/* Step until there is nothing to do; returns the last result. */
static int settle(int64_t now_s)
{
    int rc = 1;

    for (int i = 0; i < 100000 && rc == 1; i++)
        rc = lbd_keep_step(&keep, db, &settings, now_s);
    return rc;
}

static double mean_of(int h, enum lbd_resolution resolution, int64_t at_s, int64_t *ret_reports)
{
    struct lbd_db_point p;
    char name[16];
    size_t n = 0;

    snprintf(name, sizeof(name), "n%d", h);
    ck_assert_int_eq(lbd_db_read_points(db, name, resolution, at_s, at_s, 1, &p, &n), 0);
    *ret_reports = n ? p.reports : 0;
    return n ? p.external_cpus : -1;
}

START_TEST(means_are_those_of_the_reports)
{
    static double sum[HOSTS][48];
    static int count[HOSTS][48];
    struct prop prop = prop_start("means");
    int64_t last_s = BEGIN_S + 4 * 3600, n;

    begin();
    memset(sum, 0, sizeof(sum));
    memset(count, 0, sizeof(count));
    for (int64_t at_s = BEGIN_S; at_s < last_s; at_s += 10) {
        for (int h = 0; h < HOSTS; h++) {
            double external = (double)(prop_below(&prop, 8000)) / 1000;
            int slot = (int)((at_s - BEGIN_S) / 300);

            if (prop_below(&prop, 4) == 0 || (h == 1 && slot % 3 == 0))
                continue; /* one that is lost, or a host that is away */
            put(h, at_s, external);
            sum[h][slot] += external;
            count[h][slot]++;
        }
        if (prop_below(&prop, 32) == 0)
            ck_assert_int_eq(settle(at_s), 0);
    }
    ck_assert_int_eq(settle(last_s + 3600), 0);
    for (int h = 0; h < HOSTS; h++) {
        for (int slot = 0; slot < 48; slot++) {
            double mean = mean_of(h, LBD_5M, BEGIN_S + 300 * slot, &n);

            ck_assert_int_eq(n, count[h][slot]);
            if (n > 0)
                ck_assert_double_eq_tol(mean, sum[h][slot] / count[h][slot], .001);
        }
        for (int64_t hour = BEGIN_S / 3600; hour <= last_s / 3600; hour++) {
            double all = 0, mean = mean_of(h, LBD_1H, hour * 3600, &n);
            int reports = 0;

            for (int slot = 0; slot < 48; slot++) {
                if ((BEGIN_S + 300 * slot) / 3600 != hour)
                    continue;
                all += sum[h][slot];
                reports += count[h][slot];
            }
            ck_assert_int_eq(n, reports);
            if (n > 0)
                ck_assert_double_eq_tol(mean, all / reports, .002);
        }
    }
    end();
}
END_TEST

START_TEST(what_comes_late_is_in_the_means)
{
    int64_t n;

    begin();
    for (int64_t at_s = BEGIN_S; at_s < BEGIN_S + 7200; at_s += 10)
        put(0, at_s, 1);
    ck_assert_int_eq(settle(BEGIN_S + 7200), 0);
    mean_of(1, LBD_5M, BEGIN_S + 3600, &n);
    ck_assert_int_eq(n, 0);
    for (int64_t at_s = BEGIN_S + 3600; at_s < BEGIN_S + 3900; at_s += 10)
        put(1, at_s, 3); /* its node had kept them */
    ck_assert_int_eq(settle(BEGIN_S + 7600), 0);
    ck_assert_double_eq_tol(mean_of(1, LBD_5M, BEGIN_S + 3600, &n), 3, .001);
    ck_assert_int_eq(n, 30);
    ck_assert_double_eq_tol(mean_of(0, LBD_5M, BEGIN_S + 3600, &n), 1, .001);
    ck_assert_int_eq(n, 30);
    end();
}
END_TEST

START_TEST(a_new_process_goes_on_where_the_last_one_was)
{
    int64_t n;

    begin();
    for (int64_t at_s = BEGIN_S; at_s < BEGIN_S + 9000; at_s += 10)
        put(0, at_s, 2);
    for (int i = 0; i < 7; i++) /* in the middle of it */
        ck_assert_int_eq(lbd_keep_step(&keep, db, &settings, BEGIN_S + 9100), 1);
    end();
    begin();
    /* raw rows were purged in the middle of five minutes meanwhile: their means must stay */
    ck_assert_int_eq(settle(BEGIN_S + 9100), 0);
    settings.keep_s[LBD_T_RAW] = 1000;
    keep.purge_s = 0;
    ck_assert_int_eq(settle(BEGIN_S + 9100), 0);
    end();
    begin();
    ck_assert_int_eq(settle(BEGIN_S + 9700), 0);
    for (int slot = 0; slot < 30; slot++) {
        ck_assert_double_eq_tol(mean_of(0, LBD_5M, BEGIN_S + 300 * slot, &n), 2, .001);
        ck_assert_int_eq(n, 30);
    }
    end();
}
END_TEST

START_TEST(rows_go_when_they_are_old_and_in_the_means)
{
    int64_t now_s = BEGIN_S + 2 * 86400;
    struct lbd_db_job job = {.jobid = 1, .balance_before = -1, .ended_s = BEGIN_S};
    int64_t row;

    begin();
    job.nhost = 1;
    job.host = &(struct lbd_db_job_host){.host = "n0", .share_ratio = 1};
    ck_assert_int_eq(lbd_db_put_job(db, &job, &row), 0);
    job.ended_s = now_s;
    ck_assert_int_eq(lbd_db_put_job(db, &job, &row), 0);
    ck_assert_int_eq(lbd_db_put_event(db, BEGIN_S, 0, "joined", ""), 0);
    ck_assert_int_eq(lbd_db_put_event(db, now_s, 0, "left", ""), 0);
    for (int64_t at_s = BEGIN_S; at_s < now_s; at_s += 60)
        put(0, at_s, 2);
    settings.keep_s[LBD_T_RAW] = 3600;
    settings.keep_s[LBD_T_5M] = 7200;
    settings.keep_s[LBD_T_1H] = 86400;
    settings.keep_s[LBD_T_JOB] = settings.keep_s[LBD_T_EVENT] = 86400;
    ck_assert_int_eq(settle(now_s), 0);
    end();
    ck_assert_int_eq(query("SELECT min(key) >> 20 FROM report_raw"), now_s - 3600);
    ck_assert_int_eq(query("SELECT min(key) >> 20 FROM report_5m"), now_s - 7200);
    ck_assert_int_ge(query("SELECT min(key) >> 20 FROM report_1h"), now_s - 86400);
    ck_assert_int_ge(query("SELECT count(*) FROM report_1h"), 23);
    ck_assert_int_eq(query("SELECT count(*) FROM job"), 1);
    ck_assert_int_eq(query("SELECT count(*) FROM job_host"), 1);
    ck_assert_int_eq(query("SELECT count(*) FROM event"), 1);
    ck_assert_int_eq(query("PRAGMA freelist_count"), 0);
}
END_TEST

/* A number out of a file that the reader may not write beside. */
static int64_t query_file(const char *name, const char *sql)
{
    char uri[200];
    sqlite3_stmt *st = NULL;
    sqlite3 *copy = NULL;
    int64_t v = -1;

    snprintf(uri, sizeof(uri), "file:%s?mode=ro", name);
    ck_assert_int_eq(sqlite3_open_v2(uri, &copy, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL), 0);
    ck_assert_msg(sqlite3_prepare_v2(copy, sql, -1, &st, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(copy));
    if (sqlite3_step(st) == SQLITE_ROW)
        v = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(copy);
    return v;
}

static int count_files(const char *pattern)
{
    char name[200];
    glob_t g;
    int n;

    snprintf(name, sizeof(name), "%s/%s", dir, pattern);
    n = glob(name, 0, NULL, &g) == 0 ? (int)g.gl_pathc : 0;
    globfree(&g);
    return n;
}

START_TEST(a_backup_is_whole_while_rows_are_put)
{
    int64_t now_s = (int64_t)time(NULL), at_s = BEGIN_S;
    char name[200];
    glob_t g;
    int steps = 0;

    begin();
    ck_assert_int_eq(lbd_db_begin(db), 0);
    for (int i = 0; i < 100000; i++)
        put(0, at_s++, 2);
    ck_assert_int_eq(lbd_db_commit(db), 0);
    ck_assert_int_eq(settle(now_s), 0);
    snprintf(settings.backup, sizeof(settings.backup), "%s/backup", dir);
    settings.backup_hour = 0;
    keep.backup_next_s = 0;
    while (lbd_keep_step(&keep, db, &settings, now_s) == 1) {
        ck_assert_int_eq(lbd_db_begin(db), 0);
        put(1, at_s++, 3);
        ck_assert_int_eq(lbd_db_commit(db), 0);
        ck_assert_int_le(count_files("backup/lbd-*.db"), 0); /* not before it is whole */
        steps++;
    }
    ck_assert_int_gt(steps, 1);
    ck_assert_int_eq(count_files("backup/*"), 1);
    snprintf(name, sizeof(name), "%s/backup/lbd-*.db", dir);
    ck_assert_int_eq(glob(name, 0, NULL, &g), 0);
    ck_assert_int_eq(
        query_file(g.gl_pathv[0], "SELECT count(*) FROM report_raw WHERE key & 1048575 = 1"),
        100000);
    /* all that was put before its last step */
    ck_assert_int_ge(query_file(g.gl_pathv[0], "SELECT count(*) FROM report_raw"),
                     100000 + steps - 1);
    ck_assert_int_ge(keep.backup_done_s, now_s - 5);

    /* none before the hour has come again; then one more, and the older ones go */
    keep.backup_next_s = 0;
    ck_assert_int_eq(settle(now_s + 60), 0);
    ck_assert_int_eq(count_files("backup/*"), 1);
    for (int day = 1; day <= 3; day++) {
        ck_assert_int_eq(settle(now_s + day * 86400), 0);
        ck_assert_int_eq(count_files("backup/*"), 2);
    }
    globfree(&g);
    end();
}
END_TEST

START_TEST(a_snapshot_takes_the_place_of_the_last_one)
{
    char name[128];
    struct stat st;

    begin();
    for (int i = 0; i < 1000; i++)
        put(0, BEGIN_S + i, 2);
    snprintf(name, sizeof(name), "%s/snapshot/lbd.db", dir);
    snprintf(settings.snapshot, sizeof(settings.snapshot), "%s", name);
    settings.snapshot_interval_s = 600;
    ck_assert_int_eq(settle(BEGIN_S + 1000), 0);
    ck_assert_int_eq(query_file(name, "SELECT count(*) FROM report_raw"), 1000);
    ck_assert_int_eq(stat(name, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
    put(0, BEGIN_S + 1000, 2);
    ck_assert_int_eq(settle(BEGIN_S + 1500), 0);
    ck_assert_int_eq(query_file(name, "SELECT count(*) FROM report_raw"), 1000);
    ck_assert_int_eq(settle(BEGIN_S + 1600), 0);
    ck_assert_int_eq(query_file(name, "SELECT count(*) FROM report_raw"), 1001);
    ck_assert_int_eq(count_files("snapshot/*"), 1);
    ck_assert_uint_eq(keep.snapshots, 2);
    ck_assert_uint_eq(keep.snapshot_failures, 0);
    end();
}
END_TEST

START_TEST(a_copy_that_cannot_be_written_is_told_and_the_rest_goes_on)
{
    begin();
    write_file(dir, "file", "no folder");
    snprintf(settings.snapshot, sizeof(settings.snapshot), "%s/file/lbd.db", dir);
    snprintf(settings.backup, sizeof(settings.backup), "%s/none/backup", dir);
    settings.snapshot_interval_s = 600;
    for (int64_t at_s = BEGIN_S; at_s < BEGIN_S + 600; at_s += 10)
        put(0, at_s, 1);
    ck_assert_int_lt(settle(BEGIN_S + 700), 0);
    ck_assert(keep.copy_failed);
    ck_assert_ptr_nonnull(strstr(keep.why, "/none/backup"));
    ck_assert_int_lt(settle(BEGIN_S + 700), 0);
    ck_assert(keep.copy_failed);
    ck_assert_ptr_nonnull(strstr(keep.why, "/file"));
    ck_assert_int_eq(settle(BEGIN_S + 700), 0); /* not again and again */
    ck_assert_uint_eq(keep.backup_failures, 1);
    ck_assert_uint_eq(keep.snapshot_failures, 1);
    ck_assert_uint_eq(keep.backups + keep.snapshots, 0);
    end();
    ck_assert_int_eq(query("SELECT count(*) FROM report_5m"), 2);
}
END_TEST

#define SITE_HOSTS 1000
#define BYTES_MAX ((int64_t)256 << 20)

static int64_t pages(void)
{
    int64_t n = 0;

    ck_assert_int_eq(lbd_db_pragma(db, "PRAGMA page_count", &n), 0);
    return n;
}

/* Bytes of a row of a table, of many. */
static double row_bytes(enum lbd_table table)
{
    static struct lbd_db_sum sum[SITE_HOSTS + 1];
    struct lbw_node_report r = a_report();
    int64_t before = pages(), n = 0;

    for (int h = 1; h <= SITE_HOSTS; h++) {
        sum[h].reports = 30;
        for (int i = 0; i < LBD_DB_VALUES; i++)
            sum[h].value[i] = 30 * INT64_C(64000); /* 64 cores, in thousandths */
    }
    ck_assert_int_eq(lbd_db_begin(db), 0);
    for (int turn = 0; turn < 40; turn++) {
        int64_t at_s = BEGIN_S + 86400 * (int64_t)table + 3600 * turn;

        if (table == LBD_T_5M || table == LBD_T_1H) {
            ck_assert_int_eq(lbd_db_commit(db), 0);
            ck_assert_int_eq(lbd_db_put_means(db, table == LBD_T_5M ? LBD_5M : LBD_1H, at_s, sum,
                                              SITE_HOSTS + 1),
                             0);
            ck_assert_int_eq(lbd_db_begin(db), 0);
            n += SITE_HOSTS;
            continue;
        }
        for (int h = 1; h <= SITE_HOSTS; h++, n++) {
            r.external_cpus = r.busy_cpus = 64;
            r.core_speed = 1.025;
            r.capacity = 64.123;
            /* one that is as old in each turn is a new one in each; else there is only the first */
            r.bench_age_ns = table == LBD_T_BENCHMARK ? 0 : (at_s - BEGIN_S) * LBX_NS_PER_S;
            ck_assert_int_eq(lbd_db_put_report(db, h, at_s, &r), 0);
        }
    }
    ck_assert_int_eq(lbd_db_commit(db), 0);
    return (double)(pages() - before) * 4096 / (double)n;
}

/* What is kept by default of 1,000 hosts leaves a fifth of the default size to jobs and events. */
START_TEST(the_default_times_fit_into_the_default_size)
{
    struct lbx_policyconf conf;
    double raw, five, hour, benchmark, sum;

    lbx_policyconf_init(&conf);
    ck_assert_int_eq(lbd_db_open(path, BYTES_MAX, &db, &err), 0);
    for (int h = 0; h < SITE_HOSTS; h++) {
        struct lbd_db_host host = a_host("");
        int64_t host_id = 0;

        snprintf(host.name, sizeof(host.name), "node%05d", h);
        ck_assert_int_eq(lbd_db_put_host(db, &host, &host_id), 0);
        ck_assert_int_eq(host_id, h + 1);
    }
    raw = row_bytes(LBD_T_RAW);
    five = row_bytes(LBD_T_5M);
    hour = row_bytes(LBD_T_1H);
    benchmark = row_bytes(LBD_T_BENCHMARK) - raw; /* such a report is in both tables */
    sum = SITE_HOSTS * (raw * (double)(conf.keep_raw_ns / conf.load_interval_ns) +
                        five * (double)(conf.keep_5m_ns / (300 * LBX_NS_PER_S)) +
                        hour * (double)(conf.keep_1h_ns / (3600 * LBX_NS_PER_S)) +
                        benchmark * (double)(conf.keep_benchmarks_ns / conf.benchmark_interval_ns));
    lbd_db_close(db);
    ck_assert_msg(
        benchmark > 40 && sum < .8 * (double)conf.database_bytes_max,
        "bytes a row: %.1f raw, %.1f and %.1f of means, %.1f of benchmarks; together %.3g", raw,
        five, hour, benchmark, sum);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("keep");

    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, means_are_those_of_the_reports);
    tcase_add_test(tc, what_comes_late_is_in_the_means);
    tcase_add_test(tc, a_new_process_goes_on_where_the_last_one_was);
    tcase_add_test(tc, rows_go_when_they_are_old_and_in_the_means);
    tcase_add_test(tc, a_backup_is_whole_while_rows_are_put);
    tcase_add_test(tc, a_snapshot_takes_the_place_of_the_last_one);
    tcase_add_test(tc, the_default_times_fit_into_the_default_size);
    tcase_add_test(tc, a_copy_that_cannot_be_written_is_told_and_the_rest_goes_on);
    return suite_run("lbd/keep", tc);
}
