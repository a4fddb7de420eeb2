/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The database file: opened for one thread with everything locked, migrated, and its statements.  Knows no queue and no
 * thread; see store.h.  Errors: -EBUSY (another process has it), -ENOSPC (disk or allowed size full), -EUCLEAN (damaged, or no
 * database), -EPROTONOSUPPORT (made by a newer lbd), -EACCES, -EROFS, -EIO, -ENOMEM.
 * Times are seconds since 1970.  Numbers are kept as integers, most in thousandths: what comes back is rounded so.
 */
#ifndef LBD_CONTROLLER_DB_H
#define LBD_CONTROLLER_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "wire/node.h"

struct lbd_db;

struct lbd_db_host {
    char name[LBW_LOCAL_HOST_MAX];
    char boot[LBW_NODE_BOOT_MAX];
    char model[LBW_NODE_MODEL_MAX];
    int64_t seen_s; /* now, since 1970 */
};

#define LBD_DB_NAME_MAX 64 /* bytes with the NUL; what is longer is cut */

struct lbd_db_job_host {
    char host[LBW_LOCAL_HOST_MAX];
    double share_ratio; /* of the iterations, at the end */
    int64_t iterations;
    double compute_s, wait_s; /* summed over its ranks */
};

/* A job step that has ended.  Sums are over its ranks. */
struct lbd_db_job {
    int64_t id;    /* of the row; set by reading */
    int64_t nonce; /* the same one put again makes no second row; 0: none */
    uint32_t jobid, stepid;
    char user[LBD_DB_NAME_MAX], account[LBD_DB_NAME_MAX];
    char partition[LBD_DB_NAME_MAX], policy[LBD_DB_NAME_MAX];
    uint32_t hosts, ranks;
    int64_t started_s, ended_s;
    double load_balance, efficiency; /* 0 to 1 */
    double balance_before;           /* load balance with the first shares; negative: not known */
    double compute_s, wait_s, overhead_s;
    double saved_s;     /* negative: it took longer */
    double predicted_s; /* run time that placement expected; 0: it did not */
    int64_t moved_bytes, moves;
    size_t nhost;
    struct lbd_db_job_host *host; /* [nhost]; may be fewer than hosts */
};

enum lbd_resolution { LBD_RAW, LBD_5M, LBD_1H, LBD_RESOLUTIONS };
extern const int lbd_resolution_s[LBD_RESOLUTIONS]; /* 1, 300, 3600; raw: the grain of the keys */

/* A report, or the mean of those in the time from at_s on. */
struct lbd_db_point {
    int64_t at_s;
    int64_t reports;
    double core_speed, capacity, busy_cpus, external_cpus, steal_cpus, pressure_ratio;
    double running, users, tasks;
};

/* max_bytes: the file grows no further.  A new file is made when there is none. */
int lbd_db_open(const char *path, int64_t max_bytes, struct lbd_db **ret_db, struct lbx_error *err)
    __attribute__((warn_unused_result));
void lbd_db_close(struct lbd_db *db); /* NULL is fine */

/* Every host with its newest report; at_s 0 when it has none (then report is zero). */
int lbd_db_load(struct lbd_db *db,
                void (*on_host)(void *data, const struct lbd_db_host *host, int64_t at_s,
                                const struct lbw_node_report *report),
                void *data) __attribute__((warn_unused_result));

int lbd_db_begin(struct lbd_db *db) __attribute__((warn_unused_result));
int lbd_db_commit(struct lbd_db *db) __attribute__((warn_unused_result));
void lbd_db_rollback(struct lbd_db *db);

/* Insert or update by name. */
int lbd_db_put_host(struct lbd_db *db, const struct lbd_db_host *host, int64_t *ret_id)
    __attribute__((warn_unused_result));
/* The newest of the host, one more row of raw history, and one of its benchmark when that is new. */
int lbd_db_put_report(struct lbd_db *db, int64_t host_id, int64_t at_s,
                      const struct lbw_node_report *report) __attribute__((warn_unused_result));
/* host_id 0: none. */
int lbd_db_put_event(struct lbd_db *db, int64_t at_s, int64_t host_id, const char *what,
                     const char *detail) __attribute__((warn_unused_result));

