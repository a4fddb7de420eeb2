/* SPDX-License-Identifier: BSD-3-Clause */
/* Stepped loops. */
#include "libclient/step.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "libclient/array.h"
#include "libclient/carry.h"
#include "libclient/exchange.h"
#include "libclient/flow.h"
#include "libclient/report.h"
#include "libclient/sync.h"

#define PART_NS (200 * LBX_NS_PER_US) /* parts of a block are not timed finer */
#define SPIN_NS \
    (100 * LBX_NS_PER_US) /* steps may be short: what is late by little is not slept for */
#define NAP_NS (50 * LBX_NS_PER_US)
#define SERVE_NS LBX_NS_PER_MS
#define ASK_AGAIN 2 /* times a period that the ranks ask whether all have a new layout */
#define INTERVAL_MAX (INT64_C(1) << 20)

static struct lbx_span block(const struct lb_loop *l)
{
    return lbc_layout_block(l, l->step->layout);
}

/* Begin to measure anew, with the block that is in force. */
static void reset(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbx_span b = block(l);
    int64_t n = b.last - b.first, parts = LBC_STEP_PARTS;

    if (s->elements > 0)
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
    s->halo = halo;
    s->elements = elements;
    s->interval = 1;
    s->asking = ctx && ctx->balanced && ctx->transport && ctx->size > 1;
    l->step = s;
    if (elements > 0)
        s->layout->block = lbc_flow_block(l, 0);
    reset(l);
    return 0;
}

int lb_loop_stepped(lb_loop *l, int64_t halo)
{
    return lbc_step_create(l, halo, 0);
}

void lbc_step_fini(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    if (!s)
        return;
    l->step = NULL;
    lbc_layout_destroy(l, s->layout);
    lbc_layout_destroy(l, s->next);
    if (!l->ctx || !l->ctx->failed ||
        !l->ctx->transport) /* votes may be written to after it failed */
        free(s);
}

int lb_loop_owner(const lb_loop *l, int64_t i)
{
    return l && l->step && i >= 0 && i < l->n ? lbc_layout_owner(l, l->step->layout, i) : -1;
}

/* Wait a moment, for what began to be waited for so long ago. */
static void rest(struct lb_ctx *ctx, int64_t waited_ns)
{
    struct timespec nap = {0, NAP_NS};

    if (waited_ns < SPIN_NS)
        sched_yield();
    else
        ppoll(NULL, 0, &nap, NULL);
    if (waited_ns > SERVE_NS)
        lbc_exchange_poll(ctx, lbx_clock_mono_ns());
}

void lbc_step_rest(struct lb_ctx *ctx)
{
    rest(ctx, SPIN_NS);
}

/* The first pass or exchange. */
static void start(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    int rc = 0;

    if (l->started)
        return;
    l->started = true;
    if (!ctx)
        return;
    if (ctx->balanced)
        lbc_report_open(l);
    while (!ctx->failed && (rc = lbc_layout_connect(l, l->step->layout, NULL)) == -ENOMEM)
        lbc_step_rest(ctx); /* the others count on us */
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
    l->total.compute_ns += wall_ns;
    l->total.cpu_ns += cpu_ns;
    l->executing = false;
}

void lbc_step_begin(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    start(l);
    l->pass++;
    l->state = LBC_RUNNING;
    s->part = 0;
    s->begun_ns = lbx_clock_mono_ns();
    s->begun_cpu_ns = lbx_clock_process_cpu_ns();
}

int lbc_step_end(struct lb_loop *l)
{
    l->state = LBC_IDLE;
    l->total.passes++;
    l->step->steps++;
    return 0;
}

int lbc_step_next(struct lb_loop *l, int64_t *first, int64_t *last)
{
    struct lbc_step *s = l->step;

    if (l->executing)
        lbc_step_account(l);
    if (s->elements > 0) /* lb_loop_next_block is what runs a pipelined loop */
        return 0;
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

void lbc_step_told(struct lb_loop *l, const struct lbw_layout *m)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y;
    int64_t at = 0;
    int rc = -EINVAL;

    if (!l->started || !s->asking || s->next || m->epoch != s->layout->epoch + 1 ||
        m->nranks != (uint32_t)l->ctx->size || l->ctx->failed)
        return;
    y = lbc_layout_create(l, m->epoch);
    if (!y) /* as if it had not been told */
        return;
    for (uint32_t r = 0; r < m->nranks; r++)
        y->bound[r + 1] = at += m->count[r];
    y->block = m->block;
    if (s->elements > 0 && (m->block < 1 || m->block > s->elements))
        at = -1;
    else if (s->elements > 0)
        y->block = lbc_flow_block(l, m->block);
    if (at == l->n)
        rc = lbc_layout_connect(l, y, s->layout);
    if (rc < 0)
        lbc_layout_destroy(l, y);
    else
        s->next = y;
}

