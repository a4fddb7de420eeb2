/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pure.c - a balanced program without MPI: nothing but lb.h.  Its ranks are started by srun (or any
 * other PMIx launcher); rows go from rank to rank over TCP.
 *
 *     pure [--serial] [BLOCKS]
 *
 * How long is the Collatz sequence from each number?  An iteration is a block of numbers, and blocks
 * take as long as they take.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libclient/lb.h"

#define NUMBERS 1000 /* in a block */

struct row {
    int64_t steps, longest; /* of a block's numbers together; of one */
    int64_t rank;           /* who did it */
};

static struct row look_at(int64_t block)
{
    struct row row = {0, 0, 0};

    for (int64_t i = 1; i <= NUMBERS; i++) {
        uint64_t v = (uint64_t)(block * NUMBERS + i);
        int64_t steps = 0;

        for (; v != 1; steps++)
            v = v % 2 ? 3 * v + 1 : v / 2;
        row.steps += steps;
        if (steps > row.longest)
            row.longest = steps;
    }
    return row;
}

static void print_result(const struct row *row, int64_t n)
{
    uint64_t checksum = 0;
    int64_t longest = 0;

    for (int64_t i = 0; i < n; i++) {
        checksum = checksum * 31 + (uint64_t)(row[i].steps * 1000 + row[i].longest);
        if (row[i].longest > longest)
            longest = row[i].longest;
    }
    printf("checksum=%016" PRIx64 " longest=%" PRId64 "\n", checksum, longest);
}

static void print_shares(const struct row *row, int64_t n, int nranks)
{
    for (int r = 0; r < nranks; r++) {
        int64_t blocks = 0;

        for (int64_t i = 0; i < n; i++)
            blocks += row[i].rank == r;
        printf("rank=%d blocks=%" PRId64 "\n", r, blocks);
    }
}

static int run_serial(int64_t n)
{
    struct row *row = calloc((size_t)n + 1, sizeof *row);

    if (!row)
        return 1;
    for (int64_t i = 0; i < n; i++)
        row[i] = look_at(i);
    print_result(row, n);
    free(row);
    return 0;
}

int main(int argc, char **argv)
{
    int serial = argc > 1 && strcmp(argv[1], "--serial") == 0;
    int64_t n = argc > 1 + serial ? atoll(argv[1 + serial]) : 5000, first, last;
    int status = 0;

    if (n < 0 || n > INT64_C(1000000000)) {
        fprintf(stderr, "pure: 0 to 1000000000 blocks\n");
        return 2;
    }
    if (serial)
        return run_serial(n);
    lb_ctx *ctx = lb_init();
    lb_loop *l = lb_loop_open(ctx, "collatz", n);
    struct row *row = lb_array_alloc(ctx, n, sizeof *row);
    if (!row || lb_loop_array(l, row, sizeof *row) != 0) {
        fprintf(stderr, "pure: no memory\n");
        return 1;
    }
    while (lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++) {
            row[i] = look_at(i);
            row[i].rank = lb_rank(ctx);
        }
    status = lb_loop_collect(l, row, 0);
    if (status != 0) {
        fprintf(stderr, "pure: the rows cannot be brought together: %s\n", strerror(-status));
    } else if (lb_rank(ctx) == 0) {
        print_result(row, n);
        print_shares(row, n, lb_size(ctx));
    }
    lb_loop_close(l);
    lb_array_free(ctx, row);
    lb_finalize(ctx);
    return status != 0;
}
