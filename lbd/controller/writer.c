/* SPDX-License-Identifier: BSD-3-Clause */
/* The writing half of the store: only its thread is here, but for the first opening. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/controller/db_impl.h"
#include "lbd/controller/rollup.h"
#include "lbd/controller/store_impl.h"

#define ROOM_ROWS 4000                     /* deleted at a time where the file is full */
#define KEEP_NS (10 * LBX_NS_PER_MS)       /* of housekeeping at a time */
#define KEEP_SOON_NS (100 * LBX_NS_PER_MS) /* while there is more of it */
#define KEEP_LATER_NS (5 * LBX_NS_PER_S)
#define NEARLY_FULL .9 /* of the allowed size */
#define NEARLY_FULL_ENDS .8
#define TELL_FULL_NS (86400 * LBX_NS_PER_S) /* between two warnings */
#define REOPEN_NS (5 * LBX_NS_PER_S)

static const double write_bounds_s[LBD_STORE_BUCKETS - 1] = {.001, .005, .02, .1, .5, 2, 10};

static void count_error(struct lbd_store *s, enum lbd_store_op op, const char *reason)
{
    pthread_mutex_lock(&s->lock);
    s->stats.errors[op]++;
    if (reason[0])
        snprintf(s->stats.reason, sizeof(s->stats.reason), "%s", reason);
    pthread_mutex_unlock(&s->lock);
}

static void set_open(struct lbd_store *s, bool open)
{
    pthread_mutex_lock(&s->lock);
    s->stats.open = open;
    if (open)
        s->stats.reason[0] = '\0';
    pthread_mutex_unlock(&s->lock);
}

/* Rename the damaged file aside, its log with it, so that a person can look at it. */
static void set_aside(struct lbd_store *s)
{
    static const char *const suffix[] = {"", "-wal", "-shm"};
    char from[1100], to[1200];
    int64_t now_s = lbx_clock_wall_ns() / LBX_NS_PER_S;

    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof(from), "%s%s", s->settings.path, suffix[i]);
        snprintf(to, sizeof(to), "%s.damaged-%" PRId64 "%s", s->settings.path, now_s, suffix[i]);
        if (rename(from, to) == 0 && i == 0)
            lbx_log(LBX_LOG_ERROR, "%s is damaged: kept as %s, a fresh one is begun", from, to);
    }
    pthread_mutex_lock(&s->lock);
    s->stats.resets++;
    pthread_mutex_unlock(&s->lock);
}

static void close_db(struct lbd_store *s)
{
    lbd_keep_reset(&s->keep); /* first: a backup reads from it */
    lbd_db_close(s->db);
    s->db = NULL;
    set_open(s, false);
    for (size_t i = 0; i < s->nknown; i++)
        s->known[i].id = 0;
}

bool lbd_writer_open(struct lbd_store *s)
{
    struct lbx_error err = {0};
    int rc = lbd_db_open(s->settings.path, s->settings.max_bytes, &s->db, &err);
    bool reset = rc == -EUCLEAN;

    if (reset) {
        count_error(s, LBD_OP_OPEN, err.text);
        set_aside(s);
        rc = lbd_db_open(s->settings.path, s->settings.max_bytes, &s->db, &err);
    }
    if (rc == 0) {
        set_open(s, true);
        if (reset)
            lbd_store_put_event(s, UINT32_MAX, lbx_clock_wall_ns() / LBX_NS_PER_S, "database_reset",
                                err.text);
        return true;
    }
    if (s->reopen_ns == 0 || rc == -EPROTONOSUPPORT) /* once, not every five seconds */
        lbx_log(LBX_LOG_ERROR, "nothing is recorded: %s", err.text);
    count_error(s, LBD_OP_OPEN, err.text);
    s->for_good = rc == -EPROTONOSUPPORT;
    s->reopen_ns = lbx_clock_mono_ns() + REOPEN_NS;
    return false;
}

static int remember(struct lbd_store *s, const struct lbd_row *row)
{
    if (row->index >= s->nknown) {
        size_t n = (size_t)row->index + 1 + s->nknown / 2;
        struct lbd_known *known = realloc(s->known, n * sizeof(*known));

        if (!known)
            return -ENOMEM;
        memset(known + s->nknown, 0, (n - s->nknown) * sizeof(*known));
        s->known = known;
        s->nknown = n;
    }
    s->known[row->index].host = row->u.host;
    s->known[row->index].known = true;
    return 0;
}

/* The host's id in this file, which is put there when it is not. */
static int find_id(struct lbd_store *s, uint32_t index, int64_t *ret_id)
{
    struct lbd_known *k;

    if (index >= s->nknown || !s->known[index].known)
        return -EINVAL;
    k = &s->known[index];
    if (k->id == 0) {
        int rc = lbd_db_put_host(s->db, &k->host, &k->id);

        if (rc < 0)
            return rc;
    }
    *ret_id = k->id;
    return 0;
}

