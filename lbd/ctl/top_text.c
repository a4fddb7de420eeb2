/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbctl top shows, as lines of text. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lbd/ctl/ask.h"
#include "lbd/ctl/job.h"
#include "lbd/ctl/print.h"
#include "lbd/ctl/top.h"

#define NAME_LEAST 8
#define NAME_MOST 24

/* A column: from the number `key`, times `scale`. */
struct column {
    const char *title, *key;
    int width, decimals;
    double scale;
    bool down; /* sorted with the largest first */
};

static const struct column host_columns[] = {
    {"CPUS", "cpus", 7, 2, 1, true},          {"SPEED", "core_speed", 7, 3, 1, true},
    {"CAPACITY", "capacity", 9, 2, 1, true},  {"BUSY", "busy_cpus", 7, 2, 1, true},
    {"LOAD", "external_cpus", 7, 2, 1, true}, {"TASKS", "tasks", 6, 0, 1, true},
    {"INDEX", "index", 8, 3, 1, false},       {"AGE/s", "age_s", 6, 0, 1, true},
};
static const struct column job_columns[] = {
    {"STEP", "stepid", 5, 0, 1, false},
    {"HOSTS", "nhosts", 6, 0, 1, true},
    {"RANKS", "ranks", 6, 0, 1, true},
    {"TIME/s", "time_s", 8, 0, 1, true},
    {"BALANCE%", "load_balance", 9, 0, 100, false},
    {"EFFIC.%", "efficiency", 8, 0, 100, false},
    {"MOVES", "moves", 6, 0, 1, true},
    {"MOVED/MiB", "moved_bytes", 10, 1, 1. / (1 << 20), true},
};
#define HOST_COLUMNS ((int)(sizeof(host_columns) / sizeof(host_columns[0])))
#define JOB_COLUMNS ((int)(sizeof(job_columns) / sizeof(job_columns[0])))

static const char *const help[] = {
    "h, 1   hosts            j, 2   jobs",
    "Tab    the other view   Enter  the job that is chosen",
    "Up, Down, PgUp, PgDn, Home, End   choose a line",
    "s      sort by the next column    space  now, not in some seconds",
    "b, Esc back             q      end",
    "",
    "BALANCE: mean over largest compute time of a job's ranks; EFFIC.: computing over all time in "
    "loops.",
    "SPEED: what one task gets now, in reference cores; LOAD: cores used by what was not placed "
    "here.",
};

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text && *text ? text : "-";
}

