/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a context, and the summary of what happened in it. */
#include "libclient/ctx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/array.h"
#include "libclient/exchange.h"
#include "libclient/outgoing.h"
#include "libclient/wait.h"

#define SUMMARY_VALUES 7
#define ANSWER_NS \
    LBX_NS_PER_S /* the balancer's part of the summary is there by then, or left out */

/* The balancer's part of the summary: why it moved and why not, share by share. */
static void print_answer(struct lb_ctx *ctx)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + ANSWER_NS;

    ctx->msg->type = LBW_ASK;
    lbc_link_send(&ctx->link, ctx->msg);
    while (lbc_link_is_open(&ctx->link) && lbx_clock_mono_ns() < deadline_ns) {
        while (lbc_link_next(&ctx->link, ctx->msg))
            if (ctx->msg->type == LBW_SUMMARY) {
                fputs(ctx->msg->u.summary.text, stderr);
                return;
            }
        lbc_link_wait(&ctx->link, deadline_ns);
        lbc_link_poll(&ctx->link, lbx_clock_mono_ns());
    }
}

/* One line of what happened, from all ranks. */
static void summarize(struct lb_ctx *ctx)
{
    double mine[SUMMARY_VALUES] = {(double)ctx->closed.iterations, (double)ctx->closed.moves,
                                   (double)ctx->closed.bytes,      (double)ctx->closed.compute_ns,
                                   (double)ctx->closed.wait_ns,    (double)ctx->closed.library_ns,
                                   (double)ctx->closed.passes};
    double *all, sum[SUMMARY_VALUES] = {0}, most_compute = 0, time;

    while (!(all = calloc((size_t)ctx->size * SUMMARY_VALUES, sizeof(*all))))
        lbc_wait_rest(ctx); /* the others wait for our part */
    if (ctx->size == 1)
        memcpy(all, mine, sizeof(mine));
    else if (ctx->transport->ops->allgather(ctx->transport, mine, SUMMARY_VALUES, all) < 0)
        goto out;
    for (int r = 0; r < ctx->size; r++) {
        const double *v = all + (size_t)r * SUMMARY_VALUES;

        for (int i = 0; i < SUMMARY_VALUES; i++)
            sum[i] += v[i];
        if (v[3] > most_compute)
            most_compute = v[3];
    }
    time = sum[3] + sum[4] + sum[5];
    if (ctx->rank == 0)
        fprintf(stderr,
                "lb: loops=%lld passes=%.0f iterations=%.0f moves=%.0f moved_bytes=%.0f "
                "balance_ratio=%.3f wait_ratio=%.3f library_ratio=%.4f\n",
                (long long)ctx->closed.loops, sum[6] / ctx->size, sum[0], sum[1], sum[2],
                most_compute > 0 ? sum[3] / ctx->size / most_compute : 1.0,
                time > 0 ? sum[4] / time : 0.0, time > 0 ? sum[5] / time : 0.0);
out:
    free(all);
}

/* Are all ranks at the end of the context?  What others were told and asked is taken before that, unless they are long in coming.
 * Who is late is not waited for, but where there is more to be done together. */
static bool end_together(struct lb_ctx *ctx)
{
    int64_t since_ns = lbx_clock_mono_ns(), waited_ns = 0;
    bool bounded = !ctx->report && !ctx->own_balancer, entered = false;
    int rc = 0;

    while (!ctx->failed && rc == 0 && !(bounded && waited_ns > ctx->patience_ns)) {
        if (!entered &&
            (!lbc_outgoing_tells(ctx) || waited_ns > ctx->patience_ns / LBC_TELL_PART)) {
            lbc_apart_enter_end(ctx);
            entered = true;
        }
        if (entered && !ctx->failed)
            rc = lbc_apart_test_end(ctx);
        if (rc != 0 || ctx->failed)
            break;
        lbc_ctx_pause(ctx, waited_ns);
        waited_ns = lbx_clock_mono_ns() - since_ns;
        lbc_exchange_poll(ctx, since_ns + waited_ns);
    }
    return rc == 1;
}

void lb_finalize(lb_ctx *ctx)
{
    bool usable;

    if (!ctx)
        return;
    usable = ctx->transport && !ctx->failed && ctx->transport->ops->usable(ctx->transport);
    if (!usable)
        ctx->failed = true; /* nobody is waited for below */
    while (ctx->loop)
        lb_loop_close(ctx->loop);
    ctx->told_lost = true; /* from here on it may go */
    if (usable && ctx->size > 1 && !end_together(ctx))
        ctx->failed = true;
    usable = usable && !ctx->failed;
    if (ctx->rank != 0 || !ctx->report)
        lbc_link_leave(&ctx->link);
    if (ctx->report && (usable || ctx->size == 1))
        summarize(ctx);
    if (ctx->rank == 0 && ctx->report && usable)
        print_answer(ctx);
    lbc_link_leave(&ctx->link); /* rank 0 with a report; of a link that is closed it does nothing */
    if (ctx->own_balancer && usable && lbc_ctx_barrier(ctx) < 0)
        ctx->failed = true;
    lbc_launch_close(&ctx->launch);
    lbc_exchange_drop(ctx, NULL);
    if (ctx->transport)
        ctx->transport->ops->destroy(ctx->transport);
    lbc_pmix_close(&ctx->pmix);
    lbc_array_forget(ctx);
    free(ctx->weight);
    free(ctx->msg);
    free(ctx);
}
