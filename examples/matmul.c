/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matmul.c - C = A B, square, in doubles.  Even iterations: one is a row of C.
 *
 * The rows of A and of C travel with their iterations; B is on every rank.  The sum of each element
 * is taken in the same order wherever it is computed, so the result is the same to the last bit as
 * that of --serial.
 *
 * --kind stepped and pipelined do the same in steps, each of which adds a part of every sum.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/aid.h"

static int64_t n = 1000, work = 1, steps = 10;
static int64_t seed = 1;
static int serial, check, report;
static const char *progress = "none";
static const char *kind = "doall";
static double *b; /* whole on every rank */

static const struct ex_option options[] = {
    {"n", EX_INT, &n, 0, 20000, "rows and columns"},
    {"work", EX_INT, &work, 1, 1000000, "how often each row is multiplied"},
    {"seed", EX_INT, &seed, 0, INT64_MAX, "of the input"},
    {"kind", EX_TEXT, &kind, 0, 0, "doall, stepped, pipelined"},
    {"steps", EX_INT, &steps, 1, 1000000, "of a stepped or pipelined loop"},
    {"serial", EX_FLAG, &serial, 0, 0, "the plain program: no MPI, no balancing"},
    {"check", EX_FLAG, &check, 0, 0, "compare with the plain program"},
    {"report", EX_FLAG, &report, 0, 0, "print what each rank had"},
    {"progress", EX_TEXT, &progress, 0, 0, "none, live, lines"},
    {0},
};

/* Row i of A (which = 0) or B (which = 1): numbers in [-1, 1), a function of seed, which, i and
 * column. */
static void fill_row(double *row, int which, int64_t i)
{
    uint64_t x = (uint64_t)seed * 2 + (uint64_t)which;

    x = (x ^ (uint64_t)i) * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x632be59bd9b4e019);
    ex_random_row(row, n, x);
    for (int64_t j = 0; j < n; j++)
        row[j] = 2 * row[j] - 1;
}

static void multiply_row(double *restrict c, const double *restrict a, const double *restrict whole)
{
    for (int64_t w = 0; w < work; w++) {
        memset(c, 0, (size_t)n * sizeof *c);
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++)
                c[j] += a[k] * whole[k * n + j];
    }
}

static double *new_rows(int64_t rows)
{
    double *m = malloc((size_t)rows * (size_t)n * sizeof *m + 1);

    if (!m) {
        fprintf(stderr, "matmul: out of memory for %" PRId64 " x %" PRId64 " doubles\n", rows, n);
        exit(1);
    }
    return m;
}

/* Step s of the product for columns [from, to) of a row; scratch[n], for the work that is done again. */
static void multiply_part(double *restrict c, const double *restrict a, double *restrict scratch,
                          int64_t s, int64_t from, int64_t to)
{
    const int64_t begin = n * s / steps, end = n * (s + 1) / steps;

    memcpy(scratch + from, c + from, (size_t)(to - from) * sizeof *c);
    for (int64_t w = 0; w < work; w++) {
        memcpy(c + from, scratch + from, (size_t)(to - from) * sizeof *c);
        for (int64_t k = begin; k < end; k++)
            for (int64_t j = from; j < to; j++)
                c[j] += a[k] * b[k * n + j];
    }
}

/* The loop as one of steps.  Nothing is needed of the neighbours: no halo, and nothing flows. */
static void run_steps(lb_loop *l, enum ex_kind how, const double *a, double *c,
                      struct ex_progress *p)
{
    int64_t first, last, from = 0, to = n;
    double *scratch = new_rows(1);

    for (int64_t s = 0; s < steps; s++) {
        if (lb_loop_exchange(l) != 0) {
            fprintf(stderr, "matmul: rows cannot be exchanged\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        while (how == EX_STEPPED ? lb_loop_next(l, &first, &last)
                                 : lb_loop_next_block(l, &first, &last, &from, &to)) {
            for (int64_t i = first; i < last; i++)
                multiply_part(c + i * n, a + i * n, scratch, s, from, to);
            if (to == n)
                ex_progress_tick(p, last - first);
        }
    }
    free(scratch);
}

static void make_b(void)
{
    b = new_rows(n);
    for (int64_t i = 0; i < n; i++)
        fill_row(b + i * n, 1, i);
}

static uint64_t run_serial(void)
{
    struct ex_progress *p =
        serial ? ex_progress_begin(ex_progress_mode_of(progress), "matmul", n) : NULL;
    double *a = new_rows(n), *c = new_rows(n);
    uint64_t sum;

    for (int64_t i = 0; i < n; i++) {
        fill_row(a + i * n, 0, i);
        multiply_row(c + i * n, a + i * n, b);
        ex_progress_tick(p, 1);
    }
    sum = ex_checksum(EX_CHECKSUM_INIT, c, (size_t)(n * n) * sizeof *c);
    ex_progress_end(p);
    free(a);
    free(c);
    return sum;
}

static uint64_t run_balanced(lb_ctx *ctx)
{
    const size_t row_bytes = (size_t)n * sizeof(double);
    double *a = lb_array_alloc(ctx, n, row_bytes), *c = lb_array_alloc(ctx, n, row_bytes);
    uint64_t sum = 0;
    double began_s;
    int64_t first, last;
    struct ex_progress *p;
    enum ex_kind how = ex_kind_of(kind);

    if (n > 0 && (!a || !c)) {
        fprintf(stderr, "matmul: out of address space\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    lb_loop *l = lb_loop_open(ctx, "rows", n);
    lb_loop_array(l, a, row_bytes);
    lb_loop_array(l, c, row_bytes);
    if (how == EX_STEPPED)
        lb_loop_stepped(l, 0);
    else if (how == EX_PIPELINED)
        lb_loop_doacross(l, 0, n > 0 ? n : 1);
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++) /* the rows that are here at first */
        for (int64_t i = first; i < last; i++)
            fill_row(a + i * n, 0, i);

    p = ex_progress_begin(ex_progress_mode_of(progress), "matmul", how == EX_DOALL ? n : n * steps);
    MPI_Barrier(MPI_COMM_WORLD);
    began_s = ex_now_s();
    if (how != EX_DOALL)
        run_steps(l, how, a, c, p);
    while (how == EX_DOALL && lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++) {
            multiply_row(c + i * n, a + i * n, b);
            ex_progress_tick(p, 1);
        }
    if (report)
        ex_report(l, began_s, ex_now_s());
    ex_progress_end(p);

    ex_collect(l, c, "matmul");
    if (lb_rank(ctx) == 0)
        sum = ex_checksum(EX_CHECKSUM_INIT, c, (size_t)n * row_bytes);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    lb_array_free(ctx, c);
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t sum;
    int status;

    ex_options(argc, argv, "multiply two matrices, balanced over the ranks", options);
    ex_progress_mode_of(progress);
    ex_kind_of(kind);
    make_b();
    if (serial) {
        printf("checksum=%016" PRIx64 "\n", run_serial());
        free(b);
        return 0;
    }
    MPI_Init(&argc, &argv);
    lb_ctx *ctx = lb_init();
    sum = run_balanced(ctx);
    status = ex_result(ctx, sum, check, run_serial);
    free(b);
    lb_finalize(ctx);
    MPI_Finalize();
    return status;
}
