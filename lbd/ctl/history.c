/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl history HOST. */
#include "lbd/ctl/history.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/policyconf.h"
#include "lbd/ctl/ask.h"
#include "lbd/ctl/plot.h"

#define PAGES_MAX 200
#define RAW_SPAN_MOST_S 86400 /* raw reports are kept for a day by default, and there are many */
#define RAW_STEP_S 10         /* between two of them, by default */

int lbd_history_time(const char *text, int64_t now_s, int64_t *ret_s)
{
    static const char *const format[] = {"%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d",
                                         "%Y-%m-%dT%H:%M:%S"};
    int64_t ns;

    if (strcmp(text, "now") == 0) {
        *ret_s = now_s;
        return 0;
    }
    if (lbx_confvalue_duration(text, &ns) == 0) {
        *ret_s = now_s - ns / INT64_C(1000000000);
        return 0;
    }
    for (size_t i = 0; i < sizeof(format) / sizeof(format[0]); i++) {
        struct tm tm = {.tm_isdst = -1};
        const char *end = strptime(text, format[i], &tm);
        time_t t;

        if (!end || *end)
            continue;
        t = mktime(&tm);
        if (t < 0)
            return -EINVAL;
        *ret_s = (int64_t)t;
        return 0;
    }
    return -EINVAL;
}

const char *lbd_history_resolution(int64_t span_s, size_t dots)
{
    double step_s = (double)span_s / (double)dots;

    if (step_s < 300 && span_s <= RAW_SPAN_MOST_S)
        return "raw";
    return step_s < 3600 ? "5m" : "1h";
}

static int ask_all(const char *socket, const struct lbd_history_wish *w, const char *resolution,
                   json_t **ret, struct lbx_error *err)
{
    json_t *all = NULL, *part;
    int64_t from_s = w->from_s;
    char text[256];
    int rc = 0;

    for (int page = 0; page < PAGES_MAX && rc == 0; page++) {
        snprintf(text, sizeof(text), "history %s %" PRId64 " %" PRId64 " %s", w->host, from_s,
                 w->to_s, resolution);
        rc = lbd_ctl_ask(socket, text, NULL, &part, err);
        if (rc < 0)
            break;
        if (all)
            json_array_extend(json_object_get(all, "rows"), json_object_get(part, "rows"));
        else
            all = json_incref(part);
        from_s = json_integer_value(json_object_get(part, "next"));
        json_decref(part);
        if (from_s <= 0)
            break;
    }
    if (rc < 0) {
        json_decref(all);
        return rc;
    }
    json_object_del(all, "next");
    *ret = all;
    return 0;
}

int lbd_history_ask(const char *socket, const struct lbd_history_wish *w, json_t **ret,
                    struct lbx_error *err)
{
    static const char *const finer[] = {"raw", "5m", "1h"};
    const char *first = lbd_history_resolution(
        w->to_s - w->from_s,
        lbd_plot_dots(w->columns > LBD_PLOT_LABEL ? w->columns - LBD_PLOT_LABEL : 1, w->braille));
    bool begun = false;
    json_t *all = NULL;
    int rc = 0;

    for (int i = 0; i < 3 && rc == 0; i++) {
        begun = begun || strcmp(finer[i], first) == 0;
        if (!begun)
            continue;
        json_decref(all);
        all = NULL;
        rc = ask_all(socket, w, finer[i], &all, err);
        if (rc == 0 && json_array_size(json_object_get(all, "rows")) > 0)
            break;
    }
    if (rc == 0)
        *ret = all;
    return rc;
}

static int find_column(const json_t *answer, const char *name)
{
    const json_t *columns = json_object_get(answer, "columns");

    for (size_t i = 0; i < json_array_size(columns); i++) {
        const char *c = json_string_value(json_array_get(columns, i));

        if (c && strcmp(c, name) == 0)
            return (int)i;
    }
    return -EINVAL;
}

int lbd_history_bin(const json_t *answer, const struct lbd_history_wish *w, size_t n, double *ret_v)
{
    const json_t *rows = json_object_get(answer, "rows");
    double span_s = (double)(w->to_s - w->from_s);
    double holds_s = (double)json_integer_value(json_object_get(answer, "resolution_s"));
    int column = find_column(answer, w->of), at = find_column(answer, "at"), seen = 0;
    double *count = calloc(n, sizeof(*count));

    if (column < 0 || at < 0 || !count) {
        free(count);
        return -EINVAL;
    }
    holds_s = holds_s < RAW_STEP_S ? 1.5 * RAW_STEP_S : holds_s;
    memset(ret_v, 0, n * sizeof(*ret_v));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        double at_s = json_number_value(json_array_get(row, (size_t)at)) - (double)w->from_s;
        double first = fmax(0, floor(at_s / span_s * (double)n));
        double last = fmin((double)n - 1, floor((at_s + holds_s - 1) / span_s * (double)n));

        for (double k = first; k <= last; k++) {
            ret_v[(size_t)k] += json_number_value(json_array_get(row, (size_t)column));
            count[(size_t)k]++;
        }
    }
    for (size_t i = 0; i < n; i++) {
        seen += count[i] > 0;
        ret_v[i] = count[i] > 0 ? ret_v[i] / count[i] : NAN;
    }
    free(count);
    return seen;
}

static void print_times(FILE *f, const struct lbd_history_wish *w, size_t columns)
{
    bool days = w->to_s - w->from_s > 86400;
    char text[2][32];
    int64_t when[2] = {w->from_s, w->to_s};

    for (int i = 0; i < 2; i++) {
        time_t t = (time_t)when[i];
        struct tm tm;

        if (!localtime_r(&t, &tm) ||
            (days ? strftime(text[i], sizeof(text[i]), "%b %d %H:%M", &tm)
                  : strftime(text[i], sizeof(text[i]), "%H:%M:%S", &tm)) == 0)
            text[i][0] = '\0';
    }
    if (columns > strlen(text[0]) + strlen(text[1]))
        fprintf(f, "%*s%s%*s\n", LBD_PLOT_LABEL, "", text[0], (int)(columns - strlen(text[0])),
                text[1]);
    else /* too narrow for both: one below the other */
        fprintf(f, "%*sfrom %s\n%*sto %s\n", LBD_PLOT_LABEL, "", text[0], LBD_PLOT_LABEL, "",
                text[1]);
}

int lbd_history_print(FILE *f, const json_t *answer, const struct lbd_history_wish *w)
{
    size_t columns = w->columns > LBD_PLOT_LABEL + 10 ? w->columns - LBD_PLOT_LABEL : 10;
    size_t n = lbd_plot_dots(columns, w->braille);
    double *v = calloc(n, sizeof(*v)), sum = 0, most = 0;
    int seen = v ? lbd_history_bin(answer, w, n, v) : -ENOMEM;

    if (seen > 0) {
        for (size_t i = 0; i < n; i++)
            if (!isnan(v[i])) {
                sum += v[i];
                most = fmax(most, v[i]);
            }
        fprintf(f, "%s of %s, %s: mean %.3g, most %.3g\n", w->of, w->host,
                json_string_value(json_object_get(answer, "resolution")), sum / seen, most);
        lbd_plot(f, v, columns, LBD_HISTORY_LINES, w->braille);
        print_times(f, w, columns);
    } else if (seen == 0) {
        fprintf(f, "Nothing is recorded of %s in this time.\n", w->host);
    }
    free(v);
    return seen < 0 ? seen : 0;
}
