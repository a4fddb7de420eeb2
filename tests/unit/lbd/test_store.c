/* SPDX-License-Identifier: BSD-3-Clause */
/* The database on real files: what is recorded, and files that are newer, damaged, locked, full, or somebody else's. */
#include "lbd/controller/store.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "lbd/controller/migrations.h"
#include "tests/unit/lbd/store.h"
#include "tests/unit/suite.h"

static int loaded;
static struct lbw_node_report loaded_report;

static void on_host(void *data, const struct lbd_db_host *host, int64_t at_s,
                    const struct lbw_node_report *report)
{
    (void)data;
    loaded++;
    ck_assert_str_eq(host->name, "n1");
    ck_assert_str_eq(host->boot, "boot");
    ck_assert_int_eq(at_s, 2000);
    loaded_report = *report;
}

START_TEST(what_is_put_comes_back)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_db *db;
    int64_t id, again;

    ck_assert_msg(lbd_db_open(path, MAX_BYTES, &db, &err) == 0, "%s", err.text);
    ck_assert_int_eq(lbd_db_begin(db), 0);
    ck_assert_int_eq(lbd_db_put_host(db, &host, &id), 0);
    ck_assert_int_eq(lbd_db_put_host(db, &host, &again), 0);
    ck_assert_int_eq(id, again);
    ck_assert_int_eq(lbd_db_put_report(db, id, 2000, &r), 0);
    ck_assert_int_eq(lbd_db_put_event(db, 2000, id, "joined", "'); DROP TABLE host; --"), 0);
    ck_assert_int_eq(lbd_db_put_report(db, 1 << 20, 2000, &r), -EINVAL);
    ck_assert_int_eq(lbd_db_commit(db), 0);
    loaded = 0;
    ck_assert_int_eq(lbd_db_load(db, on_host, NULL), 0);
    ck_assert_int_eq(loaded, 1);
    ck_assert_double_eq_tol(loaded_report.core_speed, .5, 1e-9);
    ck_assert_double_eq_tol(loaded_report.hardware_s, .8, 1e-6);
    ck_assert_double_eq_tol(loaded_report.external_cpus, .123, 1e-9);
    ck_assert_uint_eq(loaded_report.tasks, 5);
    ck_assert_uint_eq(loaded_report.users, 3);
    for (int i = 0; i < LBW_NODE_KERNELS; i++) {
        ck_assert_double_eq(loaded_report.kernel_ops_hz[i], r.kernel_ops_hz[i]);
        ck_assert_double_eq(loaded_report.kernel_all_hz[i], r.kernel_all_hz[i]);
        ck_assert_double_eq_tol(loaded_report.kernel_dispersion[i], r.kernel_dispersion[i], 1e-9);
    }
    ck_assert_double_eq_tol(loaded_report.slow_ratio, .75, 1e-9);
    ck_assert_uint_eq(loaded_report.slow_kernel, 4);
    ck_assert_uint_eq(loaded_report.packages, 2);
    ck_assert_uint_eq(loaded_report.cores, 16);
    ck_assert_uint_eq(loaded_report.numa_nodes, 3);
    lbd_db_close(db);
    ck_assert_int_eq(query("PRAGMA user_version"), (int64_t)lbd_migrations_count);
    ck_assert_int_eq(query("SELECT key FROM report_raw"), INT64_C(2000) << 20 | id);
    ck_assert_int_eq(query("SELECT count(*) FROM host"), 1);
}
END_TEST

/* A report as the first version kept it. */
static const char old_rows[] =
    "INSERT INTO host VALUES(1, 'n1', 'boot', 'model', 1000, 2000);"
    "INSERT INTO current(host_id, at, cpus, hardware, core_speed, capacity, hardware_us, workload,"
    " share, benchmark_at, integer_hz, floating_hz, memory_hz, external, running, users, terminals,"
    " tasks) VALUES(1, 2000, 400, 1250, 500, 500, 800000, 2500, 400, 1900, 11, 12, 13, 123, 1, 3,"
    " 4, 5);"
    "INSERT INTO report_raw VALUES((2000 << 20) | 1, 500, 500, 300, 123, 0, 0, 1, 3, 5);"
    "INSERT INTO event VALUES(1, 2000, 1, 'joined', '')";
