/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading history back: what hosts reported, and ended steps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lbd/controller/db_impl.h"

#define JOB_HOSTS_MAX 4096 /* of one step: more than any node tells */

const int lbd_resolution_s[LBD_RESOLUTIONS] = {1, 300, 3600};

static double milli(sqlite3_stmt *st, int column)
{
    return (double)sqlite3_column_int64(st, column) / 1000;
}

static void text(sqlite3_stmt *st, int column, char *ret, size_t size)
{
    const unsigned char *t = sqlite3_column_text(st, column);

    snprintf(ret, size, "%s", t ? (const char *)t : "");
}

static void read_point(sqlite3_stmt *st, struct lbd_db_point *p)
{
    *p = (struct lbd_db_point){.at_s = sqlite3_column_int64(st, 0) >> LBD_DB_HOST_BITS,
                               .reports = sqlite3_column_int64(st, 1),
                               .core_speed = milli(st, 2),
                               .capacity = milli(st, 3),
                               .busy_cpus = milli(st, 4),
                               .external_cpus = milli(st, 5),
                               .steal_cpus = milli(st, 6),
                               .pressure_ratio = milli(st, 7),
                               .running = milli(st, 8),
                               .users = milli(st, 9),
                               .tasks = milli(st, 10)};
}

int lbd_db_read_points(struct lbd_db *db, const char *host, enum lbd_resolution resolution,
                       int64_t from_s, int64_t to_s, size_t max, struct lbd_db_point *ret_point,
                       size_t *ret_n)
{
    static const enum lbd_statement which[LBD_RESOLUTIONS] = {S_READ_RAW, S_READ_5M, S_READ_1H};
    sqlite3_stmt *st = db->statement[which[resolution]];
    int64_t id = 0, step = lbd_resolution_s[resolution], first_s = from_s > 0 ? from_s : 0;
    size_t n = 0;
    int rc;

    sqlite3_bind_text(db->statement[S_HOST_ID], 1, host, -1, SQLITE_STATIC);
    rc = lbd_db_run(db, S_HOST_ID, &id);
    if (rc < 0 || id == 0)
        return rc < 0 ? rc : -ENOENT;
    first_s -= first_s % step;
    if (to_s >= first_s && max > 0) {
        int64_t bound[] = {first_s << LBD_DB_HOST_BITS | id, to_s << LBD_DB_HOST_BITS | id,
                           step << LBD_DB_HOST_BITS, (int64_t)max};

        lbd_db_bind(st, bound, 4);
        while ((rc = sqlite3_step(st)) == SQLITE_ROW && n < max)
            read_point(st, &ret_point[n++]);
        rc = rc == SQLITE_ROW ? SQLITE_OK : rc;
        sqlite3_reset(st);
    }
    *ret_n = n;
    return lbd_db_errno(rc);
}

static void read_job(sqlite3_stmt *st, struct lbd_db_job *j)
{
    memset(j, 0, sizeof(*j));
    j->id = sqlite3_column_int64(st, 0);
    j->jobid = (uint32_t)sqlite3_column_int64(st, 1);
    j->stepid = (uint32_t)sqlite3_column_int64(st, 2);
    text(st, 3, j->user, sizeof(j->user));
    text(st, 4, j->account, sizeof(j->account));
    text(st, 5, j->partition, sizeof(j->partition));
    text(st, 6, j->policy, sizeof(j->policy));
    j->hosts = (uint32_t)sqlite3_column_int64(st, 7);
    j->ranks = (uint32_t)sqlite3_column_int64(st, 8);
    j->started_s = sqlite3_column_int64(st, 9);
    j->ended_s = sqlite3_column_int64(st, 10);
    j->load_balance = milli(st, 11);
    j->efficiency = milli(st, 12);
    j->compute_s = milli(st, 13);
    j->wait_s = milli(st, 14);
    j->overhead_s = milli(st, 15);
    j->saved_s = milli(st, 16);
    j->moved_bytes = sqlite3_column_int64(st, 17);
    j->moves = sqlite3_column_int64(st, 18);
    j->predicted_s = milli(st, 19); /* NULL is 0 */
    j->balance_before = sqlite3_column_type(st, 20) == SQLITE_NULL ? -1 : milli(st, 20);
}

static int read_all(struct lbd_db *db, enum lbd_statement which, size_t max,
                    struct lbd_db_job *ret_job, size_t *ret_n)
{
    sqlite3_stmt *st = db->statement[which];
    size_t n = 0;
    int rc;

    while ((rc = sqlite3_step(st)) == SQLITE_ROW && n < max)
        read_job(st, &ret_job[n++]);
    sqlite3_reset(st);
    rc = rc == SQLITE_ROW ? 0 : lbd_db_errno(rc);
    if (rc == 0)
        *ret_n = n;
    return rc;
}

int lbd_db_read_jobs(struct lbd_db *db, int64_t from_s, int64_t to_s, size_t max,
                     struct lbd_db_job *ret_job, size_t *ret_n)
{
    lbd_db_bind(db->statement[S_READ_JOBS], (const int64_t[]){from_s, to_s, (int64_t)max}, 3);
    return read_all(db, S_READ_JOBS, max, ret_job, ret_n);
}

static int read_hosts(struct lbd_db *db, struct lbd_db_job *j)
{
    sqlite3_stmt *st = db->statement[S_READ_JOB_HOSTS];
    size_t size = 0;
    int rc;

    lbd_db_bind(st, &j->id, 1);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && j->nhost < JOB_HOSTS_MAX) {
        struct lbd_db_job_host *h;

        if (j->nhost == size) {
            size = size ? 2 * size : 8;
            h = realloc(j->host, size * sizeof(*h));
            if (!h) {
                rc = SQLITE_NOMEM;
                break;
            }
            j->host = h;
        }
        h = &j->host[j->nhost++];
        memset(h, 0, sizeof(*h));
        text(st, 0, h->host, sizeof(h->host));
        h->share_ratio = milli(st, 1);
        h->iterations = sqlite3_column_int64(st, 2);
        h->compute_s = milli(st, 3);
        h->wait_s = milli(st, 4);
    }
    sqlite3_reset(st);
    return rc == SQLITE_ROW ? 0 : lbd_db_errno(rc);
}

int lbd_db_read_job(struct lbd_db *db, uint32_t jobid, size_t max, struct lbd_db_job *ret_job,
                    size_t *ret_n)
{
    size_t n = 0;
    int rc;

    lbd_db_bind(db->statement[S_READ_JOB], (const int64_t[]){jobid, (int64_t)max}, 2);
    rc = read_all(db, S_READ_JOB, max, ret_job, &n);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = read_hosts(db, &ret_job[i]);
    for (size_t i = 0; i < n && rc < 0; i++)
        free(ret_job[i].host);
    if (rc == 0)
        *ret_n = n;
    return rc;
}
