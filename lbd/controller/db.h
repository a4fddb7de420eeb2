/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The database file: opened for one thread with everything locked, migrated, and its statements.  Knows no queue and no
 * thread; see store.h.  Errors: -EBUSY (another process has it), -ENOSPC (disk or allowed size full), -EUCLEAN (damaged, or no
 * database), -EPROTONOSUPPORT (made by a newer lbd), -EACCES, -EROFS, -EIO, -ENOMEM.
 */
#ifndef LBD_CONTROLLER_DB_H
#define LBD_CONTROLLER_DB_H

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
/* The newest of the host, and one more row of raw history. */
int lbd_db_put_report(struct lbd_db *db, int64_t host_id, int64_t at_s,
                      const struct lbw_node_report *report) __attribute__((warn_unused_result));
/* host_id 0: none. */
int lbd_db_put_event(struct lbd_db *db, int64_t at_s, int64_t host_id, const char *what,
                     const char *detail) __attribute__((warn_unused_result));

/* Delete raw rows older than before_s, at most n of them, and give a few free pages back.  A transaction of its own. */
int lbd_db_purge(struct lbd_db *db, int64_t before_s, int n) __attribute__((warn_unused_result));

/* The text of the last failure, borrowed until the next call. */
const char *lbd_db_reason(const struct lbd_db *db);

#endif
