/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated job with a stepped or pipelined loop. */
#include "sim/step.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/adjacent.h"
#include "policy/firsts.h"

#define SETTLED 1.05
#define QUOTA_NS 20e6
#define READ_NS INT64_C(1000000000) /* a rank reads its quota so often, as in libclient/quota.c */

struct mail {
    int64_t at_ns, order;
    struct lbp_stepped_report r;
    struct lbp_sample sample[SIM_STEP_PARTS];
};

struct rank {
    struct sim_host host;
    int64_t reported_ns;
    double quota_cpus; /* as it read it last */
    int64_t quota_read_ns;
    struct lbp_stepped_report r; /* grows until it is sent */
    double wall, cpu;
};

struct world {
    const struct sim_step_config *c;
    struct lbp_stepped *policy; /* NULL: the bare loop */
    struct lbp_firsts *firsts;
    bool told; /* bounds come from config->bounds */
    struct rank *rank;
    double *before;               /* [n + 1] work of [0, i) */
    double longest;               /* time that one iteration takes on the slowest host */
    int64_t *bound, *next, *undo; /* [nranks + 1]; undo: before the last plan */
    int64_t *ready, *start;       /* [nranks] */
    int64_t *blocks;              /* [m] when the rank before ended each block */
    struct mail *mail;            /* heap */
    size_t nmail, size;
    int64_t order, now_ns, period_ns,
        plan_ns; /* plan_ns: all have heard of next; INT64_MAX: no plan */
    uint64_t epoch, planned;
    int64_t block, planned_block, step;
    unsigned seed;
    struct sim_step_result result;
};

static void fail(struct world *w, const char *why)
{
    if (!w->result.why)
        w->result.why = why;
}

static bool sooner(const struct mail *a, const struct mail *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void post(struct world *w, const struct mail *m)
{
    size_t i = w->nmail;

    if (w->nmail == w->size) {
        size_t size = w->size ? 2 * w->size : 64;
        struct mail *grown = realloc(w->mail, size * sizeof(*grown));

        if (!grown) {
            fail(w, "out of memory");
            return;
        }
        w->mail = grown;
        w->size = size;
    }
    w->nmail++;
    for (; i > 0 && sooner(m, &w->mail[(i - 1) / 2]); i = (i - 1) / 2)
        w->mail[i] = w->mail[(i - 1) / 2];
    w->mail[i] = *m;
}

static struct mail next_mail(struct world *w)
{
    struct mail top = w->mail[0], last = w->mail[--w->nmail];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < w->nmail; i = child) {
        if (child + 1 < w->nmail && sooner(&w->mail[child + 1], &w->mail[child]))
            child++;
        if (!sooner(&w->mail[child], &last))
            break;
        w->mail[i] = w->mail[child];
    }
    if (w->nmail > 0)
        w->mail[i] = last;
    return top;
}

/* CPU work of a rank's whole block in one step. */
static double block_cpu(const struct world *w, uint32_t r)
{
    double cold = w->step == 0 && w->c->cold > 0 ? w->c->cold : 1;

    return cold * (w->before[w->bound[r + 1]] - w->before[w->bound[r]]) /
           sim_host_hardware(&w->rank[r].host);
}

static void ran(struct world *w, uint32_t r, int64_t from, int64_t to, double cpu)
{
    double wrong = w->c->cpu_noise * (2.0 * rand_r(&w->seed) / RAND_MAX - 1);

    w->rank[r].wall += (double)(to - from);
    w->rank[r].cpu += cpu * (1 + wrong);
}

/* All blocks at once; returns when the last ends. */
static int64_t barrier_step(struct world *w)
{
    int64_t end = w->now_ns;

    for (uint32_t r = 0; r < w->c->nranks; r++) {
        double cpu = block_cpu(w, r);

        w->ready[r] = w->now_ns;
        if (cpu > 0) {
            w->ready[r] = sim_host_run(&w->rank[r].host, w->start[r], cpu);
            ran(w, r, w->start[r], w->ready[r], cpu);
        }
        end = w->ready[r] > end ? w->ready[r] : end;
    }
    return end;
}

