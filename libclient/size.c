/* SPDX-License-Identifier: BSD-3-Clause */
/* The block size of a pipelined loop, found in its first pass. */
#include "libclient/size.h"

#include <errno.h>

#include "common/clock.h"
#include "libclient/lanes.h"
#include "libclient/leg.h"
#include "libclient/message.h"
#include "libclient/step.h"
#include "libclient/wait.h"
#include "policy/grain.h"
#include "policy/legs.h"

#define TO_TIME 2 /* messages; the first of them makes the connection, the last is timed */
#define PER_PAIR \
    2 /* ranks in the middle receive a block and send it: twice what sending one takes */

/* This rank's size, as long as it is to be found. */
static struct lbc_size *sought(const struct lb_loop *l)
{
    const struct lbc_layout *y = l->step->layout;

    return y->batch == 0 ? y->size : NULL;
}

static void finish(struct lb_loop *l, struct lbc_exchange *e)
{
    if (e && lbc_wait_for(l, e) < 0)
        lbc_ctx_fail(l->ctx);
}

void lbc_size_begin(struct lb_loop *l)
{
    struct lbc_size *z = sought(l);
    int64_t since_ns = lbx_clock_mono_ns(), cpu_ns;

    if (!z)
        return;
    for (int i = 0; i < TO_TIME; i++) {
        lbc_message_start(l, z->left);
        finish(l, z->left);
        cpu_ns = lbx_clock_thread_cpu_ns();
        if (z->right)
            lbc_message_send(l, z->right);
        finish(l, z->right);
        z->message_ns = lbx_clock_thread_cpu_ns() - cpu_ns;
    }
    lbc_step_waited(l, since_ns);
}

void lbc_size_ask(struct lb_loop *l)
{
    if (sought(l))
        lbc_message_start(l, sought(l)->left);
}

/* Of a pass that takes so much CPU time here, and has so many messages. */
static int64_t choose_legs(const struct lb_loop *l, double pass_cpu_ns, int64_t messages)
{
    struct lbc_step *s = l->step;
    double cpus;

    if (l->ctx->test_legs > 0)
        return l->ctx->test_legs;
    lbc_quota_read(&s->quota, "/proc/self", lbx_clock_mono_ns());
    cpus = lbc_quota_cpus(&s->quota);
    return lbp_legs(cpus > 0 && cpus < 1 ? pass_cpu_ns / cpus : pass_cpu_ns,
                    (double)s->quota.group.period_ns, messages);
}

/* Of the pipeline's first rank, whose first block has taken what its step has up to now. */
static struct lbc_found choose(const struct lb_loop *l, const struct lbc_size *z)
{
    struct lbc_step *s = l->step;
    struct lbc_found found = {.legs = 1};
    const struct lbc_layout *y = s->layout;
    double pass_ns = (double)s->cpu_ns / (double)y->block * (double)l->elements;
    uint32_t holders = (uint32_t)lbc_layout_holders(l, y);
    struct lbp_grain g;

    lbp_grain_init(&g, l->elements, holders);
    if (!lbc_ctx_is_sync(l->ctx) && !l->ctx->published)
        lbp_grain_flow(&g, 0, 0);
    lbp_grain_sweep(&g, pass_ns);
    lbp_grain_message(&g, 0, (holders > 2 ? PER_PAIR : 1) * (double)z->message_ns);
    found.batch = (lbp_grain_choose(&g) + y->block / 2) / y->block;
    if (found.batch < 1) /* messages are so cheap that smaller blocks would be better */
        found.batch = 1;
    if (l->joins && holders == (uint32_t)l->ctx->size)
        found.legs = choose_legs(l, pass_ns, l->elements / (found.batch * y->block) + 1);
    return found;
}

static int64_t within(int64_t x, int64_t most)
{
    return x < 1 ? 1 : x > most ? most : x;
}

void lbc_size_choose(struct lb_loop *l)
{
    struct lbc_layout *y = l->step->layout;
    struct lbc_size *z = sought(l);
    int64_t since_ns = lbx_clock_mono_ns();
    int rc = 0;

    if (!z)
        return;
    finish(l, z->left);
    z->out = z->left ? z->in : choose(l, z);
    y->batch = z->out.batch = within(z->out.batch, l->elements / y->block + 1);
    l->step->legs = z->out.legs = within(z->out.legs, l->elements);
    z->sending = z->right;
    lbc_message_start(l, z->right);
    while (!l->ctx->failed && (rc = lbc_lanes_extend(l, y)) == -ENOMEM)
        lbc_wait_rest(l->ctx); /* the others count on us */
    if (rc < 0)
        lbc_ctx_fail(l->ctx);
    lbc_leg_begin(l);
    l->step->send = l->step->recv = (struct lbc_cost){0}; /* of messages of another size */
    lbc_step_waited(l, since_ns);
}

void lbc_size_end(struct lb_loop *l)
{
    struct lbc_size *z = l->step->layout->size;

    if (z && z->sending)
        finish(l, z->right);
    if (z)
        z->sending = false;
}

void lbc_size_settle(struct lb_loop *l)
{
    struct lbc_layout *y = l->step->layout;
    int64_t block = y->batch * y->block;
    int rc = 0;

    if (!y->size || y->batch == 0)
        return;
    lbc_lanes_disconnect(l, y);
    y->block = block < l->elements ? block : l->elements;
    y->batch = 1;
    while (!l->ctx->failed && (rc = lbc_lanes_connect(l, y)) == -ENOMEM)
        lbc_wait_rest(l->ctx);
    if (rc < 0)
        lbc_ctx_fail(l->ctx);
}
