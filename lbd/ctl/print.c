/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl's answers as text for people. */
#include "lbd/ctl/print.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_control(const unsigned char *p)
{
    return *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f);
}

size_t lbd_print_character(FILE *f, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = 1;

    while ((p[n] & 0xc0) == 0x80)
        n++;
    if (is_control(p))
        fputc('?', f);
    else
        fwrite(p, 1, n, f);
    return n;
}

/* What came from elsewhere must not move a terminal's cursor. */
void lbd_print_text(FILE *f, const char *text, int width)
{
    int n = 0;

    for (; *text; n++)
        text += lbd_print_character(f, text);
    for (; n < width; n++)
        fputc(' ', f);
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text ? text : "";
}

static double number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static int longest_host(const json_t *hosts)
{
    int width = (int)strlen("HOST");
    const json_t *h;
    size_t i;

    json_array_foreach(hosts, i, h) if ((int)strlen(text_of(h, "host")) > width) width =
        (int)strlen(text_of(h, "host"));
    return width;
}

void lbd_print_weights(FILE *f, const json_t *answer)
{
    const json_t *nodes = json_object_get(answer, "nodes"), *h;
    int width = longest_host(nodes);
    size_t i;

    fprintf(f, "Slurm's node weights %s the ranking.\n",
            json_is_true(json_object_get(answer, "on")) ? "follow" : "do not follow");
    if (*text_of(answer, "error")) {
        fputs("Last failure: ", f);
        lbd_print_text(f, text_of(answer, "error"), 0);
        fputc('\n', f);
    }
    if (json_array_size(nodes) == 0)
        return;
    fprintf(f, "%-*s  %10s  %10s  %10s  %6s\n", width, "HOST", "WEIGHT", "WANTED", "SITE'S",
            "BUCKET");
    json_array_foreach(nodes, i, h)
    {
        lbd_print_text(f, text_of(h, "host"), width);
        fprintf(f, "  %10.0f  %10.0f  %10.0f  %6.0f%s\n", number_of(h, "weight"),
                number_of(h, "wanted"), number_of(h, "site"), number_of(h, "bucket"),
                json_is_true(json_object_get(h, "managed")) ? "" : "  left alone");
    }
}

static bool is_out(const char *state)
{
    return strstr(state, "drain") || strstr(state, "down") || strstr(state, "fail") ||
           strstr(state, "maint");
}

static void print_slurm(FILE *f, const json_t *h)
{
    const char *state = text_of(h, "slurm_state"), *reason = text_of(h, "slurm_reason");

    if (!is_out(state))
        return;
    fputs("; Slurm: ", f);
    lbd_print_text(f, state, 0);
    if (*reason) {
        fputs(", ", f);
        lbd_print_text(f, reason, 0);
    }
}

/* Why a host stands where it does: the factors of its index. */
static void print_why(FILE *f, const json_t *h)
{
    const json_t *why = json_object_get(h, "why");
    double speed = number_of(h, "core_speed"), hardware = number_of(h, "hardware");
    double workload = why ? number_of(why, "workload_index") : hardware / speed;

    fprintf(f, "%.3f s x %.2f for load", why ? number_of(why, "hardware_index_s") : 1 / hardware,
            workload < 1 ? 1 : workload);
    if (json_object_get(why, "predictor")) {
        fprintf(f, " (%.2f cores expected, +-%.2f, by ", number_of(why, "forecast_cpus"),
                number_of(why, "error_cpus"));
        lbd_print_text(f, text_of(why, "predictor"), 0);
        fputc(')', f);
    }
    if (number_of(why, "fresh_tasks") >= .05)
        fprintf(f, ", %.1f tasks placed just now", number_of(why, "fresh_tasks"));
    if (number_of(why, "users") > 0)
        fprintf(f, ", %.0f users at %.0f terminals", number_of(why, "users"),
                number_of(why, "terminals"));
    print_slurm(f, h);
}

void lbd_print_rank(FILE *f, const json_t *answer)
{
    const json_t *hosts = json_object_get(answer, "hosts"), *h;
    int width = longest_host(hosts);
    size_t i;

    if (json_array_size(hosts) == 0) {
        fputs("No host is ranked: no report has come within 300 s.\n", f);
        return;
    }
    fprintf(f, "RANK  %-*s  %8s  %8s  %8s  %8s  %6s  WHY\n", width, "HOST", "INDEX", "SPEED",
            "CAPACITY", "HARDWARE", "AGE/s");
    json_array_foreach(hosts, i, h)
    {
        fprintf(f, "%4zu  ", i + 1);
        lbd_print_text(f, text_of(h, "host"), width);
        fprintf(f, "  %8.3f  %8.3f  %8.3f  %8.3f  %6.0f  ", number_of(h, "index"),
                number_of(h, "core_speed"), number_of(h, "capacity"), number_of(h, "hardware"),
                number_of(h, "age_s"));
        print_why(f, h);
        fputc('\n', f);
    }
    if (json_is_true(json_object_get(answer, "stale")))
        fprintf(f, "The ranking is old: %.0f s. Is the controller away?\n",
                number_of(answer, "age_s"));
}

