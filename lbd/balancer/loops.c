/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of a job. */
#include "lbd/balancer/loops.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lbd/balancer/explain.h"
#include "lbd/balancer/loops_state.h"
#include "lbd/balancer/steps.h"
#include "lbd/balancer/sums.h"
#include "lbd/balancer/trace.h"

#define LOOPS_MAX 4096 /* open at a time: what a rank's OPENs may make us allocate */

static void free_loop(struct lbd_loop *p)
{
    if (!p)
        return;
    lbp_balance_destroy(p->balance);
    lbp_stepped_destroy(p->stepped);
    lbp_firsts_destroy(p->firsts);
    free(p->open);
    free(p->opened);
    free(p->joined);
    free(p);
}

static double *copy(const double *x, uint32_t n)
{
    double *ret = calloc(n, sizeof(*ret));

    if (ret)
        memcpy(ret, x, n * sizeof(*ret));
    return ret;
}

int lbd_loops_create(const struct lbd_loops_config *config, struct lbd_loops **ret)
{
    struct lbd_loops *l = calloc(1, sizeof(*l));

    if (!l)
        return -ENOMEM;
    l->config = *config;
    l->config.weight = l->config.hardware = NULL; /* the caller's */
    l->rank = calloc(config->nranks, sizeof(*l->rank));
    l->wait = calloc(config->nranks, sizeof(*l->wait));
    l->seen = calloc(config->nranks, sizeof(*l->seen));
    if (config->weight)
        l->weight = copy(config->weight, config->nranks);
    if (config->hardware)
        l->hardware = copy(config->hardware, config->nranks);
    if (!l->rank || !l->seen || !l->wait || (config->weight && !l->weight) ||
        (config->hardware && !l->hardware)) {
        lbd_loops_destroy(l);
        return -ENOMEM;
    }
    l->config.weight = l->weight;
    l->config.hardware = l->hardware;
    *ret = l;
    return 0;
}

void lbd_loops_destroy(struct lbd_loops *l)
{
    if (!l)
        return;
    while (l->first) {
        struct lbd_loop *p = l->first;

        l->first = p->next;
        free_loop(p);
    }
    lbp_actions_fini(&l->actions);
    free(l->weight);
    free(l->hardware);
    free(l->rank);
    free(l->wait);
    free(l->seen);
    free(l);
}

static struct lbd_loop *find_loop(struct lbd_loops *l, uint32_t id)
{
    for (struct lbd_loop *p = l->first; p; p = p->next)
        if (p->id == id)
            return p;
    return NULL;
}

static struct lbd_loop *add_loop(struct lbd_loops *l, const struct lbw_open *open)
{
    struct lbd_loop *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->open = calloc(l->config.nranks, sizeof(*p->open));
    p->opened = calloc(l->config.nranks, sizeof(*p->opened));
    p->joined = calloc(l->config.nranks, sizeof(*p->joined));
    if (!p->open || !p->opened || !p->joined) {
        free_loop(p);
        return NULL;
    }
    p->id = open->loop;
    p->n = open->n;
    p->closed_passes = INT64_MAX;
    p->most_pass = -1;
    memcpy(p->name, open->name, sizeof(p->name));
    p->next = l->first;
    l->first = p;
    l->nloops++;
    l->stats.loops++;
    return p;
}

static void remove_loop(struct lbd_loops *l, struct lbd_loop *p)
{
    struct lbd_loop **at = &l->first;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    l->nloops--;
    lbd_sums_end(l, p);
    if (l->last == p)
        l->last = NULL;
    free_loop(p);
}

/* Turn what the policy decided into messages. */
static void carry_out(struct lbd_loops *l, const struct lbd_loop *p, int64_t now_ns)
{
    static struct lbw_rank_msg msg; /* large; the daemon has one thread */

    for (size_t i = 0; i < l->actions.n; i++) {
        const struct lbp_action *a = &l->actions.action[i];

        lbd_trace_action(l->config.trace, now_ns, p->id, a);
        switch (a->type) {
        case LBP_MOVE:
            msg.type = LBW_MOVE;
            msg.u.move = (struct lbw_move){p->id, a->pass, a->epoch, a->dest, a->first, a->last};
            l->config.send(l->config.arg, a->rank, &msg);
            msg.type = LBW_EXPECT;
            l->config.send(l->config.arg, a->dest, &msg);
            break;
        case LBP_INSTRUCT:
            msg.type = LBW_INSTRUCT;
            msg.u.instruct = (struct lbw_instruct){p->id, a->period_ns, a->low_ns, a->chunk_ns};
            l->config.send(l->config.arg, a->rank, &msg);
            break;
        case LBP_ANSWER:
            msg.type = LBW_ANSWER;
            msg.u.answer = (struct lbw_answer){p->id, a->asks};
            l->config.send(l->config.arg, a->rank, &msg);
            break;
        case LBP_FINAL:
            msg.type = LBW_FINAL;
            msg.u.final = (struct lbw_final){p->id, a->pass};
            for (uint32_t r = 0; r < l->config.nranks; r++)
                l->config.send(l->config.arg, r, &msg);
            break;
        }
    }
    l->actions.n = 0;
}

