/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real ranks, a stepped loop: every iteration runs exactly once in every step, and the result is the serial one.
 *     stepped N STEPS HALO [WORK_US [SLOW_RANK SLOW_FACTOR]]
 * Rank SLOW_RANK works SLOW_FACTOR times as long.  Prints a line on rank 0; exits 1 when anything is wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

#include "libclient/lb.h"

static int64_t n = 100, halo = 1;

static uint64_t stencil(const uint64_t *a, int64_t i)
{
    uint64_t v = (uint64_t)i;

    for (int64_t k = i - halo; k <= i + halo; k++)
        v = (v ^ (k < 0 || k >= n ? 7 : a[k])) * UINT64_C(6364136223846793005) + 1;
    return v;
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

/* How many rows of a differ from the serial result after so many steps. */
static int64_t count_bad(const uint64_t *a, int64_t steps)
{
    uint64_t *x = calloc((size_t)n + 1, sizeof(*x)), *y = calloc((size_t)n + 1, sizeof(*y)), *swap;
    int64_t bad = 0;

    for (int64_t i = 0; i < n; i++)
        x[i] = (uint64_t)i;
    for (int64_t s = 0; s < steps; s++) {
        for (int64_t i = 0; i < n; i++)
            y[i] = stencil(x, i);
        swap = x;
        x = y;
        y = swap;
    }
    for (int64_t i = 0; i < n; i++)
        bad += a[i] != x[i];
    free(x);
    free(y);
    return bad;
}

int main(int argc, char **argv)
{
    int64_t steps = argc > 2 ? atoll(argv[2]) : 1, first, last, wrong = 0, bad = 0, moves = 0;
    double work_us = argc > 4 ? atof(argv[4]) : 0;
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    uint64_t *a, *b, *swap;
    int64_t *runs, *all;
    lb_ctx *ctx;
    lb_loop *l;

    MPI_Init(&argc, &argv);
    n = argc > 1 ? atoll(argv[1]) : n;
    halo = argc > 3 ? atoll(argv[3]) : halo;
    ctx = lb_init();
    if (argc > 6 && lb_rank(ctx) == atoi(argv[5]))
        work_us *= atof(argv[6]);
    a = lb_array_alloc(ctx, n, sizeof(*a));
    b = lb_array_alloc(ctx, n, sizeof(*b));
    runs = calloc((size_t)n + 1, sizeof(*runs));
    all = calloc((size_t)n + 1, sizeof(*all));
    l = lb_loop_open(ctx, "stepped", n);
    if (!ctx || !a || !b || !runs || !all || lb_loop_stepped(l, halo) ||
        lb_loop_array(l, a, sizeof(*a)) || lb_loop_array(l, b, sizeof(*b)))
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (lb_loop_owned(l, 0, &first, &last))
        for (int64_t i = first; i < last; i++)
            a[i] = (uint64_t)i;
    wrong += lb_loop_exchange(l) != 0;
    for (int64_t s = 0; s < steps; s++) {
        int64_t mine = 0, total = 0;

        while (lb_loop_next(l, &first, &last)) {
            mine += last - first;
            for (int64_t i = first; i < last; i++) {
                runs[i]++;
                b[i] = stencil(a, i);
                if (work_us > 0)
                    work(work_us);
            }
        }
        /* the program's own reductions go on as ever, now and then (else the ranks would keep step by them) */
        if (s % 3 == 0) {
            MPI_Allreduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
            wrong += total != n;
        }
        wrong += lb_loop_exchange(l) != 0;
        swap = a;
        a = b;
        b = swap;
    }
    MPI_Allreduce(runs, all, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t i = 0; i < n; i++)
        wrong += all[i] != steps;
    wrong += lb_loop_collect(l, a, 0) != 0;
    if (lb_rank(ctx) == 0)
        bad = count_bad(a, steps);
    lb_loop_stats(l, &stats);
    MPI_Allreduce(&stats.iterations_in, &moves, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (lb_rank(ctx) == 0)
        printf("stepped n=%" PRId64 " np=%d steps=%" PRId64 " balanced=%d moved=%" PRId64
               " wrong=%" PRId64 " bad_rows=%" PRId64 "\n",
               n, lb_size(ctx), steps, lb_balanced(ctx), moves, wrong, bad);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    lb_array_free(ctx, b);
    lb_finalize(ctx);
    free(runs);
    free(all);
    MPI_Bcast(&bad, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong || bad;
}
