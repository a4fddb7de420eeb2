/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI: says which iterations of its argument's many it got. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libclient/lb.h"

int main(int argc, char **argv)
{
    int64_t first, last, n = argc > 1 ? atoll(argv[1]) : 10;
    lb_ctx *ctx = lb_init();
    lb_loop *l = lb_loop_open(ctx, "plain", n);

    while (lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++)
            printf("iteration %" PRId64 " of %d ranks\n", i, lb_size(ctx));
    lb_loop_close(l);
    lb_finalize(ctx);
    return 0;
}