static void explain(struct lbd_loops *l, struct lbd_loop *p, int64_t now_ns)
{
    struct lbp_decisions one = {.n = 1};
    const struct lbp_decisions *d = p->stepped ? &one : lbp_balance_decisions(p->balance);

    if (!l->config.explain || d->n == 0 ||
        (p->stepped && !lbp_stepped_decided(p->stepped, &one.list[0])))
        return;
    if (p->stepped)
        lbp_stepped_seen(p->stepped, l->seen);
    else
        lbp_balance_seen(p->balance, l->seen);
    lbd_explain_add(l->config.explain, p->name, d, l->seen, l->config.nranks, l->config.trace,
                    now_ns);
}

/* An OPEN may come again, with other arrays, as long as the loop has not started. */
static int take_open(struct lbd_loops *l, uint32_t rank, const struct lbw_open *open,
                     int64_t now_ns, struct lbx_error *err)
{
    struct lbd_loop *p = find_loop(l, open->loop);

    if (!p && l->nloops >= LOOPS_MAX)
        return lbx_error_set(err, -EPROTO, "rank %" PRIu32 " opens more than %d loops at a time",
                             rank, LOOPS_MAX);
    if (!p && !(p = add_loop(l, open)))
        return lbx_error_set(err, -ENOMEM, "no memory for loop \"%s\"", open->name);
    if (p->n != open->n)
        return lbx_error_set(err, -EPROTO,
                             "rank %" PRIu32 " opens loop \"%s\" with %" PRId64
                             " iterations, others with %" PRId64,
                             rank, open->name, open->n, p->n);
    if (p->joined[rank])
        return lbx_error_set(err, -EPROTO, "rank %" PRIu32 " opens loop \"%s\" after it began",
                             rank, open->name);
    if (p->nopened > 0 && p->kind != open->kind)
        return lbx_error_set(err, -EPROTO, "loop \"%s\" is stepped or pipelined on some ranks only",
                             open->name);
    p->kind = open->kind;
    if (!p->opened[rank])
        p->nopened++;
    p->opened[rank] = true;
    p->open[rank] = *open;
    if (open->kind != LBW_DOALL && p->nopened == l->config.nranks && !p->stepped)
        return lbd_steps_begin(&l->config, p->open, now_ns, &p->stepped, &p->firsts, err);
    return 0;
}

static int begin_balance(struct lbd_loops *l, struct lbd_loop *p, uint32_t rank, int64_t now_ns,
                         struct lbx_error *err)
{
    struct lbp_balance_config config = {
        .nranks = l->config.nranks,
        .n = p->n,
        .row_bytes = p->open[rank].row_bytes,
        .weight = l->weight,
        .hardware = l->hardware,
        .params = l->config.params,
        .t_interact_ns = l->config.t_interact_ns,
        .stable_ns = l->config.stable_ns,
        .first_epoch = 1,
    };

    p->row_bytes = config.row_bytes;
    return lbp_balance_create(&config, now_ns, &p->balance, err);
}

/* A rank has closed the loop, and another has begun a pass that will never end: all are told. */
static void tell_closed(struct lbd_loops *l, struct lbd_loop *p)
{
    struct lbw_rank_msg msg = {.type = LBW_CLOSED, .u.closed = {p->id, p->closed_passes}};

    if (p->told_closed || p->most_pass < p->closed_passes)
        return;
    p->told_closed = true;
    for (uint32_t r = 0; r < l->config.nranks; r++)
        l->config.send(l->config.arg, r, &msg);
}

