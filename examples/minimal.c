/* SPDX-License-Identifier: BSD-3-Clause */
/* minimal.c - the shortest balanced program: a table of square roots, each iteration on whichever
 * rank has time for it. */
#include <lb.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const int64_t n = 100000;
    int64_t first, last;

    MPI_Init(&argc, &argv);
    lb_ctx *ctx = lb_init();
    double *a = lb_array_alloc(ctx, n, sizeof *a);
    lb_loop *l = lb_loop_open(ctx, "roots", n);
    lb_loop_array(l, a, sizeof *a); /* a[i] travels with iteration i */
    while (lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++)
            a[i] = sqrt((double)i);
    lb_loop_collect(l, a, 0);
    if (lb_rank(ctx) == 0)
        printf("the root of %d is %g\n", 144, a[144]);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    lb_finalize(ctx);
    return MPI_Finalize();
}
