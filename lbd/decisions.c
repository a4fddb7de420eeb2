/* SPDX-License-Identifier: BSD-3-Clause */
/* What balancers decided and why, kept in files. */
#include "lbd/decisions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lbd/guard.h"
#include "wire/local.h"

#define PATH_BYTES 512
#define LINE_MAX_BYTES 4096
#define HEAD_MAX_BYTES 8192
#define HOSTS_MAX 64
#define ANSWER_BYTES (LBW_LOCAL_TEXT_MAX - HEAD_MAX_BYTES - 4096)
#define MESSAGE_RATE_HZ 5.0 /* of one user; a balancer speaks once a second */
#define MESSAGE_BURST 100.0
#define ASK_RATE_HZ 20.0
#define ASK_BURST 100.0
#define STEPS_SHOWN 32

/*
 * A step's file JOBID.STEP: a line of JSON about the step, then the decisions, each behind its number.  When it is full it
 * becomes JOBID.STEP.old, and a new one begins.
 */
struct lbd_decisions {
    char dir[PATH_BYTES];
    struct lbd_guard senders, askers;
};

struct step {
    uint32_t jobid, stepid;
};

int lbd_decisions_create(const char *state, struct lbd_decisions **ret)
{
    struct lbd_decisions *d = calloc(1, sizeof(*d));

    if (!d)
        return -ENOMEM;
    if (snprintf(d->dir, sizeof(d->dir), "%s/decisions", state) >= (int)sizeof(d->dir) - 64) {
        free(d);
        return -ENAMETOOLONG;
    }
    lbd_guard_init(&d->senders, LBD_GUARD_PEERS, 1, MESSAGE_RATE_HZ, MESSAGE_BURST);
    lbd_guard_init(&d->askers, LBD_GUARD_PEERS, 1, ASK_RATE_HZ, ASK_BURST);
    *ret = d;
    return 0;
}

void lbd_decisions_destroy(struct lbd_decisions *d)
{
    free(d);
}

/* Whether uid keeps to the rate. */
static bool is_within_rate(struct lbd_guard *g, uid_t uid, int64_t now_ns)
{
    bool ret;

    if (!lbd_guard_enter(g, uid, now_ns))
        return false;
    ret = lbd_guard_message(g, uid, now_ns);
    lbd_guard_leave(g, uid);
    return ret;
}

static void path_of(const struct lbd_decisions *d, struct step s, const char *suffix,
                    char ret[PATH_BYTES])
{
    snprintf(ret, PATH_BYTES, "%.*s/%" PRIu32 ".%" PRIu32 "%s", PATH_BYTES - 64, d->dir, s.jobid,
             s.stepid, suffix);
}

