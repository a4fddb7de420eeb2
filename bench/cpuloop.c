/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpuloop.c - a loop whose iterations burn a given CPU time of their thread, and which counts its
 * iterations.
 *
 * Work is counted in the thread's own CPU time, so it is the same work on a host that is throttled,
 * shared or fast: the ideal time of the whole is exactly the CPU work over the sum of what the
 * hosts leave.  Every row carries a pattern made by its first owner, which whoever computes it
 * checks; every iteration is counted, and the counts of all ranks added up.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/aid.h"

static int64_t iterations = 3000, row_bytes = 1024, passes = 1;
static double ms = 1;
static const char *shape = "even", *hold = "";
static int shares;

static const struct ex_option options[] = {
    {"iterations", EX_INT, &iterations, 0, INT64_C(100000000), "of the loop"},
    {"ms", EX_REAL, &ms, 0, 0, "mean CPU time of an iteration, milliseconds"},
    {"shape", EX_TEXT, &shape, 0, 0,
     "even; front: the first quarter takes 9 times the rest; rise: linearly from 0"},
    {"row-bytes", EX_INT, &row_bytes, 0, INT64_C(1) << 30, "that travel with an iteration"},
    {"passes", EX_INT, &passes, 1, 1000000, "over all iterations"},
    {"hold", EX_TEXT, &hold, 0, 0, "a file: further passes until it is there"},
    {"shares", EX_FLAG, &shares, 0, 0, "print what each rank had"},
    {0},
};

static volatile uint64_t sink;
static double units_per_s; /* of spin() */

/* Arithmetic that no compiler can leave out, about 1 ns a unit. */
static void spin(uint64_t units)
{
    uint64_t x = sink | 1;

    for (uint64_t i = 0; i < units; i++)
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    sink = x;
}

/* The fastest of several is the one that nothing disturbed. */
static void calibrate(void)
{
    enum { UNITS = 200000 };

    spin(UNITS);
    for (int i = 0; i < 9; i++) {
        double began_s = ex_thread_cpu_s(), s;

        spin(UNITS);
        s = ex_thread_cpu_s() - began_s;
        if (s > 0 && UNITS / s > units_per_s)
            units_per_s = UNITS / s;
    }
    if (units_per_s <= 0)
        units_per_s = 1e9;
}

/*
 * Burn cost_s of CPU time.  Steps of 50 us at most and the rest in halves: reading the clock takes
 * well under 1 us. Returns what was burnt too much, which the next iteration takes off.
 */
static double burn(double cost_s)
{
    const double began_s = ex_thread_cpu_s();
    double left_s = cost_s;

    while (left_s > 2e-6) {
        double step_s = left_s > 100e-6 ? 50e-6 : left_s > 10e-6 ? left_s / 2 : left_s;

        spin((uint64_t)(step_s * units_per_s) + 1);
        left_s = cost_s - (ex_thread_cpu_s() - began_s);
    }
    return -left_s;
}

static double weight(int64_t i)
{
    if (shape[0] == 'f')
        return i < iterations / 4 ? 9 : 1;
    if (shape[0] == 'r')
        return (double)i + 0.5;
    return 1;
}

static double mean_weight(void)
{
    double sum = 0;

    for (int64_t i = 0; i < iterations; i++)
        sum += weight(i);
    return iterations ? sum / (double)iterations : 1;
}

