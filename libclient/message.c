/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a pipelined pass. */
#include "libclient/message.h"

#include "common/clock.h"

void lbc_message_start(struct lb_loop *l, struct lbc_exchange *e)
{
    struct lb_ctx *ctx = l->ctx;

    if (e && !ctx->failed && ctx->transport->ops->exchange_start(ctx->transport, e) < 0)
        lbc_ctx_fail(ctx);
}

/* For tests and benchmarks: as if a message cost so much more. */
static void delay(const struct lb_ctx *ctx)
{
    int64_t end_ns = lbx_clock_thread_cpu_ns() + ctx->test_delay_ns;

    while (lbx_clock_thread_cpu_ns() < end_ns)
        ;
}

void lbc_message_took(struct lb_loop *l, struct lbc_cost *cost, int64_t since_cpu_ns)
{
    int64_t cpu_ns = lbx_clock_thread_cpu_ns() - since_cpu_ns;

    cost->sum_ns += cpu_ns;
    l->step->flow_begun_ns += cpu_ns;
}

void lbc_message_send(struct lb_loop *l, struct lbc_exchange *e)
{
    int64_t cpu_ns = lbx_clock_thread_cpu_ns();

    if (l->ctx->test_delay_ns > 0)
        delay(l->ctx);
    lbc_message_start(l, e);
    lbc_message_took(l, &l->step->send, cpu_ns);
    l->step->send.n++;
}

bool lbc_message_is_through(struct lb_loop *l, struct lbc_exchange *e)
{
    struct lb_ctx *ctx = l->ctx;
    int rc;

    if (!e || ctx->failed)
        return true;
    rc = ctx->transport->ops->exchange_test(ctx->transport, e);
    if (rc < 0)
        lbc_ctx_fail(ctx);
    return rc != 0;
}
