/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sor.c - heat in a square plate, by successive overrelaxation: a pipelined (DOACROSS) loop.  One iteration is a row.
 *
 * Each point is computed from its neighbours above and to the left as this step has left them, and from those below and to
 * the right as the last one has.  So a rank may compute a block of columns as soon as the rank before it has done the same
 * columns of its last row.  Within a point nothing depends on blocks or ranks, so the result is the same to the last bit as
 * that of --serial.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/aid.h"

#define OMEGA 1.5

static int64_t n = 500, steps = 20, seed = 1, work = 1;
static int serial, check, report;
static const char *progress = "none";

static const struct ex_option options[] = {
    {"n", EX_INT, &n, 0, 20000, "rows and columns"},
    {"steps", EX_INT, &steps, 0, 1000000, "how often every point is computed"},
    {"work", EX_INT, &work, 1, 1000000, "relaxations of a point, so many times the arithmetic"},
    {"seed", EX_INT, &seed, 0, INT64_MAX, "of the input"},
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

/* Columns [from, to) of row i; the edge of the plate stays as it is. */
static void compute(double *a, int64_t i, int64_t from, int64_t to)
{
    double *row = a + i * n;

    if (i == 0 || i == n - 1)
        return;
    if (from == 0)
        from = 1;
    if (to == n)
        to = n - 1;
    for (int64_t j = from; j < to; j++) {
        double mean = 0.25 * (row[j - n] + row[j + n] + row[j - 1] + row[j + 1]), v = row[j];

        for (int64_t w = 0; w < work; w++)
            v += OMEGA * (mean - v);
        row[j] = v;
    }
}

static uint64_t run_serial(void)
{
    struct ex_progress *p =
        serial ? ex_progress_begin(ex_progress_mode_of(progress), "sor", n * steps) : NULL;
    double *a = malloc((size_t)n * (size_t)n * sizeof *a + 1);
    uint64_t sum;

    if (!a) {
        fprintf(stderr, "sor: out of memory for %" PRId64 " x %" PRId64 " doubles\n", n, n);
        exit(1);
    }
    for (int64_t i = 0; i < n; i++)
        fill_row(a + i * n, i);
    for (int64_t s = 0; s < steps; s++) {
        for (int64_t i = 0; i < n; i++)
            compute(a, i, 0, n);
        ex_progress_tick(p, n);
    }
    sum = ex_checksum(EX_CHECKSUM_INIT, a, (size_t)(n * n) * sizeof *a);
    ex_progress_end(p);
    free(a);
    return sum;
}

static void run_steps(lb_loop *l, double *a, struct ex_progress *p)
{
    int64_t first, last, from, to;

    for (int64_t s = 0; s < steps; s++) {
        if (lb_loop_exchange(l) != 0) { /* the rows after ours; and blocks may move */
            fprintf(stderr, "sor: rows cannot be exchanged\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        while (lb_loop_next_block(l, &first, &last, &from, &to)) {
            for (int64_t i = first; i < last; i++)
                compute(a, i, from, to);
            if (to == n)
                ex_progress_tick(p, last - first);
        }
    }
}

static uint64_t run_balanced(lb_ctx *ctx)
{
    const size_t row_bytes = (size_t)n * sizeof(double);
    double *a = lb_array_alloc(ctx, n, row_bytes), began_s;
    struct ex_progress *p;
    int64_t first, last;
    uint64_t sum = 0;

    if (n > 0 && !a) {
        fprintf(stderr, "sor: out of address space\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    lb_loop *l = lb_loop_open(ctx, "rows", n);
    lb_loop_array(l, a, row_bytes);
    lb_loop_doacross(l, 1, n > 0 ? n : 1);
    lb_loop_flow(l, a);
    lb_loop_joints(l);
    if (lb_loop_owned(l, 0, &first, &last)) /* the rows that are here at first */
        for (int64_t i = first; i < last; i++)
            fill_row(a + i * n, i);

    p = ex_progress_begin(ex_progress_mode_of(progress), "sor", n * steps);
    MPI_Barrier(MPI_COMM_WORLD);
    began_s = ex_now_s();
    run_steps(l, a, p);
    MPI_Barrier(MPI_COMM_WORLD);
    if (report) {
        ex_report(l, began_s, ex_now_s());
        if (lb_rank(ctx) == 0)
            printf("block=%" PRId64 "\n", lb_loop_block(l));
    }
    ex_progress_end(p);

    ex_collect(l, a, "sor");
    if (lb_rank(ctx) == 0)
        sum = ex_checksum(EX_CHECKSUM_INIT, a, (size_t)n * row_bytes);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t sum;
    int status;

    ex_options(argc, argv, "compute the heat in a plate, pipelined over the ranks", options);
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
