/* SPDX-License-Identifier: BSD-3-Clause */
/* A real run again, from its trace. */
#include "sim/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/registry.h"
#include "sim/efficiency.h"
#include "sim/quoted.h"
#include "sim/step.h"
#include "sim/trace.h"
#include "sim/world.h"

#define CORES_MIN 0.001
#define SLICES 500            /* of the run, in which a host's speed is taken to stay */
#define SLICE_MIN_NS 20000000 /* of less, quotas make noise */
#define FITS 14
#define MOVE_FIXED_NS 300000
#define HOOK_CPU_NS 20000
#define MOVE_CPU_NS 100000
#define ROW_NS_MAX 1e15 /* so dear is no row: a damaged trace may say so */

struct replay {
    const struct sim_trace *t;
    struct sim_host *host; /* [nranks] */
    double *speed;         /* [nranks * slices] of the hosts, slice by slice */
    size_t slices;
    int64_t slice_ns, begin_ns;
    int64_t *bound; /* [nranks + 1] of the step that was asked for last */
    size_t *piece;  /* [nranks] that it was in */
};

/* Sums of a rank's times, spread over the slices that its reports cover: busy [2 * slices], CPU time and elapsed. */
static void spread(const struct replay *p, const struct sim_trace_rank *r, double *busy)
{
    int64_t from = p->begin_ns;

    for (size_t i = 0; i < r->n; i++) {
        const struct sim_piece *piece = &r->piece[i];
        int64_t to = piece->at_ns > from ? piece->at_ns : from + 1;

        for (int64_t k = (from - p->begin_ns) / p->slice_ns;
             k >= 0 && k < (int64_t)p->slices && p->begin_ns + k * p->slice_ns < to; k++) {
            double a = fmax((double)from, (double)(p->begin_ns + k * p->slice_ns));
            double b = fmin((double)to, (double)(p->begin_ns + (k + 1) * p->slice_ns));
            double part = fmax(0, b - a) / (double)(to - from);

            busy[2 * k] += part * piece->cpu_ns;
            busy[2 * k + 1] += part * piece->wall_ns;
        }
        from = to;
    }
}

/* What the host gave while it computed; where it did not, as before; before all, as on the whole; else as the others. */
static void rebuild_host(struct replay *p, uint32_t rank, double others, double *busy)
{
    double cpu = 0, wall = 0, last, *speed = p->speed + rank * p->slices;

    memset(busy, 0, 2 * p->slices * sizeof(*busy));
    spread(p, &p->t->rank[rank], busy);
    for (size_t k = 0; k < p->slices; k++) {
        cpu += busy[2 * k];
        wall += busy[2 * k + 1];
    }
    last = wall > 0 ? cpu / wall : others;
    for (size_t k = 0; k < p->slices; k++) {
        if (busy[2 * k + 1] > 0)
            last = busy[2 * k] / busy[2 * k + 1];
        speed[k] = fmin(1, fmax(CORES_MIN, last));
    }
    p->host[rank] =
        (struct sim_host){.cores = 1, .left = speed, .nleft = p->slices, .left_ns = p->slice_ns};
}

static int rebuild(struct replay *p)
{
    const struct sim_trace *t = p->t;
    double cpu = 0, wall = 0, *busy;

    p->begin_ns = t->kind == SIM_DOALL || t->open_ns >= t->end_ns ? t->begin_ns : t->open_ns;
    p->slice_ns = (t->end_ns - p->begin_ns) / SLICES + 1;
    if (p->slice_ns < SLICE_MIN_NS)
        p->slice_ns = SLICE_MIN_NS;
    p->slices = (size_t)((t->end_ns - p->begin_ns) / p->slice_ns + 1);
    p->host = calloc(t->nranks, sizeof(*p->host));
    p->speed = calloc(t->nranks * p->slices, sizeof(*p->speed));
    p->bound = calloc((size_t)t->nranks + 1, sizeof(*p->bound));
    p->piece = calloc(t->nranks, sizeof(*p->piece));
    busy = calloc(2 * p->slices, sizeof(*busy));
    if (!p->host || !p->speed || !p->bound || !p->piece || !busy) {
        free(busy);
        return -ENOMEM;
    }
    for (uint32_t r = 0; r < t->nranks; r++)
        for (size_t i = 0; i < t->rank[r].n; i++) {
            cpu += t->rank[r].piece[i].cpu_ns;
            wall += t->rank[r].piece[i].wall_ns;
        }
    for (uint32_t r = 0; r < t->nranks; r++)
        rebuild_host(p, r, wall > 0 ? cpu / wall : 1, busy);
    free(busy);
    return 0;
}

