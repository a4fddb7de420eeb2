/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the database share: its statements (db_sql.c), each prepared once at opening (db.c). */
#ifndef LBD_CONTROLLER_DB_IMPL_H
#define LBD_CONTROLLER_DB_IMPL_H

#include <sqlite3.h>
#include <stdint.h>

#include "lbd/controller/db.h"

#define LBD_DB_PAGE_BYTES 4096
#define LBD_DB_HOST_BITS 20 /* of a key of reports; the seconds are above them */
#define LBD_DB_HOST_MASK ((INT64_C(1) << LBD_DB_HOST_BITS) - 1)

enum lbd_statement {
    S_BEGIN,
    S_COMMIT,
    S_HOST,
    S_HOST_ID,
    S_BENCHED_AT,
    S_BENCHMARK,
    S_CURRENT,
    S_RAW,
    S_EVENT,
    S_JOB,
    S_JOB_HOST,
    S_READ_RAW,
    S_READ_5M,
    S_READ_1H,
    S_READ_JOBS,
    S_READ_JOB,
    S_READ_JOB_HOSTS,
    S_EACH_RAW,
    S_EACH_5M,
    S_MEANS_5M,
    S_MEANS_1H,
    S_FIRST_RAW,
    S_FIRST_5M,
    S_FIRST_1H,
    S_LAST_RAW,
    S_LAST_5M,
    S_LAST_1H,
    S_PURGE_RAW, /* in the order of enum lbd_table */
    S_PURGE_5M,
    S_PURGE_1H,
    S_PURGE_BENCHMARK,
    S_PURGE_JOB,
    S_PURGE_EVENT,
    STATEMENTS
};

extern const char *const lbd_db_sql[STATEMENTS];

struct lbd_db {
    sqlite3 *sqlite;
    sqlite3_stmt *statement[STATEMENTS];
};

/* SQLite's result as a negative errno, 0 for those that are none. */
int lbd_db_errno(int rc);

int lbd_db_execute(struct lbd_db *db, const char *sql) __attribute__((warn_unused_result));

/* The first number that it answers. */
int lbd_db_pragma(struct lbd_db *db, const char *sql, int64_t *ret)
    __attribute__((warn_unused_result));

/* Run a statement whose values are bound, and make it ready for the next time; ret_first may be NULL. */
int lbd_db_run(struct lbd_db *db, enum lbd_statement which, int64_t *ret_first)
    __attribute__((warn_unused_result));

void lbd_db_bind(sqlite3_stmt *st, const int64_t *v, int n);

#endif
