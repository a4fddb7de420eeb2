/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real ranks: every iteration runs exactly once in every pass, and rows are where their iterations
 * are owned.
 *     coverage N PASSES WORK_US [SLOW_RANK SLOW_FACTOR [split]]
 * Each row is stepped once a pass; at the end the rows on rank 0 are compared with what one process
 * computes.  Rank SLOW_RANK works SLOW_FACTOR times as long.  split: even and odd ranks have a loop
 * of their own each.  Prints a line on rank 0; exits 1 when
 * anything is wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

#include "libclient/lb.h"

#define WORDS 3 /* in a row of b; those of a have one */

static MPI_Comm comm;

static uint64_t step(uint64_t v, int64_t i)
{
    return (v ^ (uint64_t)i) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static void work(double us)
{
    struct timespec t;
    double end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    end = (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3 + us;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while ((double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3 < end);
}

/* Rows of the ranks' owned spans: do they partition [0, n)?  Returns the number of wrong ones. */
static int64_t count_wrong(const int64_t *mine, int64_t n, int64_t expected)
{
    int64_t *all = calloc((size_t)n + 1, sizeof(*all)), wrong = 0;

    MPI_Allreduce(mine, all, (int)n, MPI_INT64_T, MPI_SUM, comm);
    for (int64_t i = 0; i < n; i++)
        wrong += all[i] != expected;
    free(all);
    return wrong;
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 1000, passes = argc > 2 ? atoll(argv[2]) : 1;
    double work_us = argc > 3 ? atof(argv[3]) : 0;
    int slow = argc > 5 ? atoi(argv[4]) : -1, rank, size;
    int64_t first, last, wrong = 0, bad_rows = 0, moves = 0, *runs, *owned;
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    uint64_t *a, *b;
    lb_ctx *ctx;
    lb_loop *l;

    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    if (argc > 6)
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == slow)
        work_us *= atof(argv[5]);
    ctx = argc > 6 ? lb_init_comm(&comm) : lb_init();
    a = lb_array_alloc(ctx, n, sizeof(*a));
    b = lb_array_alloc(ctx, n, WORDS * sizeof(*b));
    runs = calloc((size_t)n + 1, sizeof(*runs));
    owned = calloc((size_t)n + 1, sizeof(*owned));
    if (!ctx || !a || !b || !runs || !owned || lb_rank(ctx) != rank || lb_size(ctx) != size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    l = lb_loop_open(ctx, "coverage", n);
    wrong += lb_loop_array(l, a, sizeof(*a)) != 0;
    wrong += lb_loop_array(l, b, WORDS * sizeof(*b)) != 0;
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++)
            for (int w = 0; w < WORDS; w++)
                b[i * WORDS + w] = (uint64_t)w;
    for (int64_t p = 0; p < passes; p++) {
        while (lb_loop_next(l, &first, &last)) {
            for (int64_t i = first; i < last; i++) {
                runs[i]++;
                a[i] = step(a[i], i);
                for (int w = 0; w < WORDS; w++)
                    b[i * WORDS + w] = step(b[i * WORDS + w], i);
                if (work_us > 0)
                    work(work_us);
            }
        }
        wrong += count_wrong(runs, n, p + 1);
    }
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++)
            owned[i]++;
    wrong += count_wrong(owned, n, 1);
    wrong += lb_loop_stats(l, &stats) != 0;
    if (lb_loop_collect(l, a, 0) != 0 || lb_loop_collect(l, b, 0) != 0)
        wrong++;
    for (int64_t i = 0; rank == 0 && i < n; i++) {
        uint64_t v[WORDS + 1] = {0, 0, 1, 2};

        for (int w = 0; w <= WORDS; w++)
            for (int64_t p = 0; p < passes; p++)
                v[w] = step(v[w], i);
        bad_rows += a[i] != v[0] || memcmp(b + i * WORDS, v + 1, WORDS * sizeof(*b)) != 0;
    }
    lb_loop_close(l);
    MPI_Allreduce(&stats.moves_in, &moves, 1, MPI_INT64_T, MPI_SUM, comm);
    if (rank == 0)
        printf("coverage n=%" PRId64 " np=%d passes=%" PRId64 " balanced=%d moves=%" PRId64
               " wrong=%" PRId64 " bad_rows=%" PRId64 "\n",
               n, size, passes, lb_balanced(ctx), moves, wrong, bad_rows);
    lb_array_free(ctx, a);
    lb_array_free(ctx, b);
    lb_finalize(ctx);
    free(runs);
    free(owned);
    MPI_Bcast(&bad_rows, 1, MPI_INT64_T, 0, comm);
    MPI_Finalize();
    return wrong || bad_rows;
}