/* Block by block from rank to rank. */
static int64_t pipeline_step(struct world *w)
{
    const struct sim_step_config *c = w->c;
    int64_t end = w->now_ns, m = c->pipelined, blocks = (m + w->block - 1) / w->block;
    bool first = true;

    for (uint32_t r = 0; r < c->nranks; r++) {
        double cpu = block_cpu(w, r);
        int64_t at = w->start[r];

        w->ready[r] = w->now_ns;
        if (w->bound[r] == w->bound[r + 1])
            continue;
        for (int64_t j = 0; j < blocks; j++) {
            int64_t size = j + 1 < blocks ? w->block : m - j * w->block;
            double part = cpu * (double)size / (double)m;
            int64_t shift = c->shift_fixed_ns + (int64_t)(c->shift_incr_ns * (double)size);
            int64_t from = first || w->blocks[j] < at ? at : w->blocks[j];

            from += first ? 0 : shift; /* receiving keeps the rank busy, as in the source's model */

            at = sim_host_run(&w->rank[r].host, from, part);
            ran(w, r, from, at, part);
            w->blocks[j] = at;
        }
        first = false;
        w->ready[r] = at;
        end = at > end ? at : end;
    }
    return end;
}

/* The last step's block, timed in parts. */
static void time_parts(struct world *w, uint32_t r, struct mail *m)
{
    int64_t first = w->bound[r], size = w->bound[r + 1] - first, parts = w->c->parts;

    if (size < parts)
        parts = size;
    for (int64_t k = 0; k < parts; k++) {
        int64_t a = first + size * k / parts, b = first + size * (k + 1) / parts;
        double cold = w->step == 0 && w->c->cold > 0 ? w->c->cold : 1;
        double cpu = cold * (w->before[b] - w->before[a]) / sim_host_hardware(&w->rank[r].host);
        double wrong = w->c->cpu_noise * (2.0 * rand_r(&w->seed) / RAND_MAX - 1);

        m->sample[k] = (struct lbp_sample){a, b, (int64_t)cpu, (int64_t)(cpu * (1 + wrong))};
    }
    m->r.nsamples = (size_t)parts;
}

static void tell_quota(const struct world *w, uint32_t r, struct lbp_stepped_report *to)
{
    struct rank *rank = &w->rank[r];
    int64_t now = w->ready[r];

    if (w->c->quotas_untold)
        return;
    if (rank->quota_read_ns == 0 || now - rank->quota_read_ns >= READ_NS) {
        rank->quota_cpus = sim_host_quota(&rank->host, now);
        rank->quota_read_ns = now;
    }
    to->quota_cpus = rank->quota_cpus;
    to->quota_period_ns = rank->quota_cpus > 0 ? sim_host_period(&rank->host) : 0;
    to->quota_group = r + 1;
}

static void send(struct world *w, uint32_t r, int64_t end)
{
    struct rank *rank = &w->rank[r];
    struct mail m = {.at_ns = w->ready[r] + w->c->latency_ns, .order = w->order++};

    rank->r.rank = r;
    rank->r.step = w->step + 1;
    rank->r.first = w->bound[r];
    rank->r.last = w->bound[r + 1];
    rank->r.epoch = w->epoch;
    rank->r.wall_ns = (int64_t)rank->wall;
    rank->r.cpu_ns = (int64_t)rank->cpu;
    tell_quota(w, r, &rank->r);
    m.r = rank->r;
    time_parts(w, r, &m);
    post(w, &m);
    rank->r = (struct lbp_stepped_report){.shift_iterations = -1};
    rank->wall = rank->cpu = 0;
    rank->reported_ns = end;
}

/* A step ended: whoever is due reports. */
static void report(struct world *w, int64_t end)
{
    const struct sim_step_config *c = w->c;

    for (uint32_t r = 0; r < c->nranks; r++) {
        struct rank *rank = &w->rank[r];

        rank->r.steps++;
        rank->r.wait_ns += end - w->ready[r];
        w->start[r] = end + c->latency_ns + c->exchange_ns;
        if (!w->policy || end - rank->reported_ns < w->period_ns)
            continue;
        if (c->kind == LBP_DOACROSS && r > 0) {
            rank->r.shift_iterations = w->step % 2 ? w->block : 0;
            rank->r.shift_ns =
                c->shift_fixed_ns + (int64_t)(c->shift_incr_ns * (double)rank->r.shift_iterations);
        }
        send(w, r, end);
        w->start[r] = sim_host_run(&rank->host, w->start[r], c->hook_cpu_ns);
    }
}

