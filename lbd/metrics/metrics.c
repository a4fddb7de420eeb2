/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of the metrics. */
#include "lbd/metrics/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

/* Escaped values take twice their bytes at most; the names are ours and short. */
#define LABELS_ROOM (LBD_METRIC_LABELS_MAX * (2 * LBD_METRIC_VALUE_MAX + 64))

struct series {
    char *labels; /* as on the page: a="x",b="y" */
    double value; /* of a histogram: the sum */
    uint64_t *counts;
};

struct lbd_metrics {
    pthread_mutex_t lock;
    struct {
        struct series *series;
        size_t n, size;
    } metric[LBD_METRICS];
    size_t nseries;
    uint64_t pages, left_out;
};

struct lbd_metrics *lbd_metrics_create(void)
{
    struct lbd_metrics *m = calloc(1, sizeof(*m));

    if (m)
        pthread_mutex_init(&m->lock, NULL);
    return m;
}

static void free_series(struct series *s)
{
    free(s->labels);
    free(s->counts);
}

void lbd_metrics_destroy(struct lbd_metrics *m)
{
    if (!m)
        return;
    for (int i = 0; i < LBD_METRICS; i++) {
        for (size_t k = 0; k < m->metric[i].n; k++)
            free_series(&m->metric[i].series[k]);
        free(m->metric[i].series);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* One label's value, escaped; returns where it ends. */
static char *escape(char *out, const char *value)
{
    const char *s = value, *end = s + LBD_METRIC_VALUE_MAX;

    while (*s) {
        size_t n = lbx_text_utf8(s);

        if (s + (n ? n : 1) > end)
            break;
        if (*s == '\\' || *s == '"') {
            *out++ = '\\';
            *out++ = *s;
        } else if (*s == '\n') {
            *out++ = '\\';
            *out++ = 'n';
        } else if (n == 0 || (unsigned char)*s < 0x20 || *s == 0x7f) {
            *out++ = '?';
        } else {
            memcpy(out, s, n);
            out += n;
        }
        s += n ? n : 1;
    }
    return out;
}

/* The first n labels as on the page. */
static void write_labels(const struct lbd_metric_info *info, const char *const *labels, int n,
                         char *text)
{
    *text = '\0';
    for (int i = 0; i < n; i++) {
        text += sprintf(text, "%s%s=\"", i ? "," : "", info->label[i]);
        text = escape(text, labels[i]);
        text += sprintf(text, "\"");
    }
}

/* The series of these labels, made when it is not there; NULL when it cannot be.  Under the lock. */
static struct series *find(struct lbd_metrics *m, enum lbd_metric metric, const char *labels)
{
    struct series *s = m->metric[metric].series;
    size_t n = m->metric[metric].n;

    for (size_t i = 0; i < n; i++)
        if (strcmp(s[i].labels, labels) == 0)
            return &s[i];
    if (m->nseries == LBD_METRIC_SERIES_MAX)
        return NULL;
    if (n == m->metric[metric].size) {
        size_t size = n ? 2 * n : 1;

        s = realloc(s, size * sizeof(*s));
        if (!s)
            return NULL;
        m->metric[metric].series = s;
        m->metric[metric].size = size;
    }
    s[n] = (struct series){.labels = strdup(labels)};
    if (lbd_metric_info[metric].nbuckets > 0)
        s[n].counts = calloc((size_t)lbd_metric_info[metric].nbuckets + 1, sizeof(uint64_t));
    if (!s[n].labels || (lbd_metric_info[metric].nbuckets > 0 && !s[n].counts)) {
        free_series(&s[n]);
        return NULL;
    }
    m->metric[metric].n++;
    m->nseries++;
    return &s[n];
}

void lbd_metrics_set(struct lbd_metrics *m, enum lbd_metric metric, const char *const *labels,
                     double value)
{
    char text[LABELS_ROOM];
    struct series *s;

    write_labels(&lbd_metric_info[metric], labels, lbd_metric_info[metric].nlabels, text);
    pthread_mutex_lock(&m->lock);
    s = find(m, metric, text);
    if (s)
        s->value = value;
    else
        m->left_out++;
    pthread_mutex_unlock(&m->lock);
}

void lbd_metrics_set_histogram(struct lbd_metrics *m, enum lbd_metric metric,
                               const char *const *labels, const uint64_t *counts, double sum)
{
    const struct lbd_metric_info *info = &lbd_metric_info[metric];
    char text[LABELS_ROOM];
    struct series *s;

    write_labels(info, labels, info->nlabels, text);
    pthread_mutex_lock(&m->lock);
    s = find(m, metric, text);
    if (s) {
        memcpy(s->counts, counts, ((size_t)info->nbuckets + 1) * sizeof(*counts));
        s->value = sum;
    } else {
        m->left_out++;
    }
    pthread_mutex_unlock(&m->lock);
}

void lbd_metrics_drop(struct lbd_metrics *m, enum lbd_metric metric, const char *const *labels,
                      int n)
{
    char text[LABELS_ROOM];
    size_t bytes, i = 0;

    write_labels(&lbd_metric_info[metric], labels, n, text);
    bytes = strlen(text);
    pthread_mutex_lock(&m->lock);
    while (i < m->metric[metric].n) {
        struct series *s = &m->metric[metric].series[i];

        if (strncmp(s->labels, text, bytes) == 0 &&
            (!s->labels[bytes] || s->labels[bytes] == ',')) {
            free_series(s);
            *s = m->metric[metric].series[--m->metric[metric].n];
            m->nseries--;
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&m->lock);
}

static void write_value(FILE *f, double v)
{
    if (isnan(v))
        fputs(" NaN\n", f);
    else if (isinf(v))
        fputs(v > 0 ? " +Inf\n" : " -Inf\n", f);
    else
        fprintf(f, v == floor(v) && fabs(v) < 1e15 ? " %.0f\n" : " %.12g\n", v);
}

static void write_line(FILE *f, const char *name, const char *suffix, const char *labels, double v)
{
    fprintf(f, labels[0] ? "%s%s{%s}" : "%s%s", name, suffix, labels);
    write_value(f, v);
}

static void write_histogram(FILE *f, const struct lbd_metric_info *info, const struct series *s)
{
    uint64_t sum = 0;

    for (int i = 0; i <= info->nbuckets; i++) {
        sum += s->counts[i];
        fprintf(f, "%s_bucket{%s%sle=\"", info->name, s->labels, s->labels[0] ? "," : "");
        if (i < info->nbuckets)
            fprintf(f, "%g\"} %" PRIu64 "\n", info->bucket[i], sum);
        else
            fprintf(f, "+Inf\"} %" PRIu64 "\n", sum);
    }
    write_line(f, info->name, "_sum", s->labels, s->value);
    write_line(f, info->name, "_count", s->labels, (double)sum);
}

static void write_metric(FILE *f, const struct lbd_metric_info *info, const struct series *s,
                         size_t n, bool openmetrics)
{
    static const char *const type[] = {"gauge", "counter", "histogram"};
    int family = (int)strlen(info->name); /* OpenMetrics names a counter's family without _total */

    if (openmetrics && info->type == LBD_TYPE_COUNTER)
        family -= (int)strlen("_total");
    fprintf(f, "# HELP %.*s %s\n# TYPE %.*s %s\n", family, info->name, info->help, family,
            info->name, type[info->type]);
    if (openmetrics && info->unit[0])
        fprintf(f, "# UNIT %.*s %s\n", family, info->name, info->unit);
    for (size_t i = 0; i < n; i++) {
        if (info->type == LBD_TYPE_HISTOGRAM)
            write_histogram(f, info, &s[i]);
        else
            write_line(f, info->name, "", s[i].labels, s[i].value);
    }
}

int lbd_metrics_render(struct lbd_metrics *m, bool openmetrics, char **ret_text, size_t *ret_n)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    bool bad;

    if (!f)
        return -ENOMEM;
    pthread_mutex_lock(&m->lock);
    m->pages++;
    for (int i = 0; i < LBD_METRICS; i++)
        if (m->metric[i].n > 0)
            write_metric(f, &lbd_metric_info[i], m->metric[i].series, m->metric[i].n, openmetrics);
    pthread_mutex_unlock(&m->lock);
    if (openmetrics)
        fputs("# EOF\n", f);
    bad = ferror(f) != 0;
    if (fclose(f) != 0 || bad) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    *ret_n = n;
    return 0;
}

uint64_t lbd_metrics_left_out(struct lbd_metrics *m)
{
    uint64_t n;

    pthread_mutex_lock(&m->lock);
    n = m->left_out;
    pthread_mutex_unlock(&m->lock);
    return n;
}

uint64_t lbd_metrics_pages(struct lbd_metrics *m)
{
    uint64_t pages;

    pthread_mutex_lock(&m->lock);
    pages = m->pages;
    pthread_mutex_unlock(&m->lock);
    return pages;
}