static int write_row(struct lbd_store *s, const struct lbd_row *row)
{
    int64_t id = 0;
    int rc = 0;

    if (row->kind == ROW_HOST) {
        rc = remember(s, row);
        return rc < 0 ? rc : lbd_db_put_host(s->db, &row->u.host, &s->known[row->index].id);
    }
    if (row->index != UINT32_MAX)
        rc = find_id(s, row->index, &id);
    if (rc < 0)
        return rc;
    if (row->kind == ROW_REPORT) {
        lbd_keep_note(&s->keep, row->at_s);
        return lbd_db_put_report(s->db, id, row->at_s, &row->u.report);
    }
    if (row->kind == ROW_JOB)
        return lbd_db_put_job(s->db, row->u.job, &id);
    return lbd_db_put_event(s->db, row->at_s, id, row->u.event.what, row->u.event.detail);
}

/* All of the batch in one transaction.  Returns 0 or what went wrong first; *ret_op says where. */
static int write_batch(struct lbd_store *s, enum lbd_store_op *ret_op)
{
    int rc = lbd_db_begin(s->db);

    *ret_op = LBD_OP_WRITE;
    for (size_t i = 0; i < s->nbatch && rc == 0; i++) {
        rc = write_row(s, &s->batch[i]);
        if (rc == -EINVAL)
            rc = 0; /* a row that cannot be written must not hold up the others */
    }
    if (rc == 0) {
        *ret_op = LBD_OP_COMMIT;
        rc = lbd_db_commit(s->db);
    }
    return rc;
}

/* Move what waits to the batch, which a failure may have left there; beyond the limit the oldest go. */
static void take_queue(struct lbd_store *s)
{
    size_t n, surplus;
    struct lbd_row *rows;

    pthread_mutex_lock(&s->lock);
    n = s->nbatch + s->n;
    if (s->nbatch == 0) { /* the usual case: exchange the two arrays */
        rows = s->batch;
        s->batch = s->queue;
        s->queue = rows;
        rows = NULL;
        surplus = s->batch_size;
        s->batch_size = s->size;
        s->size = surplus;
        s->nbatch = s->n;
        s->n = 0;
        s->batch_ticket = s->next_ticket - 1;
    } else if (s->n > 0) {
        rows = n <= s->batch_size ? s->batch : realloc(s->batch, n * sizeof(*rows));
        if (rows) {
            s->batch_size = n <= s->batch_size ? s->batch_size : n;
            s->batch = rows;
            memcpy(rows + s->nbatch, s->queue, s->n * sizeof(*rows));
            s->nbatch = n;
            s->n = 0;
            s->batch_ticket = s->next_ticket - 1;
        }
    }
    surplus = s->nbatch > LBD_STORE_ROWS_MAX ? s->nbatch - LBD_STORE_ROWS_MAX : 0;
    s->stats.dropped += surplus;
    s->stats.waiting = (uint32_t)(s->nbatch - surplus + s->n);
    pthread_mutex_unlock(&s->lock);
    if (surplus == 0)
        return;
    for (size_t i = 0; i < surplus; i++)
        if (s->batch[i].kind == ROW_HOST)
            (void)remember(s, &s->batch[i]); /* the host itself must not be forgotten */
    lbd_rows_free(s->batch, surplus);
    memmove(s->batch, s->batch + surplus, (s->nbatch - surplus) * sizeof(*s->batch));
    s->nbatch -= surplus;
    s->on_commit(s->data);
}