/* With its hosts, but for those that the table of hosts does not have.  *ret_id 0: it is there already. */
int lbd_db_put_job(struct lbd_db *db, const struct lbd_db_job *job, int64_t *ret_id)
    __attribute__((warn_unused_result));

/*
 * What one host reported, oldest first, from from_s to to_s (inclusive), at most max points.  The means are on multiples of
 * their seconds: from_s is rounded down to one.  About 1 us for each second of raw, each multiple of the others.
 * Returns 0 or -ENOENT (no such host), and as above.
 */
int lbd_db_read_points(struct lbd_db *db, const char *host, enum lbd_resolution resolution,
                       int64_t from_s, int64_t to_s, size_t max, struct lbd_db_point *ret_point,
                       size_t *ret_n) __attribute__((warn_unused_result));

/* Steps that ended from from_s to to_s, newest first, at most max; without their hosts. */
int lbd_db_read_jobs(struct lbd_db *db, int64_t from_s, int64_t to_s, size_t max,
                     struct lbd_db_job *ret_job, size_t *ret_n) __attribute__((warn_unused_result));

/* Steps of a job, newest first, at most max, each with its hosts, which the caller frees. */
int lbd_db_read_job(struct lbd_db *db, uint32_t jobid, size_t max, struct lbd_db_job *ret_job,
                    size_t *ret_n) __attribute__((warn_unused_result));

/* Tables with rows that become old. */
enum lbd_table {
    LBD_T_RAW,
    LBD_T_5M,
    LBD_T_1H,
    LBD_T_BENCHMARK,
    LBD_T_JOB,
    LBD_T_EVENT,
    LBD_TABLES
};

/* Delete rows of a time before before_s, the oldest first, at most n of them.  A transaction of its own. */
int lbd_db_purge(struct lbd_db *db, enum lbd_table table, int64_t before_s, int n, int *ret_deleted)
    __attribute__((warn_unused_result));

/* Give a few free pages back to the file system.  *ret_more: there are others. */
int lbd_db_shrink(struct lbd_db *db, bool *ret_more) __attribute__((warn_unused_result));

/* What the means of one host are made of. */
#define LBD_DB_VALUES \
    9 /* core_speed, capacity, busy, external, steal, pressure, running, users, tasks */
struct lbd_db_sum {
    int64_t reports;
    int64_t value[LBD_DB_VALUES]; /* thousandths times reports */
};

/* Hand rows with keys from first to below end to on_row, in order, at most n; it may stop by returning false. */
int lbd_db_each(struct lbd_db *db, enum lbd_resolution table, int64_t first, int64_t end, int n,
                bool (*on_row)(void *data, int64_t key, const struct lbd_db_sum *row), void *data,
                int *ret_n) __attribute__((warn_unused_result));

/* Put means of the time from at_s on, of the hosts with reports: sum[id], id below n.  A transaction of its own. */
int lbd_db_put_means(struct lbd_db *db, enum lbd_resolution table, int64_t at_s,
                     const struct lbd_db_sum *sum, size_t n) __attribute__((warn_unused_result));

/* The first row's second, and the last one's before before_s; -1 where there is none. */
int lbd_db_span(struct lbd_db *db, enum lbd_resolution table, int64_t before_s,
                int64_t *ret_first_s, int64_t *ret_last_s) __attribute__((warn_unused_result));

/*
 * A copy, in small steps while the database goes on being written, by the same connection: from another it would begin anew
 * at each commit.  The file is there under its name only when it is whole and on disk.
 */
struct lbd_backup;
int lbd_backup_start(struct lbd_db *db, const char *path, struct lbx_error *err,
                     struct lbd_backup **ret_backup) __attribute__((warn_unused_result));
/* Returns 1 for more, 0 when it is done, or what went wrong; after the last two only lbd_backup_end is left. */
int lbd_backup_step(struct lbd_backup *b, struct lbx_error *err)
    __attribute__((warn_unused_result));
void lbd_backup_end(struct lbd_backup *b); /* before the database is closed; NULL is fine */

/* A compact copy that a reader needs no right to write beside, put in place of the one before.  Mode 0640. */
int lbd_db_snapshot(struct lbd_db *db, const char *path, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* The text of the last failure, borrowed until the next call. */
const char *lbd_db_reason(const struct lbd_db *db);

#endif
