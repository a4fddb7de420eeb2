/* SPDX-License-Identifier: BSD-3-Clause */
/* Options, checksum, clocks and the closing report of the examples. */
#include "examples/aid.h"

#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void print_help(const char *program, const char *purpose, const struct ex_option *opts)
{
    printf("%s: %s\n\nOptions:\n", program, purpose);
    for (const struct ex_option *o = opts; o->name; o++) {
        char left[64], right[64] = "";

        if (o->type == EX_INT) {
            snprintf(left, sizeof left, "--%s=N", o->name);
            snprintf(right, sizeof right, " (%" PRId64 ")", *(const int64_t *)o->value);
        } else if (o->type == EX_REAL) {
            snprintf(left, sizeof left, "--%s=X", o->name);
            snprintf(right, sizeof right, " (%g)", *(const double *)o->value);
        } else if (o->type == EX_TEXT) {
            const char *text = *(const char *const *)o->value;

            snprintf(left, sizeof left, "--%s=TEXT", o->name);
            if (text)
                snprintf(right, sizeof right, " (%s)", text);
        } else {
            snprintf(left, sizeof left, "--%s", o->name);
        }
        printf("  %-22s %s%s\n", left, o->help, right);
    }
    printf("  %-22s %s\n", "--help", "this");
}

static _Noreturn void refuse(const char *program, const char *option, const char *why)
{
    fprintf(stderr, "%s: option --%s: %s (see --help)\n", program, option, why);
    exit(2);
}

static void set_int(const char *program, const struct ex_option *o, const char *text)
{
    char *end;
    long long v;
    char why[128];

    errno = 0;
    v = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        refuse(program, o->name, "a whole number is needed");
    if (v < o->min || v > o->max) {
        snprintf(why, sizeof why, "must be %" PRId64 " to %" PRId64, o->min, o->max);
        refuse(program, o->name, why);
    }
    *(int64_t *)o->value = v;
}

static void set_real(const char *program, const struct ex_option *o, const char *text)
{
    char *end;
    double v;

    errno = 0;
    v = strtod(text, &end);
    if (errno || end == text || *end || !(v >= 0) || v > 1e12)
        refuse(program, o->name, "a number of 0 or more is needed");
    *(double *)o->value = v;
}

static const struct ex_option *find(const struct ex_option *opts, const char *name, size_t len)
{
    for (; opts->name; opts++)
        if (strlen(opts->name) == len && memcmp(opts->name, name, len) == 0)
            return opts;
    return NULL;
}

void ex_options(int argc, char **argv, const char *purpose, const struct ex_option *opts)
{
    const char *program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

    if (strncmp(program, "lt-", 3) == 0) /* libtool's name for a program of the build folder */
        program += 3;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + 2, *value;
        const struct ex_option *o;
        size_t len;

        if (strcmp(argv[i], "--help") == 0) {
            print_help(program, purpose, opts);
            exit(0);
        }
        if (strncmp(argv[i], "--", 2) != 0) {
            fprintf(stderr, "%s: unexpected \"%s\" (see --help)\n", program, argv[i]);
            exit(2);
        }
        len = strcspn(name, "=");
        value = name[len] ? name + len + 1 : NULL;
        o = find(opts, name, len);
        if (!o) {
            fprintf(stderr, "%s: no such option: %s (see --help)\n", program, argv[i]);
            exit(2);
        }
        if (o->type == EX_FLAG) {
            if (value)
                refuse(program, o->name, "takes no value");
            *(int *)o->value = 1;
            continue;
        }
        if (!value && i + 1 < argc)
            value = argv[++i];
        if (!value)
            refuse(program, o->name, "a value is missing");
        if (o->type == EX_INT)
            set_int(program, o, value);
        else if (o->type == EX_REAL)
            set_real(program, o, value);
        else
            *(const char **)o->value = value;
    }
}

enum ex_kind ex_kind_of(const char *text)
{
    static const char *const name[] = {"doall", "stepped", "pipelined"};

    for (int k = 0; k < 3; k++)
        if (strcmp(text, name[k]) == 0)
            return (enum ex_kind)k;
    fprintf(stderr, "kind %s is none of doall, stepped, pipelined\n", text);
    exit(2);
}

uint64_t ex_checksum(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
    return sum;
}

void ex_random_row(double *row, int64_t n, uint64_t seed)
{
    uint64_t x = seed;

    for (int64_t j = 0; j < n; j++) {
        uint64_t z = x += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        row[j] = (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
}

static double clock_s(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double ex_now_s(void)
{
    return clock_s(CLOCK_REALTIME);
}

double ex_thread_cpu_s(void)
{
    return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

struct rank_line {
    char host[64];
    struct lb_stats stats;
    double began_s, ended_s;
};

static void print_lines(const struct rank_line *all, int size)
{
    double began = all[0].began_s, ended = all[0].ended_s, cpu = 0;
    int64_t iterations = 0, moves = 0, bytes = 0, moved = 0;

    for (int r = 0; r < size; r++) {
        iterations += all[r].stats.iterations;
        cpu += all[r].stats.cpu_s;
        moves += all[r].stats.moves_in;
        moved += all[r].stats.iterations_in;
        bytes += all[r].stats.bytes_in;
        if (all[r].began_s < began)
            began = all[r].began_s;
        if (all[r].ended_s > ended)
            ended = all[r].ended_s;
    }
    for (int r = 0; r < size; r++) {
        const struct lb_stats *s = &all[r].stats;

        printf("share rank=%d host=%s iterations=%" PRId64
               " share_ratio=%.3f cpu_s=%.3f compute_s=%.3f wait_s=%.3f "
               "iterations_in=%" PRId64 " iterations_out=%" PRId64 "\n",
               r, all[r].host, s->iterations,
               iterations ? (double)s->iterations / (double)iterations : 0.0, s->cpu_s,
               s->compute_s, s->wait_s, s->iterations_in, s->iterations_out);
    }
    printf("run wall_s=%.3f cpu_s=%.3f began_s=%.3f ended_s=%.3f moves=%" PRId64
           " moved_iterations=%" PRId64 " moved_bytes=%" PRId64 "\n",
           ended - began, cpu, began, ended, moves, moved, bytes);
}

void ex_report(const lb_loop *l, double began_s, double ended_s)
{
    struct rank_line mine = {.began_s = began_s, .ended_s = ended_s}, *all = NULL;
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine.stats.struct_bytes = sizeof mine.stats;
    if (lb_loop_stats(l, &mine.stats) != 0)
        memset(&mine.stats, 0, sizeof mine.stats);
    gethostname(mine.host, sizeof mine.host - 1);
    if (rank == 0)
        all = calloc((size_t)size, sizeof *all);
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (all)
        print_lines(all, size);
    free(all);
}

void ex_collect(lb_loop *l, void *base, const char *program)
{
    if (lb_loop_collect(l, base, 0) == 0)
        return;
    fprintf(stderr, "%s: the rows could not be brought together\n", program);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int ex_result(const lb_ctx *ctx, uint64_t sum, int check, uint64_t (*right)(void))
{
    bool same;

    if (lb_rank(ctx) != 0)
        return 0;
    printf("checksum=%016" PRIx64 "\n", sum);
    if (!check)
        return 0;
    same = right() == sum;
    printf("identical=%s\n", same ? "yes" : "no");
    return !same;
}
