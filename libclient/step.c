/* SPDX-License-Identifier: BSD-3-Clause */
/* Stepped loops: a block a rank, handed out in each pass, and what it takes. */
#include "libclient/step.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "libclient/connect.h"
#include "libclient/lanes.h"
#include "libclient/report.h"
#include "libclient/wait.h"
#include "policy/votes.h"

#define PART_NS (200 * LBX_NS_PER_US) /* parts of a block are not timed finer */

void lbc_step_reset(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbx_span b = lbc_layout_block(l, s->layout);
    int64_t n = b.last - b.first, parts = LBC_STEP_PARTS;

    if (l->elements > 0)
        parts = 1;
    else if (l->iteration_wall_ns > 0 && l->iteration_wall_ns * (double)n < (double)parts * PART_NS)
        parts = 1 + (int64_t)(l->iteration_wall_ns * (double)n / PART_NS);
    s->nparts = parts < n ? parts : n;
    for (int64_t i = 0; i < s->nparts; i++) {
        int64_t even = n / s->nparts, rest = n % s->nparts;

        s->sample[i] = (struct lbw_sample){
            .first = b.first + even * i + rest * i / s->nparts,
            .last = b.first + even * (i + 1) + rest * (i + 1) / s->nparts,
        };
    }
    s->steps = s->wall_ns = s->cpu_ns = s->wait_ns = 0;
    s->move_bytes = s->move_wall_ns = s->move_cpu_ns = 0;
    s->send = s->recv = (struct lbc_cost){0};
    s->flow_ns = 0;
}

/* Take over what was told.  Returns whether it can be right. */
static bool take_bounds(const struct lb_loop *l, const struct lbw_layout *m, struct lbc_layout *y)
{
    int64_t at = 0;

    if (l->elements > 0 && (m->block < 1 || m->block > l->elements))
        return false;
    y->block = l->elements > 0 ? lbc_lanes_block(l, m->block) : m->block;
    y->partial = m->first >= 0;
    if (y->partial) {
        y->bound[l->ctx->rank] = m->first;
        return m->first <= l->n;
    }
    for (uint32_t r = 0; r < m->nranks; r++)
        y->bound[r + 1] = at += m->count[r];
    return at == l->n;
}

/* The balancer tells a layout. */
static void told(struct lb_loop *l, const struct lbw_layout *m)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y;

    if (!l->started || !s->asking || s->next || m->epoch != s->layout->epoch + 1 ||
        m->nranks != (uint32_t)l->ctx->size || l->ctx->failed)
        return;
    y = lbc_layout_create(l, m->epoch);
    if (!y) /* as if it had not been told */
        return;
    if (!take_bounds(l, m, y) || (!y->partial && lbc_connect(l, y, s->layout) != 0)) {
        lbc_connect_end(l, y);
        return;
    }
    s->next = y;
    s->memory_bytes = 0;
}

int lbc_step_create(struct lb_loop *l, int64_t halo, int64_t elements)
{
    struct lb_ctx *ctx;
    struct lbc_step *s;

    if (!l || halo < 0)
        return -EINVAL;
    if (l->started || l->step)
        return -EBUSY;
    ctx = l->ctx;
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->layout = lbc_layout_create(l, 0);
    if (!s->layout) {
        free(s);
        return -ENOMEM;
    }
    lbc_loop_bounds(l->n, ctx ? ctx->size : 1, ctx ? ctx->weight : NULL, s->layout->bound);
    l->halo = halo;
    l->elements = elements;
    l->told = told;
    s->interval = s->legs = 1;
    s->later = elements > 0 && ctx && ctx->sync_ns == 0;
    s->asking = ctx && ctx->balanced && ctx->transport && ctx->size > 1 && !ctx->test_unvoted;
    l->step = s;
    if (elements > 0)
        s->layout->block = lbc_lanes_first(l, s->layout);
    if (elements > 0 && s->layout->block == 0)
        s->layout->block = lbc_lanes_block(l, 0);
    lbc_step_reset(l);
    return 0;
}

