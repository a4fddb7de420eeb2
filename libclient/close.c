/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops: closing. */
#include <stdlib.h>

#include "libclient/exchange.h"
#include "libclient/leave.h"
#include "libclient/loop.h"
#include "libclient/pass.h"
#include "libclient/report.h"
#include "libclient/step.h"

static void leave_ctx(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;

    lbc_exchange_drop(ctx, l);
    if (!l->started && !l->step && ctx->balanced)
        lbc_report_open(l); /* the balancer shall hear of it, when others run it */
    if (l->started || (!l->step && ctx->balanced))
        lbc_report_close(l);
    lbc_ctx_check_link(ctx);
    for (struct lb_loop **p = &ctx->loop; *p; p = &(*p)->next) {
        if (*p == l) {
            *p = l->next;
            break;
        }
    }
    ctx->closed.loops++;
    ctx->closed.passes += l->total.passes;
    ctx->closed.iterations += l->total.iterations;
    ctx->closed.moves += l->total.moves_in;
    ctx->closed.bytes += l->total.bytes_in;
    ctx->closed.compute_ns += l->total.compute_ns;
    ctx->closed.wait_ns += l->total.wait_ns;
    ctx->closed.library_ns += l->total.library_ns;
}

void lb_loop_close(lb_loop *l)
{
    if (!l)
        return;
    lbc_pass_abandon(l);
    if (l->step && l->ctx)
        lbc_leave(l);
    if (l->ctx)
        leave_ctx(l);
    lbc_step_fini(l);
    lbx_spanset_fini(&l->owned);
    lbx_spanset_fini(&l->remaining);
    free(l->rows);
    free(l);
}
