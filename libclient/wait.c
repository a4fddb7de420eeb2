/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting of ranks that step together. */
#include "libclient/wait.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/exchange.h"

#define SPIN_NS \
    (100 * LBX_NS_PER_US) /* steps may be short: what is late by little is not slept for */
#define NAP_NS (50 * LBX_NS_PER_US)
#define SERVE_NS LBX_NS_PER_MS
/* A rank that waits looks so often whether another tells that it is gone, see leave.h. */
#define GONE_NS (10 * LBX_NS_PER_MS)

void lbc_wait_turn(struct lb_ctx *ctx, int64_t waited_ns)
{
    struct timespec nap = {0, NAP_NS};
    int64_t now_ns;

    if (waited_ns < SPIN_NS)
        sched_yield();
    else
        ppoll(NULL, 0, &nap, NULL);
    if (waited_ns <= SERVE_NS)
        return;
    now_ns = lbx_clock_mono_ns();
    lbc_exchange_overhear(ctx, now_ns);
    if (ctx->in || ctx->out || ctx->give || now_ns - ctx->looked_ns >= GONE_NS)
        lbc_exchange_look(ctx, now_ns);
}

void lbc_wait_rest(struct lb_ctx *ctx)
{
    lbc_wait_turn(ctx, SPIN_NS);
}

/* All ranks step together: one that does not would be waited for in silence.  Two of the others say so. */
static void tell_waiting(struct lb_loop *l, int64_t waited_ns)
{
    if (waited_ns < l->ctx->patience_ns || l->told_waiting)
        return;
    l->told_waiting = true;
    if (l->ctx->rank <= 1)
        fprintf(stderr,
                "lb: rank %d waits for another one's step %lld of loop \"%s\"; all ranks make the "
                "same number of steps and of lb_loop_exchange\n",
                l->ctx->rank, (long long)l->total.passes, l->name);
}

int lbc_wait_for(struct lb_loop *l, struct lbc_exchange *e)
{
    int64_t since_ns = lbx_clock_mono_ns();
    struct lb_ctx *ctx = l->ctx;
    struct lbc_transport *t = ctx->transport;

    while (!ctx->failed) {
        int rc = e ? t->ops->exchange_test(t, e) : lbc_apart_voted(ctx);

        if (rc == 1)
            return 0;
        if (rc < 0) {
            lbc_ctx_fail(ctx);
        } else {
            if (l->idle)
                l->idle(l);
            lbc_wait_turn(ctx, lbx_clock_mono_ns() - since_ns);
        }
        tell_waiting(l, lbx_clock_mono_ns() - since_ns);
        if (!ctx->failed && l->vain && l->vain(l, !e))
            break;
    }
    return -EIO;
}

int lbc_wait_exchange(struct lb_loop *l, struct lbc_exchange *e)
{
    struct lb_ctx *ctx = l->ctx;

    if (!e)
        return 0;
    if (ctx->transport->ops->exchange_start(ctx->transport, e) < 0)
        lbc_ctx_fail(ctx);
    return lbc_wait_for(l, e);
}