static void print_time(FILE *f, double s)
{
    if (s < 120)
        fprintf(f, "%.0f s", s);
    else if (s < 2 * 3600)
        fprintf(f, "%.0f min", s / 60);
    else
        fprintf(f, "%.1f h", s / 3600);
}

void lbd_print_forecast(FILE *f, const json_t *answer)
{
    const json_t *list = json_object_get(answer, "predictors"), *p;
    const char *best = text_of(answer, "predictor");
    size_t i;

    lbd_print_text(f, text_of(answer, "host"), 0);
    fprintf(f, ": others use %.2f cores now; in the next minute %.2f are expected, +-%.2f.\n",
            number_of(answer, "now_external_cpus"), number_of(answer, "external_cpus"),
            number_of(answer, "error_cpus"));
    fprintf(f, "A task gets %.3f reference cores, a job %.3f. The load is expected to stay for ",
            number_of(answer, "core_speed"), number_of(answer, "capacity"));
    print_time(f, number_of(answer, "stable_s"));
    fprintf(f, ".\nFrom %.0f samples, the last ", number_of(answer, "samples"));
    print_time(f, number_of(answer, "age_s"));
    fprintf(f, " ago; in cores:\n  %-12s  %8s  %8s\n", "PREDICTOR", "SAYS", "ERROR");
    json_array_foreach(list, i, p)
    {
        fprintf(f, "%c ", strcmp(text_of(p, "name"), best) == 0 ? '*' : ' ');
        lbd_print_text(f, text_of(p, "name"), 12);
        fprintf(f, "  %8.3f  %8.3f\n", number_of(p, "external_cpus"), number_of(p, "error_cpus"));
    }
}

static void print_host(FILE *f, const json_t *h, int width)
{
    bool connected = json_is_true(json_object_get(h, "connected"));
    const char *state = text_of(h, "slurm_state");

    lbd_print_text(f, text_of(h, "host"), width);
    if (!json_is_number(json_object_get(h, "age_s"))) {
        fprintf(f, "  %-5s  no report yet\n", connected ? "up" : "away");
        return;
    }
    fprintf(f, "  %-5s  %6.2f  %8.3f  %8.3f  %8.3f  %8.3f  %6.2f  %5.0f  %5.0f  %6.0f  ",
            connected ? "up" : "away", number_of(h, "cpus"), number_of(h, "hardware"),
            number_of(h, "core_speed"), number_of(h, "capacity"), number_of(h, "index"),
            number_of(h, "external_cpus"), number_of(h, "users"), number_of(h, "tasks"),
            number_of(h, "age_s"));
    lbd_print_text(f, *state ? state : "-", 0);
    if (is_out(state) && *text_of(h, "slurm_reason")) {
        fputs(" (", f);
        lbd_print_text(f, text_of(h, "slurm_reason"), 0);
        fputc(')', f);
    }
    fputc('\n', f);
    if (json_object_get(h, "slow"))
        fprintf(f, "%*s  slower than it was: %s at %.2f of its own history\n", width, "",
                text_of(json_object_get(h, "slow"), "kernel"),
                number_of(json_object_get(h, "slow"), "ratio"));
}

void lbd_print_hosts(FILE *f, const json_t *answer)
{
    const json_t *hosts = json_object_get(answer, "hosts"), *h;
    int width = longest_host(hosts);
    size_t i;

    if (json_array_size(hosts) == 0) {
        fputs("No host has reported yet: the first report comes when a host has been measured, "
              "within seconds where it is idle.\n",
              f);
        return;
    }
    fprintf(f, "%-*s  %-5s  %6s  %8s  %8s  %8s  %8s  %6s  %5s  %5s  %6s  SLURM\n", width, "HOST",
            "STATE", "CPUS", "HARDWARE", "SPEED", "CAPACITY", "INDEX", "LOAD", "USERS", "TASKS",
            "AGE/s");
    json_array_foreach(hosts, i, h) print_host(f, h, width);
    json_array_foreach(json_object_get(answer, "without_lbd"), i, h) fprintf(
        f, "%-*s  no lbd has reported from this node of Slurm's\n", width, json_string_value(h));
}

/* As 1.23 G and the unit. */
static void print_rate(FILE *f, double hz, const char *unit)
{
    if (hz > 0)
        fprintf(f, "  %8.2f G%-4s", hz / 1e9, unit);
    else
        fprintf(f, "  %14s", "-");
}