static double value_of(const json_t *o, const char *key)
{
    const json_t *moved = json_object_get(o, "moved");
    double sum = 0;
    const char *name;
    json_t *v;

    if (strcmp(key, "time_s") == 0)
        return fmax(0, (double)time(NULL) - json_number_value(json_object_get(o, "started")));
    if (strcmp(key, "moves") == 0) {
        json_object_foreach((json_t *)(uintptr_t)moved, name, v) sum += json_number_value(v);
        return sum;
    }
    v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

int lbd_top_columns(enum lbd_top_view view)
{
    return 1 + (view == LBD_TOP_HOSTS ? HOST_COLUMNS : JOB_COLUMNS);
}

static const struct column *columns_of(const struct lbd_top *t, int *ret_n)
{
    *ret_n = t->view == LBD_TOP_HOSTS ? HOST_COLUMNS : JOB_COLUMNS;
    return t->view == LBD_TOP_HOSTS ? host_columns : job_columns;
}

static json_t *list_of(const struct lbd_top *t)
{
    return t->view == LBD_TOP_HOSTS ? t->hosts : t->view == LBD_TOP_JOBS ? t->jobs : NULL;
}

/* The text of the job view is made whole; its lines are the rows. */
static char *job_text(const struct lbd_top *t, int width)
{
    char *text = NULL;
    size_t n = 0, i;
    const json_t *step;
    FILE *f = open_memstream(&text, &n);

    if (!f)
        return NULL;
    json_array_foreach(t->job, i, step)
    {
        if (i > 0)
            fputc('\n', f);
        lbd_job_print(f, step, width);
    }
    if (json_array_size(t->job) == 0)
        fputs("This job is not known: it has not told of itself yet, or it was long ago.\n", f);
    fclose(f);
    return text;
}

size_t lbd_top_rows(const struct lbd_top *t)
{
    size_t n = 0;
    char *text;

    if (t->view == LBD_TOP_HELP)
        return sizeof(help) / sizeof(help[0]);
    if (t->view != LBD_TOP_JOB)
        return json_array_size(list_of(t));
    text = job_text(t, 80);
    for (const char *p = text; p && (p = strchr(p, '\n')); p++)
        n++;
    free(text);
    return n;
}

/* qsort gives its comparison no argument. */
static _Thread_local const struct column *sort_column;
static _Thread_local const char *sort_name;

static int compare(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    double p, q;

    if (sort_column) {
        p = value_of(x, sort_column->key);
        q = value_of(y, sort_column->key);
        if (isnan(p) || isnan(q))
            return isnan(p) - isnan(q);
        if (p != q)
            return (p < q) == sort_column->down ? 1 : -1;
    }
    if (strcmp(sort_name, "host") == 0)
        return strcmp(text_of(x, "host"), text_of(y, "host"));
    p = value_of(x, "jobid") - value_of(y, "jobid");
    return p < 0 ? -1 : p > 0 ? 1 : (value_of(x, "stepid") > value_of(y, "stepid")) * 2 - 1;
}

void lbd_top_sort(struct lbd_top *t)
{
    json_t *list = list_of(t), **row;
    size_t n = json_array_size(list);
    int ncolumns, by = t->view == LBD_TOP_HOSTS ? t->sort[0] : t->sort[1];

    row = n ? calloc(n, sizeof(json_t *)) : NULL;
    if (!row)
        return;
    sort_column = by > 0 ? columns_of(t, &ncolumns) + by - 1 : NULL;
    sort_name = t->view == LBD_TOP_HOSTS ? "host" : "jobid";
    for (size_t i = 0; i < n; i++)
        row[i] = json_incref(json_array_get(list, i));
    qsort(row, n, sizeof(json_t *), compare);
    for (size_t i = 0; i < n; i++)
        json_array_set_new(list, i, row[i]);
    free(row);
}

/* Write text made by f into at most width columns of out, control characters as '?'. */
static void write_cut(FILE *out, const char *text, int width)
{
    for (int n = 0; *text && *text != '\n' && n < width; n++)
        text += lbd_print_character(out, text);
}

void lbd_top_summary(FILE *out, const struct lbd_top *t, int width)
{
    double cpus = 0, capacity = 0, load = 0, lowest = INFINITY;
    size_t up = 0, unbalanced = 0, i;
    char text[512];
    const json_t *o;

    json_array_foreach(t->hosts, i, o)
    {
        up += json_is_true(json_object_get(o, "connected"));
        cpus += json_number_value(json_object_get(o, "cpus"));
        capacity += json_number_value(json_object_get(o, "capacity"));
        load += json_number_value(json_object_get(o, "external_cpus"));
    }
    json_array_foreach(t->jobs, i, o)
    {
        lowest = fmin(lowest, value_of(o, "load_balance"));
        unbalanced += value_of(o, "load_balance") < .7;
    }
    snprintf(text, sizeof(text),
             "%zu hosts, %zu connected, %.1f cores, %.1f to be had, load %.1f; %zu jobs, %zu "
             "unbalanced%s",
             json_array_size(t->hosts), up, cpus, capacity, load, json_array_size(t->jobs),
             unbalanced, t->is_old ? "; OLD: " : "");
    if (t->is_old)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", t->said);
    write_cut(out, text, width);
}

enum lbd_top_mood lbd_top_mood(const struct lbd_top *t, size_t i)
{
    const json_t *o = json_array_get(list_of(t), i);
    double balance;

    if (!o)
        return LBD_TOP_FINE;
    if (t->view == LBD_TOP_HOSTS)
        return !json_is_true(json_object_get(o, "connected")) ? LBD_TOP_BAD
               : json_object_get(o, "slow")                   ? LBD_TOP_WARN
                                                              : LBD_TOP_FINE;
    balance = value_of(o, "load_balance");
    return balance < .7 ? LBD_TOP_BAD : balance < .85 ? LBD_TOP_WARN : LBD_TOP_FINE;
}

void lbd_top_heading(FILE *out, const struct lbd_top *t, int width)
{
    int n, by = t->view == LBD_TOP_HOSTS ? t->sort[0] : t->sort[1];
    const struct column *c = columns_of(t, &n);
    char text[512];

    if (t->view == LBD_TOP_HELP || t->view == LBD_TOP_JOB) {
        write_cut(out, t->view == LBD_TOP_HELP ? "Keys" : "Job", width);
        return;
    }
    if (t->view == LBD_TOP_HOSTS)
        snprintf(text, sizeof(text), "%-16s  %-5s", by == 0 ? "HOST*" : "HOST", "STATE");
    else
        snprintf(text, sizeof(text), "%-10s %-10s %-8s", by == 0 ? "JOB*" : "JOB", "USER",
                 "POLICY");
    for (int i = 0; i < n; i++) {
        char title[32];

        snprintf(title, sizeof(title), "%s%s", c[i].title, by == i + 1 ? "*" : "");
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %*s", c[i].width, title);
    }
    write_cut(out, text, width);
}

static void write_row(FILE *f, const struct lbd_top *t, const json_t *o)
{
    int n;
    const struct column *c = columns_of(t, &n);

    if (t->view == LBD_TOP_HOSTS) {
        lbd_print_text(f, text_of(o, "host"), 16);
        fprintf(f, "  %-5s", json_is_true(json_object_get(o, "connected")) ? "up" : "away");
    } else {
        fprintf(f, "%-10.0f ", value_of(o, "jobid"));
        lbd_print_text(f, text_of(o, "user"), 10);
        fputc(' ', f);
        lbd_print_text(f, text_of(o, "policy"), 8);
    }
    for (int i = 0; i < n; i++) {
        double v = value_of(o, c[i].key);

        if (isnan(v))
            fprintf(f, " %*s", c[i].width, "-");
        else
            fprintf(f, " %*.*f", c[i].width, c[i].decimals, v * c[i].scale);
    }
}

void lbd_top_row(FILE *out, const struct lbd_top *t, size_t i, int width)
{
    char *text = NULL;
    const char *line;
    size_t n;
    FILE *f;

    if (t->view == LBD_TOP_HELP) {
        write_cut(out, help[i], width);
        return;
    }
    if (t->view == LBD_TOP_JOB) {
        text = job_text(t, width);
        line = text;
        for (; line && i > 0; i--)
            line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
        if (line)
            write_cut(out, line, width);
        free(text);
        return;
    }
    f = open_memstream(&text, &n);
    if (!f)
        return;
    write_row(f, t, json_array_get(list_of(t), i));
    fclose(f);
    write_cut(out, text, width);
    free(text);
}

static void keep(json_t **place, json_t *answer, const char *list)
{
    json_decref(*place);
    *place = json_incref(json_object_get(answer, list));
    json_decref(answer);
}

int lbd_top_ask(struct lbd_top *t, const char *socket)
{
    struct lbx_error err = {0};
    json_t *hosts = NULL, *jobs = NULL, *job = NULL;
    int rc = lbd_ctl_ask(socket, "hosts", "hosts", &hosts, &err);

    if (rc == 0)
        rc = lbd_ctl_ask(socket, "running", "jobs", &jobs, &err);
    if (rc == 0 && t->jobid > 0)
        rc = lbd_job_ask(socket, t->jobid, &job, &err);
    t->is_old = rc < 0;
    snprintf(t->said, sizeof(t->said), "%s", rc < 0 ? err.text : "");
    if (rc < 0) {
        json_decref(hosts);
        json_decref(jobs);
        return rc;
    }
    keep(&t->hosts, hosts, "hosts");
    keep(&t->jobs, jobs, "jobs");
    if (job)
        keep(&t->job, job, "jobs");
    lbd_top_sort(t);
    return 0;
}

void lbd_top_fini(struct lbd_top *t)
{
    json_decref(t->hosts);
    json_decref(t->jobs);
    json_decref(t->job);
}