/* The bounds that the run had in a step. */
static const int64_t *bounds(void *arg, int64_t step)
{
    struct replay *p = arg;
    const struct sim_trace *t = p->t;

    if (step == 0)
        memset(p->piece, 0, t->nranks * sizeof(*p->piece));
    p->bound[t->nranks] = t->n;
    for (uint32_t r = t->nranks; r-- > 0;) {
        const struct sim_trace_rank *rank = &t->rank[r];
        int64_t first = rank->owned_first, last = rank->owned_last;

        while (p->piece[r] + 1 < rank->n && rank->piece[p->piece[r]].step <= step)
            p->piece[r]++;
        if (rank->n > 0) {
            first = rank->piece[p->piece[r]].first;
            last = rank->piece[p->piece[r]].last;
        }
        p->bound[r] = last > first && first < p->bound[r + 1] ? first : p->bound[r + 1];
    }
    p->bound[0] = 0;
    return p->bound;
}

static void step_config(const struct sim_options *o, struct replay *p, struct sim_step_config *ret)
{
    const struct sim_trace *t = p->t;
    double byte_ns = t->move_bytes > 0 ? t->move_ns / t->move_bytes : 1e9 / o->bytes_per_s;

    *ret = (struct sim_step_config){.kind = t->kind == SIM_DOACROSS ? LBP_DOACROSS : LBP_STEPPED,
                                    .nranks = t->nranks,
                                    .host = p->host,
                                    .n = t->n,
                                    .cost_ns = t->cost,
                                    .steps = t->passes,
                                    .latency_ns = o->latency_ns,
                                    .row_bytes = t->row_bytes,
                                    .row_ns =
                                        (int64_t)fmin((double)t->row_bytes * byte_ns, ROW_NS_MAX),
                                    .hook_cpu_ns = HOOK_CPU_NS,
                                    .pipelined = t->kind == SIM_DOACROSS ? t->pipelined : 0,
                                    .shift_fixed_ns = (int64_t)t->shift_fixed_ns,
                                    .shift_incr_ns = t->shift_incr_ns,
                                    .parts = 4,
                                    .seed = o->seed,
                                    .bounds = bounds,
                                    .arg = p};
}

/*
 * What a step of the run took besides computing: with it the run takes as long as it did, when it is simulated with the very
 * bounds that it had.  A host's speed depends on the time, so that this is found by halving.
 */
static int fit_exchange(struct replay *p, struct sim_step_config *c)
{
    const struct sim_trace *t = p->t;
    double moving = t->move_n > 0 ? t->move_ns / t->move_n * (double)t->moves : 0;
    double took = sim_trace_took_ns(t) - moving, least = 0, most = took / (double)t->passes;

    c->block = t->block;
    c->policy = "none";
    for (int i = 0; i < FITS; i++) {
        struct sim_step_result r;
        int ret;

        c->exchange_ns = i == 0 ? 0 : (int64_t)((least + most) / 2);
        ret = sim_step_told(c, &r);
        if (ret < 0)
            return ret;
        if ((double)r.end_ns >= took)
            most = (double)c->exchange_ns;
        else
            least = (double)c->exchange_ns;
    }
    c->exchange_ns = (int64_t)least;
    c->block = 0;
    return 0;
}

/* Shares by what the hosts are said to be worth, as the policy's; `none` begins with even ones. */
static const double *told(const struct sim_trace *t, const char *policy)
{
    struct lbp_params params;

    return lbp_params_parse(&params, policy, NULL) == 0 && params.policy != LBP_NONE ? t->weight
                                                                                     : NULL;
}

struct outcome {
    int64_t end_ns, static_ns, ideal_ns, moves, exchange_ns;
    bool ended;
    const char *why;
    double measured_efficiency, predicted_efficiency;
};

static int run_stepped(const struct sim_options *o, struct replay *p, const char *policy,
                       struct outcome *ret)
{
    struct sim_step_config c;
    struct sim_step_result r;
    int rc;

    step_config(o, p, &c);
    rc = fit_exchange(p, &c);
    if (rc < 0)
        return rc;
    c.policy = policy;
    c.told = told(p->t, policy);
    rc = sim_step_run(&c, &r);
    if (rc == 0)
        *ret = (struct outcome){.end_ns = r.end_ns,
                                .static_ns = r.static_ns,
                                .ideal_ns = r.ideal_ns,
                                .moves = r.plans,
                                .exchange_ns = c.exchange_ns,
                                .ended = r.ended,
                                .why = r.why};
    return rc;
}

static int run_doall(const struct sim_options *o, const struct replay *p, const char *policy,
                     struct outcome *ret)
{
    const struct sim_trace *t = p->t;
    struct sim_config c = {
        .nranks = t->nranks,
        .host = p->host,
        .n = t->n,
        .cost_ns = t->cost,
        .told = told(t, policy),
        .policy = policy,
        .latency_ns = o->latency_ns,
        .move_fixed_ns = MOVE_FIXED_NS,
        .row_bytes = t->row_bytes,
        .row_ns = (int64_t)fmin((double)t->row_bytes / o->bytes_per_s * 1e9, ROW_NS_MAX),
        .hook_cpu_ns = HOOK_CPU_NS,
        .move_cpu_ns = MOVE_CPU_NS,
        .passes = (int)(t->passes < 100000 ? t->passes : 100000),
        .measured = true};
    struct sim_result r;
    int rc = sim_run(&c, &r);