void lbc_step_fini(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    if (!s)
        return;
    l->step = NULL;
    if (l->ctx && l->ctx->voting == l) /* the context has failed */
        l->ctx->voting = NULL;
    lbc_connect_end(l, s->layout);
    lbc_connect_end(l, s->next);
    free(s);
}

int lb_loop_owner(const lb_loop *l, int64_t i)
{
    return l && l->step && i >= 0 && i < l->n ? lbc_layout_owner(l, l->step->layout, i) : -1;
}

double lbc_step_lag(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;

    return l->elements > 0
               ? lbp_votes_lag((uint32_t)s->holders, s->layout->block, l->elements / s->legs)
               : 0;
}

void lbc_step_start(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    int rc = 0;

    if (l->started)
        return;
    l->started = true;
    if (!ctx) {
        rc = lbc_connect(l, l->step->layout, NULL); /* cannot fail: to nobody */
        assert(rc == 0);
        (void)rc;
        return;
    }
    if (ctx->balanced)
        lbc_report_open(l);
    l->step->holders = lbc_layout_holders(l, l->step->layout);
    while (!ctx->failed && (rc = lbc_connect(l, l->step->layout, NULL)) == -ENOMEM)
        lbc_wait_rest(ctx); /* the others count on us */
    if (rc < 0)
        lbc_ctx_fail(ctx);
}

void lbc_step_account(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbw_sample *sample = &s->sample[s->part - 1];
    int64_t wall_ns, cpu_ns, now_ns;

    /* The CPU time first: a rank whose quota is used up is stopped in there, and that time is its host's. */
    cpu_ns = lbx_clock_process_cpu_ns();
    now_ns = lbx_clock_mono_ns();
    wall_ns = now_ns - s->begun_ns;
    s->begun_ns = now_ns;
    now_ns = cpu_ns;
    cpu_ns = cpu_ns > s->begun_cpu_ns ? cpu_ns - s->begun_cpu_ns : 0;
    s->begun_cpu_ns = now_ns;
    sample->wall_ns += wall_ns;
    sample->cpu_ns += cpu_ns;
    s->wall_ns += wall_ns;
    s->cpu_ns += cpu_ns;
    s->flow_ns += s->flow_begun_ns;
    s->flow_begun_ns = 0;
    l->total.compute_ns += wall_ns;
    l->total.cpu_ns += cpu_ns;
    l->executing = false;
}

/* The program's time begins. */
static void begin_part(struct lbc_step *s)
{
    s->begun_cpu_ns = lbx_clock_process_cpu_ns();
    s->begun_ns = lbx_clock_mono_ns();
    s->flow_begun_ns = 0;
}

void lbc_step_waited(struct lb_loop *l, int64_t since_ns)
{
    struct lbc_step *s = l->step;

    begin_part(s);
    s->wait_ns += s->begun_ns - since_ns;
    l->total.wait_ns += s->begun_ns - since_ns;
}

void lbc_step_begin(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    lbc_step_start(l);
    l->pass++;
    l->state = LBC_RUNNING;
    s->part = 0;
    begin_part(s);
}

int lbc_step_end(struct lb_loop *l)
{
    l->state = LBC_IDLE;
    l->total.passes++;
    l->step->steps++;
    l->step->done++;
    return 0;
}

int lbc_step_next(struct lb_loop *l, int64_t *first, int64_t *last)
{
    struct lbc_step *s = l->step;

    if (l->elements > 0) /* lb_loop_next_block is what runs a pipelined loop */
        return 0;
    if (l->executing) {
        lbc_step_account(l);
        lbc_step_ask_early(l);
    }
    if (l->state == LBC_IDLE)
        lbc_step_begin(l);
    if (s->part == s->nparts)
        return lbc_step_end(l);
    l->cur = s->sample[s->part].first;
    l->window_last = s->sample[s->part].last;
    l->strip = l->ctx && l->ctx->test_chunk > 0 ? l->ctx->test_chunk : l->window_last - l->cur;
    l->total.iterations += l->window_last - l->cur;
    l->executing = true;
    s->part++;
    return lb_loop_next(l, first, last);
}
