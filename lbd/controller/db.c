/* SPDX-License-Identifier: BSD-3-Clause */
/* The database file. */
#include "lbd/controller/db.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lbd/controller/migrations.h"

#define APPLICATION_ID 0x6c62646d
#define PAGE_BYTES 4096
#define HOST_BITS 20
#define VACUUM_PAGES 64 /* given back at a time, so that nothing waits long */

static const char sql_begin[] = "BEGIN IMMEDIATE";
static const char sql_commit[] = "COMMIT";
static const char sql_host[] =
    "INSERT INTO host(name, boot, model, first_seen, last_seen) VALUES(?1, ?2, ?3, ?4, ?4)"
    " ON CONFLICT(name) DO UPDATE SET boot = excluded.boot, model = excluded.model,"
    " last_seen = excluded.last_seen RETURNING id";
static const char sql_current[] =
    "INSERT OR REPLACE INTO current VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
static const char sql_raw[] = "INSERT OR REPLACE INTO report_raw VALUES(?,?,?,?,?,?,?,?,?,?)";
static const char sql_event[] = "INSERT INTO event(at, host_id, what, detail) VALUES(?,?,?,?)";
static const char sql_purge[] = "DELETE FROM report_raw WHERE key IN"
                                " (SELECT key FROM report_raw WHERE key < ? ORDER BY key LIMIT ?)";
static const char sql_load[] =
    "SELECT h.name, h.boot, h.model, h.last_seen, c.at, c.cpus, c.hardware, c.core_speed,"
    " c.capacity, c.hardware_us, c.workload, c.share, c.integer_hz, c.floating_hz, c.memory_hz,"
    " c.external, c.running, c.users, c.terminals, c.tasks, c.benchmark_at"
    " FROM host h LEFT JOIN current c ON c.host_id = h.id ORDER BY h.id";

enum statement { S_BEGIN, S_COMMIT, S_HOST, S_CURRENT, S_RAW, S_EVENT, S_PURGE, STATEMENTS };
static const char *const statement_sql[STATEMENTS] = {sql_begin, sql_commit, sql_host, sql_current,
                                                      sql_raw,   sql_event,  sql_purge};

struct lbd_db {
    sqlite3 *sqlite;
    sqlite3_stmt *statement[STATEMENTS];
};

static int to_errno(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
        return 0;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return -EBUSY;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -EUCLEAN;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return -EACCES;
    default:
        return -EIO;
    }
}

const char *lbd_db_reason(const struct lbd_db *db)
{
    return sqlite3_errmsg(db->sqlite);
}

static int execute(struct lbd_db *db, const char *sql)
{
    return to_errno(sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL));
}

static int read_pragma(struct lbd_db *db, const char *sql, int64_t *ret)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(db->sqlite, sql, -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *ret = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return rc == SQLITE_ROW ? 0 : to_errno(rc);
}

static int migrate_one(struct lbd_db *db, size_t i)
{
    char sql[64];
    int rc = execute(db, sql_begin);

    snprintf(sql, sizeof(sql), "PRAGMA user_version = %zu", i + 1);
    if (rc == 0)
        rc = execute(db, lbd_migrations[i].sql);
    if (rc == 0)
        rc = execute(db, sql);
    if (rc == 0)
        rc = execute(db, sql_commit);
    if (rc < 0)
        lbd_db_rollback(db);
    return rc;
}

static int migrate(struct lbd_db *db, const char *path, struct lbx_error *err)
{
    int64_t version = 0, application = 0;
    int rc = read_pragma(db, "PRAGMA user_version", &version);

    if (rc == 0)
        rc = read_pragma(db, "PRAGMA application_id", &application);
    if (rc < 0)
        return rc;
    if (application != APPLICATION_ID && (application != 0 || version != 0))
        return lbx_error_set(err, -EUCLEAN, "%s: the database of another program", path);
    if (version > (int64_t)lbd_migrations_count)
        return lbx_error_set(err, -EPROTONOSUPPORT,
                             "%s: made by a newer lbd (version %" PRId64
                             " of its tables, this lbd knows %zu): install that lbd, or move the "
                             "file away",
                             path, version, lbd_migrations_count);
    for (size_t i = (size_t)version; i < lbd_migrations_count && rc == 0; i++)
        rc = migrate_one(db, i);
    return rc;
}

/*
 * One connection that locks all: versions before 3.51.3 can damage a log that two connections reset.  NORMAL loses nothing
 * that was acknowledged to a kill, since acknowledging follows the commit.
 */
