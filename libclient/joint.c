/* SPDX-License-Identifier: BSD-3-Clause */
/* Joints of a pipelined pass. */
#include "libclient/joint.h"

#include <errno.h>
#include <math.h>

#include "libclient/lanes.h"
#include "libclient/leg.h"
#include "libclient/size.h"
#include "libclient/step.h"

int lb_loop_joints(lb_loop *l)
{
    const struct lb_ctx *ctx;
    struct lbc_step *s;

    if (!l || l->elements == 0)
        return -EINVAL;
    if (l->started)
        return -EBUSY;
    ctx = l->ctx;
    s = l->step;
    l->joins = s->asking && ctx->sync_ns == 0 && !ctx->published;
    if (l->joins && ctx->test_legs > 0 && lbc_lanes_first(l, s->layout) == 0)
        s->legs = ctx->test_legs < l->elements ? ctx->test_legs : l->elements;
    return 0;
}

void lbc_joint_settle(struct lb_loop *l, struct lbc_layout *y)
{
    struct lbc_step *s = l->step;
    double block = floor((double)y->block / sqrt((double)s->legs) + 0.5);
    int64_t from = 0;

    y->block = lbc_lanes_block(l, block < 1 ? 1 : (int64_t)block);
    if (l->state == LBC_RUNNING) {
        lbc_leg_settle(l);
        lbc_size_end(l);
        from = s->upto;
    }
    lbc_lanes_restart(l, y, from);
}

int64_t lbc_joint_told(const struct lb_loop *l, int64_t block)
{
    double told = floor((double)block * sqrt((double)l->step->legs) + 0.5);

    return told < (double)l->elements ? (int64_t)told : l->elements;
}

bool lbc_joint_is_here(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;

    return s->upto == s->leg_end && s->leg_end < l->elements && l->ctx && !l->ctx->failed;
}

void lbc_joint_pass(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    const struct lbc_layout *before = s->layout;

    s->steps++;
    s->done++;
    (void)!lbc_step_join(l); /* a failure shows in the next block */
    /* whose number and messages are the new layout's, also where it failed after that */
    if (s->layout != before) {
        s->at = s->sent = s->awaited = 0;
        s->part = s->layout->nblocks > 0;
        lbp_strip_resize(&s->strip, s->layout->block);
    }
    lbc_leg_begin(l);
}
