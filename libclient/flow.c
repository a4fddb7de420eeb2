/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelined loops. */
#include "libclient/flow.h"

#include <errno.h>

#include "common/clock.h"
#include "libclient/step.h"
#include "libclient/wait.h"

static bool is_pipelined(const struct lb_loop *l)
{
    return l && l->elements > 0;
}

int lb_loop_doacross(lb_loop *l, int64_t halo, int64_t elements)
{
    return elements < 1 ? -EINVAL : lbc_step_create(l, halo, elements);
}

int lb_loop_flow(lb_loop *l, const void *base)
{
    if (!is_pipelined(l))
        return -EINVAL;
    if (l->started)
        return -EBUSY;
    for (size_t a = 0; a < l->nrows; a++) {
        if (l->rows[a].base != base)
            continue;
        if (l->rows[a].row_bytes % (size_t)l->elements != 0)
            return -EINVAL;
        l->rows[a].flows = true;
        return 0;
    }
    return -EINVAL;
}

int64_t lb_loop_block(const lb_loop *l)
{
    return is_pipelined(l) ? l->step->layout->block : 0;
}

int lb_loop_neighbour(const lb_loop *l, int side)
{
    if (!l || !l->step || !l->ctx || (side != -1 && side != 1))
        return -1;
    return lbc_layout_neighbour(l, l->step->layout, side);
}

static void add_cost(struct lbc_cost *c, int64_t since_cpu_ns)
{
    c->sum_ns += lbx_clock_thread_cpu_ns() - since_cpu_ns;
    c->n++;
}

static double mean(const struct lbc_cost *c)
{
    return c->n > 0 ? (double)c->sum_ns / (double)c->n : 0;
}

static void start(struct lb_loop *l, struct lbc_exchange *e)
{
    struct lb_ctx *ctx = l->ctx;

    if (e && !ctx->failed && ctx->transport->ops->exchange_start(ctx->transport, e) < 0)
        lbc_ctx_fail(ctx);
}

/* Whether it is through; one that failed is. */
static bool is_through(struct lb_loop *l, struct lbc_exchange *e)
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

static void begin(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y = s->layout;

    lbc_step_begin(l);
    s->at = s->sent = 0;
    s->part = y->nblocks > 0;
    for (int64_t k = 0; y->inflow && k < y->nblocks; k++)
        start(l, y->inflow[k]);
}

/* For tests and benchmarks: as if a message cost so much more. */
static void delay(const struct lb_ctx *ctx)
{
    int64_t end_ns = lbx_clock_thread_cpu_ns() + ctx->test_delay_ns;

    while (lbx_clock_thread_cpu_ns() < end_ns)
        ;
}

/* The block before `at` is done. */
static void send_block(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y = s->layout;
    int64_t cpu_ns;

    if (!y->outflow)
        return;
    cpu_ns = lbx_clock_thread_cpu_ns();
    if (l->ctx->test_delay_ns > 0)
        delay(l->ctx);
    start(l, y->outflow[s->at - 1]);
    while (s->sent < s->at && is_through(l, y->outflow[s->sent]))
        s->sent++;
    add_cost(&s->send, cpu_ns);
}

/* What block `at` needs from the left.  Returns false when it will never come. */
static bool receive_block(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    int64_t since_ns, cpu_ns;

    if (!s->layout->inflow)
        return !l->ctx || !l->ctx->failed;
    since_ns = lbx_clock_mono_ns();
    cpu_ns = lbx_clock_thread_cpu_ns();
    if (is_through(l, s->layout->inflow[s->at])) {
        /* begun_ns stays: a rank whose quota is used up is stopped in there, and that time is its host's */
        add_cost(&s->recv, cpu_ns);
        return !l->ctx->failed;
    }
    if (lbc_wait_for(l, s->layout->inflow[s->at]) < 0)
        return false;
    s->begun_cpu_ns = lbx_clock_process_cpu_ns();
    s->begun_ns = lbx_clock_mono_ns();
    s->wait_ns += s->begun_ns - since_ns;
    l->total.wait_ns += s->begun_ns - since_ns;
    return true;
}

/* All blocks are handed out: what was sent has to be taken before the rows may be written again. */
static int end(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    int64_t since_ns = lbx_clock_mono_ns();

    for (; s->layout->outflow && s->sent < s->at && !l->ctx->failed; s->sent++)
        if (!is_through(l, s->layout->outflow[s->sent]) &&
            lbc_wait_for(l, s->layout->outflow[s->sent]) < 0)
            break;
    since_ns = lbx_clock_mono_ns() - since_ns;
    s->wait_ns += since_ns;
    l->total.wait_ns += since_ns;
    return lbc_step_end(l);
}

int lb_loop_next_block(lb_loop *l, int64_t *first, int64_t *last, int64_t *from, int64_t *to)
{
    struct lbc_layout *y;
    struct lbc_step *s;
    struct lbx_span mine;

    if (!is_pipelined(l) || !first || !last || !from || !to)
        return 0;
    s = l->step;
    if (l->executing) {
        lbc_step_account(l);
        send_block(l);
    }
    if (l->state == LBC_IDLE)
        begin(l);
    y = s->layout;
    if (s->at == y->nblocks || !receive_block(l))
        return end(l);
    mine = lbc_layout_block(l, y);
    *first = mine.first;
    *last = mine.last;
    *from = s->at * y->block;
    *to = l->elements - *from < y->block ? l->elements : *from + y->block;
    if (s->at == 0)
        l->total.iterations += mine.last - mine.first;
    s->at++;
    l->executing = true;
    return 1;
}

void lbc_flow_abandon(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    if (l->state == LBC_IDLE)
        return;
    if (s->at > s->sent && s->layout->outflow && l->executing)
        send_block(l);
    l->executing = false;
    while (s->at < s->layout->nblocks && receive_block(l)) {
        s->at++;
        send_block(l);
    }
    end(l);
}

double lbc_flow_own_ns(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;

    return mean(&s->send) + mean(&s->recv);
}

int64_t lbc_flow_cost_ns(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;
    bool left = s->layout->inflow, right = s->layout->outflow;

    /* Ranks in the middle receive and send; those at the ends would call it too cheap, but where there are but two. */
    if (!right || s->send.n == 0 || (!left && lbc_layout_holders(l, s->layout) > 2))
        return -1;
    if (left && s->recv.n == 0)
        return (int64_t)(2 * mean(&s->send));
    return (int64_t)lbc_flow_own_ns(l);
}
