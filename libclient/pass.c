/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pass through a loop.
 *
 * The end, without a master: a rank enters the reduction of the pass, see apart.h, when nothing remains for it, all that
 * it sent has arrived, and it will not be told to send more (FINAL, or the balancer is lost).  While
 * it is in there it still takes what comes and executes it.  When all have entered, nothing can be on
 * its way.
 */
#include "config.h"
#include "libclient/pass.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/exchange.h"
#include "libclient/flow.h"
#include "libclient/give.h"
#include "libclient/incoming.h"
#include "libclient/outgoing.h"
#include "libclient/report.h"
#include "libclient/step.h"
#include "libclient/sync.h"
#include "libclient/vote.h"
#include "policy/period.h"

#define FIRST_REPORT_NS (10 * LBX_NS_PER_MS)
#define SPIN_NS (20 * LBX_NS_PER_US)
#define LINGER_NS (2 * LBX_NS_PER_MS)
#define LINGER_SHARE 20  /* of a chunk's time at most a twentieth */
#define HOOK_SHARE 0.001 /* of the CPU time in between, what hooks have cost up to now */
#define GROWTH 8         /* a chunk is at most so many times as large as the one before */

static bool is_balanced(const struct lb_loop *l)
{
    return l->ctx && l->ctx->balanced;
}

/* Are iterations of it going out, or still to go? */
static bool is_sending(const struct lb_loop *l)
{
    return lbc_outgoing_active(l) || lbc_give_is_under_way(l);
}

static void begin_pass(struct lb_loop *l, int64_t now_ns)
{
    int rc;

    if (!l->started) {
        l->started = true;
        if (is_balanced(l))
            lbc_report_open(l);
    }
    rc = lbx_spanset_copy(&l->owned, &l->remaining); /* there is room, see lbc_loop_reserve */
    assert(rc == 0);
    (void)rc;
    l->remaining_count = lbx_spanset_count(&l->remaining);
    l->pass++;
    l->state = LBC_RUNNING;
    l->agreed = false;
    l->reported = l->told_dry = l->told_low = false;
    l->report_ns = now_ns + (l->period_ns < FIRST_REPORT_NS ? l->period_ns : FIRST_REPORT_NS);
    l->executed = 0;
    l->pass_wait_ns = 0;
}

static int end_pass(struct lb_loop *l)
{
    l->state = LBC_IDLE;
    l->total.passes++;
    return 0;
}

/* Elapsed between hooks while much remains: so long that they cost little, by what they have cost. */
static double hook_ns(const struct lb_loop *l)
{
    double cost = l->hooks > 0 ? (double)l->total.library_cpu_ns / (double)l->hooks : 0;
    double wall = cost / HOOK_SHARE * l->iteration_wall_ns / l->iteration_ns;

    return fmin(fmax(wall, LBP_HOOK_NS), lbp_hook_most_ns(l->period_ns));
}

/*
 * How many iterations a hook is worth: chunk_ns of CPU time, or while much remains more elapsed time than that.  A hook costs
 * some 10 us where the hosts are throttled, and what a rank holds in its hands matters only as the end comes near.
 */
static double worth(const struct lb_loop *l)
{
    double by_cpu = (double)l->chunk_ns / l->iteration_ns, by_wall, most;
    double left_ns = (double)l->remaining_count * l->iteration_wall_ns;

    if (l->iteration_wall_ns <= 0)
        return by_cpu;
    most = hook_ns(l);
    by_wall =
        (left_ns < LBP_HOOKS_LEFT * most ? left_ns / LBP_HOOKS_LEFT : most) / l->iteration_wall_ns;
    return by_cpu > by_wall ? by_cpu : by_wall;
}

/* How many iterations until the next hook. */
static int64_t window_size(const struct lb_loop *l)
{
    int64_t most = l->remaining.span[0].last - l->remaining.span[0].first;
    int64_t size = 1, grown;

    if (!is_balanced(l))
        return most;
    if (l->ctx->grain > 0)
        return l->ctx->grain < most ? l->ctx->grain : most;
    if (l->iteration_ns > 0 && worth(l) < (double)most)
        size = (int64_t)worth(l);
    else if (l->granted > 0)
        size = most;
    if (__builtin_mul_overflow(l->granted, GROWTH, &grown))
        grown = INT64_MAX;
    if (size > grown)
        size = grown;
    if (size > (l->remaining_count + 3) / 4) /* the last ones may still be better elsewhere */
        size = (l->remaining_count + 3) / 4;
    if (size > most)
        size = most;
    return size < 1 ? 1 : size;
}

/* Grant the first iterations that remain, up to the next hook. */
static void grant(struct lb_loop *l)
{
    int64_t size = window_size(l);
    struct lbx_spanset *r = &l->remaining;

    l->window_first = l->cur = r->span[0].first;
    l->window_last = l->cur + size;
    l->strip = l->ctx && l->ctx->test_chunk > 0 ? l->ctx->test_chunk : size;
    l->granted = size;
    r->span[0].first += size;
    if (r->span[0].first == r->span[0].last)
        memmove(r->span, r->span + 1, --r->n * sizeof(r->span[0]));
    l->remaining_count -= size;
    l->total.iterations += size;
    l->executing = true;
}

/* The program is back with what was granted. */
static void account(struct lb_loop *l, int64_t now_ns)
{
    int64_t wall_ns, cpu_ns;

    if (!l->executing)
        return;
    l->executing = false;
    wall_ns = now_ns - l->begun_ns;
    l->left_cpu_ns = lbx_clock_process_cpu_ns();
    cpu_ns = l->left_cpu_ns - l->begun_cpu_ns;
    if (cpu_ns < 0)
        cpu_ns = 0;
    l->executed += l->window_last - l->window_first;
    l->total.compute_ns += wall_ns;
    l->total.cpu_ns += cpu_ns;
    lbc_report_sample(l, l->window_first, l->window_last, now_ns - l->since_ns, cpu_ns);
}

