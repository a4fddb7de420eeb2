/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * particles.c - data that is not rows: each cell has a list of particles, which travels with the
 * cell by callbacks.  Nothing but lb.h, so it runs without MPI.
 *
 *     particles [--serial | --stepped] [CELLS [PASSES]]
 *
 * With --stepped each pass is a step, and cells move only between two.  In a pass each cell's particles go some way, and the cell gains or loses some, by rules of which
 * nothing is expected but that they come out the same wherever a cell is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libclient/lb.h"

#define STEPS 400 /* of a particle in a pass */

struct cell {
    int64_t n;
    uint64_t *particle; /* [n], malloc */
};

static uint64_t step(uint64_t v)
{
    return v * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static void fill(struct cell *c, int64_t i, int64_t n)
{
    c->particle = realloc(c->particle, (size_t)(n + 1) * sizeof *c->particle);
    if (!c->particle) {
        fprintf(stderr, "particles: no memory\n");
        exit(1);
    }
    for (int64_t k = c->n; k < n; k++)
        c->particle[k] = step((uint64_t)(i * 1000 + k));
    c->n = n;
}

/* A pass over one cell; returns its checksum. */
static uint64_t advance(struct cell *c, int64_t i)
{
    uint64_t sum = 0;

    for (int64_t k = 0; k < c->n; k++) {
        for (int s = 0; s < STEPS; s++)
            c->particle[k] = step(c->particle[k]);
        sum = sum * 31 + c->particle[k];
    }
    fill(c, i, (int64_t)(sum >> 40) % 100);
    return sum + (uint64_t)c->n;
}

static size_t cell_bytes(void *arg, int64_t i)
{
    const struct cell *c = (const struct cell *)arg + i;

    return (size_t)c->n * sizeof *c->particle;
}

static void cell_pack(void *arg, int64_t i, void *to)
{
    struct cell *c = (struct cell *)arg + i;

    memcpy(to, c->particle, cell_bytes(arg, i));
    free(c->particle);
    *c = (struct cell){0, NULL};
}

static void cell_unpack(void *arg, int64_t i, const void *from, size_t bytes)
{
    struct cell *c = (struct cell *)arg + i;

    fill(c, i, (int64_t)(bytes / sizeof *c->particle));
    memcpy(c->particle, from, bytes);
}

static void print_result(const uint64_t *sum, int64_t n)
{
    uint64_t checksum = 0;

    for (int64_t i = 0; i < n; i++)
        checksum = checksum * 31 + sum[i];
    printf("checksum=%016" PRIx64 "\n", checksum);
}

static void run(lb_ctx *ctx, struct cell *cell, int64_t n, int64_t passes, int stepped)
{
    const struct lb_pack pack = {sizeof pack, cell, cell_bytes, cell_pack, cell_unpack};
    struct lb_stats stats = {.struct_bytes = sizeof stats};
    uint64_t *sum = lb_array_alloc(ctx, n, sizeof *sum);
    lb_loop *l = lb_loop_open(ctx, "cells", n);
    int64_t first, last;
    int rc = 0;

    if (!sum || lb_loop_array(l, sum, sizeof *sum) != 0 || lb_loop_pack(l, &pack) != 0 ||
        (stepped && lb_loop_stepped(l, 0) != 0)) {
        fprintf(stderr, "particles: no memory\n");
        exit(1);
    }
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++)
            fill(&cell[i], i, 20 + i % 60);
    for (int64_t pass = 0; pass < passes && rc == 0; pass++) {
        while (lb_loop_next(l, &first, &last))
            for (int64_t i = first; i < last; i++)
                sum[i] = advance(&cell[i], i);
        if (stepped)
            rc = lb_loop_exchange(l);
    }
    if (rc == 0)
        rc = lb_loop_collect(l, sum, 0);
    if (rc != 0)
        fprintf(stderr, "particles: the sums cannot be brought together: %s\n", strerror(-rc));
    else if (lb_rank(ctx) == 0)
        print_result(sum, n);
    if (lb_loop_stats(l, &stats) == 0)
        printf("rank=%d moves=%" PRId64 " moved_cells=%" PRId64 "\n", lb_rank(ctx), stats.moves_in,
               stats.iterations_in);
    lb_loop_close(l);
    lb_array_free(ctx, sum);
}

static void run_serial(struct cell *cell, int64_t n, int64_t passes)
{
    uint64_t *sum = calloc((size_t)n + 1, sizeof *sum);

    for (int64_t i = 0; sum && i < n; i++) {
        fill(&cell[i], i, 20 + i % 60);
        for (int64_t pass = 0; pass < passes; pass++)
            sum[i] = advance(&cell[i], i);
    }
    if (sum)
        print_result(sum, n);
    free(sum);
}

int main(int argc, char **argv)
{
    int serial = argc > 1 && strcmp(argv[1], "--serial") == 0;
    int stepped = argc > 1 && strcmp(argv[1], "--stepped") == 0, option = serial || stepped;
    int64_t n = argc > 1 + option ? atoll(argv[1 + option]) : 3000;
    int64_t passes = argc > 2 + option ? atoll(argv[2 + option]) : 10;
    struct cell *cell;

    if (n < 0 || n > 100000000 || passes < 1) {
        fprintf(stderr, "particles: 0 to 100000000 cells, at least one pass\n");
        return 2;
    }
    cell = calloc((size_t)n + 1, sizeof *cell);
    if (!cell)
        return 1;
    if (serial) {
        run_serial(cell, n, passes);
    } else {
        lb_ctx *ctx = lb_init();

        run(ctx, cell, n, passes, stepped);
        lb_finalize(ctx);
    }
    for (int64_t i = 0; i < n; i++)
        free(cell[i].particle);
    free(cell);
    return 0;
}
