/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real ranks, a loop that rank 1 closes before the others: these get an error instead of waiting for ever, or of less than all.
 *     leave free|stepped|pipelined N LEAVES STEPS [end]
 * Rank 1 makes LEAVES steps, or passes, the others STEPS.  It then waits for the others outside of the library, or, with `end`, in
 * lb_finalize.  Prints a line on rank 0 with the ranks that were told; exits 1 when one of the others was not, or rows came after
 * the error.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "libclient/lb.h"

#define ELEMENTS 16

int main(int argc, char **argv)
{
    int is_free = argc > 1 && strcmp(argv[1], "free") == 0;
    int pipelined = argc > 1 && strcmp(argv[1], "pipelined") == 0, size, told = 0, wrong = 0,
        sums[2], mine[2], rank;
    int64_t n = argc > 2 ? atoll(argv[2]) : 60, leaves = argc > 3 ? atoll(argv[3]) : 20;
    int64_t steps = argc > 4 ? atoll(argv[4]) : 100000, first, last, from = 0, to = ELEMENTS;
    char(*row)[ELEMENTS];
    lb_ctx *ctx;
    lb_loop *l;

    MPI_Init(&argc, &argv);
    ctx = lb_init();
    row = lb_array_alloc(ctx, n, sizeof(*row));
    l = lb_loop_open(ctx, "leave", n);
    if (!row || lb_loop_array(l, row, sizeof(*row)) ||
        (pipelined ? lb_loop_doacross(l, 1, ELEMENTS) || lb_loop_flow(l, row)
                   : !is_free && lb_loop_stepped(l, 1)))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int64_t s = 0; s < (lb_rank(ctx) == 1 ? leaves : steps) && !told; s++) {
        told = !is_free && lb_loop_exchange(l) == -EIO;
        while (pipelined ? lb_loop_next_block(l, &first, &last, &from, &to)
                         : lb_loop_next(l, &first, &last))
            for (int64_t i = first; i < last; i++)
                for (int64_t k = from; k < to; k++)
                    row[i][k]++;
        told = told || lb_error(ctx) == -EIO;
    }
    wrong = told != (lb_rank(ctx) != 1) ||
            (told && (is_free ? lb_loop_collect(l, row, 0) : lb_loop_exchange(l)) != -EIO);
    lb_loop_close(l);
    if (argc > 5) {
        lb_finalize(ctx);
        ctx = NULL;
    }
    mine[0] = told;
    mine[1] = wrong;
    MPI_Allreduce(mine, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("leave %s np=%d told=%d wrong=%d\n",
               is_free     ? "free"
               : pipelined ? "pipelined"
                           : "stepped",
               size, sums[0], sums[1]);
    lb_finalize(ctx);
    MPI_Finalize();
    return wrong;
}