    if (rc == 0)
        *ret = (struct outcome){.end_ns = r.end_ns,
                                .static_ns = r.static_ns,
                                .ideal_ns = r.ideal_ns,
                                .moves = r.moves,
                                .ended = r.ended,
                                .why = r.why};
    return rc;
}

/* What of that which the hosts gave was used, by the run and here. */
static int find_efficiency(const struct replay *p, struct outcome *r)
{
    const struct sim_trace *t = p->t;
    double work = 0;
    int ret;

    for (int64_t i = 0; i < t->n; i++)
        work += t->cost[i] * (double)t->passes;
    ret = sim_efficiency(work, (int64_t)sim_trace_took_ns(t), t->nranks, p->host, NULL,
                         &r->measured_efficiency);
    if (ret == 0)
        ret = sim_efficiency(work, r->end_ns, t->nranks, p->host, NULL, &r->predicted_efficiency);
    return ret;
}

/* Is it the policy of the real run?  Of another one nobody knows how long it would have taken. */
static bool is_own(const struct sim_trace *t, const char *policy)
{
    struct lbp_params params;
    char text[sizeof(t->policy)];

    if (lbp_params_parse(&params, policy, NULL) < 0)
        return false;
    lbp_params_print(&params, text, sizeof(text));
    return strcmp(text, t->policy) == 0;
}

static void print(FILE *out, enum sim_output form, const struct sim_trace *t, const char *policy,
                  const struct outcome *r, bool first)
{
    static const char *const kind[] = {"doall", "stepped", "doacross"};
    double measured_s = sim_trace_took_ns(t) / 1e9, predicted_s = (double)r->end_ns / 1e9;
    const struct {
        const char *name;
        int digits; /* -1: not known */
        double value;
    } field[] = {{"ranks", 0, t->nranks},
                 {"n", 0, (double)t->n},
                 {"passes", 0, (double)t->passes},
                 {"measured_s", 4, measured_s},
                 {"predicted_s", 4, predicted_s},
                 {"error_ratio", is_own(t, policy) ? 4 : -1, fabs(predicted_s / measured_s - 1)},
                 {"static_s", 4, (double)r->static_ns / 1e9},
                 {"ideal_s", 4, (double)r->ideal_ns / 1e9},
                 {"exchange_s", 6, (double)r->exchange_ns / 1e9},
                 {"moves", 0, (double)t->moves},
                 {"predicted_moves", 0, (double)r->moves},
                 {"measured_efficiency", 4, r->measured_efficiency},
                 {"predicted_efficiency", 4, r->predicted_efficiency}};
    const size_t fields = sizeof(field) / sizeof(field[0]);

    if (form == SIM_CSV && first) {
        fputs("policy,kind", out);
        for (size_t i = 0; i < fields; i++)
            fprintf(out, ",%s", field[i].name);
        putc('\n', out);
    }
    if (form == SIM_TEXT) {
        fprintf(out, "replay policy=%s kind=%s", policy, kind[t->kind]);
    } else {
        fputs(form == SIM_JSON ? "{\"policy\":" : "", out);
        sim_print_quoted(out, form, policy);
        fprintf(out, form == SIM_JSON ? ",\"kind\":\"%s\"" : ",%s", kind[t->kind]);
    }
    for (size_t i = 0; i < fields; i++)
        if (field[i].digits >= 0)
            fprintf(out,
                    form == SIM_TEXT   ? " %s=%.*f"
                    : form == SIM_JSON ? ",\"%s\":%.*f"
                                       : ",%.0s%.*f",
                    field[i].name, field[i].digits, field[i].value);
        else if (form == SIM_CSV)
            putc(',', out);
    fputs(form == SIM_JSON ? "}\n" : "\n", out);
}

static int run(const struct sim_options *o, struct replay *p, FILE *out, struct lbx_error *err)
{
    const struct sim_trace *t = p->t;
    int n = o->npolicies > 0 ? o->npolicies : 1;

    for (int i = 0; i < n; i++) {
        const char *policy = o->npolicies > 0 ? o->policy[i] : t->policy;
        struct outcome r = {0};
        int ret =
            t->kind == SIM_DOALL ? run_doall(o, p, policy, &r) : run_stepped(o, p, policy, &r);

        if (ret == 0)
            ret = find_efficiency(p, &r);
        if (ret < 0 || !r.ended)
            return lbx_error_set(err, ret < 0 ? ret : -EIO, "%s: %s", policy,
                                 ret < 0 ? strerror(-ret) : r.why);
        print(out, o->output, t, policy, &r, i == 0);
    }
    return 0;
}

int sim_replay(const struct sim_options *o, FILE *out, struct lbx_error *err)
{
    struct sim_trace t;
    struct replay p = {.t = &t};
    int ret = sim_trace_read(o->replay, &t, err);

    if (ret < 0)
        return ret;
    ret = rebuild(&p);
    ret = ret < 0 ? lbx_error_set(err, ret, "no memory") : run(o, &p, out, err);
    free(p.host);
    free(p.speed);
    free(p.bound);
    free(p.piece);
    sim_trace_fini(&t);
    return ret;
}