static void trace_plan(const struct world *w, const struct lbp_stepped_action *a, int64_t now_ns)
{
    printf("%9.3f  plan %" PRIu64 " step %" PRId64 " by %" PRId64 " block %" PRId64 " bounds",
           (double)now_ns / 1e6, a->epoch, w->step, a->at_step, a->block);
    for (uint32_t r = 0; r <= w->c->nranks; r++)
        printf(" %" PRId64, a->bound[r]);
    puts("");
}

/* What was decided last, when that was now. */
static void trace_decision(const struct world *w, int64_t now_ns)
{
    static const char *const reason[] = {"proportional", "dry",      "below threshold",
                                         "unprofitable", "filtered", "unstable"};
    struct lbp_stepped_stats s;

    lbp_stepped_stats(w->policy, &s);
    if (s.last.at_ns == now_ns)
        printf("%9.3f  decision %s before_ms=%.3f after_ms=%.3f least=%.3f cost_ms=%.3f "
               "benefit_ms=%.3f account_ms=%.3f\n",
               (double)now_ns / 1e6, reason[s.last.reason], s.last.before_ns / 1e6,
               s.last.after_ns / 1e6, s.last.least, s.last.cost_ns / 1e6, s.last.benefit_ns / 1e6,
               s.account_ns / 1e6);
}

static void take_plan(struct world *w, const struct lbp_stepped_action *a, int64_t now_ns)
{
    if (a->epoch == w->planned) /* once more: some have not told that they applied it */
        return;
    if (a->epoch != w->planned + 1 || w->plan_ns != INT64_MAX)
        fail(w, "a plan out of order");
    memcpy(w->next, a->bound, (w->c->nranks + 1) * sizeof(*w->next));
    w->planned = a->epoch;
    w->planned_block = a->block;
    w->plan_ns = now_ns + w->c->latency_ns;
    if (w->c->trace)
        trace_plan(w, a, now_ns);
}

/* What has come to the balancer by now. */
static void balancer(struct world *w)
{
    while (w->nmail > 0 && w->mail[0].at_ns <= w->now_ns && !w->result.why) {
        struct mail m = next_mail(w);
        struct lbp_stepped_action action[LBP_STEPPED_ACTIONS];
        size_t n = 0;

        w->result.reports++;
        m.r.sample = m.sample;
        if (lbp_stepped_report(w->policy, &m.r, m.at_ns, action, &n) < 0)
            fail(w, "the balancer refused a report");
        lbp_firsts_report(w->firsts, &m.r, w->c->pipelined > 0 ? w->block : 0, m.at_ns);
        if (w->c->trace)
            trace_decision(w, m.at_ns);
        if (w->c->decided)
            w->c->decided(w->c->arg, w->policy, m.at_ns);
        for (size_t i = 0; i < n; i++)
            if (action[i].type == LBP_STEPPED_PLAN)
                take_plan(w, &action[i], m.at_ns);
            else if (action[i].type == LBP_STEPPED_INSTRUCT)
                w->period_ns = action[i].period_ns;
    }
}

/* Does a bound go back over more than half of its last way? */
static bool reverses(const struct world *w)
{
    for (uint32_t r = 1; r < w->c->nranks; r++) {
        int64_t was = w->bound[r] - w->undo[r], is = w->next[r] - w->bound[r];
        int64_t width = w->c->n / w->c->nranks / 20 + 1;

        if (llabs(is) > width && ((was > 0 && is < -was / 2) || (was < 0 && is > -was / 2)))
            return true;
    }
    return false;
}

/* Rows of a rank's old block that it does not keep; and those with the new ones that it had not. */
static int64_t rows_given(const struct world *w, uint32_t r)
{
    int64_t first = w->bound[r] > w->next[r] ? w->bound[r] : w->next[r];
    int64_t last = w->bound[r + 1] < w->next[r + 1] ? w->bound[r + 1] : w->next[r + 1];

    return w->bound[r + 1] - w->bound[r] - (last > first ? last - first : 0);
}

static int64_t rows_moved(const struct world *w, uint32_t r)
{
    int64_t given = rows_given(w, r);

    return 2 * given + (w->next[r + 1] - w->next[r]) - (w->bound[r + 1] - w->bound[r]);
}

