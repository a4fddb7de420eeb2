/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of job steps, bounded in size and in number. */
#include "lbd/stepfiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096
#define STEPS_SHOWN 32

int lbd_stepfiles_init(struct lbd_stepfiles *files, const char *state)
{
    int n = snprintf(files->dir, sizeof(files->dir), "%s/decisions", state);

    return n < (int)sizeof(files->dir) - 64 ? 0 : -ENAMETOOLONG;
}

static void path_of(const struct lbd_stepfiles *files, struct lbd_stepfile s, const char *suffix,
                    char ret[LBD_STEPFILES_PATH_BYTES])
{
    snprintf(ret, LBD_STEPFILES_PATH_BYTES, "%.*s/%" PRIu32 ".%" PRIu32 "%s",
             LBD_STEPFILES_PATH_BYTES - 64, files->dir, s.jobid, s.stepid, suffix);
}

/* The whole of a file as text to be freed; NULL with errno. */
static char *read_all(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t size = 2 * LBD_STEPFILES_FILE_BYTES, used = 0;
    char *text = fd >= 0 ? malloc(size + 1) : NULL;
    ssize_t n = 1;

    while (text && n > 0 && used < size) {
        n = read(fd, text + used, size - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    if (text)
        text[used] = '\0';
    return text;
}

/* The first line of a step's file, parsed; NULL when there is none. */
json_t *lbd_stepfiles_head(const struct lbd_stepfiles *files, struct lbd_stepfile s)
{
    char path[LBD_STEPFILES_PATH_BYTES], line[LBD_STEPFILES_HEAD_BYTES];
    json_t *head = NULL;
    FILE *f;

    path_of(files, s, "", path);
    f = fopen(path, "re");
    if (!f)
        return NULL;
    if (fgets(line, sizeof(line), f))
        head = json_loads(line, 0, NULL);
    fclose(f);
    return json_is_object(head) ? head : (json_decref(head), NULL);
}

static bool parse_name(const char *name, struct lbd_stepfile *ret)
{
    int end = 0;

    return sscanf(name, "%" SCNu32 ".%" SCNu32 "%n", &ret->jobid, &ret->stepid, &end) == 2 &&
           name[end] == '\0';
}

/* Returns 0 or a negative errno: it is still there. */
static int forget(const struct lbd_stepfiles *files, struct lbd_stepfile s)
{
    char path[LBD_STEPFILES_PATH_BYTES];

    path_of(files, s, ".old", path);
    unlink(path);
    path_of(files, s, "", path);
    return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

/*
 * A step more is to be kept: those that were heard of longest ago make room.  Returns 0 or a negative errno: what cannot be
 * removed would be found the oldest again and again.
 */
static int make_room(const struct lbd_stepfiles *files, json_int_t uid)
{
    for (;;) {
        struct lbd_stepfile oldest[2] = {{0}};
        time_t when[2] = {0};
        size_t n[2] = {0}; /* of all; of this user */
        DIR *dir = opendir(files->dir);
        struct dirent *e;
        int rc;

        while (dir && (e = readdir(dir))) {
            struct lbd_stepfile s;
            struct stat st;
            json_t *head;

            if (!parse_name(e->d_name, &s) || fstatat(dirfd(dir), e->d_name, &st, 0) < 0)
                continue;
            head = lbd_stepfiles_head(files, s);
            for (int i = 0; i < 2; i++) {
                if (i == 1 && json_integer_value(json_object_get(head, "uid")) != uid)
                    continue;
                if (n[i]++ == 0 || st.st_mtime < when[i]) {
                    oldest[i] = s;
                    when[i] = st.st_mtime;
                }
            }
            json_decref(head);
        }
        if (dir)
            closedir(dir);
        if (n[1] >= LBD_STEPFILES_STEPS_EACH)
            rc = forget(files, oldest[1]);
        else if (n[0] >= LBD_STEPFILES_STEPS_MAX)
            rc = forget(files, oldest[0]);
        else
            return 0;
        if (rc < 0)
            return rc;
    }
}

/* Write the file anew with this first line and `rest` behind it (may be NULL).  Returns 0 or a negative errno. */
static int write_file(const struct lbd_stepfiles *files, struct lbd_stepfile s, const json_t *head,
                      const char *rest)
{
    char path[LBD_STEPFILES_PATH_BYTES], fresh[LBD_STEPFILES_PATH_BYTES];
    int rc = 0;
    FILE *f;

    path_of(files, s, "", path);
    path_of(files, s, ".new", fresh);
    unlink(fresh);
    f = fopen(fresh, "wxe");
    if (!f)
        return -errno;
    if (json_dumpf(head, f, JSON_COMPACT) < 0 || fputc('\n', f) == EOF ||
        (rest && fputs(rest, f) == EOF))
        rc = -EIO;
    if (fclose(f) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(fresh, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(fresh);
    return rc;
}

int lbd_stepfiles_prepare(const struct lbd_stepfiles *files, struct lbd_stepfile s,
                          const json_t *head)
{
    json_t *old = lbd_stepfiles_head(files, s);
    char path[LBD_STEPFILES_PATH_BYTES], before[LBD_STEPFILES_PATH_BYTES];
    struct stat st;
    bool same, final_now;
    char *text, *rest;
    int rc = 0;

    path_of(files, s, "", path);
    path_of(files, s, ".old", before);
    same = old && json_equal(json_object_get(old, "begun_s"), json_object_get(head, "begun_s")) &&
           json_equal(json_object_get(old, "uid"), json_object_get(head, "uid"));
    final_now = same && json_is_true(json_object_get(head, "final")) &&
                !json_is_true(json_object_get(old, "final"));
    if (!same) {
        (void)mkdir(files->dir, 0700); /* it is there, or the next call says why not */
        if (old)
            rc = forget(files, s);
        else
            rc = make_room(files, json_integer_value(json_object_get(head, "uid")));
        if (rc == 0)
            rc = write_file(files, s, head, NULL);
    } else if (stat(path, &st) == 0 && st.st_size >= (off_t)LBD_STEPFILES_FILE_BYTES) {
        rc = rename(path, before) < 0 ? -errno : write_file(files, s, head, NULL);
    } else if (final_now) {
        text = read_all(path);
        rest = text ? strchr(text, '\n') : NULL;
        rc = write_file(files, s, head, rest ? rest + 1 : NULL);
        free(text);
    }
    json_decref(old);
    return rc;
}

/* Whether its last line was cut off: then what is appended must not become a part of it. */
static bool is_cut_off(int fd)
{
    struct stat st;
    char last;

    return fstat(fd, &st) == 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 &&
           last != '\n';
}

int lbd_stepfiles_append(const struct lbd_stepfiles *files, struct lbd_stepfile s,
                         const json_t *list)
{
    char path[LBD_STEPFILES_PATH_BYTES], line[LINE_MAX_BYTES];
    const json_t *one;
    int fd, rc = 0;
    size_t i, n;
    FILE *f;

    path_of(files, s, "", path);
    fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    f = fd >= 0 ? fdopen(fd, "a") : NULL;
    if (!f) {
        rc = -errno;
        if (fd >= 0)
            close(fd);
        return rc;
    }
    if (is_cut_off(fd))
        fputc('\n', f);
    json_array_foreach(list, i, one)
    {
        json_int_t seq = json_integer_value(json_object_get(one, "seq"));

        n = json_dumpb(one, line, sizeof(line), JSON_COMPACT | JSON_REAL_PRECISION(6));
        if (n > 0 && n <= sizeof(line) && json_is_object(one) && seq >= 0)
            fprintf(f, "%" JSON_INTEGER_FORMAT " %.*s\n", seq, (int)n, line);
    }
    rc = ferror(f) ? -EIO : 0;
    if (fclose(f) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

/* All steps of a job that are kept and may be seen, as numbers.  ret_last: the one that began last. */
json_t *lbd_stepfiles_list(const struct lbd_stepfiles *files, uint32_t jobid, uid_t uid, bool all,
                           struct lbd_stepfile *ret_last)
{
    json_t *list = json_array();
    DIR *dir = opendir(files->dir);
    double last = -1;
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        struct lbd_stepfile s;
        json_t *head;
        double begun;

        if (!parse_name(e->d_name, &s) || s.jobid != jobid)
            continue;
        head = lbd_stepfiles_head(files, s);
        begun = json_number_value(json_object_get(head, "begun_s"));
        if (head && (all || json_integer_value(json_object_get(head, "uid")) == (json_int_t)uid)) {
            if (json_array_size(list) < STEPS_SHOWN)
                json_array_append_new(list, json_integer((json_int_t)s.stepid));
            if (begun > last || (begun == last && s.stepid > ret_last->stepid)) {
                last = begun;
                *ret_last = s;
            }
        }
        json_decref(head);
    }
    if (dir)
        closedir(dir);
    return list;
}

/* A line that a full disk or a crash has left in pieces would spoil the whole answer. */
static bool is_object(const char *json, size_t n)
{
    json_t *o = json_loadb(json, n, 0, NULL);
    bool ret = json_is_object(o);

    json_decref(o);
    return ret;
}

/* Append the file's lines to the page, until it is full; those whose answer the teller missed are there twice. */
static void read_page(const char *path, struct lbd_stepfiles_page *p)
{
    char *text = read_all(path), *line = text ? strchr(text, '\n') : NULL;

    while (line && p->next == 0) {
        char *begin = line + 1, *end = strchr(begin, '\n'), *json;
        uint64_t seq = strtoull(begin, &json, 10);
        size_t n;

        line = end; /* a line that has no end was cut off */
        if (!end || *json != ' ' || seq < p->from || seq < p->least)
            continue;
        n = (size_t)(end - ++json);
        if (!is_object(json, n))
            continue;
        if (p->used + n + 2 > p->size) {
            p->next = seq;
            break;
        }
        if (p->used > 0)
            p->text[p->used++] = ',';
        memcpy(p->text + p->used, json, n);
        p->used += n;
        p->least = seq + 1;
    }
    free(text);
}

void lbd_stepfiles_read(const struct lbd_stepfiles *files, struct lbd_stepfile s,
                        struct lbd_stepfiles_page *page)
{
    char path[LBD_STEPFILES_PATH_BYTES];

    path_of(files, s, ".old", path);
    read_page(path, page);
    path_of(files, s, "", path);
    read_page(path, page);
}
