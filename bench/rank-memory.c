/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank-memory.c - how large a rank is, resident: built with the library (LB_BENCH_LIBRARY) and
 * without, the difference is the library.  It is looked at with the loop still open, as it is while
 * a program runs.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef LB_BENCH_LIBRARY
#include "libclient/lb.h"
#endif

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "re");

    if (!f)
        return -1;
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    fclose(f);
    return kib;
}

static volatile double sink;

static void work(long i)
{
    for (int k = 0; k < 100000; k++)
        sink += (double)i / (k + 1);
}

int main(int argc, char **argv)
{
    const long n = 2000;
    long mine, largest = 0;

    MPI_Init(&argc, &argv);
#ifdef LB_BENCH_LIBRARY
    int64_t first, last;
    lb_ctx *ctx = lb_init();
    lb_loop *l = lb_loop_open(ctx, "memory", n);

    while (lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++)
            work((long)i);
#else
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long i = n * rank / size; i < n * (rank + 1) / size; i++)
        work(i);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    mine = resident_kib();
    MPI_Reduce(&mine, &largest, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (largest > 0)
        printf("resident_kib=%ld\n", largest);
#ifdef LB_BENCH_LIBRARY
    lb_loop_close(l);
    lb_finalize(ctx);
#endif
    MPI_Finalize();
    return 0;
}