/* Between two steps: rows travel from their old owners to the new ones, all at once; all wait. */
static void apply(struct world *w)
{
    const struct sim_step_config *c = w->c;
    int64_t begin = w->now_ns, end = begin;
    size_t n = 0;

    for (uint32_t r = 0; r < c->nranks; r++) {
        w->ready[r] = begin;
        if (w->rank[r].r.steps > 0)
            send(w, r, begin);
    }
    for (uint32_t r = 0; r < c->nranks; r++) {
        int64_t rows = rows_moved(w, r), out = rows > 0 ? rows_given(w, r) : 0;

        if (rows == 0)
            continue;
        w->ready[r] +=
            c->move_fixed_ns + c->latency_ns + rows * c->row_ns + (int64_t)c->move_cpu_ns;
        end = w->ready[r] > end ? w->ready[r] : end;
        w->rank[r].r.move_bytes = rows * c->row_bytes;
        w->result.moved_iterations += out;
        n++;
    }
    for (uint32_t r = 0; r < c->nranks; r++) {
        w->rank[r].r.move_wall_ns = n > 0 ? end - begin : 0; /* the ranks wait for each other */
        w->rank[r].r.move_cpu_ns = (int64_t)c->move_cpu_ns;
        w->start[r] += end - begin;
    }
    if (n > 0) {
        w->result.reversals += reverses(w);
        memcpy(w->undo, w->bound, (c->nranks + 1) * sizeof(*w->undo));
        w->result.plans++;
        w->result.last_plan_ns = begin;
    }
    memcpy(w->bound, w->next, (c->nranks + 1) * sizeof(*w->bound));
    w->epoch = w->planned;
    if (w->planned_block > 0 && c->block <= 0)
        w->block = w->planned_block;
    w->plan_ns = INT64_MAX;
    w->now_ns = end;
    if (c->trace)
        printf("%9.3f  applied %" PRIu64 " in %.3f ms\n", (double)begin / 1e6, w->epoch,
               (double)(end - begin) / 1e6);
}

static double cores(const struct world *w, int64_t now_ns)
{
    double sum = 0;

    for (uint32_t r = 0; r < w->c->nranks; r++)
        sum += sim_host_cores(&w->rank[r].host, now_ns) * sim_host_hardware(&w->rank[r].host);
    return sum;
}

/* What a step takes at best at these speeds, but for one iteration and a period of a quota; and the pipeline's filling. */
static double best_step(const struct world *w, int64_t from)
{
    const struct sim_step_config *c = w->c;
    double best = w->before[c->n] / cores(w, from) + w->longest;
    double blocks = c->pipelined > 0 ? ceil((double)c->pipelined / (double)w->block) : 1;

    if (c->host[0].quota)
        best += QUOTA_NS;
    if (c->kind != LBP_DOACROSS)
        return best;
    return best * (1 + (c->nranks - 1) / blocks) +
           (blocks + c->nranks) * ((double)c->shift_fixed_ns + c->shift_incr_ns * (double)w->block);
}

static void loop(struct world *w)
{
    const struct sim_step_config *c = w->c;

    for (w->step = 0; w->step < c->steps && !w->result.why; w->step++) {
        int64_t from = w->now_ns, end;

        if (w->told)
            memcpy(w->bound, c->bounds(c->arg, w->step), (c->nranks + 1) * sizeof(*w->bound));
        end = c->kind == LBP_DOACROSS ? pipeline_step(w) : barrier_step(w);

        if ((double)(end - from) > SETTLED * best_step(w, from))
            w->result.settled_ns = end;
        if (c->trace && w->policy)
            printf("%9.3f  step %" PRId64 " took %.3f ms\n", (double)end / 1e6, w->step,
                   (double)(end - from) / 1e6);
        report(w, end);
        w->now_ns = end + c->latency_ns + c->exchange_ns;
        if (!w->policy)
            continue;
        balancer(w);
        if (w->plan_ns <= w->now_ns && w->step + 1 < c->steps)
            apply(w);
    }
    w->result.ended = !w->result.why;
    w->result.end_ns = w->now_ns;
}

