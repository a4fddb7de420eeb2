/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The housekeeping of the database, a small step at a time: means of five minutes and of an hour, what is too old, the nightly
 * backup, the snapshot that others may read.  For the one thread that has the database.  Times: seconds since 1970.
 */
#ifndef LBD_CONTROLLER_KEEP_H
#define LBD_CONTROLLER_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbd/controller/rollup.h"

#define LBD_KEEP_PATH_MAX 1024

struct lbd_keep_settings {
    int64_t keep_s[LBD_TABLES];       /* how long rows are kept */
    char backup[LBD_KEEP_PATH_MAX];   /* folder; "": no backups */
    int backup_hour;                  /* 0 to 23, local time */
    int backups;                      /* how many are kept, at least 1 */
    char snapshot[LBD_KEEP_PATH_MAX]; /* file; "": none */
    int64_t snapshot_interval_s;
};

struct lbd_keep {
    struct lbd_rollup five, hour;
    int64_t late_s; /* the oldest report that came behind the means; INT64_MAX: none */
    int purged;     /* table looked at next */
    int64_t purge_s;
    struct lbd_backup *backup;              /* under way */
    int64_t backup_next_s, snapshot_next_s; /* 0: look what there is */
    int64_t backup_done_s, snapshot_done_s; /* when the newest was made, 0: none */
    uint64_t backups, backup_failures, snapshots, snapshot_failures; /* of this process */
    bool copy_failed;             /* what the last step returned is of a backup or a snapshot */
    char why[LBX_ERROR_TEXT_MAX]; /* of the last such failure, "" after one that worked */
};

void lbd_keep_init(struct lbd_keep *k);
void lbd_keep_fini(struct lbd_keep *k); /* also after lbd_keep_init alone */

/* The database is another one from now on, or none. */
void lbd_keep_reset(struct lbd_keep *k);

/* A report was put for this time: when the means are past it they are made again. */
void lbd_keep_note(struct lbd_keep *k, int64_t at_s);

/*
 * One step: some milliseconds, but for the snapshot, which takes a second for each 200 MB or so.
 * Returns 1 when there is more to do, 0 when there is nothing now, or what went wrong: with copy_failed a backup or a snapshot
 * that could not be written (it is tried again later), else the database's errors.
 */
int lbd_keep_step(struct lbd_keep *k, struct lbd_db *db, const struct lbd_keep_settings *settings,
                  int64_t now_s) __attribute__((warn_unused_result));

#endif