static int64_t file_bytes(const char *path, const char *suffix)
{
    char name[1100];
    struct stat st;

    snprintf(name, sizeof(name), "%s%s", path, suffix);
    return stat(name, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* Told while there is time to give it more, or to keep less.  Pages count: the file gets them some time later. */
static void watch_size(struct lbd_store *s)
{
    int64_t most = s->settings.max_bytes, size = 0;
    char detail[96];

    if (lbd_db_pragma(s->db, "PRAGMA page_count", &size) < 0)
        return;
    size *= LBD_DB_PAGE_BYTES;
    if (s->nearly_full) {
        s->nearly_full = (double)size > NEARLY_FULL_ENDS * (double)most;
        return;
    }
    if ((double)size < NEARLY_FULL * (double)most)
        return;
    s->nearly_full = true;
    if (s->told_full_ns != 0 && lbx_clock_mono_ns() - s->told_full_ns < TELL_FULL_NS)
        return; /* rows that made room at the limit are soon replaced: the same news */
    s->told_full_ns = lbx_clock_mono_ns();
    snprintf(detail, sizeof(detail),
             "%" PRId64 " of %" PRId64 " MiB: at the limit the oldest rows go", size >> 20,
             most >> 20);
    lbx_log(LBX_LOG_WARNING,
            "%s is nearly full: %s (retention in policy.conf: raise size, or keep less)",
            s->settings.path, detail);
    lbd_store_put_event(s, UINT32_MAX, lbx_clock_wall_ns() / LBX_NS_PER_S, "database_nearly_full",
                        detail);
}

static void note_commit(struct lbd_store *s, int64_t took_ns)
{
    double took_s = (double)took_ns / 1e9;
    int64_t size = file_bytes(s->settings.path, ""), wal = file_bytes(s->settings.path, "-wal");
    int bucket = 0;

    while (bucket < LBD_STORE_BUCKETS - 1 && took_s > write_bounds_s[bucket])
        bucket++;
    pthread_mutex_lock(&s->lock);
    s->committed = s->batch_ticket;
    s->stats.rows += s->nbatch;
    s->stats.waiting = (uint32_t)s->n;
    s->stats.write_counts[bucket]++;
    s->stats.write_sum_s += took_s;
    s->stats.size_bytes = size;
    s->stats.wal_bytes = wal;
    s->stats.reason[0] = '\0';
    pthread_mutex_unlock(&s->lock);
    lbd_rows_free(s->batch, s->nbatch);
    s->nbatch = 0;
    watch_size(s);
}

/* The oldest rows make room where the limit is our own, raw ones first; on a full disk this fails like the rest. */
static void make_room(struct lbd_store *s)
{
    int deleted = 0;

    for (int table = LBD_T_RAW; table < LBD_TABLES && deleted == 0; table++)
        if (lbd_db_purge(s->db, (enum lbd_table)table, INT64_C(1) << 42, ROOM_ROWS, &deleted) < 0) {
            lbd_db_rollback(s->db);
            break;
        }
}

void lbd_writer_fail(struct lbd_store *s, int rc, enum lbd_store_op op)
{
    char reason[LBX_ERROR_TEXT_MAX];
    bool first;

    snprintf(reason, sizeof(reason), "%s", lbd_db_reason(s->db));
    pthread_mutex_lock(&s->lock);
    first = s->stats.reason[0] == '\0';
    pthread_mutex_unlock(&s->lock);
    if (first)
        lbx_log(LBX_LOG_ERROR, "database: %s: rows wait", reason);
    lbd_db_rollback(s->db);
    for (size_t i = 0; i < s->nknown; i++)
        s->known[i].id = 0; /* ids of this transaction were taken back */
    count_error(s, op, reason);
    if (rc == -EUCLEAN) {
        close_db(s);
        set_aside(s);
        if (lbd_writer_open(s))
            lbd_store_put_event(s, UINT32_MAX, lbx_clock_wall_ns() / LBX_NS_PER_S, "database_reset",
                                reason);
    } else if (rc == -ENOSPC) {
        make_room(s);
    }
}

static void note_keep(struct lbd_store *s)
{
    pthread_mutex_lock(&s->lock);
    s->stats.backup_s = s->keep.backup_done_s;
    s->stats.snapshot_s = s->keep.snapshot_done_s;
    s->stats.means_s = lbd_rollup_done_s(&s->keep.five);
    s->stats.backups = s->keep.backups;
    s->stats.backup_failures = s->keep.backup_failures;
    s->stats.snapshots = s->keep.snapshots;
    s->stats.snapshot_failures = s->keep.snapshot_failures;
    memcpy(s->stats.keep_reason, s->keep.why, sizeof(s->stats.keep_reason));
    pthread_mutex_unlock(&s->lock);
}

void lbd_writer_keep(struct lbd_store *s)
{
    int64_t start_ns = lbx_clock_mono_ns();
    struct lbd_keep_settings settings;
    int rc = s->db ? 1 : 0;

    pthread_mutex_lock(&s->lock);
    settings = s->settings.keep;
    pthread_mutex_unlock(&s->lock);
    while (rc == 1 && lbx_clock_mono_ns() - start_ns < KEEP_NS)
        rc = lbd_keep_step(&s->keep, s->db, &settings, lbx_clock_wall_ns() / LBX_NS_PER_S);
    if (rc < 0 &&
        s->keep.copy_failed) { /* a copy that could not be written: the database goes on */
        lbx_log(LBX_LOG_ERROR, "copy of the database: %s", s->keep.why);
        count_error(s, LBD_OP_MAINTAIN, "");
    } else if (rc < 0) {
        lbd_writer_fail(s, rc, LBD_OP_MAINTAIN);
    }
    note_keep(s);
    s->keep_ns = lbx_clock_mono_ns() + (rc == 1 ? KEEP_SOON_NS : KEEP_LATER_NS);
}

void lbd_writer_work(struct lbd_store *s)
{
    enum lbd_store_op op;
    int64_t start_ns;
    int rc;

    take_queue(s);
    if (!s->db && (s->for_good || lbx_clock_mono_ns() < s->reopen_ns || !lbd_writer_open(s)))
        return;
    if (s->nbatch > 0) {
        start_ns = lbx_clock_mono_ns();
        rc = write_batch(s, &op);
        if (rc < 0) {
            lbd_writer_fail(s, rc, op);
            return;
        }
        note_commit(s, lbx_clock_mono_ns() - start_ns);
        s->on_commit(s->data);
    }
}
