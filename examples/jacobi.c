/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jacobi.c - heat in a square plate, by Jacobi's method: a stepped loop.  One iteration is a row of the grid.
 *
 * In each step every inner point becomes the mean of its four neighbours in the step before, so a block of rows needs one
 * row more on either side: the halo.  Nothing but the order of operations within a point matters, so the result is the same
 * to the last bit as that of --serial.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/aid.h"

static int64_t n = 500, steps = 100, seed = 1, work = 1;
static int serial, check, report;
static const char *progress = "none";

static const struct ex_option options[] = {
    {"n", EX_INT, &n, 0, 20000, "rows and columns"},
    {"steps", EX_INT, &steps, 0, 1000000, "how often every point is computed"},
    {"seed", EX_INT, &seed, 0, INT64_MAX, "of the input"},
    {"work", EX_INT, &work, 1, 1000000, "how often each row is computed in a step"},
    {"serial", EX_FLAG, &serial, 0, 0, "the plain program: no MPI, no balancing"},
    {"check", EX_FLAG, &check, 0, 0, "compare with the plain program"},
    {"report", EX_FLAG, &report, 0, 0, "print what each rank had"},
    {"progress", EX_TEXT, &progress, 0, 0, "none, live, lines"},
    {0},
};

static void fill_row(double *row, int64_t i)
{
    ex_random_row(row, n, ((uint64_t)seed ^ (uint64_t)i) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Row i of `to` from rows i - 1 to i + 1 of `from`; the edge of the plate stays as it is. */
static void compute_once(double *restrict to, const double *restrict from, int64_t i)
{
    const double *row = from + i * n;

    to += i * n;
    if (i == 0 || i == n - 1) {
        memcpy(to, row, (size_t)n * sizeof *to);
        return;
    }
    to[0] = row[0];
    for (int64_t j = 1; j < n - 1; j++)
        to[j] = 0.25 * (row[j - n] + row[j + n] + row[j - 1] + row[j + 1]);
    to[n - 1] = row[n - 1];
}

static void compute_row(double *to, const double *from, int64_t i)
{
    for (int64_t w = 0; w < work; w++)
        compute_once(to, from, i);
}

static double *new_grid(void)
{
    double *g = malloc((size_t)n * (size_t)n * sizeof *g + 1);

    if (!g) {
        fprintf(stderr, "jacobi: out of memory for %" PRId64 " x %" PRId64 " doubles\n", n, n);
        exit(1);
    }
    return g;
}

static uint64_t run_serial(void)
{
    struct ex_progress *p =
        serial ? ex_progress_begin(ex_progress_mode_of(progress), "jacobi", n * steps) : NULL;
    double *a = new_grid(), *b = new_grid(), *swap;
    uint64_t sum;

    for (int64_t i = 0; i < n; i++)
        fill_row(a + i * n, i);
    for (int64_t s = 0; s < steps; s++) {
        for (int64_t i = 0; i < n; i++)
            compute_row(b, a, i);
        ex_progress_tick(p, n);
        swap = a;
        a = b;
        b = swap;
    }
    sum = ex_checksum(EX_CHECKSUM_INIT, a, (size_t)(n * n) * sizeof *a);
    ex_progress_end(p);
    free(a);
    free(b);
    return sum;
}

/* All steps; returns the grid that holds the last one. */
static double *run_steps(lb_loop *l, double *a, double *b, struct ex_progress *p)
{
    int64_t first, last;

    for (int64_t s = 0; s < steps; s++) {
        if (lb_loop_exchange(l) != 0) { /* the rows next to ours; and blocks may move */
            fprintf(stderr, "jacobi: rows cannot be exchanged\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        while (lb_loop_next(l, &first, &last)) {
            for (int64_t i = first; i < last; i++)
                compute_row(b, a, i);
            ex_progress_tick(p, last - first);
        }
        double *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

static uint64_t run_balanced(lb_ctx *ctx)
{
    const size_t row_bytes = (size_t)n * sizeof(double);
    double *a = lb_array_alloc(ctx, n, row_bytes), *b = lb_array_alloc(ctx, n, row_bytes), *result;
    uint64_t sum = 0;
    double began_s;
    int64_t first, last;
    struct ex_progress *p;

    if (n > 0 && (!a || !b)) {
        fprintf(stderr, "jacobi: out of address space\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    lb_loop *l = lb_loop_open(ctx, "rows", n);
    lb_loop_stepped(l, 1);
    lb_loop_array(l, a, row_bytes);
    lb_loop_array(l, b, row_bytes);
    if (lb_loop_owned(l, 0, &first, &last)) /* the rows that are here at first */
        for (int64_t i = first; i < last; i++)
            fill_row(a + i * n, i);

    p = ex_progress_begin(ex_progress_mode_of(progress), "jacobi", n * steps);
    MPI_Barrier(MPI_COMM_WORLD);
    began_s = ex_now_s();
    result = run_steps(l, a, b, p);
    if (report)
        ex_report(l, began_s, ex_now_s());
    ex_progress_end(p);

    ex_collect(l, result, "jacobi");
    if (lb_rank(ctx) == 0)
        sum = ex_checksum(EX_CHECKSUM_INIT, result, (size_t)n * row_bytes);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    lb_array_free(ctx, b);
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t sum;
    int status;

    ex_options(argc, argv, "compute the heat in a plate, balanced over the ranks", options);
    ex_progress_mode_of(progress);
    if (serial) {
        printf("checksum=%016" PRIx64 "\n", run_serial());
        return 0;
    }
    MPI_Init(&argc, &argv);
    lb_ctx *ctx = lb_init();
    sum = run_balanced(ctx);
    status = ex_result(ctx, sum, check, run_serial);
    lb_finalize(ctx);
    MPI_Finalize();
    return status;
}
