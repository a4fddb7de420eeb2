/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops: closing. */
#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/exchange.h"
#include "libclient/leave.h"
#include "libclient/loop.h"
#include "libclient/pass.h"
#include "libclient/report.h"
#include "libclient/step.h"

static bool is_under_way(struct lbc_transport *t, int dest)
{
    return !t->ops->is_under_way || t->ops->is_under_way(t, dest);
}

/*
 * This rank may not come again, so what it tells must leave now.  That waits for nobody, but where memory is short; and over TCP
 * before the first pass's end in a context, as the ranks have then not proved themselves to each other.
 */
static void tell_closed(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    int64_t since_ns = lbx_clock_mono_ns(), waited_ns = 0;
    int told = lbc_apart_close(l);

    while ((told == -ENOMEM || (told >= 0 && !is_under_way(ctx->transport, told))) &&
           !ctx->failed && waited_ns < ctx->patience_ns / LBC_TELL_PART) {
        lbc_ctx_pause(ctx, waited_ns);
        waited_ns = lbx_clock_mono_ns() - since_ns;
        lbc_exchange_poll(ctx, since_ns + waited_ns);
        if (told == -ENOMEM)
            told = lbc_apart_close(l);
    }
}

static void leave_ctx(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;

    l->leaving = true; /* who asks meanwhile is not answered that it still comes */
    lbc_exchange_drop(ctx, l);
    if (!l->started && !l->step && ctx->balanced)
        lbc_report_open(l); /* the balancer shall hear of it, when others run it */
    if (l->started || (!l->step && ctx->balanced))
        lbc_report_close(l);
    lbc_ctx_check_link(ctx);
    tell_closed(l);
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