static int set_up(struct lbd_db *db, int64_t max_bytes)
{
    char sql[512];

    snprintf(sql, sizeof(sql),
             "PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL;"
             "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
             "PRAGMA cache_size = -512; PRAGMA journal_size_limit = 4194304;"
             "PRAGMA trusted_schema = OFF; PRAGMA max_page_count = %" PRId64,
             max_bytes / PAGE_BYTES);
    return execute(db, sql);
}

static int prepare(struct lbd_db *db)
{
    int rc = SQLITE_OK;

    for (int i = 0; i < STATEMENTS && rc == SQLITE_OK; i++)
        rc = sqlite3_prepare_v3(db->sqlite, statement_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                &db->statement[i], NULL);
    return to_errno(rc);
}

static int set_up_all(struct lbd_db *db, const char *path, int64_t max_bytes, struct lbx_error *err)
{
    int rc = set_up(db, max_bytes);

    if (rc == 0)
        rc = migrate(db, path, err);
    if (rc == 0) { /* after the check that the file is ours */
        char sql[64];

        snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", APPLICATION_ID);
        rc = execute(db, sql);
    }
    return rc == 0 ? prepare(db) : rc;
}

int lbd_db_open(const char *path, int64_t max_bytes, struct lbd_db **ret_db, struct lbx_error *err)
{
    struct lbd_db *db = calloc(1, sizeof(*db));
    struct lbx_error why = {0};
    int rc;

    if (!db)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    rc = to_errno(sqlite3_open_v2(path, &db->sqlite,
                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                                      SQLITE_OPEN_NOFOLLOW,
                                  NULL));
    if (rc == 0)
        rc = set_up_all(db, path, max_bytes, &why);
    if (rc < 0) {
        lbx_error_set(err, rc, "%s%s%s", why.code ? "" : path, why.code ? "" : ": ",
                      why.code       ? why.text
                      : rc == -EBUSY ? "another process has it open"
                                     : sqlite3_errmsg(db->sqlite));
        lbd_db_close(db);
        return rc;
    }
    *ret_db = db;
    return 0;
}

void lbd_db_close(struct lbd_db *db)
{
    if (!db)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(db->statement[i]);
    sqlite3_close(db->sqlite);
    free(db);
}

static void read_text(sqlite3_stmt *st, int column, char *ret, size_t size)
{
    const unsigned char *text = sqlite3_column_text(st, column);

    snprintf(ret, size, "%s", text ? (const char *)text : "");
}

static double read_milli(sqlite3_stmt *st, int column)
{
    return (double)sqlite3_column_int64(st, column) / 1000;
}

static void read_row(sqlite3_stmt *st, struct lbd_db_host *h, int64_t *ret_at_s,
                     struct lbw_node_report *r)
{
    memset(h, 0, sizeof(*h));
    memset(r, 0, sizeof(*r));
    read_text(st, 0, h->name, sizeof(h->name));
    read_text(st, 1, h->boot, sizeof(h->boot));
    read_text(st, 2, h->model, sizeof(h->model));
    h->seen_s = sqlite3_column_int64(st, 3);
    *ret_at_s = sqlite3_column_int64(st, 4);
    r->cpus = read_milli(st, 5);
    r->hardware = read_milli(st, 6);
    r->core_speed = read_milli(st, 7);
    r->capacity = read_milli(st, 8);
    r->hardware_s = read_milli(st, 9) / 1000;
    r->workload_ratio = read_milli(st, 10);
    r->share_ratio = read_milli(st, 11);
    r->slow_ratio = 1;
    for (int i = 0; i < 3;
         i++) /* integer, floating, memory: the newest of the others is not kept */
        r->kernel_ops_hz[i] = (double)sqlite3_column_int64(st, 12 + i);
    r->external_cpus = read_milli(st, 15);
    r->running = (uint32_t)sqlite3_column_int64(st, 16);
    r->users = (uint32_t)sqlite3_column_int64(st, 17);
    r->terminals = (uint32_t)sqlite3_column_int64(st, 18);
    r->tasks = (uint32_t)sqlite3_column_int64(st, 19);
    memcpy(r->model, h->model, sizeof(r->model));
}

int lbd_db_load(struct lbd_db *db,
                void (*on_host)(void *data, const struct lbd_db_host *host, int64_t at_s,
                                const struct lbw_node_report *report),
                void *data)
{
    struct lbw_node_report report;
    struct lbd_db_host host;
    sqlite3_stmt *st = NULL;
    int64_t at_s;
    int rc = sqlite3_prepare_v2(db->sqlite, sql_load, -1, &st, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc != SQLITE_ROW)
            break;
        read_row(st, &host, &at_s, &report);
        on_host(data, &host, at_s, &report);
    }
    sqlite3_finalize(st);
    return to_errno(rc);
}

