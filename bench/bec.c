/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bec.c - the three programs by which BEC (seed 004) measured its placement: pi by a sum, the scalar product of two vectors,
 * mean and standard deviation of a row of numbers.  Every rank has the same part of the work, and nothing is balanced while
 * they run: what they gain, they gain by where they are.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/aid.h"

static const char *program = "pi";
static int64_t terms = 100000000, rounds = 1;

static const struct ex_option options[] = {
    {"program", EX_TEXT, &program, 0, 0, "pi, scalar or deviation"},
    {"terms", EX_INT, &terms, 4, INT64_C(1) << 40, "of the sum; numbers of a row"},
    {"rounds", EX_INT, &rounds, 1, 1000000, "how often the rows are gone through"},
    {0},
};

static double x_of(int64_t i)
{
    return (double)(i % 1000) * .001;
}

/* The part of the rank: terms first to last, in the same order on all hosts. */
static void part(int rank, int size, int64_t *first, int64_t *last)
{
    *first = terms / size * rank;
    *last = rank == size - 1 ? terms : terms / size * (rank + 1);
}

static double add_up(double mine)
{
    double sum;

    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double pi(int64_t first, int64_t last)
{
    double sum = 0;

    for (int64_t round = 0; round < rounds; round++)
        for (int64_t i = first; i < last; i++) {
            double x = ((double)i + .5) / (double)terms;

            sum += 4 / (1 + x * x);
        }
    return add_up(sum) / (double)terms / (double)rounds;
}

static double *row(int64_t first, int64_t last)
{
    double *x = malloc((size_t)(last - first + 1) * sizeof(*x));

    if (!x)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t i = first; i < last; i++)
        x[i - first] = x_of(i);
    return x;
}

static double scalar(int64_t first, int64_t last)
{
    double *x = row(first, last), *y = row(first, last), sum = 0;

    for (int64_t round = 0; round < rounds; round++)
        for (int64_t i = 0; i < last - first; i++)
            sum += x[i] * y[i];
    free(x);
    free(y);
    return add_up(sum) / (double)rounds;
}

static double deviation(int64_t first, int64_t last)
{
    double *x = row(first, last), sum = 0, squares = 0, mean;

    for (int64_t round = 0; round < rounds; round++)
        for (int64_t i = 0; i < last - first; i++)
            sum += x[i];
    mean = add_up(sum) / (double)terms / (double)rounds;
    for (int64_t round = 0; round < rounds; round++)
        for (int64_t i = 0; i < last - first; i++)
            squares += (x[i] - mean) * (x[i] - mean);
    free(x);
    return sqrt(add_up(squares) / (double)terms / (double)rounds);
}

int main(int argc, char **argv)
{
    int rank, size;
    int64_t first, last;
    double began_s, began_cpu_s, result;

    ex_options(argc, argv, "BEC's programs, of which nothing is balanced", options);
    if (strcmp(program, "pi") != 0 && strcmp(program, "scalar") != 0 &&
        strcmp(program, "deviation") != 0) {
        fprintf(stderr, "bec: option --program: \"%s\" is not one of pi, scalar, deviation\n",
                program);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    part(rank, size, &first, &last);
    began_s = ex_now_s();
    began_cpu_s = ex_thread_cpu_s();
    result = program[0] == 'p'   ? pi(first, last)
             : program[0] == 's' ? scalar(first, last)
                                 : deviation(first, last);
    if (rank == 0)
        printf("bec result=%.12g wall_s=%.4f cpu_s=%.4f\n", result, ex_now_s() - began_s,
               ex_thread_cpu_s() - began_cpu_s);
    MPI_Finalize();
    return 0;
}
