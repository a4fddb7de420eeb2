/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelined loops. */
#include "libclient/flow.h"

#include <errno.h>

#include "common/clock.h"
#include "libclient/joint.h"
#include "libclient/lanes.h"
#include "libclient/leg.h"
#include "libclient/message.h"
#include "libclient/size.h"
#include "libclient/wait.h"

#define TIMED_NS (20 * LBX_NS_PER_US) /* a block of less says nothing about its strips */

static bool is_pipelined(const struct lb_loop *l)
{
    return l && l->elements > 0;
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

static double mean(const struct lbc_cost *c)
{
    return c->n > 0 ? (double)c->sum_ns / (double)c->n : 0;
}

static void begin(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y = s->layout;

    lbc_step_begin(l);
    if (y->from > 0)
        lbc_lanes_restart(l, y, 0);
    s->at = s->sent = s->upto = s->awaited = 0;
    lbp_strip_resize(&s->strip, y->block);
    s->part = y->nblocks > 0;
    lbc_size_begin(l);
    lbc_leg_begin(l);
    lbc_size_ask(l);
}

/* The block before `at` is done: with it a message may be. */
static void send_block(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y = s->layout;
    int64_t k = lbc_lanes_message(y, s->at - 1), cpu_ns;

    if (y->outflow && (s->at == lbc_lanes_blocks(l, y) || lbc_lanes_message(y, s->at) > k)) {
        lbc_message_send(l, y->outflow[k]);
        cpu_ns = lbx_clock_thread_cpu_ns();
        while (s->sent <= k && lbc_message_is_through(l, y->outflow[s->sent]))
            s->sent++;
        lbc_message_took(l, &s->send, cpu_ns);
    }
    lbc_size_choose(l);
}

/* What block `at` needs from the left.  Returns false when it will never come. */
static bool receive_block(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    const struct lbc_layout *y = s->layout;
    int64_t k = lbc_lanes_message(y, s->at), since_ns, cpu_ns;

    if (!y->inflow || (s->at > 0 && lbc_lanes_message(y, s->at - 1) == k))
        return !l->ctx || !l->ctx->failed;
    since_ns = lbx_clock_mono_ns();
    cpu_ns = lbx_clock_thread_cpu_ns();
    if (lbc_message_is_through(l, y->inflow[k])) {
        /* begun_ns stays: a rank whose quota is used up is stopped in there, and that time is its host's */
        lbc_message_took(l, &s->recv, cpu_ns);
        s->recv.n++;
        return !l->ctx->failed;
    }
    if (lbc_wait_for(l, y->inflow[k]) < 0)
        return false;
    lbc_step_waited(l, since_ns);
    return true;
}

/* All blocks are handed out. */
static int end(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    int64_t since_ns = lbx_clock_mono_ns();

    lbc_leg_settle(l);
    lbc_size_end(l);
    since_ns = lbx_clock_mono_ns() - since_ns;
    s->wait_ns += since_ns;
    l->total.wait_ns += since_ns;
    return lbc_step_end(l);
}

/* The first element of the block that is begun, and the first behind it. */
static int64_t block_begin(const struct lb_loop *l)
{
    return l->step->layout->from + (l->step->at - 1) * l->step->layout->block;
}

static int64_t block_end(const struct lb_loop *l)
{
    int64_t from = block_begin(l), block = l->step->layout->block;

    return l->elements - from < block ? l->elements : from + block;
}

/* Whether the library is free to hand out a block in parts: not where somebody has set its size, or compares with others. */
static bool has_strips(const struct lb_loop *l)
{
    const struct lb_ctx *ctx = l->ctx;

    return ctx && ctx->balanced && ctx->sync_ns == 0 && !ctx->published && !lbc_lanes_is_fixed(l);
}

/* The rest of the block, or a strip of it. */
static void hand_out(struct lb_loop *l, int64_t *from, int64_t *to)
{
    struct lbc_step *s = l->step;
    int64_t end = block_end(l), width = has_strips(l) ? lbp_strip_next(&s->strip) : end;

    *from = s->upto;
    *to = s->upto = end - s->upto < width ? end : s->upto + width;
    l->executing = true;
}

/* A block has been computed. */
static void account(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    int64_t before_ns = s->cpu_ns - s->flow_ns, ns, from = block_begin(l);

    lbc_step_account(l);
    ns = s->cpu_ns - s->flow_ns - before_ns;
    if (ns > TIMED_NS && has_strips(l))
        lbp_strip_took(&s->strip, (double)ns / (double)(s->upto - from));
}

int lb_loop_next_block(lb_loop *l, int64_t *first, int64_t *last, int64_t *from, int64_t *to)
{
    struct lbc_step *s;
    struct lbx_span mine;

    if (!is_pipelined(l) || !first || !last || !from || !to)
        return 0;
    s = l->step;
    if (!l->executing || s->upto == block_end(l)) {
        if (l->executing) {
            account(l);
            lbc_step_ask_early(l);
            send_block(l);
        }
        if (l->state == LBC_IDLE)
            begin(l);
        while (lbc_joint_is_here(l))
            lbc_joint_pass(l);
        if (s->upto == l->elements || !receive_block(l))
            return end(l);
        s->at++;
    }
    mine = lbc_layout_block(l, s->layout);
    *first = mine.first;
    *last = mine.last;
    hand_out(l, from, to);
    if (*to == l->elements)
        l->total.iterations += mine.last - mine.first;
    return 1;
}

void lbc_flow_abandon(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    if (l->state == LBC_IDLE)
        return;
    if (l->executing) {
        s->upto = block_end(l);
        send_block(l);
    }
    l->executing = false;
    for (;;) {
        while (lbc_joint_is_here(l))
            lbc_joint_pass(l);
        if (s->upto == l->elements || !receive_block(l))
            break;
        s->at++;
        s->upto = block_end(l);
        send_block(l);
    }
    end(l);
}

int64_t lbc_flow_cost_ns(const struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    bool left = s->layout->inflow, right = s->layout->outflow;

    /* Ranks in the middle receive and send; those at the ends would call it too cheap, but where there are but two. */
    if (!right || s->send.n == 0 || (!left && lbc_layout_holders(l, s->layout) > 2))
        return -1;
    if (s->recv.n > 0) /* else each was waited for: what it took meanwhile held nobody up */
        s->recv_ns = mean(&s->recv);
    return (int64_t)(mean(&s->send) + (left ? s->recv_ns : 0));
}