/* What the versions from the second and from the third one on kept as well. */
static const char rows_of_2[] =
    "INSERT INTO benchmark(key, hardware_us, integer_hz, floating_hz, memory_hz, dispersion)"
    " VALUES((1900 << 20) | 1, 800000, 11, 12, 13, 20);"
    "INSERT INTO job(id, jobid, stepid, username, account, partition, policy, hosts, ranks, "
    "started,"
    " ended, load_balance, efficiency, compute_ms, wait_ms, overhead_ms, saved_ms, moved_bytes, "
    "moves)"
    " VALUES(1, 7, 0, 'ada', '', 'main', 'auto', 1, 4, 1000, 1100, 990, 980, 4000, 40, 4, 400, 99, "
    "3);"
    "INSERT INTO job_host VALUES(1, 1, 1000, 500, 4000, 40)";
static const char rows_of_3[] =
    "INSERT INTO report_5m VALUES((1800 << 20) | 1, 30, 500, 500, 300, 123, 0, 0, 1000, 3000, "
    "5000);"
    "INSERT INTO report_1h VALUES((0 << 20) | 1, 360, 500, 500, 300, 123, 0, 0, 1000, 3000, 5000)";

/* Each row that a version could have is there, and the views read it. */
static void check_rows(size_t from)
{
    ck_assert_int_eq(query("SELECT count(*) FROM report_raw WHERE core_speed = 500"), from > 0);
    ck_assert_int_eq(query("SELECT count(*) FROM history_event WHERE host = 'n1'"), from > 0);
    ck_assert_int_eq(query("SELECT count(*) FROM history_host WHERE cpus = 0.4"), from > 0);
    ck_assert_int_eq(query("SELECT count(*) FROM history_benchmark WHERE memory_hz = 13"),
                     from > 1);
    ck_assert_int_eq(query("SELECT count(*) FROM history_job WHERE run_seconds = 100"), from > 1);
    ck_assert_int_eq(query("SELECT count(*) FROM job_host WHERE iterations = 500"), from > 1);
    ck_assert_int_eq(query("SELECT count(*) FROM history_load WHERE tasks = 5"), from > 2);
    ck_assert_int_eq(query("SELECT count(*) FROM history_load_5m WHERE tasks = 5"), from > 2);
    ck_assert_int_eq(query("SELECT count(*) FROM pragma_integrity_check"), 1);
    ck_assert_int_eq(query("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

START_TEST(every_older_version_is_brought_up)
{
    struct lbd_db *db;

    for (size_t from = 0; from <= lbd_migrations_count; from++) {
        char sql[96];
        sqlite3 *old;

        unlink(path);
        ck_assert_int_eq(sqlite3_open(path, &old), SQLITE_OK);
        for (size_t i = 0; i < from; i++)
            ck_assert_int_eq(sqlite3_exec(old, lbd_migrations[i].sql, NULL, NULL, NULL), SQLITE_OK);
        snprintf(sql, sizeof(sql), "PRAGMA application_id = 1818387565; PRAGMA user_version = %zu",
                 from);
        ck_assert_int_eq(sqlite3_exec(old, sql, NULL, NULL, NULL), SQLITE_OK);
        if (from > 0)
            ck_assert_int_eq(sqlite3_exec(old, old_rows, NULL, NULL, NULL), SQLITE_OK);
        if (from > 1)
            ck_assert_int_eq(sqlite3_exec(old, rows_of_2, NULL, NULL, NULL), SQLITE_OK);
        if (from > 2)
            ck_assert_int_eq(sqlite3_exec(old, rows_of_3, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(old);
        ck_assert_msg(lbd_db_open(path, MAX_BYTES, &db, &err) == 0, "from %zu: %s", from, err.text);
        loaded = 0;
        ck_assert_int_eq(lbd_db_load(db, on_host, NULL), 0);
        ck_assert_int_eq(loaded, from > 0);
        if (from > 0) { /* what was not kept then is not known, and the host is no slow one */
            ck_assert_double_eq(loaded_report.kernel_ops_hz[2], 13);
            ck_assert_double_eq(loaded_report.kernel_ops_hz[4], 0);
            ck_assert_double_eq(loaded_report.slow_ratio, 1);
            ck_assert_uint_eq(loaded_report.tasks, 5);
        }
        lbd_db_close(db);
        ck_assert_int_eq(query("PRAGMA user_version"), (int64_t)lbd_migrations_count);
        check_rows(from);
    }
}
END_TEST

static void on_nothing(void *data)
{
    (void)data;
}

static off_t size_of(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0 ? st.st_size : -1;
}

START_TEST(a_newer_file_is_refused_and_left_alone)
{
    struct lbd_store_settings settings = settings_of(MAX_BYTES);
    struct lbd_store_stats stats;
    struct lbd_store *store;
    struct lbd_db *db = NULL;
    sqlite3 *newer;
    off_t size;

    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), 0);
    lbd_db_close(db);
    ck_assert_int_eq(sqlite3_open(path, &newer), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(newer, "PRAGMA user_version = 999", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(newer);
    size = size_of(path);
    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), -EPROTONOSUPPORT);
    ck_assert_msg(strstr(err.text, path) && strstr(err.text, "999") && strstr(err.text, "newer"),
                  "%s", err.text);

    /* the service goes on without it */
    ck_assert_int_eq(lbd_store_create(&settings, NULL, on_nothing, NULL, &store), 0);
    lbd_store_put_event(store, UINT32_MAX, 1, "x", "y");
    lbd_store_stats(store, &stats);
    ck_assert(!stats.open);
    ck_assert_ptr_nonnull(strstr(stats.reason, "newer"));
    ck_assert_uint_gt(stats.errors[LBD_OP_OPEN], 0);
    lbd_store_destroy(store);
    ck_assert_int_eq(size_of(path), size);
    ck_assert_int_eq(query("PRAGMA user_version"), 999);
}
END_TEST

START_TEST(foreign_and_damaged_files_are_told_apart_from_ours)
{
    struct lbd_db *db;
    sqlite3 *other;

    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(other, "PRAGMA application_id = 7; CREATE TABLE t(x)", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(other);
    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), -EUCLEAN);
    unlink(path);
    write_file(dir, "lbd.db",
               "This is not a database, however long the text that stands in it may be: "
               "it goes on for more than a hundred bytes, which is a header's size.");
    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), -EUCLEAN);
    ck_assert_int_eq(lbd_db_open("/nonexistent/lbd.db", MAX_BYTES, &db, &err), -EACCES);
}
END_TEST

