/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements of the housekeeping: means, what is too old. */
#include <errno.h>

#include "lbd/controller/db_impl.h"

#define VACUUM_PAGES 256 /* given back at a time, so that nothing waits long */

int lbd_db_purge(struct lbd_db *db, enum lbd_table table, int64_t before_s, int n, int *ret_deleted)
{
    enum lbd_statement which = S_PURGE_RAW + (int)table;
    int rc;

    lbd_db_bind(db->statement[which], (const int64_t[]){before_s > 0 ? before_s : 0, n}, 2);
    rc = lbd_db_run(db, which, NULL);
    if (rc == 0)
        *ret_deleted = sqlite3_changes(db->sqlite);
    return rc;
}

int lbd_db_shrink(struct lbd_db *db, bool *ret_more)
{
    int64_t before = 0, after = 0;
    char sql[64];
    int rc = lbd_db_pragma(db, "PRAGMA freelist_count", &before);

    *ret_more = false;
    if (rc < 0 || before == 0)
        return rc;
    sqlite3_snprintf(sizeof(sql), sql, "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
    rc = lbd_db_execute(db, sql);
    if (rc == 0)
        rc = lbd_db_pragma(db, "PRAGMA freelist_count", &after);
    *ret_more = rc == 0 && after > 0 && after < before;
    return rc;
}

int lbd_db_each(struct lbd_db *db, enum lbd_resolution table, int64_t first, int64_t end, int n,
                bool (*on_row)(void *data, int64_t key, const struct lbd_db_sum *row), void *data,
                int *ret_n)
{
    sqlite3_stmt *st = db->statement[table == LBD_RAW ? S_EACH_RAW : S_EACH_5M];
    int seen = 0, rc;

    lbd_db_bind(st, (const int64_t[]){first, end, n}, 3);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct lbd_db_sum row = {.reports = sqlite3_column_int64(st, 1)};

        for (int i = 0; i < LBD_DB_VALUES; i++)
            row.value[i] = sqlite3_column_int64(st, 2 + i) * row.reports;
        if (!on_row(data, sqlite3_column_int64(st, 0), &row))
            break;
        seen++;
    }
    sqlite3_reset(st);
    rc = rc == SQLITE_ROW ? 0 : lbd_db_errno(rc);
    if (rc == 0)
        *ret_n = seen;
    return rc;
}

static int put_mean(struct lbd_db *db, enum lbd_statement which, int64_t key,
                    const struct lbd_db_sum *s)
{
    int64_t v[2 + LBD_DB_VALUES] = {key, s->reports};

    for (int i = 0; i < LBD_DB_VALUES; i++)
        v[2 + i] = (s->value[i] + s->reports / 2) / s->reports;
    lbd_db_bind(db->statement[which], v, 2 + LBD_DB_VALUES);
    return lbd_db_run(db, which, NULL);
}

int lbd_db_put_means(struct lbd_db *db, enum lbd_resolution table, int64_t at_s,
                     const struct lbd_db_sum *sum, size_t n)
{
    enum lbd_statement which = table == LBD_5M ? S_MEANS_5M : S_MEANS_1H;
    int rc = lbd_db_begin(db);

    for (size_t id = 0; id < n && rc == 0; id++)
        if (sum[id].reports > 0)
            rc = put_mean(db, which, at_s << LBD_DB_HOST_BITS | (int64_t)id, &sum[id]);
    if (rc == 0)
        rc = lbd_db_commit(db);
    if (rc < 0)
        lbd_db_rollback(db);
    return rc;
}

/* One key of a table, as its second; an empty table has none. */
static int read_second(struct lbd_db *db, enum lbd_statement which, int64_t *ret_s)
{
    int64_t key = -1;
    int rc = lbd_db_run(db, which, &key); /* NULL is 0: no report has that key */

    if (rc == 0)
        *ret_s = key > 0 ? key >> LBD_DB_HOST_BITS : -1;
    return rc;
}

int lbd_db_span(struct lbd_db *db, enum lbd_resolution table, int64_t before_s,
                int64_t *ret_first_s, int64_t *ret_last_s)
{
    enum lbd_statement first = S_FIRST_RAW + (int)table, last = S_LAST_RAW + (int)table;
    int64_t first_s;
    int rc = read_second(db, first, &first_s);

    lbd_db_bind(db->statement[last], (const int64_t[]){before_s << LBD_DB_HOST_BITS}, 1);
    if (rc == 0)
        rc = read_second(db, last, ret_last_s);
    if (rc == 0)
        *ret_first_s = first_s;
    return rc;
}
