/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl job. */
#include "lbd/ctl/job.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "lbd/ctl/ask.h"
#include "lbd/ctl/print.h"

#define BAR_LEAST 10
#define BAR_MOST 50
#define BESIDE_BAR 62   /* columns of a host's line that are not the bar */
#define BESIDE_ALONE 10 /* the same of a line with nothing but the share */

int lbd_job_ask(const char *socket, uint32_t jobid, json_t **ret, struct lbx_error *err)
{
    json_t *running = NULL, *ended = NULL;
    char text[64];
    int rc;

    snprintf(text, sizeof(text), "running job %" PRIu32, jobid);
    rc = lbd_ctl_ask(socket, text, NULL, &running, err);
    if (rc == 0) {
        snprintf(text, sizeof(text), "job %" PRIu32, jobid);
        rc = lbd_ctl_ask(socket, text, NULL, &ended, err);
    }
    if (rc == 0) {
        json_array_extend(json_object_get(running, "jobs"), json_object_get(ended, "jobs"));
        json_object_del(running, "next");
        *ret = json_incref(running);
    }
    json_decref(running);
    json_decref(ended);
    return rc;
}

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text && *text ? text : "-";
}

static void print_when(FILE *f, const json_t *step)
{
    const json_t *ended = json_object_get(step, "ended");
    double started = number(step, "started");
    char text[64] = "?";
    time_t at;
    struct tm tm;

    if (!json_is_number(ended)) {
        fprintf(f, "runs for %.0f s", (double)time(NULL) - started);
        return;
    }
    at = (time_t)json_number_value(ended);
    if (localtime_r(&at, &tm))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
    fprintf(f, "ended %s after %.0f s", text, (double)at - started);
}

static void print_bytes(FILE *f, double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t i = 0;

    while (bytes >= 1024 && i + 1 < sizeof(unit) / sizeof(unit[0])) {
        bytes /= 1024;
        i++;
    }
    fprintf(f, i ? "%.1f %s" : "%.0f %s", bytes, unit[i]);
}

/* ", proportional 3, dry 2": those that happened. */
static void print_reasons(FILE *f, const char *what, const json_t *reasons)
{
    const char *name, *before = what;
    json_t *v;

    json_object_foreach((json_t *)(uintptr_t)reasons, name, v)
    {
        if (json_number_value(v) <= 0)
            continue;
        fprintf(f, "%s%s %.0f", before, name, json_number_value(v));
        before = ", ";
    }
    if (before != what)
        fputc('\n', f);
}

static void print_host(FILE *f, const json_t *h, int name_width, int bar, bool narrow)
{
    double share = number(h, "share");
    int full = (int)(share * bar + .5);

    lbd_print_text(f, text_of(h, "host"), name_width);
    fputs("  ", f);
    for (int i = 0; i < bar; i++)
        fputc(i < full ? '#' : '.', f);
    fprintf(f, " %5.1f %%", 100 * share);
    if (narrow) {
        fputc('\n', f);
        return;
    }
    fprintf(f, "  %10.0f", number(h, "iterations"));
    if (json_is_number(json_object_get(h, "rate")))
        fprintf(f, "  %9.1f", number(h, "rate"));
    else
        fprintf(f, "  %9s", "-");
    fprintf(f, "  %9.1f  %8.1f\n", number(h, "compute_s"), number(h, "wait_s"));
}

static void print_hosts(FILE *f, const json_t *hosts, int width)
{
    int name = (int)strlen("HOST"), bar;
    const json_t *h;
    bool narrow;
    size_t i;

    json_array_foreach(hosts, i, h)
    {
        int n = (int)strlen(text_of(h, "host"));

        name = n > name ? n : name;
    }
    narrow = width < name + BAR_LEAST + BESIDE_BAR;
    bar = width - name - (narrow ? BESIDE_ALONE : BESIDE_BAR);
    bar = bar < BAR_LEAST ? BAR_LEAST : bar > BAR_MOST ? BAR_MOST : bar;
    if (narrow)
        fprintf(f, "%-*s  SHARE\n", name, "HOST");
    else
        fprintf(f, "%-*s  %-*s %7s  %10s  %9s  %9s  %8s\n", name, "HOST", bar, "SHARE", "",
                "ITERATIONS", "RATE/s", "COMPUTE/s", "WAIT/s");
    json_array_foreach(hosts, i, h) print_host(f, h, name, bar, narrow);
}

void lbd_job_print(FILE *f, const json_t *step, int width)
{
    double compute = number(step, "compute_s");

    fprintf(f, "Job %.0f.%.0f  user ", number(step, "jobid"), number(step, "stepid"));
    lbd_print_text(f, text_of(step, "user"), 0);
    fputs("  account ", f);
    lbd_print_text(f, text_of(step, "account"), 0);
    fputs("  partition ", f);
    lbd_print_text(f, text_of(step, "partition"), 0);
    fputs("  policy ", f);
    lbd_print_text(f, text_of(step, "policy"), 0);
    fputs("  ", f);
    print_when(f, step);
    fprintf(f, "\n%.0f hosts, %.0f ranks; balance %.0f %%, efficiency %.0f %%, cost %.2f %%",
            number(step, "nhosts"), number(step, "ranks"), 100 * number(step, "load_balance"),
            100 * number(step, "efficiency"),
            compute > 0 ? 100 * number(step, "overhead_s") / compute : 0);
    if (json_is_number(json_object_get(step, "load_balance_before")))
        fprintf(f, ", balance with the first shares %.0f %%",
                100 * number(step, "load_balance_before"));
    if (!json_is_null(json_object_get(step, "ended")))
        fprintf(f, ", saved %.1f core seconds", number(step, "saved_s"));
    fputs("; moved ", f);
    print_bytes(f, number(step, "moved_bytes"));
    fputc('\n', f);
    print_reasons(f, "moved work: ", json_object_get(step, "moved"));
    print_reasons(f, "did not: ", json_object_get(step, "skipped"));
    print_hosts(f, json_object_get(step, "hosts"), width);
}
