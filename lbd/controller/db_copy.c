/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of the database: the backup in steps, the snapshot for readers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lbd/controller/db_impl.h"

#define STEP_PAGES 256 /* 1 MiB */
#define PATH_BYTES 1100

struct lbd_backup {
    sqlite3 *to;
    sqlite3_backup *copy;
    char path[PATH_BYTES], part[PATH_BYTES];
};

/* Under its name once it is on disk. */
static int publish(const char *part, const char *path, struct lbx_error *err)
{
    char folder[PATH_BYTES];
    int fd = open(part, O_RDONLY | O_CLOEXEC), rc = 0;

    if (fd < 0 || fchmod(fd, 0640) < 0 || fsync(fd) < 0 || rename(part, path) < 0)
        rc = lbx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return rc;
    snprintf(folder, sizeof(folder), "%s", path);
    *strrchr(folder, '/') = '\0';
    fd = open(folder[0] ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
    return 0;
}

/* path.part, gone; the folder is made when only that is missing. */
static int make_part(const char *path, char *ret_part, struct lbx_error *err)
{
    char folder[PATH_BYTES];

    if (path[0] != '/' || strlen(path) + 6 > PATH_BYTES)
        return lbx_error_set(err, -EINVAL, "%s: not a full path of moderate length", path);
    snprintf(ret_part, PATH_BYTES, "%s.part", path);
    snprintf(folder, sizeof(folder), "%s", path);
    *strrchr(folder, '/') = '\0';
    if (mkdir(folder, 0750) < 0 && errno != EEXIST)
        return lbx_error_set(err, -errno, "%s: %s", folder, strerror(errno));
    if (unlink(ret_part) < 0 && errno != ENOENT)
        return lbx_error_set(err, -errno, "%s: %s", ret_part, strerror(errno));
    return 0;
}

int lbd_backup_start(struct lbd_db *db, const char *path, struct lbx_error *err,
                     struct lbd_backup **ret_backup)
{
    struct lbd_backup *b = calloc(1, sizeof(*b));
    int rc = b ? make_part(path, b->part, err) : lbx_error_set(err, -ENOMEM, "out of memory");

    if (rc < 0) {
        free(b);
        return rc;
    }
    snprintf(b->path, sizeof(b->path), "%s", path);
    rc = sqlite3_open_v2(b->part, &b->to,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                             SQLITE_OPEN_NOFOLLOW,
                         NULL);
    if (rc == SQLITE_OK) /* it is worth nothing before it is whole: no journal */
        rc = sqlite3_exec(b->to,
                          "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                          "PRAGMA cache_size = -512",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        b->copy = sqlite3_backup_init(b->to, "main", db->sqlite, "main");
        rc = b->copy ? SQLITE_OK : sqlite3_errcode(b->to);
    }
    if (rc != SQLITE_OK) {
        rc = lbx_error_set(err, lbd_db_errno(rc), "%s: %s", b->part,
                           b->to ? sqlite3_errmsg(b->to) : "out of memory");
        lbd_backup_end(b);
        return rc;
    }
    *ret_backup = b;
    return 0;
}

/* All pages are there: a plain file without a log, under its name. */
static int finish(struct lbd_backup *b, struct lbx_error *err)
{
    int rc = sqlite3_backup_finish(b->copy);

    b->copy = NULL;
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(b->to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return lbx_error_set(err, lbd_db_errno(rc), "%s: %s", b->part, sqlite3_errmsg(b->to));
    sqlite3_close(b->to);
    b->to = NULL;
    rc = publish(b->part, b->path, err);
    if (rc == 0)
        b->part[0] = '\0';
    return rc;
}

int lbd_backup_step(struct lbd_backup *b, struct lbx_error *err)
{
    int rc = sqlite3_backup_step(b->copy, STEP_PAGES);

    if (rc == SQLITE_DONE)
        return finish(b, err);
    if (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
        return 1;
    return lbx_error_set(err, lbd_db_errno(rc), "%s: %s", b->part, sqlite3_errstr(rc));
}

void lbd_backup_end(struct lbd_backup *b)
{
    if (!b)
        return;
    if (b->copy)
        sqlite3_backup_finish(b->copy);
    sqlite3_close(b->to);
    if (b->part[0])
        unlink(b->part);
    free(b);
}

int lbd_db_snapshot(struct lbd_db *db, const char *path, struct lbx_error *err)
{
    char part[PATH_BYTES];
    sqlite3_stmt *st = NULL;
    int rc = make_part(path, part, err);

    if (rc < 0)
        return rc;
    rc = sqlite3_prepare_v2(db->sqlite, "VACUUM INTO ?", -1, &st, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(st, 1, part, -1, SQLITE_STATIC);
        rc = sqlite3_step(st);
    }
    sqlite3_finalize(st);
    if (rc == SQLITE_DONE)
        rc = publish(part, path, err);
    else
        rc = lbx_error_set(err, lbd_db_errno(rc) == 0 ? -EIO : lbd_db_errno(rc), "%s: %s", part,
                           sqlite3_errmsg(db->sqlite));
    if (rc < 0)
        unlink(part);
    return rc;
}