static void print_kernels(FILE *f, const json_t *kernels)
{
    const char *name;
    json_t *k;

    fprintf(f, "  %-10s  %-14s  %-14s  %s\n", "KERNEL", "     ONE CORE", "    ALL CORES", "APART");
    json_object_foreach((json_t *)(uintptr_t)kernels, name, k)
    {
        fputs("  ", f);
        lbd_print_text(f, name, 10);
        print_rate(f, number_of(k, "core_hz"), text_of(k, "unit"));
        print_rate(f, number_of(k, "all_cores_hz"), text_of(k, "unit"));
        fprintf(f, "  %4.1f %%\n", 100 * number_of(k, "dispersion"));
    }
}

void lbd_print_one_host(FILE *f, const json_t *answer)
{
    const json_t *h = json_array_get(json_object_get(answer, "hosts"), 0);

    lbd_print_hosts(f, answer);
    if (!json_is_number(json_object_get(h, "age_s")))
        return;
    fputs("Processor: ", f);
    lbd_print_text(f, text_of(h, "model"), 0);
    fprintf(f, "; sockets: %.0f, cores: %.0f, NUMA nodes: %.0f\n", number_of(h, "packages"),
            number_of(h, "cores"), number_of(h, "numa_nodes"));
    fprintf(f, "Index: %.3f s of CPU time for the standard work x %.2f for load now\n",
            number_of(h, "hardware_index_s"), number_of(h, "workload_index"));
    if (json_is_number(json_object_get(h, "benchmark_age_s"))) {
        fputs("Benchmark, ", f);
        print_time(f, number_of(h, "benchmark_age_s"));
        fputs(" old: operations or bytes a second; how far repetitions lay apart\n", f);
    }
    print_kernels(f, json_object_get(h, "kernels"));
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A moment as people write it; what is whole without a fraction. */
static void print_number(FILE *f, const char *name, double v)
{
    bool moment = ends_with(name, "_at") || ends_with(name, "_until");
    time_t at = (time_t)v;
    char text[64];
    struct tm tm;

    if (moment && v <= 0)
        fputs("never", f);
    else if (moment && localtime_r(&at, &tm) && strftime(text, sizeof(text), "%F %T %Z", &tm) > 0)
        fputs(text, f);
    else if (fabs(v) < 1e15 && v == floor(v))
        fprintf(f, "%.0f", v);
    else
        fprintf(f, "%.6g", v);
}

static void print_value(FILE *f, const char *name, const json_t *v)
{
    char *text;

    lbd_print_text(f, name, 32);
    fputs("  ", f);
    if (json_is_string(v)) {
        lbd_print_text(f, json_string_value(v), 0);
    } else if (json_is_number(v)) {
        print_number(f, name, json_number_value(v));
    } else {
        text = json_dumps(v, JSON_ENCODE_ANY);
        fputs(text ? text : "?", f);
        free(text);
    }
    fputc('\n', f);
}

static void print_object(FILE *f, const json_t *o, const char *prefix)
{
    const char *key;
    json_t *v;
    char name[256];

    json_object_foreach((json_t *)(uintptr_t)o, key, v)
    {
        snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] ? "." : "", key);
        if (json_is_object(v))
            print_object(f, v, name);
        else
            print_value(f, name, v);
    }
}

void lbd_print_any(FILE *f, const json_t *answer)
{
    print_object(f, answer, "");
}

/* One line of what needs a look; returns 1. */
static int trouble(FILE *f, const char *text, const char *reason)
{
    fputs(text, f);
    if (*reason) {
        fputs(": ", f);
        lbd_print_text(f, reason, 0);
    } else {
        fputc('.', f);
    }
    fputc('\n', f);
    return 1;
}

void lbd_print_status(FILE *f, const json_t *answer)
{
    const json_t *node = json_object_get(answer, "node");
    const json_t *uplink = json_object_get(answer, "uplink");
    const json_t *database = json_object_get(json_object_get(answer, "controller"), "database");
    int n = 0;

    lbd_print_any(f, answer);
    if (node && !json_is_true(json_object_get(node, "measured")))
        n += trouble(f, "This host has not been measured: it will be when it is idle", "");
    if (node && json_is_true(json_object_get(node, "slow")))
        n += trouble(f, "This host is slower than it was", "see lbctl hosts");
    if (uplink && !json_is_true(json_object_get(uplink, "connected")))
        n += trouble(f, "The controller is not connected", text_of(uplink, "reason"));
    if (database && !json_is_true(json_object_get(database, "open")))
        n += trouble(f, "Nothing is recorded: the database is not open",
                     text_of(database, "reason"));
    else if (database && *text_of(database, "reason"))
        n += trouble(f, "Rows wait for the database", text_of(database, "reason"));
    if (database && *text_of(database, "copy_reason"))
        n += trouble(f, "The last copy of the database failed", text_of(database, "copy_reason"));
    if (n == 0)
        fputs("All is well.\n", f);
}
