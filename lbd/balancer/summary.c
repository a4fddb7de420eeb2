/* SPDX-License-Identifier: BSD-3-Clause */
/* What a step's balancing came to. */
#include "lbd/balancer/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "lbd/balancer/loops_stats.h"

#define RANKS_SHOWN 24
#define BAR 24
#define LINE 256
#define SHORT_S 0.1 /* a loop is over by then before its speeds are known */

struct text {
    char *at;
    size_t size, used;
    bool full;
};

struct hosts {
    lbd_summary_host *name;
    const void *arg;
};

struct line {
    uint32_t rank;
    int64_t iterations;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    char line[LINE];
    va_list args;
    size_t n;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    n = strlen(line);
    t->full = t->full || t->used + n + 1 > t->size;
    if (t->full)
        return;
    memcpy(t->at + t->used, line, n + 1);
    t->used += n;
}

/* A number of bytes as people say it. */
static void print_bytes(char *ret, size_t size, int64_t bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    size_t u = 0;

    for (; v >= 1024 && u < 6; u++)
        v /= 1024;
    snprintf(ret, size, u == 0 ? "%.0f %s" : "%.1f %s", v, unit[u]);
}

static const char *s_if_many(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void say_time(struct text *t, const struct lbd_loops_stats *s, const char *policy,
                     uint32_t nranks)
{
    double took_s = s->elapsed_ns / 1e9, first_s = s->first_ns / 1e9;

    say(t, "lb: policy %s, %" PRIu32 " rank%s: %.3g s in %" PRId64 " loop%s of %" PRId64 " pass%s",
        policy, nranks, s_if_many(nranks), took_s, s->loops, s_if_many(s->loops), s->passes,
        s->passes == 1 ? "" : "es");
    if (fmax(took_s, first_s) < SHORT_S)
        say(t, ": too short to say what was gained\n");
    else if (first_s > took_s * 1.005)
        say(t, "; with the first shares about %.3g s, so %.0f %% saved\n", first_s,
            100 * (1 - took_s / first_s));
    else if (first_s < took_s * 0.995)
        say(t, "; with the first shares about %.3g s, so %.1f %% lost\n", first_s,
            100 * (took_s / first_s - 1));
    else
        say(t, ": as with the first shares\n");
}

static void say_moves(struct text *t, const struct lbd_loops_stats *s)
{
    const int64_t *d = s->decisions;
    int64_t moves = d[LBP_REASON_PROPORTIONAL] + d[LBP_REASON_DRY];
    int64_t skipped = d[LBP_REASON_BELOW_THRESHOLD] + d[LBP_REASON_FILTERED] +
                      d[LBP_REASON_UNPROFITABLE] + d[LBP_REASON_UNSTABLE];
    char bytes[32];

    print_bytes(bytes, sizeof(bytes), s->moved_bytes);
    say(t,
        "lb: moved     %" PRId64 " iterations, %s, by %" PRId64 " transfer%s: %" PRId64
        " to even out, %" PRId64 " as ranks ran dry\n",
        s->moved_iterations, bytes, moves, s_if_many(moves), d[LBP_REASON_PROPORTIONAL],
        d[LBP_REASON_DRY]);
    if (skipped > 0)
        say(t,
            "lb: stayed    %" PRId64 " time%s: %" PRId64 " gain too small, %" PRId64
            " within the noise, %" PRId64 " not worth its cost, %" PRId64 " speeds unsteady\n",
            skipped, s_if_many(skipped), d[LBP_REASON_BELOW_THRESHOLD], d[LBP_REASON_FILTERED],
            d[LBP_REASON_UNPROFITABLE], d[LBP_REASON_UNSTABLE]);
}

static void say_overhead(struct text *t, const struct lbd_loops_stats *s)
{
    double inside = s->inside_ns > 0 ? s->inside_ns : 1;
    double cpu = s->cpu_ns + s->library_cpu_ns > 0 ? s->cpu_ns + s->library_cpu_ns : 1;

    say(t,
        "lb: overhead  %.2f %% of the ranks' CPU time is the library's, %.2f %% of their time they "
        "waited; balancer %.3f s of CPU time\n",
        100 * s->library_cpu_ns / cpu, 100 * s->wait_ns / inside,
        (double)lbx_clock_process_cpu_ns() / 1e9);
}

static int by_iterations(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->iterations != y->iterations)
        return x->iterations > y->iterations ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

static int by_rank(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void say_rank(struct text *t, const struct hosts *host, const struct lbd_rank_stats *s,
                     uint32_t rank, double sum, double most)
{
    double share = sum > 0 ? (double)s->closed.iterations / sum : 0;
    int filled = most > 0 ? (int)((double)s->closed.iterations / most * BAR + 0.5) : 0;
    char bar[BAR + 1];

    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)filled);
    bar[BAR] = '\0';
    say(t, "lb: %5" PRIu32 "  %-12.12s %s %5.1f %%  %11" PRId64 "  %8.3f s  %8.3f s\n", rank,
        host->name(host->arg, rank), bar, 100 * share, s->closed.iterations,
        (double)s->closed.cpu_ns / 1e9, (double)s->closed.wait_ns / 1e9);
}

/* All ranks; of many those with the most and the fewest iterations. */
static void say_ranks(struct text *t, const struct hosts *host, const struct lbd_rank_stats *rank,
                      struct line *line, uint32_t nranks, double sum)
{
    double most;
    uint32_t n = nranks;

    for (uint32_t r = 0; r < nranks; r++)
        line[r] = (struct line){r, rank[r].closed.iterations};
    qsort(line, nranks, sizeof(*line), by_iterations);
    most = (double)line[0].iterations;
    if (n > RANKS_SHOWN) {
        n = RANKS_SHOWN;
        memmove(line + n / 2, line + nranks - n / 2, n / 2 * sizeof(*line));
    }
    qsort(line, n, sizeof(*line), by_rank);
    say(t, "lb:  rank  %-12s %-*s %7s  %11s  %10s  %10s\n", "host", BAR, "share of the iterations",
        "", "iterations", "CPU time", "waited");
    for (uint32_t i = 0; i < n; i++)
        say_rank(t, host, &rank[line[i].rank], line[i].rank, sum, most);
    if (nranks > n)
        say(t,
            "lb:        (of %" PRIu32 " ranks the %" PRIu32 " with the most and the %" PRIu32
            " with the fewest)\n",
            nranks, n / 2, n / 2);
}

void lbd_summary(const struct lbd_loops *loops, uint32_t nranks, lbd_summary_host *host,
                 const void *arg, const char *policy, char *text, size_t size)
{
    const struct hosts hosts = {host, arg};
    struct text t = {.at = text, .size = size};
    struct lbd_rank_stats *rank;
    struct lbd_loops_stats s;
    struct line *line;
    double sum = 0;

    text[0] = '\0';
    if (!loops)
        return;
    lbd_loops_stats(loops, &s);
    rank = calloc(nranks, sizeof(*rank));
    line = calloc(nranks, sizeof(*line));
    if (s.elapsed_ns > 0 && rank && line && lbd_loops_rank_stats(loops, rank) == 0) {
        for (uint32_t r = 0; r < nranks; r++)
            sum += (double)rank[r].closed.iterations;
        say_time(&t, &s, policy, nranks);
        say_moves(&t, &s);
        say_overhead(&t, &s);
        say_ranks(&t, &hosts, rank, line, nranks, sum);
    }
    free(rank);
    free(line);
}
