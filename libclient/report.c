/* SPDX-License-Identifier: BSD-3-Clause */
/* What a loop measures, and what it tells the balancer of it. */
#include "libclient/report.h"

#include <string.h>

#include "common/clock.h"

#define DRY_AGAIN_NS (2 * LBX_NS_PER_S) /* a rank that waits is heard of all the same */
#define GROWTH 8.0                      /* a new estimate is believed at once up to this factor */

void lbc_report_open(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbw_open *open = &ctx->msg->u.open;

    ctx->msg->type = LBW_OPEN;
    memset(open, 0, sizeof(*open));
    open->loop = l->number;
    memcpy(open->name, l->name, sizeof(open->name));
    open->n = l->n;
    open->row_bytes = l->row_bytes;
    open->kind = !l->step ? LBW_DOALL : l->elements > 0 ? LBW_DOACROSS : LBW_STEPPED;
    open->pipelined = l->elements;
    if (l->owned.n > 0) {
        open->owned_first = l->owned.span[0].first;
        open->owned_last = l->owned.span[0].last;
    }
    lbc_link_send(&ctx->link, ctx->msg);
}

void lbc_report_close(struct lb_loop *l)
{
    struct lb_ctx *ctx = l->ctx;

    ctx->msg->type = LBW_CLOSE;
    ctx->msg->u.close = l->total;
    lbc_link_send(&ctx->link, ctx->msg);
}

static void estimate(struct lb_loop *l, int64_t iterations, int64_t wall_ns, int64_t cpu_ns)
{
    /* By CPU time, so that a throttled host does not get chunks the shorter; but not blind to
     * iterations that mostly wait. */
    double wall = (double)wall_ns / (double)iterations;
    double cpu = (double)cpu_ns / (double)iterations;
    double now = cpu > wall / 16 ? cpu : wall / 16;
    double was = l->iteration_ns;

    if (was > 0 && now < was / GROWTH)
        now = was / GROWTH; /* one cheap iteration shall not make the next chunk huge */
    l->iteration_ns = now;
    l->iteration_wall_ns = l->iteration_wall_ns > 0 ? (l->iteration_wall_ns + wall) / 2 : wall;
}

/* Halve the number of samples by joining neighbours.  Returns whether there is room now. */
static bool join_samples(struct lb_loop *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->nsamples; n++) {
        struct lbw_sample s = l->sample[i++];

        if (i < l->nsamples && l->sample[i].first == s.last) {
            s.last = l->sample[i].last;
            s.wall_ns += l->sample[i].wall_ns;
            s.cpu_ns += l->sample[i].cpu_ns;
            i++;
        }
        l->sample[n] = s;
    }
    l->nsamples = n;
    return n < LBW_SAMPLES_MAX;
}

/* due: it is the period's own report, after which the rank waits in the synchronous mode. */
static void send_report(struct lb_loop *l, int64_t now_ns, bool due)
{
    struct lb_ctx *ctx = l->ctx;
    struct lbw_report *r = &ctx->msg->u.report;
    bool dry = l->state != LBC_IDLE && l->remaining_count == 0;
    double left_ns = (double)l->remaining_count * l->iteration_wall_ns;
    bool low = !dry && !l->told_low && l->state == LBC_RUNNING && l->low_ns > 0 &&
               l->iteration_wall_ns > 0 && left_ns < (double)l->low_ns;
    bool waits = due && !dry && lbc_ctx_is_sync(ctx) && l->state == LBC_RUNNING &&
                 l->final_pass < l->pass && now_ns > 0;
    size_t skip = l->remaining.n > LBW_SPANS_MAX ? l->remaining.n - LBW_SPANS_MAX : 0;

    ctx->msg->type = LBW_REPORT;
    r->loop = l->number;
    r->pass = l->pass < 0 ? 0 : l->pass;
    r->flags = (dry ? LBW_DRY : 0) | (low ? LBW_LOW : 0) | (waits ? LBW_WAITS : 0);
    r->now_ns = now_ns;
    r->executed = l->executed;
    r->remaining = l->remaining_count;
    r->nspans = l->remaining.n - skip;
    if (r->nspans > 0)
        memcpy(r->span, l->remaining.span + skip, r->nspans * sizeof(r->span[0]));
    r->nsamples = l->nsamples;
    memcpy(r->sample, l->sample, l->nsamples * sizeof(r->sample[0]));
    r->ndone = l->ndone;
    memcpy(r->done, l->done, l->ndone * sizeof(r->done[0]));
    r->wait_ns = l->pass_wait_ns;
    lbc_link_send(&ctx->link, ctx->msg);
    l->nsamples = l->ndone = 0;
    l->told_dry |= dry;
    l->told_low |= low;
    l->reported = true;
    l->reported_ns = now_ns;
    lbp_alert_told(&l->alert);
    l->asks = waits ? now_ns : 0;
    if (due || dry || !lbc_ctx_is_sync(ctx)) /* there the others wait for this rank's period */
        l->report_ns = now_ns + (dry ? DRY_AGAIN_NS : l->period_ns);
}

void lbc_report_sample(struct lb_loop *l, int64_t first, int64_t last, int64_t wall_ns,
                       int64_t cpu_ns)
{
    estimate(l, last - first, wall_ns, cpu_ns);
    lbp_alert_sample(&l->alert, (double)(last - first), (double)wall_ns, (double)cpu_ns);
    if (!l->ctx || !lbc_link_is_open(&l->ctx->link))
        return;
    if (l->nsamples == LBW_SAMPLES_MAX && !join_samples(l))
        send_report(l, lbx_clock_mono_ns(), false);
    l->sample[l->nsamples++] = (struct lbw_sample){first, last, wall_ns, cpu_ns};
}

void lbc_report_done(struct lb_loop *l, const struct lbw_done *done)
{
    if (!lbc_link_is_open(&l->ctx->link))
        return;
    l->done[l->ndone++] = *done;
    if (l->ndone == LBW_DONE_MAX)
        send_report(l, lbx_clock_mono_ns(), false);
}

/* A pass's first report has a time of its own; in the synchronous mode all have. */
static bool has_alert(const struct lb_loop *l, int64_t now_ns)
{
    return l->reported && l->ctx->sync_ns == 0 &&
           lbp_alert_due(&l->alert, now_ns - l->reported_ns, INT64_MAX);
}

void lbc_report_if_due(struct lb_loop *l, int64_t now_ns)
{
    bool dry = l->state != LBC_IDLE && l->remaining_count == 0;

    if (!l->ctx || !lbc_link_is_open(&l->ctx->link) || !l->started)
        return;
    if (l->ndone > 0 || now_ns >= l->report_ns || (!dry && has_alert(l, now_ns)) ||
        (dry && !l->told_dry) ||
        (!dry && !l->told_low && l->low_ns > 0 && l->iteration_wall_ns > 0 &&
         (double)l->remaining_count * l->iteration_wall_ns < (double)l->low_ns))
        send_report(l, now_ns, now_ns >= l->report_ns);
    lbc_ctx_check_link(l->ctx);
}
