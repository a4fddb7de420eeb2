/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real ranks, a pipelined loop: every element runs exactly once in every step, and the result is the serial one.
 *     doacross N STEPS HALO ELEMENTS [WORK_US [SLOW_RANK SLOW_FACTOR [LEAVE]]]
 * Rank SLOW_RANK works SLOW_FACTOR times as long.  LEAVE: rank 1 closes the loop in its last step, after the first block; the
 * result is not looked at then.  With LB_TEST_LEGS rows change hands within a step, too.  Prints a line on rank 0; exits 1 when
 * anything is wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

#include "libclient/lb.h"

static int64_t n = 100, steps = 1, halo = 1, elements = 10;
static double work_us;
static int leave, joins;
static int64_t within; /* how often rows changed hands within a step */

static uint64_t point(const uint64_t *a, int64_t i, int64_t k)
{
    uint64_t v = (uint64_t)(i * elements + k);

    for (int64_t r = i - halo; r <= i + halo; r++)
        v = (v ^ (r < 0 || r >= n ? 7 : a[r * elements + k])) * UINT64_C(6364136223846793005) + 1;
    v ^= k > 0 ? a[i * elements + k - 1] : 11;
    if (halo > 0 && i > 0 && k > 0)
        v += 3 * a[(i - 1) * elements + k - 1];
    return v * 31 + (k + 1 < elements ? a[i * elements + k + 1] : 13);
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

static int64_t count_bad(const uint64_t *a)
{
    uint64_t *x = calloc((size_t)(n * elements) + 1, sizeof(*x));
    int64_t bad = 0;

    for (int64_t i = 0; i < n * elements; i++)
        x[i] = (uint64_t)i;
    for (int64_t s = 0; s < steps; s++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < elements; k++)
                x[i * elements + k] = point(x, i, k);
    for (int64_t i = 0; i < n * elements; i++)
        bad += a[i] != x[i];
    free(x);
    return bad;
}

/* Returns what went wrong; *ret_least and *ret_most: blocks in force. */
static int64_t run(lb_ctx *ctx, lb_loop *l, uint64_t *a, int64_t *runs, int64_t *ret_least,
                   int64_t *ret_most)
{
    int64_t first, last, from, to, wrong = 0, before = 0, rows = 0;

    for (int64_t s = 0; s < steps; s++) {
        int64_t block;

        wrong += lb_loop_exchange(l) != 0;
        block = lb_loop_block(l);
        wrong += block < 1 || block > elements;
        *ret_least = s == 0 || block < *ret_least ? block : *ret_least;
        *ret_most = block > *ret_most ? block : *ret_most;
        for (before = 0; lb_loop_next_block(l, &first, &last, &from, &to); before = to) {
            if (joins) /* rows that change hands may bring another size */
                block = lb_loop_block(l);
            wrong += (joins ? from < before : from != before) || to - from > block ||
                     lb_loop_owner(l, first) != lb_rank(ctx);
            wrong += lb_loop_exchange(l) == 0;
            within += from > before || (before > 0 && first * n + last != rows);
            rows = first * n + last;
            for (int64_t i = first; i < last; i++)
                for (int64_t k = from; k < to; k++) {
                    runs[i * elements + k]++;
                    a[i * elements + k] = point(a, i, k);
                    if (work_us > 0)
                        work(work_us);
                }
            if (leave && s + 1 == steps && lb_rank(ctx) == 1)
                return wrong;
        }
        wrong += before != 0 && before != elements && !joins;
        wrong += lb_loop_neighbour(l, 0) != -1 ||
                 (lb_loop_neighbour(l, -1) >= lb_rank(ctx) && lb_loop_neighbour(l, -1) != -1);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int64_t first, last, wrong, bad = 0, moves = 0, missing = 0, duplicated = 0;
    int64_t least = 0, most = 0, *runs, *all;
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    uint64_t *a;
    lb_ctx *ctx;
    lb_loop *l;

    MPI_Init(&argc, &argv);
    n = argc > 1 ? atoll(argv[1]) : n;
    steps = argc > 2 ? atoll(argv[2]) : steps;
    halo = argc > 3 ? atoll(argv[3]) : halo;
    elements = argc > 4 ? atoll(argv[4]) : elements;
    work_us = argc > 5 ? atof(argv[5]) : 0;
    leave = argc > 8;
    joins = getenv("LB_TEST_LEGS") != NULL;
    ctx = lb_init();
    if (argc > 7 && lb_rank(ctx) == atoi(argv[6]))
        work_us *= atof(argv[7]);
    a = lb_array_alloc(ctx, n, (size_t)elements * sizeof(*a));
    runs = calloc((size_t)(n * elements) + 1, sizeof(*runs));
    all = calloc((size_t)(n * elements) + 1, sizeof(*all));
    l = lb_loop_open(ctx, "doacross", n);
    if (!ctx || !a || !runs || !all || lb_loop_array(l, a, (size_t)elements * sizeof(*a)) ||
        lb_loop_flow(l, a) != -22 || lb_loop_doacross(l, halo, 0) != -22 ||
        lb_loop_doacross(l, halo, elements) || lb_loop_flow(l, a) || lb_loop_flow(l, &n) != -22 ||
        (joins && lb_loop_joints(l)) || lb_loop_next(l, &first, &last))
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (lb_loop_owned(l, 0, &first, &last))
        for (int64_t i = first * elements; i < last * elements; i++)
            a[i] = (uint64_t)i;
    wrong = run(ctx, l, a, runs, &least, &most);
    lb_loop_stats(l, &stats);
    if (!leave) {
        MPI_Allreduce(runs, all, (int)(n * elements), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (int64_t i = 0; i < n * elements; i++) {
            missing += all[i] < steps;
            duplicated += all[i] > steps;
        }
        wrong += missing + duplicated + (lb_loop_collect(l, a, 0) != 0);
        if (lb_rank(ctx) == 0)
            bad = count_bad(a);
        MPI_Allreduce(&stats.iterations_in, &moves, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &within, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    if (lb_rank(ctx) == 0)
        printf("doacross n=%" PRId64 " np=%d steps=%" PRId64 " balanced=%d moved=%" PRId64
               " least_block=%" PRId64 " most_block=%" PRId64 " wrong=%" PRId64 " missing=%" PRId64
               " duplicated=%" PRId64 " bad=%" PRId64 " within=%" PRId64 "\n",
               n, lb_size(ctx), steps, lb_balanced(ctx), moves, least, most, wrong, missing,
               duplicated, bad, within);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    lb_finalize(ctx);
    free(runs);
    free(all);
    MPI_Bcast(&bad, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong || bad;
}