/* The whole of a file as text to be freed; NULL with errno. */
static char *read_all(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t size = 2 * LBD_DECISIONS_FILE_BYTES, used = 0;
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
static json_t *read_head(const struct lbd_decisions *d, struct step s)
{
    char path[PATH_BYTES], line[HEAD_MAX_BYTES];
    json_t *head = NULL;
    FILE *f;

    path_of(d, s, "", path);
    f = fopen(path, "re");
    if (!f)
        return NULL;
    if (fgets(line, sizeof(line), f))
        head = json_loads(line, 0, NULL);
    fclose(f);
    return json_is_object(head) ? head : (json_decref(head), NULL);
}

static bool parse_name(const char *name, struct step *ret)
{
    int end = 0;

    return sscanf(name, "%" SCNu32 ".%" SCNu32 "%n", &ret->jobid, &ret->stepid, &end) == 2 &&
           name[end] == '\0';
}

static void forget(const struct lbd_decisions *d, struct step s)
{
    char path[PATH_BYTES];

    path_of(d, s, "", path);
    unlink(path);
    path_of(d, s, ".old", path);
    unlink(path);
}

/* A step more is to be kept: those that were heard of longest ago make room. */
static void make_room(const struct lbd_decisions *d, uid_t uid)
{
    for (;;) {
        struct step oldest[2] = {{0}};
        time_t when[2] = {0};
        size_t n[2] = {0}; /* of all; of this user */
        DIR *dir = opendir(d->dir);
        struct dirent *e;

        while (dir && (e = readdir(dir))) {
            struct step s;
            struct stat st;
            json_t *head;

            if (!parse_name(e->d_name, &s) || fstatat(dirfd(dir), e->d_name, &st, 0) < 0)
                continue;
            head = read_head(d, s);
            for (int i = 0; i < 2; i++) {
                if (i == 1 && json_integer_value(json_object_get(head, "uid")) != (json_int_t)uid)
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
        if (n[1] >= LBD_DECISIONS_STEPS_EACH)
            forget(d, oldest[1]);
        else if (n[0] >= LBD_DECISIONS_STEPS_MAX)
            forget(d, oldest[0]);
        else
            return;
    }
}

/* What is kept of a step besides its decisions; a new object. */
static json_t *make_head(uid_t uid, struct step s, const json_t *o)
{
    const json_t *hosts = json_object_get(o, "hosts"), *h;
    json_t *names = json_array();
    size_t i;

    json_array_foreach(hosts, i, h)
    {
        if (i < HOSTS_MAX && json_string_length(h) < LBW_LOCAL_HOST_MAX)
            json_array_append_new(names, json_string(json_string_value(h)));
    }
    return json_pack("{s:I, s:I, s:I, s:f, s:s%, s:I, s:b, s:o}", "uid", (json_int_t)uid, "jobid",
                     (json_int_t)s.jobid, "stepid", (json_int_t)s.stepid, "begun_s",
                     json_number_value(json_object_get(o, "begun_s")), "policy",
                     json_string_value(json_object_get(o, "policy")),
                     strnlen(json_string_value(json_object_get(o, "policy")), 64), "ranks",
                     json_integer_value(json_object_get(o, "ranks")), "final",
                     json_is_true(json_object_get(o, "final")), "hosts", names);
}

/* Write the file anew with this first line and `rest` behind it (may be NULL).  Returns 0 or a negative errno. */
static int write_file(const struct lbd_decisions *d, struct step s, const json_t *head,
                      const char *rest)
{
    char path[PATH_BYTES], fresh[PATH_BYTES];
    int rc = 0;
    FILE *f;

    path_of(d, s, "", path);
    path_of(d, s, ".new", fresh);
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

/* The step's file as it is to be appended to: made, begun anew for another start of the step, or turned over. */
static int prepare(const struct lbd_decisions *d, uid_t uid, struct step s, const json_t *o)
{
    json_t *old = read_head(d, s), *head = make_head(uid, s, o);
    char path[PATH_BYTES], before[PATH_BYTES];
    struct stat st;
    bool same, final_now;
    char *text, *rest;
    int rc = 0;

    if (!head) {
        json_decref(old);
        return -ENOMEM;
    }
    path_of(d, s, "", path);
    path_of(d, s, ".old", before);
    same = old && json_equal(json_object_get(old, "begun_s"), json_object_get(head, "begun_s")) &&
           json_equal(json_object_get(old, "uid"), json_object_get(head, "uid"));
    final_now = same && json_is_true(json_object_get(head, "final")) &&
                !json_is_true(json_object_get(old, "final"));
    if (!same) {
        if (old)
            forget(d, s);
        else
            make_room(d, uid);
        rc = write_file(d, s, head, NULL);
    } else if (stat(path, &st) == 0 && st.st_size >= (off_t)LBD_DECISIONS_FILE_BYTES) {
        rc = rename(path, before) < 0 ? -errno : write_file(d, s, head, NULL);
    } else if (final_now) {
        text = read_all(path);
        rest = text ? strchr(text, '\n') : NULL;
        rc = write_file(d, s, head, rest ? rest + 1 : NULL);
        free(text);
    }
    json_decref(old);
    json_decref(head);
    return rc;
}

static int append(const struct lbd_decisions *d, struct step s, const json_t *list)
{
    char path[PATH_BYTES], line[LINE_MAX_BYTES];
    const json_t *one;
    int fd, rc = 0;
    size_t i, n;
    FILE *f;

    path_of(d, s, "", path);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    f = fd >= 0 ? fdopen(fd, "a") : NULL;
    if (!f) {
        rc = -errno;
        if (fd >= 0)
            close(fd);
        return rc;
    }
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

int lbd_decisions_take(struct lbd_decisions *d, uid_t uid, uint32_t jobid, uint32_t stepid,
                       const char *json, int64_t now_ns, struct lbx_error *err)
{
    struct step s = {jobid, stepid};
    json_error_t why;
    json_t *o;
    int rc;

    if (!is_within_rate(&d->senders, uid, now_ns))
        return lbx_error_set(err, -EBUSY, "decisions: too many messages of uid %u", (unsigned)uid);
    o = json_loads(json, JSON_REJECT_DUPLICATES, &why);
    if (!o)
        return lbx_error_set(err, -EINVAL, "decisions: %s at byte %d", why.text, why.position);
    if (!json_is_string(json_object_get(o, "policy")) ||
        !json_is_number(json_object_get(o, "begun_s")) ||
        !json_is_array(json_object_get(o, "decisions"))) {
        json_decref(o);
        return lbx_error_set(err, -EINVAL,
                             "decisions: an object with policy, begun_s and decisions is needed");
    }
    (void)mkdir(d->dir, 0700); /* it is there, or the next call says why not */
    rc = prepare(d, uid, s, o);
    if (rc == 0)
        rc = append(d, s, json_object_get(o, "decisions"));
    json_decref(o);
    return rc < 0 ? lbx_error_set(err, rc, "decisions: not kept: %s", strerror(-rc)) : 0;
}

/* All steps of a job that are kept and may be seen, as numbers.  ret_last: the one that began last. */
static json_t *list_steps(const struct lbd_decisions *d, uint32_t jobid, uid_t uid, bool all,
                          struct step *ret_last)
{
    json_t *list = json_array();
    DIR *dir = opendir(d->dir);
    double last = -1;
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        struct step s;
        json_t *head;
        double begun;

        if (!parse_name(e->d_name, &s) || s.jobid != jobid)
            continue;
        head = read_head(d, s);
        begun = json_number_value(json_object_get(head, "begun_s"));
        if (head && (all || json_integer_value(json_object_get(head, "uid")) == (json_int_t)uid)) {
            if (json_array_size(list) < STEPS_SHOWN)
                json_array_append_new(list, json_integer((json_int_t)s.stepid));
            if (begun > last) {
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

struct page {
    char *text; /* decisions, separated by commas */
    size_t used;
    uint64_t from, next; /* next: 0 when there is no more */
};

/* Append the file's decisions to the page, until it is full. */
static void read_page(const char *path, struct page *p)
{
    char *text = read_all(path), *line = text ? strchr(text, '\n') : NULL;

    while (line && p->next == 0) {
        char *begin = line + 1, *end = strchr(begin, '\n'), *json;
        uint64_t seq = strtoull(begin, &json, 10);
        size_t n;

        line = end; /* a line that has no end was cut off */
        if (!end || *json != ' ' || seq < p->from)
            continue;
        n = (size_t)(end - ++json);
        if (p->used + n + 2 > ANSWER_BYTES) {
            p->next = seq;
            break;
        }
        if (p->used > 0)
            p->text[p->used++] = ',';
        memcpy(p->text + p->used, json, n);
        p->used += n;
    }
    free(text);
}

static char *make_answer(const struct lbd_decisions *d, struct step s, json_t *head, uint64_t from)
{
    struct page p = {.text = malloc(ANSWER_BYTES), .from = from};
    char path[PATH_BYTES], *start = NULL, *ret = NULL;
    size_t size;

    if (p.text) {
        path_of(d, s, ".old", path);
        read_page(path, &p);
        path_of(d, s, "", path);
        read_page(path, &p);
        json_object_set_new(head, "next", p.next ? json_integer((json_int_t)p.next) : json_null());
        start = json_dumps(head, JSON_COMPACT);
    }
    if (start) {
        size = strlen(start) + p.used + 32;
        ret = malloc(size);
        start[strlen(start) - 1] = '\0'; /* its closing brace */
        if (ret)
            snprintf(ret, size, "%s,\"decisions\":[%.*s]}", start, (int)p.used, p.text);
    }
    free(start);
    free(p.text);
    return ret;
}

/* "JOBID[.STEP] [FROM]" */
static bool parse_ask(const char *ask, struct step *ret, bool *ret_has_step, uint64_t *ret_from)
{
    unsigned long long from = 0;
    int end = 0;

    *ret = (struct step){0};
    *ret_has_step =
        sscanf(ask, "%" SCNu32 ".%" SCNu32 "%n", &ret->jobid, &ret->stepid, &end) == 2 && end > 0;
    if (!*ret_has_step && (sscanf(ask, "%" SCNu32 "%n", &ret->jobid, &end) != 1 || end == 0))
        return false;
    ask += end;
    if (*ask == ' ' && (sscanf(ask, " %19llu%n", &from, &end) != 1 || ask[end] != '\0'))
        return false;
    *ret_from = from;
    return *ask == ' ' || *ask == '\0';
}

char *lbd_decisions_answer(struct lbd_decisions *d, uid_t uid, bool all, const char *ask,
                           int64_t now_ns, struct lbx_error *err)
{
    struct step s, last = {0};
    json_t *steps, *head;
    bool has_step;
    uint64_t from;
    char *ret;

    if (!is_within_rate(&d->askers, uid, now_ns)) {
        lbx_error_set(err, -EBUSY, "too many questions at a time");
        return NULL;
    }
    if (!parse_ask(ask, &s, &has_step, &from)) {
        lbx_error_set(err, -EINVAL, "'%.40s' is no step: write JOBID or JOBID.STEP", ask);
        return NULL;
    }
    steps = list_steps(d, s.jobid, uid, all, &last);
    if (!has_step && json_array_size(steps) > 0)
        s = last;
    head = json_array_size(steps) > 0 ? read_head(d, s) : NULL;
    if (!head || (!all && json_integer_value(json_object_get(head, "uid")) != (json_int_t)uid)) {
        lbx_error_set(err, -ENOENT,
                      "no decisions of %" PRIu32 "%s are kept here, or it is another user's job",
                      s.jobid, has_step ? strchr(ask, '.') : "");
        json_decref(head);
        json_decref(steps);
        return NULL;
    }
    json_object_set_new(head, "steps", steps);
    ret = make_answer(d, s, head, from);
    json_decref(head);
    if (!ret)
        lbx_error_set(err, -ENOMEM, "out of memory");
    return ret;
}
