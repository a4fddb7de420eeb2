/* SPDX-License-Identifier: BSD-3-Clause */
/* Legs of a pipelined pass. */
#include "libclient/leg.h"

#include "libclient/lanes.h"
#include "libclient/message.h"
#include "libclient/step.h"
#include "libclient/wait.h"

/* Where the leg ends that begins after s->upto elements: at the first message behind an even part of them all. */
static int64_t leg_end(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;
    const struct lbc_layout *y = s->layout;
    int64_t even = l->elements / s->legs, rest = l->elements % s->legs, leg, end;

    if (s->legs == 1 || (y->size && y->batch == 0))
        return l->elements;
    leg = (int64_t)((double)s->upto / (double)l->elements * (double)s->legs);
    do {
        leg++;
        end = leg < s->legs ? even * leg + rest * leg / s->legs : l->elements;
    } while (end <= s->upto);
    return lbc_lanes_next(l, y, end);
}

void lbc_leg_begin(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y = s->layout;

    s->leg_end = leg_end(l);
    if (y->nblocks == 0)
        s->upto = s->leg_end;
    for (; y->inflow && s->awaited < y->nblocks && lbc_lanes_element(l, y, s->awaited) < s->leg_end;
         s->awaited++)
        lbc_message_start(l, y->inflow[s->awaited]);
}

void lbc_leg_settle(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    const struct lbc_layout *y = s->layout;
    int64_t messages = y->outflow && s->at > 0 ? lbc_lanes_message(y, s->at - 1) + 1 : 0;

    for (; s->sent < messages && !l->ctx->failed; s->sent++)
        if (!lbc_message_is_through(l, y->outflow[s->sent]) &&
            lbc_wait_for(l, y->outflow[s->sent]) < 0)
            break;
}
