/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_loop_exchange: the step at which all ranks agree to move, see step.h; the move; and what is told of steps. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/bounds.h"
#include "libclient/carry.h"
#include "libclient/connect.h"
#include "libclient/exchange.h"
#include "libclient/flow.h"
#include "libclient/joint.h"
#include "libclient/lanes.h"
#include "libclient/memory.h"
#include "libclient/size.h"
#include "libclient/step.h"
#include "libclient/sync.h"
#include "libclient/vote.h"
#include "libclient/wait.h"
#include "policy/period.h"
#include "policy/votes.h"

/* The time between blocks counts as the rank's own, see flow.c; what of it is the messages' is taken off again: that only, since
 * what goes before a wait was not counted. */
static void take_off_flow(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    double stretch = s->cpu_ns > 0 ? (double)s->wall_ns / (double)s->cpu_ns : 1;
    double off = (double)s->flow_ns;

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
    struct lbx_span b = lbc_layout_block(l, l->step->layout);
    int64_t shift_ns = -1;

    if (l->elements > 0) {
        shift_ns = lbc_flow_cost_ns(l);
        take_off_flow(l);
    }
    lbc_quota_read(&s->quota, "/proc/self", now_ns);
    ctx->msg->type = LBW_STEP;
    *m = (struct lbw_step){
        .loop = l->number,
        .step = s->done,
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
        .shift_elements = shift_ns < 0 ? -1 : lbc_joint_told(l, lbc_lanes_width(s->layout)),
        .shift_ns = shift_ns < 0 ? 0 : shift_ns,
        .quota_cpus = lbc_quota_cpus(&s->quota),
        .quota_period_ns = s->quota.group.period_ns,
        .quota_group = s->quota.identity,
        .nsamples = s->steps > 0 ? (size_t)s->nparts : 0,
    };
    for (size_t i = 0; i < m->nsamples; i++) {
        m->sample[i] = s->sample[i];
        m->sample[i].wall_ns /= s->steps;
        m->sample[i].cpu_ns /= s->steps;
    }
    lbc_link_send(&ctx->link, ctx->msg);
    lbc_ctx_check_link(ctx);
    l->report_ns = now_ns + l->period_ns;
    if (s->steps > 0 && b.last > b.first)
        l->iteration_wall_ns = (double)s->wall_ns / (double)s->steps / (double)(b.last - b.first);
    lbc_step_reset(l);
}

/* The next layout comes into force, on all ranks now.  Returns 0, 1 when it is none, on all ranks alike, or -EIO. */
static int apply(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    struct lbc_layout *y = s->next, *before = s->layout;
    struct lbx_span old = lbc_layout_block(l, l->step->layout), new;
    int64_t wall_ns = lbx_clock_mono_ns(), cpu_ns = lbx_clock_thread_cpu_ns(), in, out;
    int rc;

    if (s->steps > 0)
        report(l, wall_ns);
    rc = lbc_bounds_gather(l, y);
    if (rc != 0)
        return rc;
    if (l->joins)
        lbc_joint_settle(l, y);
    new = lbc_layout_block(l, y);
    lbc_memory_have(l, old, new);
    l->ctx->moving = true;
    if (lbc_wait_exchange(l, y->moves) < 0 || (y->carry && lbc_carry_run(l, y->carry) < 0))
        return -EIO;
    l->ctx->moving = false;
    in = y->carry ? y->carry->bytes_in : 0;
    out = y->carry ? y->carry->bytes_out : 0;
    wall_ns = lbx_clock_mono_ns() - wall_ns;
    cpu_ns = lbx_clock_thread_cpu_ns() - cpu_ns;
    s->layout = y;
    s->next = NULL;
    s->holders = lbc_layout_holders(l, y);
    lbc_connect_end(l, before);
    lbx_spanset_clear(&l->owned);
    rc = lbx_spanset_add(&l->owned, new.first, new.last); /* cannot fail: there is room */
    assert(rc == 0);
    (void)rc;
    lbc_memory_release(l, old, new);
    lbc_step_reset(l);
    l->total.iterations_in += y->in;
    l->total.moves_in += y->nin;
    l->total.bytes_in += y->in * l->row_bytes + in;
    l->iterations_out += y->out;
    l->moves_out += y->nout;
    l->bytes_out += y->out * l->row_bytes + out;
    s->move_bytes = (y->in + y->out) * l->row_bytes + in + out;
    s->move_wall_ns = wall_ns;
    s->applied_ns += wall_ns;
    s->move_cpu_ns = cpu_ns;
    if (l->ctx->published || lbc_ctx_is_sync(l->ctx))
        return 0;
    /* at once, without a step: if speeds have changed meanwhile, the balancer amends it before the next one is over */
    report(l, lbx_clock_mono_ns());
    l->report_ns = lbx_clock_mono_ns() + lbp_period_after_layout(l->period_ns, s->step_ns);
    return 0;
}

