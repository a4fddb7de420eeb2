/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop without MPI, whose large rows go over TCP.
 *     flying N ROW_BYTES MS [spoil]
 * Each of N iterations burns MS of CPU time and counts itself in its row, which travels with it.  Rank 0 gets all rows in the end,
 * and prints which were run not at all, or more than once, and which are not what they were.
 * spoil: one of them, planted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libclient/lb.h"

static int64_t *row,
    words; /* of a row: its number, how often it was run, and its number again up to the end */

static void burn(double ms)
{
    struct timespec t;
    double end = 0, now;

    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
        end = end > 0 ? end : now + ms;
    } while (now < end);
}

static int is_corrupt(int64_t i)
{
    for (int64_t k = 0; k < words; k++)
        if (k != 1 && row[i * words + k] != i)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 200, first, last, sum[3] = {0};
    double ms = argc > 3 ? atof(argv[3]) : 10;
    int rc;
    lb_ctx *ctx = lb_init();
    lb_loop *l = lb_loop_open(ctx, "flying", n);

    words = (argc > 2 ? atoll(argv[2]) : 1000) / (int64_t)sizeof(*row);
    row = lb_array_alloc(ctx, n, (size_t)words * sizeof(*row));
    if (words < 3 || !row || lb_loop_array(l, row, (size_t)words * sizeof(*row)) != 0)
        return 2;
    for (int b = 0; lb_loop_owned(l, b, &first, &last); b++)
        for (int64_t i = first; i < last; i++)
            for (int64_t k = 0; k < words; k++)
                row[i * words + k] = k == 1 ? 0 : i;
    while (lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++) {
            burn(ms);
            row[i * words + 1]++;
        }
    rc = lb_loop_collect(l, row, 0);
    if (argc > 4)
        row[words - 1]++;
    for (int64_t i = 0; rc == 0 && lb_rank(ctx) == 0 && i < n; i++) {
        sum[0] += row[i * words + 1] < 1;
        sum[1] += row[i * words + 1] > 1;
        sum[2] += is_corrupt(i);
    }
    if (rc == 0 && lb_rank(ctx) == 0)
        printf("flying missing=%" PRId64 " duplicated=%" PRId64 " corrupt=%" PRId64
               " balanced=%d\n",
               sum[0], sum[1], sum[2], lb_balanced(ctx));
    lb_loop_close(l);
    lb_array_free(ctx, row);
    lb_finalize(ctx);
    return rc != 0;
}
