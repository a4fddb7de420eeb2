/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hook.c - what a call of lb_loop_next costs that neither speaks with the balancer nor moves rows.
 *
 * Each call is timed by itself, the clock's own cost taken off, and the calls told apart by
 * lb_loop_stats' count of hooks. Iterations are next to nothing, so that there are as many calls as
 * the library cares to make of them.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/aid.h"

enum { MAX_BATCHES = 200000, BATCH = 64 };

static int64_t iterations = 4000000, work = 20;

static const struct ex_option options[] = {
    {"iterations", EX_INT, &iterations, 1, INT64_C(1) << 40, "of the loop"},
    {"work", EX_INT, &work, 0, 1000000, "multiplications in an iteration"},
    {0},
};

static volatile uint64_t sink;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

static int32_t median_of(int32_t *v, int64_t count)
{
    if (count == 0)
        return -1;
    qsort(v, (size_t)count, sizeof *v, ascending);
    return v[count / 2];
}

static int32_t clock_cost_ns(void)
{
    static int32_t cost[10001];

    for (size_t i = 0; i < sizeof cost / sizeof *cost; i++) {
        int64_t began = now_ns();

        cost[i] = (int32_t)(now_ns() - began);
    }
    return median_of(cost, sizeof cost / sizeof *cost);
}

static int64_t hooks_of(const lb_loop *l)
{
    struct lb_stats s = {.struct_bytes = sizeof s};

    return lb_loop_stats(l, &s) == 0 ? s.hooks : 0;
}

/* Do the iterations of a chunk. */
static uint64_t compute(uint64_t x, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        for (int64_t k = 0; k < work; k++)
            x = x * UINT64_C(6364136223846793005) + (uint64_t)i;
    return x;
}

/* A pass: the time of each quiet batch to ret_ns, in all, clock included.  Returns how many there are. */
static int64_t time_batches(lb_loop *l, int32_t *ret_ns, int64_t *ret_calls)
{
    int64_t first[BATCH], last[BATCH], batches = 0;
    uint64_t x = 1;
    int more = 1;

    *ret_calls = 0;
    while (more) {
        int64_t before = hooks_of(l), began = now_ns(), took;
        int n = 0;

        while (n < BATCH && (more = lb_loop_next(l, &first[n], &last[n])))
            n++;
        took = now_ns() - began;
        if (n == BATCH && hooks_of(l) == before && batches < MAX_BATCHES)
            ret_ns[batches++] = (int32_t)(took < INT32_MAX ? took : INT32_MAX);
        *ret_calls += n;
        for (int i = 0; i < n; i++)
            x = compute(x, first[i], last[i]);
    }
    sink = x;
    return batches;
}

int main(int argc, char **argv)
{
    int32_t *ns = malloc(MAX_BATCHES * sizeof *ns);
    int64_t calls, batches;
    int32_t clock_ns;

    ex_options(argc, argv, "time the calls of lb_loop_next", options);
    MPI_Init(&argc, &argv);
    if (!ns)
        MPI_Abort(MPI_COMM_WORLD, 1);
    lb_ctx *ctx = lb_init();
    lb_loop *l = lb_loop_open(ctx, "hook", iterations);
    clock_ns = clock_cost_ns();
    batches = time_batches(l, ns, &calls);
    if (lb_rank(ctx) == 0)
        printf("hook hook_ns=%.1f calls=%" PRId64 " quiet_calls=%" PRId64 " clock_ns=%d\n",
               batches ? (double)(median_of(ns, batches) - clock_ns) / BATCH : -1.0, calls,
               batches * BATCH, clock_ns);
    lb_loop_close(l);
    lb_finalize(ctx);
    MPI_Finalize();
    free(ns);
    return 0;
}