/* Run a statement whose values are bound, and make it ready for the next time. */
static int run(struct lbd_db *db, enum statement which, int64_t *ret_first)
{
    sqlite3_stmt *st = db->statement[which];
    int rc = sqlite3_step(st), reset;

    if (rc == SQLITE_ROW) {
        if (ret_first)
            *ret_first = sqlite3_column_int64(st, 0);
        rc = sqlite3_step(st);
    }
    reset = sqlite3_reset(st);
    return to_errno(rc == SQLITE_DONE ? reset : rc);
}

int lbd_db_begin(struct lbd_db *db)
{
    return run(db, S_BEGIN, NULL);
}

int lbd_db_commit(struct lbd_db *db)
{
    return run(db, S_COMMIT, NULL);
}

void lbd_db_rollback(struct lbd_db *db)
{
    if (!sqlite3_get_autocommit(db->sqlite))
        (void)execute(db, "ROLLBACK");
}

/* Integers in thousandths, whatever a node tells. */
static int64_t to_milli(double v)
{
    return isfinite(v) ? (int64_t)llround(fmin(fmax(v, 0), 1e12) * 1000) : 0;
}

static void bind_all(sqlite3_stmt *st, const int64_t *v, int n)
{
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(st, i + 1, v[i]);
}

int lbd_db_put_host(struct lbd_db *db, const struct lbd_db_host *host, int64_t *ret_id)
{
    sqlite3_stmt *st = db->statement[S_HOST];

    sqlite3_bind_text(st, 1, host->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, host->boot, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 3, host->model, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 4, host->seen_s);
    return run(db, S_HOST, ret_id);
}

int lbd_db_put_report(struct lbd_db *db, int64_t host_id, int64_t at_s,
                      const struct lbw_node_report *r)
{
    int64_t current[] = {host_id,
                         at_s,
                         to_milli(r->cpus),
                         to_milli(r->hardware),
                         to_milli(r->core_speed),
                         to_milli(r->capacity),
                         to_milli(r->hardware_s * 1000),
                         to_milli(r->workload_ratio),
                         to_milli(r->share_ratio),
                         at_s - r->bench_age_ns / INT64_C(1000000000),
                         to_milli(r->kernel_ops_hz[0]) / 1000,
                         to_milli(r->kernel_ops_hz[1]) / 1000,
                         to_milli(r->kernel_ops_hz[2]) / 1000,
                         to_milli(r->external_cpus),
                         r->running,
                         r->users,
                         r->terminals,
                         r->tasks};
    int64_t raw[] = {at_s << HOST_BITS | host_id,
                     to_milli(r->core_speed),
                     to_milli(r->capacity),
                     to_milli(r->busy_cpus),
                     to_milli(r->external_cpus),
                     to_milli(r->steal_cpus),
                     to_milli(r->pressure_ratio),
                     r->running,
                     r->users,
                     r->tasks};
    int rc;

    if (host_id <= 0 || host_id >= INT64_C(1) << HOST_BITS || at_s < 0)
        return -EINVAL;
    bind_all(db->statement[S_CURRENT], current, sizeof(current) / sizeof(current[0]));
    rc = run(db, S_CURRENT, NULL);
    if (rc < 0)
        return rc;
    bind_all(db->statement[S_RAW], raw, sizeof(raw) / sizeof(raw[0]));
    return run(db, S_RAW, NULL);
}

int lbd_db_put_event(struct lbd_db *db, int64_t at_s, int64_t host_id, const char *what,
                     const char *detail)
{
    sqlite3_stmt *st = db->statement[S_EVENT];

    sqlite3_bind_int64(st, 1, at_s);
    if (host_id > 0)
        sqlite3_bind_int64(st, 2, host_id);
    else
        sqlite3_bind_null(st, 2);
    sqlite3_bind_text(st, 3, what, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 4, detail, -1, SQLITE_STATIC);
    return run(db, S_EVENT, NULL);
}

int lbd_db_purge(struct lbd_db *db, int64_t before_s, int n)
{
    char sql[64];
    int rc;

    sqlite3_bind_int64(db->statement[S_PURGE], 1, before_s > 0 ? before_s << HOST_BITS : 0);
    sqlite3_bind_int(db->statement[S_PURGE], 2, n);
    rc = run(db, S_PURGE, NULL);
    if (rc < 0)
        return rc;
    snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
    return execute(db, sql);
}