/* The wire's lists have the shape of the policy's; only the types differ. */
static int take_report(struct lbd_loops *l, uint32_t rank, const struct lbw_report *m,
                       int64_t now_ns, struct lbx_error *err)
{
    static struct lbp_sample sample[LBW_SAMPLES_MAX]; /* one thread */
    static struct lbp_done done[LBW_DONE_MAX];
    struct lbd_loop *p = find_loop(l, m->loop);
    struct lbp_report report;
    int rc = 0;

    if (!p || !p->opened[rank] || p->open[rank].kind != LBW_DOALL)
        return lbx_error_set(err, -EPROTO, "rank %" PRIu32 " reports of a loop it has not opened",
                             rank);
    for (size_t i = 0; i < m->nsamples; i++)
        sample[i] = (struct lbp_sample){m->sample[i].first, m->sample[i].last, m->sample[i].wall_ns,
                                        m->sample[i].cpu_ns};
    for (size_t i = 0; i < m->ndone; i++)
        done[i] = (struct lbp_done){m->done[i].epoch,      (enum lbp_done_role)m->done[i].role,
                                    m->done[i].iterations, m->done[i].bytes,
                                    m->done[i].wall_ns,    m->done[i].cpu_ns};
    report = (struct lbp_report){
        .rank = rank,
        .pass = m->pass,
        .dry = (m->flags & LBW_DRY) != 0,
        .low = (m->flags & LBW_LOW) != 0,
        .executed = m->executed,
        .remaining = m->remaining,
        .span = m->span,
        .nspans = m->nspans,
        .sample = sample,
        .nsamples = m->nsamples,
        .done = done,
        .ndone = m->ndone,
        .asks = (m->flags & LBW_WAITS) != 0 ? m->now_ns : 0,
    };
    if (!p->balance)
        rc = begin_balance(l, p, rank, now_ns, err);
    else if (!p->joined[rank] && p->open[rank].row_bytes != p->row_bytes) /* they could not move */
        return lbx_error_set(err, -EPROTO,
                             "rank %" PRIu32 " has rows of %" PRId64
                             " bytes in loop \"%s\", others of %" PRId64,
                             rank, p->open[rank].row_bytes, p->name, p->row_bytes);
    if (rc == 0 && !p->joined[rank]) {
        rc = lbp_balance_join(p->balance, rank, p->open[rank].owned_first, p->open[rank].owned_last,
                              now_ns, &l->actions);
        p->joined[rank] = true;
        lbd_sums_cost(l, p, rank, m);
    }
    if (rc == 0)
        rc = lbp_balance_report(p->balance, &report, now_ns, &l->actions);
    if (rc < 0)
        return lbx_error_set(err, rc == -EINVAL ? -EPROTO : rc,
                             "loop \"%s\": rank %" PRIu32 " reports what cannot be", p->name, rank);
    if (m->pass > p->most_pass)
        p->most_pass = m->pass;
    tell_closed(l, p);
    lbd_sums_report(l, p, rank, m);
    explain(l, p, now_ns);
    carry_out(l, p, now_ns);
    return 0;
}

/* Those that come before the last rank's OPEN are passed over. */
static int take_step(struct lbd_loops *l, uint32_t rank, const struct lbw_step *m, int64_t now_ns,
                     struct lbx_error *err)
{
    struct lbd_loop *p = find_loop(l, m->loop);
    int rc;

    if (!p || !p->opened[rank] || p->open[rank].kind == LBW_DOALL)
        return lbx_error_set(err, -EPROTO,
                             "rank %" PRIu32 " reports steps of a loop it has not opened", rank);
    if (!p->stepped) {
        if (l->config.params.sync)
            lbd_steps_answer(&l->config, p->id, rank, m->step);
        return 0;
    }
    lbd_sums_step(l, p, rank, m);
    rc = lbd_steps_take(&l->config, p->stepped, p->firsts, rank, m, now_ns, err);
    explain(l, p, now_ns);
    return rc;
}

static int take_close(struct lbd_loops *l, uint32_t rank, const struct lbw_close *m,
                      struct lbx_error *err)
{
    struct lbd_loop *p = find_loop(l, m->loop);

    if (!p || !p->opened[rank])
        return lbx_error_set(err, -EPROTO, "rank %" PRIu32 " closes a loop that is not open", rank);
    p->opened[rank] = false;
    p->nopened--;
    if (p->open[rank].kind == LBW_DOALL && m->passes < p->closed_passes)
        p->closed_passes = m->passes;
    tell_closed(l, p);
    lbd_sums_close(l, p, rank, m);
    if (++p->nclosed == l->config.nranks)
        remove_loop(l, p);
    return 0;
}

int lbd_loops_message(struct lbd_loops *l, uint32_t rank, const struct lbw_rank_msg *msg,
                      int64_t now_ns, struct lbx_error *err)
{
    lbd_trace_message(l->config.trace, now_ns, rank, msg);
    switch (msg->type) {
    case LBW_OPEN:
        return take_open(l, rank, &msg->u.open, now_ns, err);
    case LBW_REPORT:
        return take_report(l, rank, &msg->u.report, now_ns, err);
    case LBW_STEP:
        return take_step(l, rank, &msg->u.step, now_ns, err);
    case LBW_CLOSE:
        return take_close(l, rank, &msg->u.close, err);
    default:
        return lbx_error_set(err, -EPROTO, "rank %" PRIu32 " sends a message of type %d", rank,
                             (int)msg->type);
    }
}

int lbd_loops_tick(struct lbd_loops *l, int64_t now_ns, struct lbx_error *err)
{
    for (struct lbd_loop *p = l->first; p; p = p->next) {
        int rc;

        if (!p->balance || lbp_balance_wake_ns(p->balance) > now_ns)
            continue;
        rc = lbp_balance_tick(p->balance, now_ns, &l->actions);
        if (rc < 0)
            return lbx_error_set(err, rc, "loop \"%s\": no memory to plan", p->name);
        explain(l, p, now_ns);
        carry_out(l, p, now_ns);
    }
    return 0;
}

int64_t lbd_loops_wake_ns(const struct lbd_loops *l)
{
    int64_t wake_ns = INT64_MAX;

    for (const struct lbd_loop *p = l->first; p; p = p->next) {
        int64_t t = p->balance ? lbp_balance_wake_ns(p->balance) : INT64_MAX;

        if (t < wake_ns)
            wake_ns = t;
    }
    return wake_ns;
}
