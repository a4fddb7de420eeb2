/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * primes.c - count and add up the primes below a limit by trial division.  Uneven iterations: one
 * is a block of numbers, and the blocks take longer the higher they lie.
 *
 * --kind stepped and pipelined do the same in steps, each of which looks through a part of every block.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/aid.h"

struct found {
    int64_t count, sum;
};

static int64_t limit = 4000000;
static int64_t block = 500, steps = 10;
static int serial, check, report;
static const char *progress = "none", *kind = "doall";

static const struct ex_option options[] = {
    {"limit", EX_INT, &limit, 0, INT64_C(2000000000), "look below this"},
    {"block", EX_INT, &block, 1, 1000000, "numbers in an iteration"},
    {"kind", EX_TEXT, &kind, 0, 0, "doall, stepped, pipelined"},
    {"steps", EX_INT, &steps, 1, 1000000, "of a stepped or pipelined loop"},
    {"serial", EX_FLAG, &serial, 0, 0, "the plain program: no MPI, no balancing"},
    {"check", EX_FLAG, &check, 0, 0, "compare with the plain program"},
    {"report", EX_FLAG, &report, 0, 0, "print what each rank had"},
    {"progress", EX_TEXT, &progress, 0, 0, "none, live, lines"},
    {0},
};

static int is_prime(int64_t v)
{
    if (v < 4)
        return v > 1;
    if (v % 2 == 0)
        return 0;
    for (int64_t d = 3; d * d <= v; d += 2)
        if (v % d == 0)
            return 0;
    return 1;
}

/* Numbers [from, to) of block i, as far as there are any, beside what was found in it before. */
static void look_at(int64_t i, int64_t from, int64_t to, struct found *f)
{
    int64_t first = i * block, end = first + (to < block ? to : block);

    for (int64_t v = first + from; v < end && v < limit; v++)
        if (is_prime(v)) {
            f->count++;
            f->sum += v;
        }
}

static struct found look_through(int64_t i)
{
    struct found f = {0, 0};

    look_at(i, 0, block, &f);
    return f;
}

/* The loop as one of steps.  Nothing is needed of the neighbours: no halo, and nothing flows. */
static void run_steps(lb_loop *l, enum ex_kind how, int64_t part, struct found *all,
                      struct ex_progress *p)
{
    int64_t first, last, from = 0, to = part;

    for (int64_t s = 0; s < steps; s++) {
        if (lb_loop_exchange(l) != 0) {
            fprintf(stderr, "primes: rows cannot be exchanged\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        while (how == EX_STEPPED ? lb_loop_next(l, &first, &last)
                                 : lb_loop_next_block(l, &first, &last, &from, &to)) {
            for (int64_t i = first; i < last; i++)
                look_at(i, s * part + from, s * part + to, &all[i]);
            if (to == part)
                ex_progress_tick(p, last - first);
        }
    }
}

static void print_result(const struct found *all, int64_t blocks)
{
    struct found f = {0, 0};

    for (int64_t i = 0; i < blocks; i++) {
        f.count += all[i].count;
        f.sum += all[i].sum;
    }
    printf("primes below=%" PRId64 " count=%" PRId64 " sum=%" PRId64 "\n", limit, f.count, f.sum);
    printf("checksum=%016" PRIx64 "\n",
           ex_checksum(EX_CHECKSUM_INIT, all, (size_t)blocks * sizeof *all));
}

static struct found *run_serial(int64_t blocks)
{
    struct ex_progress *p =
        serial ? ex_progress_begin(ex_progress_mode_of(progress), "primes", blocks) : NULL;
    struct found *all = calloc((size_t)blocks + 1, sizeof *all);

    if (!all) {
        fprintf(stderr, "primes: out of memory\n");
        exit(1);
    }
    for (int64_t i = 0; i < blocks; i++) {
        all[i] = look_through(i);
        ex_progress_tick(p, 1);
    }
    ex_progress_end(p);
    return all;
}

static int differs(const struct found *all, int64_t blocks)
{
    struct found *right = run_serial(blocks);
    int64_t wrong = 0;

    for (int64_t i = 0; i < blocks; i++)
        wrong += all[i].count != right[i].count || all[i].sum != right[i].sum;
    free(right);
    printf("identical=%s\n", wrong ? "no" : "yes");
    return wrong != 0;
}

static int run_balanced(lb_ctx *ctx, int64_t blocks)
{
    struct found *all = lb_array_alloc(ctx, blocks, sizeof *all);
    struct ex_progress *p;
    double began_s;
    int64_t first, last;
    int status = 0;
    enum ex_kind how = ex_kind_of(kind);
    int64_t part = block / steps + (block % steps != 0); /* of a block, in a step */

    if (blocks > 0 && !all) {
        fprintf(stderr, "primes: out of address space\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    p = ex_progress_begin(ex_progress_mode_of(progress), "primes",
                          how == EX_DOALL ? blocks : blocks * steps);
    MPI_Barrier(MPI_COMM_WORLD);
    began_s = ex_now_s();

    lb_loop *l = lb_loop_open(ctx, "blocks", blocks);
    lb_loop_array(l, all, sizeof *all);
    if (how == EX_STEPPED)
        lb_loop_stepped(l, 0);
    else if (how == EX_PIPELINED)
        lb_loop_doacross(l, 0, part);
    if (how != EX_DOALL)
        run_steps(l, how, part, all, p);
    while (how == EX_DOALL && lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++) {
            all[i] = look_through(i);
            ex_progress_tick(p, 1);
        }

    if (report)
        ex_report(l, began_s, ex_now_s());
    ex_progress_end(p);
    if (lb_loop_collect(l, all, 0) != 0) {
        fprintf(stderr, "primes: the results could not be brought together\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (lb_rank(ctx) == 0) {
        print_result(all, blocks);
        status = check ? differs(all, blocks) : 0;
    }
    lb_loop_close(l);
    lb_array_free(ctx, all);
    return status;
}

int main(int argc, char **argv)
{
    int64_t blocks;
    int status;

    ex_options(argc, argv, "primes by trial division, balanced over the ranks", options);
    ex_progress_mode_of(progress);
    ex_kind_of(kind);
    blocks = limit / block + (limit % block != 0);
    if (serial) {
        struct found *all = run_serial(blocks);

        print_result(all, blocks);
        free(all);
        return 0;
    }
    MPI_Init(&argc, &argv);
    lb_ctx *ctx = lb_init();
    status = run_balanced(ctx, blocks);
    lb_finalize(ctx);
    MPI_Finalize();
    return status;
}
