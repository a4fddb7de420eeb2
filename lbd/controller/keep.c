/* SPDX-License-Identifier: BSD-3-Clause */
/* The housekeeping of the database. */
#include "lbd/controller/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lbd/controller/rollup.h"

#define LAG_S 30        /* reports are on disk so long after their time, at the latest */
#define PURGE_ROWS 2000 /* 5 ms or so */
#define PURGE_EACH_S 20 /* all tables in turn */
#define AGAIN_S 3600    /* what failed is tried again after so long */
#define BACKUP_NAME "lbd-*.db"

void lbd_keep_init(struct lbd_keep *k)
{
    memset(k, 0, sizeof(*k));
    k->five.from = LBD_RAW;
    k->five.to = k->hour.from = LBD_5M;
    k->hour.to = LBD_1H;
    k->five.slot_s = k->hour.slot_s = -1;
    k->late_s = INT64_MAX;
}

void lbd_keep_reset(struct lbd_keep *k)
{
    lbd_rollup_reset(&k->five);
    lbd_rollup_reset(&k->hour);
    lbd_backup_end(k->backup);
    k->backup = NULL;
    k->late_s = INT64_MAX;
}

void lbd_keep_fini(struct lbd_keep *k)
{
    lbd_keep_reset(k);
}

void lbd_keep_note(struct lbd_keep *k, int64_t at_s)
{
    if (at_s < lbd_rollup_done_s(&k->five) && at_s < k->late_s)
        k->late_s = at_s;
}

/* Returns as lbd_keep_step. */
static int make_means(struct lbd_keep *k, struct lbd_db *db, int64_t now_s)
{
    int64_t until_s = now_s - LAG_S, late_s = k->late_s;
    bool due = until_s / 300 * 300 > lbd_rollup_done_s(&k->five) || k->five.slot_s >= 0;
    int rc;

    if (!due)
        return 0;
    if (late_s != INT64_MAX) { /* once for all that came late, before the next five minutes */
        k->late_s = INT64_MAX;
        rc = lbd_rollup_again(&k->five, db, late_s);
        if (rc == 0)
            rc = lbd_rollup_again(&k->hour, db, late_s);
        if (rc < 0)
            return rc;
    }
    rc = lbd_rollup_step(&k->five, db, until_s / 300 * 300);
    return rc != 0 ? rc : 1; /* then the hours look */
}

static int make_hours(struct lbd_keep *k, struct lbd_db *db)
{
    int64_t until_s = lbd_rollup_done_s(&k->five) / 3600 * 3600;

    if (until_s <= lbd_rollup_done_s(&k->hour) && k->hour.slot_s < 0)
        return 0;
    return lbd_rollup_step(&k->hour, db, until_s);
}

/* Rows go when they are too old, but not before they are in the means. */
static int64_t purge_before(const struct lbd_keep *k, const struct lbd_keep_settings *s, int table,
                            int64_t now_s)
{
    int64_t before_s = now_s - s->keep_s[table], done_s = INT64_MAX;

    if (table == LBD_T_RAW)
        done_s = lbd_rollup_done_s(&k->five);
    else if (table == LBD_T_5M)
        done_s = lbd_rollup_done_s(&k->hour);
    return before_s < done_s ? before_s : done_s;
}

static int purge(struct lbd_keep *k, struct lbd_db *db, const struct lbd_keep_settings *s,
                 int64_t now_s)
{
    int deleted = 0, rc;
    bool more;

    if (now_s < k->purge_s)
        return 0;
    if (k->purged < LBD_TABLES) {
        rc = lbd_db_purge(db, (enum lbd_table)k->purged, purge_before(k, s, k->purged, now_s),
                          PURGE_ROWS, &deleted);
        if (rc == 0 && deleted < PURGE_ROWS)
            k->purged++;
        return rc < 0 ? rc : 1;
    }
    rc = lbd_db_shrink(db, &more);
    if (rc < 0 || more)
        return rc < 0 ? rc : 1;
    k->purged = 0;
    k->purge_s = now_s + PURGE_EACH_S;
    return 0;
}

static int not_written(struct lbd_keep *k, uint64_t *failures, const struct lbx_error *err)
{
    ++*failures;
    if (err->code == -EUCLEAN) /* the database itself */
        return err->code;
    snprintf(k->why, sizeof(k->why), "%s", err->text);
    k->copy_failed = true;
    return err->code;
}