static void stop_asking(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    s->asking = false;
    lbc_connect_end(l, s->next);
    s->next = NULL;
}

static bool is_alone(const struct lb_loop *l)
{
    return l->ctx->loop == l && !l->next;
}

static struct lbp_votes votes(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;

    return (struct lbp_votes){.flows = l->elements > 0,
                              .waits = lbc_ctx_is_sync(l->ctx),
                              .quota = lbc_quota_cpus(&s->quota) > 0,
                              .alone = is_alone(l),
                              .lag = lbc_step_lag(l),
                              .period_ns = (double)l->period_ns,
                              .step_ns = s->step_ns,
                              .exchanges = s->rounds,
                              .interval = s->interval};
}

int64_t lbc_step_interval(const struct lb_loop *l)
{
    struct lbp_votes v = votes(l);

    return lbp_votes_interval(&v);
}

int64_t lbc_step_later(const struct lb_loop *l)
{
    struct lbp_votes v = votes(l);

    return l->ctx->sync_ns > 0 ? 0 : lbp_votes_later(&v); /* also when its balancer is lost */
}

/* In the synchronous mode all ranks report here, at the same step, and hear of a layout before they vote on it. */
static void report_and_wait(struct lb_loop *l)
{
    if (!lbc_ctx_is_sync(l->ctx) || l->step->steps == 0)
        return;
    l->asks = l->step->done;
    report(l, lbx_clock_mono_ns());
    lbc_sync_wait(l);
}

/* Ask whether all ranks have the next layout.  Returns 0 or -EIO. */
static int ask(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_step *s = l->step;
    int64_t hash = s->next ? lbc_layout_hash(l, s->next) : 0;
    const int64_t vote[] = {s->next != NULL,
                            hash,
                            -hash,
                            lbc_step_interval(l),
                            lbc_step_later(l),
                            lbc_link_is_open(&ctx->link),
                            l->number,
                            -(int64_t)l->number,
                            INT64_MAX};

    static_assert(sizeof(vote) == sizeof(s->vote), "one place for each vote");
    memcpy(s->vote, vote, sizeof(vote));
    s->voted = true;
    s->asked_at = s->rounds;
    return lbc_vote_enter(l);
}

/*
 * Whether a rank may enter the next exchange's vote in the step before it.  The same on all ranks, as they all enter it before
 * anything else that they reduce together; so there is no other loop that might.
 */
static bool may_ask_early(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;

    return s->asking && !s->voted && s->later == 0 && s->rounds >= s->agree_at &&
           l->ctx->sync_ns == 0 && is_alone(l);
}

void lbc_step_ask_owed(struct lb_loop *l)
{
    struct lbc_step *s = l->step;

    if (!s || !s->owes || l->ctx->failed)
        return;
    s->owes = false;
    (void)!ask(l); /* a failure shows in the next exchange */
}

void lbc_step_ask_early(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_step *s = l->step;
    int64_t now_ns = s->begun_ns;

    if (ctx && s->voted && s->later == 0)
        (void)!lbc_vote_look(ctx); /* a failure shows in the exchange */
    if (!s->owes || (double)(now_ns - s->ended_ns) < lbp_votes_early_ns(s->step_ns))
        return;
    lbc_exchange_overhear(ctx, now_ns);
    lbc_step_ask_owed(l);
    lbc_step_waited(l, now_ns);
}

/* What did they vote?  A layout that has come since then waits for the next vote: all have one now, or none is applied.
 * Returns 0 or -EIO. */
