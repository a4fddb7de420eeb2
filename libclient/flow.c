/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelined loops. */
#include "libclient/flow.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "libclient/step.h"
#include "policy/grain.h"

#define BLOCKS_MAX 4096 /* of a pass: each has transfers of its own */

static bool is_pipelined(const struct lb_loop *l)
{
    return l && l->step && l->step->elements > 0;
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
        if (l->rows[a].row_bytes % (size_t)l->step->elements != 0)
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

int64_t lbc_flow_block(const struct lb_loop *l, int64_t told)
{
    int64_t elements = l->step->elements, least;
    struct lbp_grain g;

    if (l->ctx && (l->ctx->test_block > 0 || l->ctx->grain > 0))
        told = l->ctx->test_block > 0 ? l->ctx->test_block : l->ctx->grain;
    if (told == 0) {
        lbp_grain_init(&g, elements, l->ctx ? (uint32_t)l->ctx->size : 1);
        told = lbp_grain_choose(&g);
    }
    least = elements / BLOCKS_MAX + (elements % BLOCKS_MAX != 0);
    return told < least ? least : told > elements ? elements : told;
}

/* The elements of one block in the rows that flow.  Returns 0, -ENOMEM, or another negative errno. */
static int make_block(const struct lb_loop *l, const struct lbc_layout *y, int64_t k, int peer,
                      bool out, struct lbx_span rows, struct lbc_exchange **ret)
{
    int64_t from = k * y->block, left = l->step->elements - from;
    size_t elements = (size_t)(left < y->block ? left : y->block), n = 0, most;
    struct lbc_part *part;
    int rc = 0;

    if (__builtin_mul_overflow((size_t)(rows.last - rows.first), l->nrows, &most))
        return -ENOMEM;
    part = calloc(most + 1, sizeof(*part));
    if (!part)
        return -ENOMEM;
    for (size_t a = 0; a < l->nrows; a++) {
        size_t row = l->rows[a].row_bytes, element = row / (size_t)l->step->elements;

        for (int64_t i = rows.first; i < rows.last && l->rows[a].flows && element > 0; i++)
            part[n++] = (struct lbc_part){
                peer,
                out,
                {l->rows[a].base + (size_t)i * row + (size_t)from * element, elements * element}};
    }
    if (n > 0)
        rc = l->ctx->transport->ops->exchange_create(l->ctx->transport, part, n, ret);
    free(part);
    return rc;
}

static int make_blocks(const struct lb_loop *l, struct lbc_layout *y, int peer, bool out,
                       struct lbx_span rows, struct lbc_exchange ***ret)
{
    int rc = 0;

    *ret = calloc((size_t)y->nblocks, sizeof(**ret));
    if (!*ret)
        return -ENOMEM;
    for (int64_t k = 0; k < y->nblocks && rc == 0; k++)
        rc = make_block(l, y, k, peer, out, rows, &(*ret)[k]);
    return rc;
}

int lbc_flow_connect(const struct lb_loop *l, struct lbc_layout *y)
{
    struct lbx_span mine = lbc_layout_block(l, y), rows;
    int64_t halo = l->step->halo;
    int left, right, rc = 0;

    if (l->step->elements == 0 || mine.first == mine.last)
        return 0;
    y->nblocks = l->step->elements / y->block + (l->step->elements % y->block != 0);
    if (!l->ctx || !l->ctx->transport)
        return 0;
    left = lbc_layout_neighbour(l, y, -1);
    right = lbc_layout_neighbour(l, y, 1);
    rows = (struct lbx_span){mine.first > halo ? mine.first - halo : 0, mine.first};
    if (left >= 0)
        rc = make_blocks(l, y, left, false, rows, &y->inflow);
    /* where blocks are shorter than the halo, rows that came from the left go on to the right */
    rows = (struct lbx_span){mine.last > halo ? mine.last - halo : 0, mine.last};
    if (right >= 0 && rc == 0)
        rc = make_blocks(l, y, right, true, rows, &y->outflow);
    return rc;
}

static void free_blocks(const struct lb_loop *l, const struct lbc_layout *y,
                        struct lbc_exchange ***e)
{
    for (int64_t k = 0; *e && k < y->nblocks; k++)
        l->ctx->transport->ops->exchange_destroy(l->ctx->transport, (*e)[k]);
    free(*e);
    *e = NULL;
}

void lbc_flow_disconnect(const struct lb_loop *l, struct lbc_layout *y)
{
    free_blocks(l, y, &y->inflow);
    free_blocks(l, y, &y->outflow);
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
    if (lbc_step_finish(l, s->layout->inflow[s->at]) < 0)
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
            lbc_step_finish(l, s->layout->outflow[s->sent]) < 0)
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
    *to = s->elements - *from < y->block ? s->elements : *from + y->block;
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