/* The newest moment, up to now, at which it was the hour. */
static int64_t last_hour(int hour, int64_t now_s)
{
    time_t t = (time_t)now_s;
    struct tm tm;

    if (!localtime_r(&t, &tm))
        return now_s;
    if (tm.tm_hour < hour)
        tm.tm_mday--;
    tm.tm_hour = hour;
    tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    t = mktime(&tm);
    return (int64_t)t <= now_s ? (int64_t)t : now_s;
}

static int is_backup(const struct dirent *e)
{
    return fnmatch(BACKUP_NAME, e->d_name, 0) == 0;
}

static int64_t time_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (int64_t)st.st_mtime : 0;
}

/* Names are dates, and so in order.  Removes all but the newest ones; returns the time of the newest, 0 without. */
static int64_t look_at_backups(const struct lbd_keep_settings *s, bool remove_old)
{
    char path[LBD_KEEP_PATH_MAX + 300];
    struct dirent **list = NULL;
    int n = scandir(s->backup, &list, is_backup, alphasort);
    int64_t newest_s = 0;

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%s", s->backup, list[i]->d_name);
        if (i == n - 1)
            newest_s = time_of(path);
        else if (remove_old && i < n - s->backups)
            (void)unlink(path);
        free(list[i]);
    }
    free(list);
    return newest_s;
}

static int start_backup(struct lbd_keep *k, struct lbd_db *db, const struct lbd_keep_settings *s,
                        int64_t now_s)
{
    char path[LBD_KEEP_PATH_MAX + 64], date[32] = "";
    struct lbx_error err = {0};
    time_t t = (time_t)now_s;
    struct tm tm;

    if (localtime_r(&t, &tm))
        strftime(date, sizeof(date), "%Y%m%d", &tm);
    snprintf(path, sizeof(path), "%s/lbd-%s.db", s->backup, date);
    if (lbd_backup_start(db, path, &err, &k->backup) < 0) {
        k->backup_next_s = now_s + AGAIN_S;
        return not_written(k, &k->backup_failures, &err);
    }
    return 1;
}

static int make_backup(struct lbd_keep *k, struct lbd_db *db, const struct lbd_keep_settings *s,
                       int64_t now_s)
{
    struct lbx_error err = {0};
    int rc;

    if (!s->backup[0] || (!k->backup && now_s < k->backup_next_s))
        return 0;
    if (!k->backup) {
        k->backup_done_s = look_at_backups(s, false);
        if (k->backup_done_s < last_hour(s->backup_hour, now_s))
            return start_backup(k, db, s, now_s);
        k->backup_next_s = now_s + 60;
        return 0;
    }
    rc = lbd_backup_step(k->backup, &err);
    if (rc == 1)
        return 1;
    lbd_backup_end(k->backup);
    k->backup = NULL;
    if (rc < 0) {
        k->backup_next_s = now_s + AGAIN_S;
        return not_written(k, &k->backup_failures, &err);
    }
    k->backups++;
    k->why[0] = '\0';
    k->backup_done_s = look_at_backups(s, true);
    k->backup_next_s = now_s + 60;
    return 0;
}

static int make_snapshot(struct lbd_keep *k, struct lbd_db *db, const struct lbd_keep_settings *s,
                         int64_t now_s)
{
    struct lbx_error err = {0};

    if (!s->snapshot[0])
        return 0;
    if (k->snapshot_next_s == 0) {
        k->snapshot_done_s = time_of(s->snapshot);
        k->snapshot_next_s = k->snapshot_done_s + s->snapshot_interval_s;
    }
    if (now_s < k->snapshot_next_s && k->snapshot_next_s <= now_s + s->snapshot_interval_s)
        return 0;
    if (lbd_db_snapshot(db, s->snapshot, &err) < 0) {
        k->snapshot_next_s =
            now_s + (s->snapshot_interval_s < AGAIN_S ? s->snapshot_interval_s : AGAIN_S);
        return not_written(k, &k->snapshot_failures, &err);
    }
    k->snapshots++;
    k->why[0] = '\0';
    k->snapshot_done_s = now_s;
    k->snapshot_next_s = now_s + s->snapshot_interval_s;
    return 0;
}

int lbd_keep_step(struct lbd_keep *k, struct lbd_db *db, const struct lbd_keep_settings *settings,
                  int64_t now_s)
{
    int rc;

    k->copy_failed = false;
    rc = make_means(k, db, now_s);

    if (rc == 0)
        rc = make_hours(k, db);
    if (rc == 0)
        rc = purge(k, db, settings, now_s);
    if (rc == 0)
        rc = make_backup(k, db, settings, now_s);
    if (rc == 0)
        rc = make_snapshot(k, db, settings, now_s);
    return rc;
}
