/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the store share: from above its thread (store.c), questions (ask.c), the writing (writer.c), the queue (queue.c). */
#ifndef LBD_CONTROLLER_STORE_IMPL_H
#define LBD_CONTROLLER_STORE_IMPL_H

#include <pthread.h>

#include "lbd/controller/store.h"

enum lbd_row_kind { ROW_HOST, ROW_REPORT, ROW_EVENT, ROW_JOB };

struct lbd_row {
    enum lbd_row_kind kind;
    uint32_t index;
    int64_t at_s;
    union {
        struct lbd_db_host host;
        struct lbw_node_report report;
        struct {
            char what[32], detail[96];
        } event;
        struct lbd_db_job *job; /* owned, with its hosts in the same piece of memory */
    } u;
};

/* A host as last put, so that a fresh file gets it again. */
struct lbd_known {
    struct lbd_db_host host;
    int64_t id; /* in this file, 0: not in it yet */
    bool known;
};

struct lbd_store {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    struct lbd_store_settings settings;
    void (*on_commit)(void *data);
    void *data;

    /* under the lock */
    struct lbd_row *queue; /* [n] */
    size_t n, size;
    uint64_t next_ticket, committed;
    bool stop;
    struct lbd_ask *asked, *answered; /* lists, oldest first */
    size_t nasked;                    /* in both */
    struct lbd_store_stats stats;

    /* the thread's own */
    struct lbd_db *db;
    struct lbd_known *known; /* [nknown], by index */
    size_t nknown;
    struct lbd_row *batch; /* [nbatch] being written, kept until they are */
    size_t nbatch, batch_size;
    uint64_t batch_ticket;
    int64_t reopen_ns, keep_ns; /* when to try next */
    struct lbd_keep keep;
    bool nearly_full;     /* told, or was lately */
    int64_t told_full_ns; /* when it was told last; 0: never */
    bool for_good;        /* a newer file: never touched */
};

/* Open the database, renaming a damaged one aside.  Returns whether it is open. */
bool lbd_writer_open(struct lbd_store *s);

/* Answer what is asked (ask.c), without the lock. */
void lbd_store_read(struct lbd_store *s);

/* Free what rows own. */
void lbd_rows_free(struct lbd_row *row, size_t n);

/* What went wrong: counted, rolled back; a damaged file is set aside, a full one given room. */
void lbd_writer_fail(struct lbd_store *s, int rc, enum lbd_store_op op);

/* Housekeeping for a few milliseconds; sets when to come again. */
void lbd_writer_keep(struct lbd_store *s);

/* Write what waits, as far as the database lets us. */
void lbd_writer_work(struct lbd_store *s);

#endif
