/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of a job. */
#include "lbd/balancer/loops.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lbd/balancer/steps.h"
#include "lbd/balancer/explain.h"
#include "lbd/balancer/trace.h"
#include "policy/balance.h"

#define LOOPS_MAX 4096 /* open at a time: what a rank's OPENs may make us allocate */

struct loop {
    uint32_t id;
    char name[LBW_NAME_MAX];
    int64_t n;
    struct lbw_open *open; /* [nranks] as each rank last told */
    bool *opened, *joined; /* [nranks] */
    uint32_t nopened, nclosed;
    struct lbw_close sum; /* of the ranks that have closed it; passes: of the last */
    double elapsed_ns;    /* of the one that was in it longest */
    double cost_ns;       /* of an iteration on a reference core, sum of the ranks' first reports */
    uint32_t ncosts;
    struct lbp_balance *balance; /* from the first report on */
    struct lbp_stepped *stepped; /* instead, for a stepped loop: when all have opened it */
    struct lbp_firsts *firsts;   /* beside it */
    struct loop *next;
};

struct lbd_loops {
    struct lbd_loops_config config;
    double *weight, *hardware;
    struct loop *first;
    size_t nloops;
    struct lbp_actions actions;
    struct loop *last;            /* reported last; NULL when it is closed */
    struct lbd_loops_stats stats; /* of closed loops; what is not a sum as it was last */
    struct lbd_rank_stats *rank;  /* [nranks] */
    struct wait *wait;            /* [nranks] */
    struct lbp_seen *seen;        /* [nranks] scratch */
};

/* A rank's waiting is told per pass, as a sum. */
struct wait {
    uint32_t loop;
    int64_t pass, told_ns;
};

/* What ranks tell are only numbers >= 0. */
static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void free_loop(struct loop *p)
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
        struct loop *p = l->first;

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

static struct loop *find_loop(struct lbd_loops *l, uint32_t id)
{
    for (struct loop *p = l->first; p; p = p->next)
        if (p->id == id)
            return p;
    return NULL;
}

static struct loop *add_loop(struct lbd_loops *l, const struct lbw_open *open)
{
    struct loop *p = calloc(1, sizeof(*p));

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
    memcpy(p->name, open->name, sizeof(p->name));
    p->next = l->first;
    l->first = p;
    l->nloops++;
    l->stats.loops++;
    return p;
}

/* Add a loop's sums, and put its other figures in place. */
static void add_stats(const struct loop *p, struct lbd_loops_stats *sum)
{
    struct lbp_balance_stats s;
    struct lbp_stepped_stats t;

    if (p->stepped) {
        lbp_stepped_stats(p->stepped, &t);
        for (int i = 0; i < LBP_REASONS; i++)
            sum->decisions[i] += t.decisions[i];
        sum->moved_iterations += t.moved_iterations;
        sum->moved_bytes += t.moved_bytes;
        sum->load_balance_ratio = t.load_balance_ratio;
        sum->period_ns = t.period_ns;
    }
    if (!p->balance)
        return;
    lbp_balance_stats(p->balance, &s);
    for (int i = 0; i < LBP_REASONS; i++)
        sum->decisions[i] += s.decisions[i];
    sum->moved_iterations += s.moved_iterations;
    sum->moved_bytes += s.moved_bytes;
    sum->load_balance_ratio = s.load_balance_ratio;
    sum->period_ns = s.period_ns;
    sum->chunk_ns = s.chunk_ns;
}

/* A loop is over: what it took, and what it would have with the first blocks. */
/*
 * What the loop should have taken by what was known at its start: its ranks' speeds as their lbds told, and what an iteration
 * cost in their first reports.  0: no lbd told.
 */
static double expected_ns(const struct lbd_loops *l, const struct loop *p)
{
    double speed = 0;

    for (uint32_t r = 0; l->weight && r < l->config.nranks; r++)
        speed += l->weight[r];
    if (speed <= 0 || p->ncosts == 0)
        return 0;
    return (double)p->n * (double)p->sum.passes * p->cost_ns / p->ncosts / speed;
}

static void note_cost(const struct lbd_loops *l, struct loop *p, uint32_t rank,
                      const struct lbw_report *m)
{
    double wall_ns = 0, iterations = 0;

    for (size_t i = 0; i < m->nsamples; i++) {
        iterations += (double)(m->sample[i].last - m->sample[i].first);
        wall_ns += (double)m->sample[i].wall_ns;
    }
    if (!l->weight || iterations <= 0)
        return;
    p->cost_ns += wall_ns / iterations * l->weight[rank];
    p->ncosts++;
}