static atomic_int commits;

static void on_commit(void *data)
{
    (void)data;
    atomic_fetch_add(&commits, 1);
}

static struct lbd_store *start_store(int64_t max_bytes)
{
    struct lbd_store_settings settings = settings_of(max_bytes);
    struct lbd_store *store;

    loaded = 0;
    ck_assert_int_eq(lbd_store_create(&settings, on_host, on_commit, NULL, &store), 0);
    return store;
}

START_TEST(a_damaged_file_is_set_aside)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_store_stats stats;
    struct lbd_store *store;
    char pattern[160];
    glob_t g;

    write_file(dir, "lbd.db",
               "This is not a database, however long the text that stands in it may be: "
               "it goes on for more than a hundred bytes, which is a header's size.");
    store = start_store(MAX_BYTES);
    lbd_store_put_host(store, 0, &host);
    wait_for(store, lbd_store_put_report(store, 0, 2000, &r));
    lbd_store_stats(store, &stats);
    ck_assert(stats.open);
    ck_assert_uint_eq(stats.resets, 1);
    ck_assert_uint_ge(stats.errors[LBD_OP_OPEN], 1);
    lbd_store_destroy(store);
    snprintf(pattern, sizeof(pattern), "%s.damaged-*", path);
    ck_assert_int_eq(glob(pattern, 0, NULL, &g), 0);
    ck_assert_uint_eq(g.gl_pathc, 1);
    globfree(&g);
    ck_assert_int_eq(query("SELECT count(*) FROM report_raw"), 1);
    ck_assert_int_eq(query("SELECT count(*) FROM event WHERE what = 'database_reset'"), 1);
}
END_TEST

START_TEST(a_locked_file_waits_and_loses_nothing)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_store_stats stats;
    struct lbd_store *store;
    struct lbd_db *other;
    uint64_t dropped;

    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &other, &err), 0);
    store = start_store(MAX_BYTES);
    lbd_store_stats(store, &stats);
    ck_assert(!stats.open);
    ck_assert_ptr_nonnull(strstr(stats.reason, "another process"));
    lbd_store_put_host(store, 0, &host);
    lbd_store_put_report(store, 0, 2000, &r);
    lbx_clock_sleep_ns(20 * LBX_NS_PER_MS);
    ck_assert_uint_eq(lbd_store_committed(store, &dropped), 0);
    ck_assert_uint_eq(dropped, 0);
    lbd_db_close(other);
    lbd_store_destroy(store);
    ck_assert_int_eq(query("SELECT count(*) FROM report_raw"), 1);
}
END_TEST