static int decide(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbc_step *s = l->step;
    bool next, lost;
    int rc = 1;

    if (ctx->voting == l && lbc_vote_end(ctx) < 0)
        return -EIO;
    s->voted = false;
    s->interval = s->vote[LBC_VOTE_INTERVAL];
    s->later = s->vote[LBC_VOTE_LATER];
    s->agree_at = s->asked_at + s->interval;
    if (s->later == 0 && s->asked_at < s->rounds && s->agree_at == s->rounds)
        s->agree_at++; /* nobody has entered it within the step, so that all would wait */
    next = s->vote[LBC_VOTE_NEXT] > 0;
    lost = s->vote[LBC_VOTE_LINK] == 0;
    if (next && s->vote[LBC_VOTE_HASH] == -s->vote[LBC_VOTE_MINUS_HASH])
        rc = apply(l);
    if (rc <= 0)
        return rc;
    if (next) {
        /* they were told different things: no such balancer is followed */
        lbc_link_close(&ctx->link);
        lbc_ctx_check_link(ctx);
        stop_asking(l);
    } else if (lost) {
        stop_asking(l);
    }
    return 0;
}

/* The votes of an exchange.  Returns 0 or -EIO. */
static int vote(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    int rc = 0;

    s->owes = false;
    if (s->voted && s->rounds < s->asked_at + s->later)
        return 0;
    if (s->voted)
        rc = decide(l);
    if (rc < 0 || !s->asking || s->rounds < s->agree_at)
        return rc;
    report_and_wait(l);
    rc = ask(l);
    return rc < 0 || s->later > 0 ? rc : decide(l);
}

/* An exchange or joint has ended. */
static void end_round(struct lb_loop *l, int64_t now_ns)
{
    struct lbc_step *s = l->step;

    s->rounds++;
    if (s->ended_ns > 0) {
        double step_ns = (double)(now_ns - s->ended_ns);

        s->step_ns = s->step_ns > 0 ? (s->step_ns + step_ns) / 2 : step_ns;
    }
    s->ended_ns = now_ns;
    if (l->ctx->failed)
        return;
    if (s->steps > 0 && now_ns >= l->report_ns && lbc_link_is_open(&l->ctx->link) &&
        !(s->asking && lbc_ctx_is_sync(l->ctx)))
        report(l, now_ns);
    s->owes = may_ask_early(l);
}

/* Whether it waits for other ranks' votes.  Else a stop in there is the host's, as between two blocks, see flow.c. */
static bool vote_waits(const struct lb_loop *l)
{
    const struct lbc_step *s = l->step;

    return s->voted ? s->rounds >= s->asked_at + s->later && l->ctx->voting == l
                    : s->asking && s->later == 0 && s->rounds >= s->agree_at;
}

int lbc_step_join(struct lb_loop *l)
{
    int64_t began_ns = lbx_clock_mono_ns();
    struct lbc_step *s = l->step;
    const struct lbc_layout *before = s->layout;
    struct lb_ctx *ctx = l->ctx;
    bool waits;
    int rc;

    s->applied_ns = 0;
    lbc_exchange_overhear(ctx, began_ns);
    (void)!lbc_vote_look(ctx); /* a failure shows in the vote */
    waits = vote_waits(l);
    rc = vote(l);
    if (rc == 0 && s->layout != before)
        rc = lbc_wait_exchange(l, s->layout->halos);
    if (rc == 0 && s->layout != before)
        rc = lbc_wait_exchange(l, s->layout->seams);
    if (waits || s->layout != before)
        lbc_step_waited(l, began_ns);
    s->wait_ns -= s->applied_ns;
    end_round(l, lbx_clock_mono_ns());
    return rc;
}

int lb_loop_exchange(lb_loop *l)
{
    int64_t began_ns = lbx_clock_mono_ns(), now_ns;
    struct lbc_step *s;
    struct lb_ctx *ctx;
    int rc;

    if (!l || !l->step)
        return -EINVAL;
    if (l->state != LBC_IDLE)
        return -EBUSY;
    s = l->step;
    ctx = l->ctx;
    if (!ctx)
        return 0;
    lbc_step_start(l);
    l->hooks++;
    lbc_exchange_overhear(ctx, began_ns);
    if (ctx->size > 1 && (!ctx->transport || ctx->failed))
        return -EIO;
    lbc_size_settle(l);
    s->applied_ns = 0;
    rc = vote(l);
    if (rc == 0)
        rc = lbc_wait_exchange(l, s->layout->halos);
    s->exchanges++;
    now_ns = lbx_clock_mono_ns();
    s->wait_ns += now_ns - began_ns - s->applied_ns;
    l->total.wait_ns += now_ns - began_ns;
    end_round(l, now_ns);
    return rc;
}