static void sum_up(const struct lbd_loops *l, struct lbd_loops_stats *sum, const struct loop *p)
{
    struct lbp_firsts_answer firsts = {0};
    double first_ns = 0;

    if (p->stepped) {
        lbp_firsts_ask(p->firsts, &firsts);
        first_ns = p->elapsed_ns + firsts.saved_ns;
    } else if (p->balance) {
        first_ns = lbp_balance_first_ns(p->balance, &firsts.balance_ratio) * (double)p->sum.passes;
    }
    if (first_ns > 0 && firsts.balance_ratio > 0) { /* long loops weigh more */
        double weight = sum->first_ns > 0 ? sum->first_ns / (sum->first_ns + first_ns) : 0;

        sum->balance_before_ratio =
            weight * sum->balance_before_ratio + (1 - weight) * firsts.balance_ratio;
    }

    sum->foreseen_ns += expected_ns(l, p);
    sum->passes = plus(sum->passes, p->sum.passes);
    sum->elapsed_ns += p->elapsed_ns;
    sum->first_ns += first_ns > 0 ? first_ns : p->elapsed_ns;
    sum->inside_ns +=
        (double)p->sum.compute_ns + (double)p->sum.wait_ns + (double)p->sum.library_ns;
    sum->wait_ns += (double)p->sum.wait_ns;
    sum->cpu_ns += (double)p->sum.cpu_ns;
    sum->library_cpu_ns += (double)p->sum.library_cpu_ns;
}

static void remove_loop(struct lbd_loops *l, struct loop *p)
{
    struct loop **at = &l->first;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    l->nloops--;
    add_stats(p, &l->stats);
    sum_up(l, &l->stats, p);
    if (l->last == p)
        l->last = NULL;
    free_loop(p);
}

/* Turn what the policy decided into messages. */
static void carry_out(struct lbd_loops *l, const struct loop *p, int64_t now_ns)
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

static void explain(struct lbd_loops *l, struct loop *p, int64_t now_ns)
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
    struct loop *p = find_loop(l, open->loop);

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
    for (uint32_t r = 0; r < l->config.nranks; r++)
        if (p->opened[r] && p->open[r].kind != open->kind)
            return lbx_error_set(
                err, -EPROTO, "loop \"%s\" is stepped or pipelined on some ranks only", open->name);
    if (!p->opened[rank])
        p->nopened++;
    p->opened[rank] = true;
    p->open[rank] = *open;
    if (open->kind != LBW_DOALL && p->nopened == l->config.nranks && !p->stepped)
        return lbd_steps_begin(&l->config, p->open, now_ns, &p->stepped, &p->firsts, err);
    return 0;
}

static int begin_balance(struct lbd_loops *l, struct loop *p, uint32_t rank, int64_t now_ns,
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

    return lbp_balance_create(&config, now_ns, &p->balance, err);
}

/* Sums for the job's figures. */
static void count_report(struct lbd_loops *l, struct loop *p, uint32_t rank,
                         const struct lbw_report *m)
{
    struct lbd_rank_stats *r = &l->rank[rank];
    struct wait *w = &l->wait[rank];
    int64_t wall_ns = 0, iterations = 0;
    bool same = w->loop == m->loop && w->pass == m->pass;

    for (size_t i = 0; i < m->nsamples; i++) {
        iterations += m->sample[i].last - m->sample[i].first;
        wall_ns += m->sample[i].wall_ns;
    }
    for (size_t i = 0; i < m->ndone; i++)
        l->stats.moving_ns += m->done[i].cpu_ns;
    r->iterations += iterations;
    r->compute_ns += wall_ns;
    if (wall_ns > 0) {
        r->rate_hz = (double)iterations * 1e9 / (double)wall_ns;
        l->stats.chunk_iterations = (double)iterations / (double)m->nsamples;
    }
    r->wait_ns += m->wait_ns - (same && w->told_ns <= m->wait_ns ? w->told_ns : 0);
    *w = (struct wait){m->loop, m->pass, m->wait_ns};
    l->last = p;
}

/* The wire's lists have the shape of the policy's; only the types differ. */
static int take_report(struct lbd_loops *l, uint32_t rank, const struct lbw_report *m,
                       int64_t now_ns, struct lbx_error *err)
{
    static struct lbp_sample sample[LBW_SAMPLES_MAX]; /* one thread */
    static struct lbp_done done[LBW_DONE_MAX];
    struct loop *p = find_loop(l, m->loop);
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
    if (rc == 0 && !p->joined[rank]) {
        rc = lbp_balance_join(p->balance, rank, p->open[rank].owned_first, p->open[rank].owned_last,
                              now_ns, &l->actions);
        p->joined[rank] = true;
        note_cost(l, p, rank, m);
    }
    if (rc == 0)
        rc = lbp_balance_report(p->balance, &report, now_ns, &l->actions);
    if (rc < 0)
        return lbx_error_set(err, rc == -EINVAL ? -EPROTO : rc,
                             "loop \"%s\": rank %" PRIu32 " reports what cannot be", p->name, rank);
    count_report(l, p, rank, m);
    explain(l, p, now_ns);
    carry_out(l, p, now_ns);
    return 0;
}