START_TEST(a_full_file_makes_room_by_the_oldest_rows)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_store_stats stats;
    struct lbd_store *store = start_store(INT64_C(4096) * 60);
    uint64_t ticket = 0;

    lbd_store_put_host(store, 0, &host);
    for (int i = 0; i < 20000; i++) {
        ticket = lbd_store_put_report(store, 0, 1000 + i, &r);
        if (i % 2000 == 1999)
            wait_for(store, ticket);
    }
    wait_for(store, ticket);
    lbd_store_stats(store, &stats);
    lbd_store_destroy(store);
    ck_assert_uint_gt(stats.errors[LBD_OP_WRITE] + stats.errors[LBD_OP_COMMIT], 0);
    ck_assert_int_le(size_of(path), INT64_C(4096) * 60);
    ck_assert_int_eq(query("SELECT max(key) >> 20 FROM report_raw"), 1000 + 19999);
    ck_assert_int_gt(query("SELECT min(key) >> 20 FROM report_raw"), 1000);
    ck_assert_int_eq(query("SELECT count(*) FROM event WHERE what = 'database_nearly_full'"), 1);
}
END_TEST

START_TEST(too_many_rows_are_dropped_and_told)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_store *store;
    struct lbd_db *other;
    uint64_t dropped = 0;

    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &other, &err), 0);
    store = start_store(MAX_BYTES);
    lbd_store_put_host(store, 0, &host);
    for (int i = 0; i < 3 * LBD_STORE_ROWS_MAX; i++)
        (void)lbd_store_put_report(store, 0, 1000 + i, &r);
    while (dropped == 0) {
        (void)lbd_store_committed(store, &dropped);
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
    }
    lbd_store_destroy(store);
    lbd_db_close(other);
}
END_TEST

/* A child that puts rows and tells of each that is on disk; it is killed in the middle. */
static void put_until_killed(int fd)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_store *store = start_store(MAX_BYTES);

    lbd_store_put_host(store, 0, &host);
    for (int64_t at_s = 5000;; at_s++) {
        wait_for(store, lbd_store_put_report(store, 0, at_s, &r));
        if (write(fd, &at_s, sizeof(at_s)) != sizeof(at_s))
            _exit(1);
    }
}

START_TEST(a_kill_loses_nothing_acknowledged)
{
    int64_t at_s, last = 0;

    for (int round = 0; round < 10; round++) {
        int fd[2];
        pid_t pid;

        ck_assert_int_eq(pipe(fd), 0);
        unlink(path);
        pid = fork();
        if (pid == 0) {
            close(fd[0]);
            put_until_killed(fd[1]);
        }
        close(fd[1]);
        for (int i = 0; i < 5 + 3 * round; i++)
            ck_assert_int_eq(read(fd[0], &last, sizeof(last)), sizeof(last));
        kill(pid, SIGKILL);
        while (read(fd[0], &at_s, sizeof(at_s)) == sizeof(at_s))
            last = at_s;
        close(fd[0]);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        ck_assert_int_ge(query("SELECT count(*) FROM report_raw"), last - 5000 + 1);
        ck_assert_int_ge(query("SELECT max(key) >> 20 FROM report_raw"), last);
    }
}
END_TEST

START_TEST(old_rows_are_purged_in_steps)
{
    struct lbd_db_host host = a_host("n1");
    struct lbw_node_report r = a_report();
    struct lbd_db *db;
    int64_t id;
    int deleted;

    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &db, &err), 0);
    ck_assert_int_eq(lbd_db_begin(db), 0);
    ck_assert_int_eq(lbd_db_put_host(db, &host, &id), 0);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(lbd_db_put_report(db, id, 1000 + i, &r), 0);
    ck_assert_int_eq(lbd_db_commit(db), 0);
    ck_assert_int_eq(lbd_db_purge(db, LBD_T_RAW, 1500, 100, &deleted), 0);
    lbd_db_close(db);
    ck_assert_int_eq(query("SELECT count(*) FROM report_raw"), 900);
    ck_assert_int_eq(query("SELECT min(key) >> 20 FROM report_raw"), 1100);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("store");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, what_is_put_comes_back);
    tcase_add_test(tc, every_older_version_is_brought_up);
    tcase_add_test(tc, a_newer_file_is_refused_and_left_alone);
    tcase_add_test(tc, foreign_and_damaged_files_are_told_apart_from_ours);
    tcase_add_test(tc, a_damaged_file_is_set_aside);
    tcase_add_test(tc, a_locked_file_waits_and_loses_nothing);
    tcase_add_test(tc, a_full_file_makes_room_by_the_oldest_rows);
    tcase_add_test(tc, too_many_rows_are_dropped_and_told);
    tcase_add_test(tc, a_kill_loses_nothing_acknowledged);
    tcase_add_test(tc, old_rows_are_purged_in_steps);
    return suite_run("lbd/store", tc);
}
