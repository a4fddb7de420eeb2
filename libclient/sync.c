/* SPDX-License-Identifier: BSD-3-Clause */
/* The synchronous mode. */
#include "libclient/sync.h"

#include "common/clock.h"
#include "libclient/exchange.h"

/* A pass that will have no more moves is not held up for them. */
static bool is_waiting(const struct lb_loop *l)
{
    return l->asks > 0 && lbc_ctx_is_sync(l->ctx) && !l->ctx->failed &&
           (l->step || l->final_pass < l->pass);
}

int64_t lbc_sync_wait(struct lb_loop *l)
{
    int64_t since_ns = lbx_clock_mono_ns(), now_ns = since_ns;
    struct lb_ctx *ctx = l->ctx;

    if (l->asks == 0)
        return 0;
    ctx->asked++;
    lbc_exchange_poll(ctx, now_ns);
    while (is_waiting(l) && now_ns - since_ns < ctx->sync_ns) {
        lbc_ctx_pause(ctx, now_ns - since_ns);
        now_ns = lbx_clock_mono_ns();
        lbc_exchange_poll(ctx, now_ns);
    }
    ctx->answered += l->asks == 0;
    l->asks = 0;
    return now_ns - since_ns;
}
