/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop that a rank closes before its end, and another loop after it.
 *     early N CHUNKS [all]
 * Rank 1 (all: every rank) closes the first loop, of N iterations, after CHUNKS chunks.  None of its
 * iterations may run twice; the second loop, of 1000, must run whole.  Prints a line on rank 0.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libclient/lb.h"

#define SECOND 1000
#define SPANS_MAX 100000

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

static int by_first(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Iterations that are in more than one of all ranks' spans; on rank 0. */
static int64_t twice(const int64_t *span, int n, int rank, int size)
{
    int *count = calloc((size_t)size, sizeof(*count)), *at = calloc((size_t)size, sizeof(*at));
    int64_t *all, end = 0, sum = 0;
    int total = 0;

    MPI_Gather(&n, 1, MPI_INT, count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        at[r] = total;
        total += count[r];
    }
    all = calloc((size_t)total + 2, sizeof(*all));
    MPI_Gatherv(span, n, MPI_INT64_T, all, count, at, MPI_INT64_T, 0, MPI_COMM_WORLD);
    qsort(all, (size_t)total / 2, 2 * sizeof(*all), by_first);
    for (int i = 0; rank == 0 && i + 1 < total; i += 2) {
        if (all[i] < end)
            sum += end - all[i];
        if (all[i + 1] > end)
            end = all[i + 1];
    }
    free(all);
    free(count);
    free(at);
    return sum;
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 4000, first, last, mine[2] = {0, 0}, sums[2];
    int64_t *span = calloc(SPANS_MAX, sizeof(*span)), doubled;
    int chunks = argc > 2 ? atoi(argv[2]) : 5, all = argc > 3, nspan = 0, k = 0;
    lb_ctx *ctx;
    lb_loop *l;

    MPI_Init(&argc, &argv);
    ctx = lb_init();
    l = lb_loop_open(ctx, "early", n);
    while (span && lb_loop_next(l, &first, &last)) {
        if (nspan + 2 <= SPANS_MAX) {
            span[nspan++] = first;
            span[nspan++] = last;
        }
        work(last - first < 1000 ? 500 * (double)(last - first) : 2000);
        mine[0] += last - first;
        if ((all || lb_rank(ctx) == 1) && ++k == chunks)
            break;
    }
    lb_loop_close(l);
    doubled = twice(span, nspan, lb_rank(ctx), lb_size(ctx));
    l = lb_loop_open(ctx, "second", SECOND);
    while (lb_loop_next(l, &first, &last)) {
        work(100 * (double)(last - first));
        mine[1] += last - first;
    }
    lb_loop_close(l);
    MPI_Reduce(mine, sums, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (lb_rank(ctx) == 0)
        printf("early first=%" PRId64 " twice=%" PRId64 " second=%" PRId64 " of %d balanced=%d\n",
               sums[0], doubled, sums[1], SECOND, lb_balanced(ctx));
    free(span);
    lb_finalize(ctx);
    MPI_Finalize();
    return 0;
}