static int begin(struct world *w, bool bare)
{
    const struct sim_step_config *c = w->c;
    double *weight = calloc(2 * (size_t)c->nranks, sizeof(*weight));
    struct lbp_stepped_config config = {.kind = c->kind,
                                        .nranks = c->nranks,
                                        .n = c->n,
                                        .row_bytes = c->row_bytes,
                                        .min_iterations = c->min_iterations,
                                        .pipelined = c->pipelined,
                                        .steps = c->steps_told ? c->steps : 0,
                                        .t_interact_ns = 2 * c->latency_ns,
                                        .first_epoch = 1};
    int ret;

    if (!weight)
        return -ENOMEM;
    for (uint32_t r = 0; r < c->nranks; r++) {
        weight[r] =
            c->told ? c->told[r] : sim_host_cores(&c->host[r], 0) * sim_host_hardware(&c->host[r]);
        weight[c->nranks + r] = sim_host_hardware(&c->host[r]);
        w->rank[r].host = c->host[r];
        w->rank[r].host.period = -1;
        w->rank[r].r.shift_iterations = -1;
    }
    config.weight = c->weights || c->told ? weight : NULL;
    config.hardware = weight + c->nranks;
    ret = lbp_stepped_first(c->n, c->nranks, config.weight, c->min_iterations, w->bound);
    memcpy(w->undo, w->bound, (c->nranks + 1) * sizeof(*w->undo));
    if (ret == 0)
        ret = lbp_params_parse(&config.params, c->policy, NULL);
    if (ret == 0 && !bare)
        ret = lbp_stepped_create(&config, w->bound, 0, &w->policy, NULL);
    if (ret == 0 && !bare)
        ret = lbp_firsts_create(c->nranks, w->bound, config.hardware, c->pipelined, &w->firsts);
    free(weight);
    return ret;
}

static int run(const struct sim_step_config *c, bool bare, bool told,
               struct sim_step_result *ret_result)
{
    struct world w = {
        .c = c, .told = told, .plan_ns = INT64_MAX, .period_ns = 10000000, .seed = c->seed};
    size_t ranks = c->nranks;
    int ret = -ENOMEM;

    w.rank = calloc(ranks, sizeof(*w.rank));
    w.before = calloc((size_t)c->n + 1, sizeof(*w.before));
    w.bound = calloc(3 * (ranks + 1), sizeof(*w.bound));
    w.ready = calloc(2 * ranks, sizeof(*w.ready));
    w.blocks = calloc((size_t)c->pipelined + 1, sizeof(*w.blocks));
    if (!w.rank || !w.before || !w.bound || !w.ready || !w.blocks)
        goto out;
    w.next = w.bound + ranks + 1;
    w.undo = w.next + ranks + 1;
    w.start = w.ready + ranks;
    w.block = c->block > 0 ? c->block : c->pipelined / (8 * (int64_t)ranks) + 1;
    for (int64_t i = 0; i < c->n; i++) {
        w.before[i + 1] = w.before[i] + c->cost_ns[i];
        for (size_t r = 0; r < ranks; r++)
            w.longest = fmax(w.longest, c->cost_ns[i] / c->host[r].cores);
    }
    ret = begin(&w, bare);
    if (ret < 0)
        goto out;
    loop(&w);
    *ret_result = w.result;
    ret_result->block = w.block;
    ret_result->period_ns = w.period_ns;
    ret_result->ideal_ns =
        sim_host_ideal(c->host, (int)ranks, 0, w.before[c->n] * (double)c->steps);
    if (w.policy) {
        struct lbp_stepped_stats stats;
        struct lbp_firsts_answer firsts;

        lbp_firsts_ask(w.firsts, &firsts);
        ret_result->first_ns = (double)ret_result->end_ns + firsts.saved_ns;
        ret_result->first_balance_ratio = firsts.balance_ratio;

        lbp_stepped_stats(w.policy, &stats);
        memcpy(ret_result->decisions, stats.decisions, sizeof(stats.decisions));
        ret_result->account_ns = stats.account_ns;
    }
out:
    lbp_stepped_destroy(w.policy);
    lbp_firsts_destroy(w.firsts);
    free(w.rank);
    free(w.before);
    free(w.bound);
    free(w.ready);
    free(w.blocks);
    free(w.mail);
    return ret;
}

static int check(const struct sim_step_config *c)
{
    return c->nranks < 1 || c->parts < 0 || c->parts > SIM_STEP_PARTS || c->n < 0 || c->steps < 0 ||
                   (c->kind == LBP_DOACROSS && c->pipelined < 1)
               ? -EINVAL
               : 0;
}

int sim_step_told(const struct sim_step_config *config, struct sim_step_result *ret)
{
    int rc = check(config);

    return rc < 0 ? rc : config->bounds ? run(config, true, true, ret) : -EINVAL;
}

int sim_step_run(const struct sim_step_config *config, struct sim_step_result *ret)
{
    struct sim_step_result bare;
    int rc = check(config);

    if (rc == 0)
        rc = run(config, true, false, &bare);
    if (rc == 0)
        rc = run(config, false, false, ret);
    if (rc == 0)
        ret->static_ns = bare.end_ns;
    return rc;
}