/* All ranks step together: one that does not would be waited for in silence.  Two of the others say so. */
static void tell_waiting(struct lb_loop *l, int64_t waited_ns)
{
    if (waited_ns < l->ctx->patience_ns || l->step->told_waiting)
        return;
    l->step->told_waiting = true;
    if (l->ctx->rank <= 1)
        fprintf(stderr,
                "lb: rank %d waits for another one's step %lld of loop \"%s\"; all ranks make the "
                "same number of steps and of lb_loop_exchange\n",
                l->ctx->rank, (long long)l->total.passes, l->name);
}

int lbc_step_finish(struct lb_loop *l, struct lbc_exchange *e)
{
    int64_t since_ns = lbx_clock_mono_ns();
    struct lb_ctx *ctx = l->ctx;
    struct lbc_transport *t = ctx->transport;

    while (!ctx->failed) {
        int rc = e ? t->ops->exchange_test(t, e) : t->ops->least_test(t);

        if (rc == 1)
            return 0;
        if (rc < 0)
            lbc_ctx_fail(ctx);
        else
            rest(ctx, lbx_clock_mono_ns() - since_ns);
        tell_waiting(l, lbx_clock_mono_ns() - since_ns);
    }
    return -EIO;
}

int lbc_step_exchange(struct lb_loop *l, struct lbc_exchange *e)
{
    struct lb_ctx *ctx = l->ctx;

    if (!e)
        return 0;
    if (ctx->transport->ops->exchange_start(ctx->transport, e) < 0)
        lbc_ctx_fail(ctx);
    return lbc_step_finish(l, e);
}

/* The time between blocks counts as the rank's own, see flow.c; what of it is the messages' is taken off again. */
static void take_off_flow(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    double stretch = s->cpu_ns > 0 ? (double)s->wall_ns / (double)s->cpu_ns : 1;
    double off = lbc_flow_own_ns(l) * (double)s->layout->nblocks * (double)s->steps;

    if (off > (double)s->cpu_ns * 0.9)
        off = (double)s->cpu_ns * 0.9;
    if (stretch < 1)
        stretch = 1;
    s->cpu_ns -= (int64_t)off;
    s->wall_ns -= (int64_t)fmin(off * stretch, 0.9 * (double)s->wall_ns);
    s->sample[0].cpu_ns = s->cpu_ns;
    s->sample[0].wall_ns = s->wall_ns;
}

static void report(struct lb_loop *l, int64_t now_ns)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_step *s = l->step;
    struct lbw_step *m = &ctx->msg->u.step;
    struct lbx_span b = block(l);
    int64_t shift_ns = -1;

    if (s->elements > 0) {
        shift_ns = lbc_flow_cost_ns(l);
        take_off_flow(l);
    }
    ctx->msg->type = LBW_STEP;
    *m = (struct lbw_step){
        .loop = l->number,
        .step = l->total.passes,
        .steps = s->steps,
        .epoch = s->layout->epoch,
        .first = b.first,
        .last = b.last,
        .wall_ns = s->wall_ns,
        .cpu_ns = s->cpu_ns,
        .wait_ns = s->wait_ns,
        .move_bytes = s->move_bytes,
        .move_wall_ns = s->move_wall_ns,
        .move_cpu_ns = s->move_cpu_ns,
        .shift_elements = shift_ns < 0 ? -1 : s->layout->block,
        .shift_ns = shift_ns < 0 ? 0 : shift_ns,
        .nsamples = (size_t)s->nparts,
    };
    for (size_t i = 0; i < m->nsamples; i++) {
        m->sample[i] = s->sample[i];
        m->sample[i].wall_ns /= s->steps;
        m->sample[i].cpu_ns /= s->steps;
    }
    lbc_link_send(&ctx->link, ctx->msg);
    lbc_ctx_check_link(ctx);
    l->report_ns = now_ns + l->period_ns;
    if (b.last > b.first)
        l->iteration_wall_ns = (double)s->wall_ns / (double)s->steps / (double)(b.last - b.first);
    reset(l);
}

/* Rows that are no longer owned nor near; what of the new halo is among them comes again. */
static void release(struct lb_loop *l, struct lbx_span old, struct lbx_span new)
{
    int64_t halo = l->step->halo;
    struct lbx_span wide = {old.first > halo ? old.first - halo : 0,
                            l->n - old.last > halo ? old.last + halo : l->n};
    struct lbx_span part[2] = {wide, {0, 0}};

    if (old.first == old.last)
        return;
    if (new.first < new.last &&new.first < wide.last && wide.first < new.last) {
        part[0].last = new.first;
        part[1] = (struct lbx_span){new.last, wide.last};
    }
    for (size_t a = 0; a < l->nrows; a++) {
        size_t row = l->rows[a].row_bytes;

        for (int i = 0; i < 2 && l->rows[a].release; i++)
            if (part[i].first < part[i].last)
                lbc_array_release(l->rows[a].base + (size_t)part[i].first * row,
                                  (size_t)(part[i].last - part[i].first) * row);
    }
}

