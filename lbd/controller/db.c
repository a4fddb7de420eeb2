/* SPDX-License-Identifier: BSD-3-Clause */
/* The database file. */
#include "lbd/controller/db.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lbd/controller/db_impl.h"
#include "lbd/controller/migrations.h"

#define APPLICATION_ID 0x6c62646d

int lbd_db_errno(int rc)
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

int lbd_db_execute(struct lbd_db *db, const char *sql)
{
    return lbd_db_errno(sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL));
}

int lbd_db_pragma(struct lbd_db *db, const char *sql, int64_t *ret)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(db->sqlite, sql, -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *ret = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return rc == SQLITE_ROW ? 0 : lbd_db_errno(rc);
}

static int migrate_one(struct lbd_db *db, size_t i)
{
    char sql[96];
    int rc = lbd_db_execute(db, lbd_db_sql[S_BEGIN]);

    /* with the tables: a kill in between must not leave a file that looks like somebody else's */
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %zu; PRAGMA application_id = %d", i + 1,
             APPLICATION_ID);
    if (rc == 0)
        rc = lbd_db_execute(db, lbd_migrations[i].sql);
    if (rc == 0)
        rc = lbd_db_execute(db, sql);
    if (rc == 0)
        rc = lbd_db_execute(db, lbd_db_sql[S_COMMIT]);
    if (rc < 0)
        lbd_db_rollback(db);
    return rc;
}

/* What there is, before anything is written: neither another program's file nor a newer one is touched. */
static int look(struct lbd_db *db, const char *path, int64_t *ret_version, struct lbx_error *err)
{
    int64_t version = 0, application = 0;
    int rc = lbd_db_execute(db, "PRAGMA locking_mode = EXCLUSIVE");

    if (rc == 0)
        rc = lbd_db_pragma(db, "PRAGMA user_version", &version);
    if (rc == 0)
        rc = lbd_db_pragma(db, "PRAGMA application_id", &application);
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
    *ret_version = version;
    return 0;
}

static int migrate(struct lbd_db *db, int64_t version)
{
    int rc = 0;

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

    snprintf(
        sql, sizeof(sql),
        "PRAGMA auto_vacuum = INCREMENTAL;"
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
        "PRAGMA cache_size = -512; PRAGMA journal_size_limit = 4194304;"
        "PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA max_page_count = %" PRId64,
        max_bytes / LBD_DB_PAGE_BYTES);
    return lbd_db_execute(db, sql);
}

static int prepare(struct lbd_db *db)
{
    int rc = SQLITE_OK;

    for (int i = 0; i < STATEMENTS && rc == SQLITE_OK; i++)
        rc = sqlite3_prepare_v3(db->sqlite, lbd_db_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                &db->statement[i], NULL);
    return lbd_db_errno(rc);
}

static int set_up_all(struct lbd_db *db, const char *path, int64_t max_bytes, struct lbx_error *err)
{
    int64_t version = 0;
    int rc = look(db, path, &version, err);

    if (rc == 0)
        rc = set_up(db, max_bytes);
    if (rc == 0)
        rc = migrate(db, version);
    return rc == 0 ? prepare(db) : rc;
}

/* A new file is not for everybody; what fails here is told by opening. */
static void make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);

    if (fd >= 0)
        close(fd);
}

int lbd_db_open(const char *path, int64_t max_bytes, struct lbd_db **ret_db, struct lbx_error *err)
{
    struct lbd_db *db = calloc(1, sizeof(*db));
    struct lbx_error why = {0};
    int rc;

    if (!db)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    make_file(path);
    rc = lbd_db_errno(sqlite3_open_v2(path, &db->sqlite,
                                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                          SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
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

int lbd_db_run(struct lbd_db *db, enum lbd_statement which, int64_t *ret_first)
{
    sqlite3_stmt *st = db->statement[which];
    int rc = sqlite3_step(st), reset;

    if (rc == SQLITE_ROW) {
        if (ret_first)
            *ret_first = sqlite3_column_int64(st, 0);
        rc = sqlite3_step(st);
    }
    reset = sqlite3_reset(st);
    return lbd_db_errno(rc == SQLITE_DONE ? reset : rc);
}

int lbd_db_begin(struct lbd_db *db)
{
    return lbd_db_run(db, S_BEGIN, NULL);
}

int lbd_db_commit(struct lbd_db *db)
{
    return lbd_db_run(db, S_COMMIT, NULL);
}

void lbd_db_rollback(struct lbd_db *db)
{
    if (!sqlite3_get_autocommit(db->sqlite))
        (void)!lbd_db_execute(db, "ROLLBACK");
}

void lbd_db_bind(sqlite3_stmt *st, const int64_t *v, int n)
{
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(st, i + 1, v[i]);
}
