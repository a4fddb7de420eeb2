/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The controller's memory on disk: a thread that has the database to itself and commits once a second what was put since.
 * Putting never waits.  When the database cannot be written the rows wait, up to a limit, and then the oldest are dropped;
 * a damaged file is renamed aside and a fresh one begun; a file of a newer lbd is left alone.  The service goes on in all cases.
 */
#ifndef LBD_CONTROLLER_STORE_H
#define LBD_CONTROLLER_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "lbd/controller/db.h"
#include "lbd/controller/keep.h"

#define LBD_STORE_ROWS_MAX 8192 /* that may wait */
#define LBD_STORE_ASKS_MAX 64   /* questions that may wait */
#define LBD_STORE_BUCKETS 8     /* of write durations, the last one without bound */

struct lbd_store;

enum lbd_store_op {
    LBD_OP_OPEN,
    LBD_OP_WRITE,
    LBD_OP_COMMIT,
    LBD_OP_MAINTAIN,
    LBD_OP_READ,
    LBD_OPS
};

struct lbd_store_settings {
    char path[1024];
    int64_t max_bytes;
    struct lbd_keep_settings keep;
    int64_t commit_interval_ns;
};

struct lbd_store_stats {
    bool open;                       /* rows go to disk */
    char reason[LBX_ERROR_TEXT_MAX]; /* why not */
    uint64_t errors[LBD_OPS];
    uint64_t rows, dropped, resets;
    uint32_t waiting; /* rows */
    int64_t size_bytes, wal_bytes, max_bytes;
    uint64_t
        write_counts[LBD_STORE_BUCKETS]; /* not cumulative; bounds of the catalogue's "seconds" */
    double write_sum_s;
    int64_t backup_s, snapshot_s,
        means_s;           /* when the newest was made, until when there are means; 0: none */
    bool backup, snapshot; /* these are asked for */
    int64_t snapshot_interval_s;
    uint64_t backups, backup_failures, snapshots, snapshot_failures;
    char keep_reason
        [LBX_ERROR_TEXT_MAX]; /* why the last backup or snapshot could not be written; "" */
};

/*
 * Open, hand every known host to on_host (from within this call), start the thread.  What is wrong with the file is logged and
 * told by the stats: then the thread tries again.  on_commit comes from the thread, after each commit, drop and answer.
 * Returns 0, or a negative errno when there is no thread to be had.
 */
int lbd_store_create(const struct lbd_store_settings *settings,
                     void (*on_host)(void *data, const struct lbd_db_host *host, int64_t at_s,
                                     const struct lbw_node_report *report),
                     void (*on_commit)(void *data), void *data, struct lbd_store **ret_store)
    __attribute__((warn_unused_result));

/* Commit what waits, as far as that goes, and end the thread; questions left are answered with -ECANCELED.  NULL is fine. */
void lbd_store_destroy(struct lbd_store *s);

/*
 * Put rows.  index: the caller's number of a host, 0, 1, ...; its host row comes first, and again when it changes.
 * Returns a ticket, ascending from 1: the row is on disk when lbd_store_committed reaches it; 0 when out of memory (dropped).
 */
uint64_t lbd_store_put_host(struct lbd_store *s, uint32_t index, const struct lbd_db_host *host);
uint64_t lbd_store_put_report(struct lbd_store *s, uint32_t index, int64_t at_s,
                              const struct lbw_node_report *report);
/* index UINT32_MAX: no host.  what and detail are copied, cut at 31 and 95 bytes. */
uint64_t lbd_store_put_event(struct lbd_store *s, uint32_t index, int64_t at_s, const char *what,
                             const char *detail);

/* job is copied, with its hosts. */
uint64_t lbd_store_put_job(struct lbd_store *s, const struct lbd_db_job *job);

enum lbd_ask_what { LBD_ASK_POINTS, LBD_ASK_JOBS, LBD_ASK_JOB };

/*
 * A question to the history, answered from the disk: by the store's thread, between two commits.  Its owner is who asks until
 * lbd_store_ask has taken it, and again from done on; see lbd_ask_destroy.
 */
struct lbd_ask {
    struct lbd_ask *next; /* the store's */
    enum lbd_ask_what what;
    char host[LBW_LOCAL_HOST_MAX];  /* POINTS */
    enum lbd_resolution resolution; /* POINTS */
    uint32_t jobid;                 /* JOB */
    int64_t from_s, to_s;           /* POINTS, JOBS */
    size_t max;                     /* answers, at least 1 */

    int rc; /* 0, -ENOENT (no such host), -ENODATA (there is no database), -ECANCELED (lbd ends), or what went wrong */
    size_t n;
    struct lbd_db_point *point; /* [n] for POINTS */
    struct lbd_db_job *job;     /* [n] for JOBS, JOB */
    void (*done)(struct lbd_ask *ask);
    void *data; /* the owner's */
};

/* Returns 0, -EBUSY (too many wait) or -ENOMEM; then done is not called. */
int lbd_store_ask(struct lbd_store *s, struct lbd_ask *ask) __attribute__((warn_unused_result));

/* Call done for what has been answered, on this thread; on_commit tells when there is something. */
void lbd_store_answer(struct lbd_store *s);

void lbd_ask_destroy(struct lbd_ask *ask); /* allocated by malloc; NULL is fine */

/* The last ticket on disk; *ret_dropped counts rows that never will be, though tickets behind them are. */
uint64_t lbd_store_committed(struct lbd_store *s, uint64_t *ret_dropped);

void lbd_store_set(struct lbd_store *s, const struct lbd_keep_settings *keep);
void lbd_store_stats(struct lbd_store *s, struct lbd_store_stats *ret);

#endif