/* The next layout comes into force, on all ranks now.  Returns 0 or -EIO. */
static int apply(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y = s->next, *before = s->layout;
    struct lbx_span old = block(l), new = lbc_layout_block(l, y);
    int64_t wall_ns = lbx_clock_mono_ns(), cpu_ns = lbx_clock_thread_cpu_ns(), in, out;
    int rc;

    if (s->steps > 0)
        report(l, wall_ns);
    l->ctx->moving = true;
    if (lbc_step_exchange(l, y->moves) < 0 || (y->carry && lbc_carry_run(l, y->carry) < 0))
        return -EIO;
    l->ctx->moving = false;
    in = y->carry ? y->carry->bytes_in : 0;
    out = y->carry ? y->carry->bytes_out : 0;
    wall_ns = lbx_clock_mono_ns() - wall_ns;
    cpu_ns = lbx_clock_thread_cpu_ns() - cpu_ns;
    s->layout = y;
    s->next = NULL;
    lbc_layout_destroy(l, before);
    lbx_spanset_clear(&l->owned);
    rc = lbx_spanset_add(&l->owned, new.first, new.last); /* cannot fail: there is room */
    assert(rc == 0);
    (void)rc;
    release(l, old, new);
    reset(l);
    l->total.iterations_in += y->in;
    l->total.moves_in += y->nin;
    l->total.bytes_in += y->in * l->row_bytes + in;
    l->iterations_out += y->out;
    l->moves_out += y->nout;
    l->bytes_out += y->out * l->row_bytes + out;
    s->move_bytes = (y->in + y->out) * l->row_bytes + in + out;
    s->move_wall_ns = wall_ns;
    s->move_cpu_ns = cpu_ns;
    return 0;
}

static void stop_asking(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    s->asking = false;
    lbc_layout_destroy(l, s->next);
    s->next = NULL;
}

/* How many exchanges until the ranks should ask again. */
static int64_t propose_interval(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;
    double most = s->interval < INTERVAL_MAX ? 2 * (double)s->interval : INTERVAL_MAX;
    int again = lbc_sync_is_on(l->ctx) ? 1 : ASK_AGAIN; /* there it is their report, too */
    double k = s->step_ns > 0 ? (double)l->period_ns / again / s->step_ns : 1;

    return (int64_t)(k < 1 ? 1 : k > most ? most : k);
}

/* In the synchronous mode all ranks report here, at the same step, and hear of a layout before they vote on it. */
static void report_and_wait(struct lb_loop *l)
{
    if (!lbc_sync_is_on(l->ctx) || l->step->steps == 0)
        return;
    l->asks = l->total.passes;
    report(l, lbx_clock_mono_ns());
    lbc_sync_wait(l);
}

/* Do all ranks have the next layout?  Returns 0 or -EIO. */
static int ask(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_step *s = l->step;
    int64_t hash = s->next ? lbc_layout_hash(l, s->next) : 0;
    const int64_t vote[] = {s->next != NULL, hash, -hash, propose_interval(l),
                            lbc_link_is_open(&ctx->link)};

    static_assert(sizeof(vote) == sizeof(s->vote), "one place for each vote");
    memcpy(s->vote, vote, sizeof(vote));
    if (ctx->transport->ops->least_start(ctx->transport, s->vote, sizeof(vote) / sizeof(vote[0])) <
        0)
        lbc_ctx_fail(ctx);
    if (lbc_step_finish(l, NULL) < 0)
        return -EIO;
    s->interval = s->vote[3];
    s->agree_at = s->exchanges + s->interval;
    if (s->vote[0] > 0 && s->vote[1] == -s->vote[2])
        return apply(l);
    if (s->vote[0] > 0) { /* they were told different things: no such balancer is followed */
        lbc_link_close(&ctx->link);
        lbc_ctx_check_link(ctx);
        stop_asking(l);
    } else if (s->vote[4] == 0) {
        stop_asking(l);
    }
    return 0;
}

int lb_loop_exchange(lb_loop *l)
{
    int64_t began_ns = lbx_clock_mono_ns(), now_ns;
    struct lbc_step *s;
    struct lb_ctx *ctx;
    int rc = 0;

    if (!l || !l->step)
        return -EINVAL;
    if (l->state != LBC_IDLE)
        return -EBUSY;
    s = l->step;
    ctx = l->ctx;
    if (!ctx)
        return 0;
    start(l);
    l->hooks++;
    lbc_exchange_poll(ctx, began_ns);
    if (ctx->size > 1 && (!ctx->transport || ctx->failed))
        return -EIO;
    if (s->asking && s->exchanges >= s->agree_at) {
        report_and_wait(l);
        rc = ask(l);
    }
    if (rc == 0)
        rc = lbc_step_exchange(l, s->layout->halos);
    s->exchanges++;
    now_ns = lbx_clock_mono_ns();
    s->wait_ns += now_ns - began_ns;
    l->total.wait_ns += now_ns - began_ns;
    if (s->ended_ns > 0) {
        double step_ns = (double)(now_ns - s->ended_ns);

        s->step_ns = s->step_ns > 0 ? (s->step_ns + step_ns) / 2 : step_ns;
    }
    s->ended_ns = now_ns;
    if (rc == 0 && s->steps > 0 && now_ns >= l->report_ns && lbc_link_is_open(&ctx->link) &&
        !(s->asking && lbc_sync_is_on(ctx)))
        report(l, now_ns);
    return rc;
}
