/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.c - an MPI program that knows nothing of lb.h: under "srun --lb" it is placed, and runs as
 * ever. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;
    long mine = 0, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long i = rank; i < 1000000; i += size)
        mine += i;
    MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum=%ld\n", sum);
    return MPI_Finalize();
}