static void count_step(struct lbd_loops *l, struct loop *p, uint32_t rank, const struct lbw_step *m)
{
    double iterations = (double)m->steps * (double)(m->last - m->first);
    struct lbd_rank_stats *r = &l->rank[rank];

    if (iterations < (double)(INT64_MAX - r->iterations) / 2)
        r->iterations += (int64_t)iterations;
    if (m->wall_ns < INT64_MAX - r->compute_ns)
        r->compute_ns += m->wall_ns;
    if (m->wait_ns < INT64_MAX - r->wait_ns)
        r->wait_ns += m->wait_ns;
    if (m->move_cpu_ns < INT64_MAX - l->stats.moving_ns)
        l->stats.moving_ns += m->move_cpu_ns;
    if (m->wall_ns > 0)
        r->rate_hz = iterations * 1e9 / (double)m->wall_ns;
    l->last = p;
}

/* Those that come before the last rank's OPEN are passed over. */
static int take_step(struct lbd_loops *l, uint32_t rank, const struct lbw_step *m, int64_t now_ns,
                     struct lbx_error *err)
{
    struct loop *p = find_loop(l, m->loop);
    int rc;

    if (!p || !p->opened[rank] || p->open[rank].kind == LBW_DOALL)
        return lbx_error_set(err, -EPROTO,
                             "rank %" PRIu32 " reports steps of a loop it has not opened", rank);
    if (!p->stepped) {
        if (l->config.params.sync)
            lbd_steps_answer(&l->config, p->id, rank, m->step);
        return 0;
    }
    count_step(l, p, rank, m);
    rc = lbd_steps_take(&l->config, p->stepped, p->firsts, rank, m, now_ns, err);
    explain(l, p, now_ns);
    return rc;
}

static void count_close(struct lbd_loops *l, struct loop *p, uint32_t rank,
                        const struct lbw_close *m)
{
    struct lbd_rank_stats *r = &l->rank[rank];
    double inside_ns = (double)m->compute_ns + (double)m->wait_ns + (double)m->library_ns;

    r->closed.iterations = plus(r->closed.iterations, m->iterations);
    r->closed.cpu_ns = plus(r->closed.cpu_ns, m->cpu_ns);
    r->closed.wait_ns = plus(r->closed.wait_ns, m->wait_ns);
    r->closed.moves_in = plus(r->closed.moves_in, m->moves_in);
    r->closed.bytes_in = plus(r->closed.bytes_in, m->bytes_in);
    p->sum.passes = m->passes;
    p->sum.compute_ns = plus(p->sum.compute_ns, m->compute_ns);
    p->sum.wait_ns = plus(p->sum.wait_ns, m->wait_ns);
    p->sum.library_ns = plus(p->sum.library_ns, m->library_ns);
    p->sum.cpu_ns = plus(p->sum.cpu_ns, m->cpu_ns);
    p->sum.library_cpu_ns = plus(p->sum.library_cpu_ns, m->library_cpu_ns);
    if (inside_ns > p->elapsed_ns)
        p->elapsed_ns = inside_ns;
}

static int take_close(struct lbd_loops *l, uint32_t rank, const struct lbw_close *m,
                      struct lbx_error *err)
{
    struct loop *p = find_loop(l, m->loop);

    if (!p || !p->opened[rank])
        return lbx_error_set(err, -EPROTO, "rank %" PRIu32 " closes a loop that is not open", rank);
    p->opened[rank] = false;
    p->nopened--;
    count_close(l, p, rank, m);
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
    for (struct loop *p = l->first; p; p = p->next) {
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

    for (const struct loop *p = l->first; p; p = p->next) {
        int64_t t = p->balance ? lbp_balance_wake_ns(p->balance) : INT64_MAX;

        if (t < wake_ns)
            wake_ns = t;
    }
    return wake_ns;
}

void lbd_loops_stats(const struct lbd_loops *l, struct lbd_loops_stats *ret)
{
    *ret = l->stats;
    for (const struct loop *p = l->first; p; p = p->next)
        if (p != l->last)
            add_stats(p, ret);
    if (l->last)
        add_stats(l->last, ret);
}

int lbd_loops_rank_stats(const struct lbd_loops *l, struct lbd_rank_stats *ret)
{
    double *share = calloc(l->config.nranks, sizeof(*share)), shares = 0, iterations = 0;

    if (!share)
        return -ENOMEM;
    if (l->last && l->last->balance)
        lbp_balance_ranks(l->last->balance, NULL, share);
    if (l->last && l->last->stepped)
        lbp_stepped_ranks(l->last->stepped, NULL, share);
    for (uint32_t r = 0; r < l->config.nranks; r++) {
        shares += share[r];
        iterations += (double)l->rank[r].iterations;
    }
    for (uint32_t r = 0; r < l->config.nranks; r++) {
        ret[r] = l->rank[r];
        ret[r].share_ratio = share[r];
        if (shares == 0 && iterations > 0) /* no loop is open: who did how much */
            ret[r].share_ratio = (double)ret[r].iterations / iterations;
    }
    free(share);
    return 0;
}
