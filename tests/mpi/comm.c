/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that are not MPI_COMM_WORLD: all ranks in the opposite order, one context after the other; then all but the last
 * rank, which calls lb_init_comm with MPI_COMM_NULL.  Rank 0 of each says how many iterations were run, and on how many ranks.
 */
#include <inttypes.h>
#include <stdio.h>

#include <mpi.h>

#include "libclient/lb.h"

#define ITERATIONS 500

static void run(const char *what, MPI_Comm comm)
{
    lb_ctx *ctx = lb_init_comm(&comm);
    lb_loop *l = lb_loop_open(ctx, what, ITERATIONS);
    int64_t first, last, n = 0, all;
    int balanced = lb_balanced(ctx);

    while (lb_loop_next(l, &first, &last))
        n += last - first;
    all = n;
    if (comm != MPI_COMM_NULL)
        MPI_Allreduce(&n, &all, 1, MPI_INT64_T, MPI_SUM, comm);
    if (lb_rank(ctx) == 0)
        printf("comm %s np=%d iterations=%" PRId64 " balanced=%d error=%d\n", what, lb_size(ctx),
               all, balanced, lb_error(ctx));
    lb_loop_close(l);
    lb_finalize(ctx);
}

int main(int argc, char **argv)
{
    MPI_Comm reversed, most;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size - 1 ? 0 : MPI_UNDEFINED, rank, &most);
    run("reversed", reversed);
    run("again", reversed);
    run(most == MPI_COMM_NULL ? "null" : "most", most);
    MPI_Comm_free(&reversed);
    if (most != MPI_COMM_NULL)
        MPI_Comm_free(&most);
    return MPI_Finalize();
}