static unsigned char pattern(int64_t i, int64_t pass)
{
    return (unsigned char)((uint64_t)(i * 31 + pass + 7) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/* First and last byte of row i are as pass left them; put in those of the next pass. */
static int turn_row(unsigned char *rows, int64_t i, int64_t pass)
{
    unsigned char *row = rows + i * row_bytes, was = pattern(i, pass), will = pattern(i, pass + 1);
    int wrong = row[0] != was || row[row_bytes - 1] != was;

    row[0] = will;
    row[row_bytes - 1] = will;
    return wrong;
}

struct outcome {
    double began_s, ended_s, cpu_s;
    int64_t corrupt;
};

/* Whether there is another pass, which all ranks must say alike: rank 0 looks for the file. */
static bool another(lb_ctx *ctx, int64_t pass)
{
    int more = pass < passes;

    if (more || !hold[0])
        return more;
    if (lb_rank(ctx) == 0)
        more = access(hold, F_OK) != 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

/* All passes; their number is in passes afterwards. */
static void run(lb_ctx *ctx, lb_loop *l, unsigned char *rows, int32_t *count, struct outcome *o)
{
    const double scale_s = ms * 1e-3 / mean_weight();
    double over_s = 0;
    int64_t first, last, pass;

    for (int k = 0; rows && lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++)
            memset(rows + i * row_bytes, pattern(i, 0), (size_t)row_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    o->began_s = ex_now_s();
    for (pass = 0; another(ctx, pass); pass++)
        while (lb_loop_next(l, &first, &last)) {
            double began_s = ex_thread_cpu_s();

            for (int64_t i = first; i < last; i++) {
                over_s = burn(weight(i) * scale_s - over_s);
                count[i]++;
                if (rows)
                    o->corrupt += turn_row(rows, i, pass);
            }
            o->cpu_s += ex_thread_cpu_s() - began_s;
        }
    o->ended_s = ex_now_s();
    passes = pass;
}

static void add_up(lb_ctx *ctx, const lb_loop *l, int32_t *count, const struct outcome *mine)
{
    int32_t *all = lb_rank(ctx) == 0 ? calloc((size_t)iterations + 1, sizeof *all) : NULL;
    struct lb_stats stats = {.struct_bytes = sizeof stats};
    int64_t numbers[6] = {0}, sums[6] = {0}, missing = 0, duplicated = 0;
    double began_s, ended_s, cpu_s, library_s;
    char host[64] = "";

    if (lb_loop_stats(l, &stats) != 0)
        memset(&stats, 0, sizeof stats);
    numbers[0] = mine->corrupt;
    numbers[1] = stats.moves_in;
    numbers[2] = stats.iterations_in;
    numbers[3] = stats.bytes_in;
    numbers[4] = stats.hooks;
    numbers[5] = lb_balanced(ctx);
    MPI_Reduce(count, all, (int)iterations, MPI_INT32_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(numbers, sums, 6, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine->began_s, &began_s, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine->ended_s, &ended_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine->cpu_s, &cpu_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&stats.library_s, &library_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (lb_rank(ctx) != 0)
        return;
    if (gethostname(host, sizeof(host) - 1) < 0)
        strcpy(host, "?");
    for (int64_t i = 0; all && i < iterations; i++) {
        missing += all[i] < passes ? passes - all[i] : 0;
        duplicated += all[i] > passes ? all[i] - passes : 0;
    }
    printf("cpuloop wall_s=%.4f cpu_s=%.4f work_s=%.4f began_s=%.4f ended_s=%.4f missing=%" PRId64
           " duplicated=%" PRId64 " corrupt=%" PRId64 " moves=%" PRId64 " moved_iterations=%" PRId64
           " moved_bytes=%" PRId64 " hooks=%" PRId64 " library_s=%.4f balanced_ranks=%" PRId64
           " rank0_host=%s\n",
           ended_s - began_s, cpu_s, (double)iterations * ms * 1e-3 * (double)passes, began_s,
           ended_s, all ? missing : -1, all ? duplicated : -1, sums[0], sums[1], sums[2], sums[3],
           sums[4], library_s, sums[5], host);
    free(all);
}

int main(int argc, char **argv)
{
    struct outcome o = {0};
    unsigned char *rows = NULL;
    int32_t *count;

    ex_options(argc, argv, "burn CPU time in a balanced loop and count what was run", options);
    if (strcmp(shape, "even") != 0 && strcmp(shape, "front") != 0 && strcmp(shape, "rise") != 0) {
        fprintf(stderr, "cpuloop: option --shape: \"%s\" is not one of even, front, rise\n", shape);
        return 2;
    }
    MPI_Init(&argc, &argv);
    lb_ctx *ctx = lb_init();
    calibrate();
    count = calloc((size_t)iterations + 1, sizeof *count);
    lb_loop *l = lb_loop_open(ctx, "cpuloop", iterations);
    if (row_bytes > 0 && iterations > 0) {
        rows = lb_array_alloc(ctx, iterations, (size_t)row_bytes);
        if (!rows || lb_loop_array(l, rows, (size_t)row_bytes) != 0) {
            fprintf(stderr, "cpuloop: no memory for the rows\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    if (!count || !l)
        MPI_Abort(MPI_COMM_WORLD, 1);
    run(ctx, l, rows, count, &o);
    add_up(ctx, l, count, &o);
    if (shares)
        ex_report(l, o.began_s, o.ended_s);
    lb_loop_close(l);
    lb_array_free(ctx, rows);
    free(count);
    lb_finalize(ctx);
    MPI_Finalize();
    return 0;
}