/* The reduction at the pass's end, as far as it can be gone now. */
static void try_end(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    bool last_word = l->final_pass >= l->pass || !lbc_link_is_open(&ctx->link);
    int rc = 0;

    if (l->state == LBC_RUNNING && last_word && !is_sending(l) && !lbc_incoming_expected(l)) {
        if (lbc_vote_end(ctx) < 0) /* of a pipelined loop */
            return;
        lbc_apart_enter(l);
        l->state = LBC_WAITING;
    }
    if (!ctx->failed && l->state == LBC_WAITING && !l->agreed) {
        rc = lbc_apart_test(l);
        l->agreed = rc == 1;
    }
    if (rc < 0)
        lbc_ctx_fail(ctx);
}

/* Nothing remains: wait for more, or for the end.  Returns whether there is more. */
static bool wait_for_more(struct lb_loop *l)
{
    int64_t since_ns = lbx_clock_mono_ns(), now_ns = since_ns, waited_ns = l->pass_wait_ns;
    struct lb_ctx *ctx = l->ctx;

    for (;;) {
        lbc_report_if_due(l, now_ns);
        if (!ctx->failed)
            try_end(l);
        lbc_apart_wait_pass(l, now_ns - since_ns);
        if (ctx->failed || (l->agreed && !lbc_incoming_expected(l)))
            break;
        lbc_ctx_pause(ctx, now_ns - since_ns);
        now_ns = lbx_clock_mono_ns();
        l->pass_wait_ns = waited_ns + now_ns - since_ns;
        lbc_exchange_poll(ctx, now_ns);
        if (l->remaining_count > 0)
            break;
    }
    if (ctx->failed)
        lbc_exchange_drop(ctx, NULL); /* what was still to be sent remains here */
    l->total.wait_ns += l->pass_wait_ns - waited_ns;
    return l->remaining_count > 0;
}

/*
 * Rows move on only while their source is in the library.  Where the next chunk is long, stay a
 * moment: who waits for them would else wait for all of it.
 */
static void linger(struct lb_loop *l)
{
    int64_t since_ns = lbx_clock_mono_ns(), now_ns = since_ns;
    double most_ns = l->iteration_wall_ns * (double)l->granted / LINGER_SHARE;

    if (most_ns > LINGER_NS)
        most_ns = LINGER_NS;
    while ((double)(now_ns - since_ns) < most_ns && is_sending(l)) {
        lbc_ctx_pause(l->ctx, SPIN_NS);
        now_ns = lbx_clock_mono_ns();
        lbc_exchange_poll(l->ctx, now_ns);
    }
}

static void await_answer(struct lb_loop *l)
{
    int64_t waited_ns;

    if (l->asks == 0)
        return;
    waited_ns = lbc_sync_wait(l);
    l->pass_wait_ns += waited_ns;
    l->total.wait_ns += waited_ns;
    l->report_ns = lbx_clock_mono_ns() + l->period_ns; /* all ranks' periods begin together */
}

/* A call that cannot be answered from what was granted before. */
static int hook(struct lb_loop *l, int64_t *first, int64_t *last)
{
    int64_t now_ns = lbx_clock_mono_ns(), wait_ns = l->total.wait_ns;
    bool more;

    account(l, now_ns);
    l->hooks++;
    if (l->state == LBC_IDLE)
        begin_pass(l, now_ns);
    if (is_balanced(l)) {
        lbc_exchange_listen(l->ctx, now_ns);
        if (l->remaining_count == 0 || lbc_exchange_due(l->ctx, now_ns))
            lbc_exchange_look(l->ctx, now_ns);
        if (l->remaining_count > 0) {
            linger(l);
            lbc_report_if_due(l, now_ns);
            await_answer(l);
        }
    }
    more = l->remaining_count > 0 || (is_balanced(l) && wait_for_more(l));
    if (more)
        grant(l);
    l->begun_ns = lbx_clock_mono_ns();
    wait_ns = l->total.wait_ns - wait_ns;
    l->total.library_ns += l->begun_ns - now_ns - wait_ns;
    /* A rank whose quota is used up is stopped where it next enters the kernel, which is mostly here: that time is the
     * host's, and a sample without it would call every throttled host fast. */
    l->since_ns = wait_ns > 0 ? l->begun_ns : now_ns;
    l->begun_cpu_ns = lbx_clock_process_cpu_ns();
    if (l->left_cpu_ns > 0)
        l->total.library_cpu_ns += l->begun_cpu_ns - l->left_cpu_ns;
    l->left_cpu_ns = 0;
    if (!more)
        return end_pass(l);
    return lb_loop_next(l, first, last);
}

int lb_loop_next(lb_loop *l, int64_t *first, int64_t *last)
{
    if (!l || !first || !last)
        return 0;
    if (l->cur >= l->window_last)
        return l->step ? lbc_step_next(l, first, last) : hook(l, first, last);
    *first = l->cur;
    l->cur = l->window_last - l->cur > l->strip ? l->cur + l->strip : l->window_last;
    *last = l->cur;
    return 1;
}

void lbc_pass_abandon(struct lb_loop *l)
{
    if (l->elements > 0)
        lbc_flow_abandon(l);
    l->executing = false;
    l->cur = l->window_last = 0;
    if (l->step)
        l->state = LBC_IDLE;
    while (l->state != LBC_IDLE) {
        l->remaining.n = 0;
        l->remaining_count = 0;
        if (!is_balanced(l) || !wait_for_more(l))
            end_pass(l);
    }
}
