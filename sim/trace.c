/* SPDX-License-Identifier: BSD-3-Clause */
/* What a real run's trace tells. */
#include "sim/trace.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/registry.h"
#include "sim/world.h"

#define N_MAX 100000000
#define PIPELINED_MAX 100000000
#define PASSES_MAX 100000000
/* No time, in ns, and no number of bytes is more: sums and differences of what a damaged line says do not overflow. */
#define MOST (INT64_C(1) << 53)

/* Sums of the messages between neighbours: those without anything in them, and the others. */
struct shifts {
    double empty, empty_ns, full, full_ns, elements;
};

static int64_t get(const json_t *line, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(line, key);
    json_int_t x = json_integer_value(v);

    return json_is_integer(v) && x >= 0 && x <= MOST ? (int64_t)x : otherwise;
}

/* What cannot be is -1, as what a rank did not measure. */
static int64_t at(const json_t *array, size_t i)
{
    json_int_t x = json_integer_value(json_array_get(array, i));

    return x >= 0 && x <= MOST ? (int64_t)x : -1;
}

/* The policy as it decides: without what only writes. */
static void take_policy(struct sim_trace *t, const char *text)
{
    struct lbp_params params;

    if (!text || lbp_params_parse(&params, text, NULL) < 0)
        return;
    params.trace[0] = 0;
    params.report = params.hosts = false;
    lbp_params_print(&params, t->policy, sizeof(t->policy));
}

static int start(struct sim_trace *t, const json_t *line)
{
    const json_t *weight = json_object_get(line, "weight");
    int64_t nranks = get(line, "nranks", 0);

    if (t->nranks > 0 || nranks < 1 || nranks > SIM_RANKS_MAX)
        return 0;
    take_policy(t, json_string_value(json_object_get(line, "policy")));
    t->nranks = (uint32_t)nranks;
    t->rank = calloc(t->nranks, sizeof(*t->rank));
    if (!t->rank)
        return -ENOMEM;
    if (json_array_size(weight) != t->nranks)
        return 0;
    t->weight = calloc(t->nranks, sizeof(*t->weight));
    for (uint32_t r = 0; t->weight && r < t->nranks; r++)
        t->weight[r] = fmax(0, json_number_value(json_array_get(weight, r)));
    return t->weight ? 0 : -ENOMEM;
}

static int open_loop(struct sim_trace *t, const json_t *line)
{
    const char *kind = json_string_value(json_object_get(line, "kind"));
    const json_t *owned = json_object_get(line, "owned");
    int64_t n = get(line, "n", -1), rank = get(line, "rank", -1);

    if (t->loop < 0) {
        if (n < 1 || n > N_MAX)
            return 0;
        t->cost = calloc((size_t)n, sizeof(*t->cost));
        t->seen = calloc((size_t)n, sizeof(*t->seen));
        if (!t->cost || !t->seen)
            return -ENOMEM;
        t->loop = get(line, "loop", 0);
        t->n = n;
        t->row_bytes = get(line, "row_bytes", 0);
        t->kind = !kind                           ? SIM_DOALL
                  : strcmp(kind, "stepped") == 0  ? SIM_STEPPED
                  : strcmp(kind, "doacross") == 0 ? SIM_DOACROSS
                                                  : SIM_DOALL;
        t->pipelined = get(line, "pipelined", 0);
        if (t->kind == SIM_DOACROSS && (t->pipelined < 1 || t->pipelined > PIPELINED_MAX))
            t->kind = SIM_STEPPED;
    }
    if (get(line, "loop", -1) != t->loop || rank < 0 || rank >= t->nranks)
        return 0;
    t->open_ns = get(line, "t", 0);
    if (at(owned, 0) >= 0 && at(owned, 1) >= at(owned, 0) && at(owned, 1) <= t->n) {
        t->rank[rank].owned_first = at(owned, 0);
        t->rank[rank].owned_last = at(owned, 1);
    }
    return 0;
}

static int append(struct sim_trace_rank *r, const struct sim_piece *piece)
{
    if (r->n == r->size) {
        size_t size = r->size ? 2 * r->size : 64;
        struct sim_piece *grown = realloc(r->piece, size * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        r->piece = grown;
        r->size = size;
    }
    r->piece[r->n++] = *piece;
    return 0;
}

static void take_samples(struct sim_trace *t, const json_t *line, struct sim_piece *ret)
{
    const json_t *samples = json_object_get(line, "samples"), *s;
    size_t i;

    json_array_foreach(samples, i, s)
    {
        int64_t first = at(s, 0), last = at(s, 1), wall = at(s, 2), cpu = at(s, 3);

        if (json_array_size(s) != 4 || first < 0 || last > t->n || first >= last || cpu < 0 ||
            wall < 0)
            continue;
        ret->wall_ns += (double)wall;
        ret->cpu_ns += (double)cpu;
        for (int64_t k = first; k < last; k++) {
            t->cost[k] += (double)cpu / (double)(last - first);
            t->seen[k] += 1;
        }
    }
}

/* A REPORT of a free-running loop. */
static int take_report(struct sim_trace *t, const json_t *line, struct sim_trace_rank *r)
{
    struct sim_piece piece = {.at_ns = get(line, "t", 0)};
    int64_t pass = get(line, "pass", 0);

    if (pass >= PASSES_MAX)
        return 0;
    take_samples(t, line, &piece);
    t->passes = t->passes > pass + 1 ? t->passes : pass + 1;
    return piece.wall_ns > 0 ? append(r, &piece) : 0;
}

/* A STEP: its samples are of the last step only, its times of all steps since the one before. */
static int take_step(struct sim_trace *t, const json_t *line, struct sim_trace_rank *r,
                     struct shifts *shifts)
{
    const json_t *owned = json_object_get(line, "owned"), *move = json_object_get(line, "move");
    const json_t *shift = json_object_get(line, "shift");
    struct sim_piece piece = {.at_ns = get(line, "t", 0),
                              .first = at(owned, 0),
                              .last = at(owned, 1),
                              .step = get(line, "step", 0),
                              .steps = get(line, "steps", 0)};

    take_samples(t, line, &piece);
    piece.wall_ns = (double)get(line, "wall_ns", 0);
    piece.cpu_ns = (double)get(line, "cpu_ns", 0);
    piece.wait_ns = (double)get(line, "wait_ns", 0);
    if (at(move, 0) > 0 && at(move, 1) >= 0) {
        t->move_bytes += (double)at(move, 0);
        t->move_ns += (double)at(move, 1);
        t->move_n++;
    }
    if (json_array_size(shift) == 2 && at(shift, 0) == 0 && at(shift, 1) >= 0) {
        shifts->empty++;
        shifts->empty_ns += (double)at(shift, 1);
    } else if (json_array_size(shift) == 2 && at(shift, 0) > 0 && at(shift, 1) >= 0) {
        shifts->full++;
        shifts->full_ns += (double)at(shift, 1);
        shifts->elements += (double)at(shift, 0);
    }
    if (piece.steps < 1 || piece.first < 0 || piece.last < piece.first || piece.last > t->n ||
        piece.step < piece.steps || piece.step > PASSES_MAX)
        return 0;
    t->passes = t->passes > piece.step ? t->passes : piece.step;
    return append(r, &piece);
}

static void take_close(struct sim_trace *t, const json_t *line, struct sim_trace_rank *r)
{
    int64_t passes = get(line, "passes", 0);

    r->elapsed_ns = (double)get(line, "compute_ns", 0) + (double)get(line, "wait_ns", 0) +
                    (double)get(line, "library_ns", 0);
    t->passes = t->passes > passes || passes > PASSES_MAX ? t->passes : passes;
}

static int take_line(struct sim_trace *t, const char *text, struct shifts *shifts)
{
    json_t *line = json_loads(text, 0, NULL);
    const char *event = json_string_value(json_object_get(line, "event"));
    int64_t rank = get(line, "rank", -1);
    struct sim_trace_rank *r = rank >= 0 && rank < t->nranks ? &t->rank[rank] : NULL;
    int ret = 0;

    if (event && strcmp(event, "start") == 0)
        ret = start(t, line);
    else if (event && r && strcmp(event, "open") == 0)
        ret = open_loop(t, line);
    else if (event && t->loop >= 0 && get(line, "loop", -1) == t->loop) {
        if (r && strcmp(event, "report") == 0)
            ret = take_report(t, line, r);
        else if (r && strcmp(event, "step") == 0)
            ret = take_step(t, line, r, shifts);
        else if (r && strcmp(event, "close") == 0)
            take_close(t, line, r);
        t->block = get(line, "block", t->block);
        t->moves += strcmp(event, "move") == 0 || strcmp(event, "layout") == 0;
    }
    json_decref(line);
    return ret;
}

/* Samples tell what is dear in a step, and all steps what a step costs. */
static void scale_costs(struct sim_trace *t)
{
    double *before = calloc((size_t)t->n + 1, sizeof(*before)), cpu = 0, by_samples = 0;

    for (int64_t k = 0; before && k < t->n; k++)
        before[k + 1] = before[k] + t->cost[k];
    for (uint32_t r = 0; before && r < t->nranks; r++)
        for (size_t i = 0; i < t->rank[r].n; i++) {
            const struct sim_piece *p = &t->rank[r].piece[i];

            cpu += p->cpu_ns;
            by_samples += (double)p->steps * (before[p->last] - before[p->first]);
        }
    for (int64_t k = 0; k < t->n && by_samples > 0; k++)
        t->cost[k] *= cpu / by_samples;
    free(before);
}

/* Sums become costs and times. */
static void complete(struct sim_trace *t, const struct shifts *shifts)
{
    double cost = 0, seen = 0;

    t->begin_ns = INT64_MAX;
    for (uint32_t r = 0; r < t->nranks; r++) {
        const struct sim_trace_rank *rank = &t->rank[r];

        if (rank->n == 0)
            continue;
        t->begin_ns =
            fmin((double)t->begin_ns, (double)rank->piece[0].at_ns - rank->piece[0].wall_ns);
        t->end_ns = fmax((double)t->end_ns, (double)rank->piece[rank->n - 1].at_ns);
    }
    for (int64_t k = 0; k < t->n; k++) {
        cost += t->cost[k];
        seen += t->seen[k];
    }
    for (int64_t k = 0; k < t->n; k++)
        t->cost[k] = t->seen[k] > 0 ? t->cost[k] / t->seen[k] : seen > 0 ? cost / seen : 0;
    if (t->kind != SIM_DOALL)
        scale_costs(t);
    if (shifts->full > 0 && shifts->empty > 0) {
        t->shift_fixed_ns = shifts->empty_ns / shifts->empty;
        t->shift_incr_ns = fmax(0, shifts->full_ns / shifts->full - t->shift_fixed_ns) *
                           shifts->full / shifts->elements;
    } else if (shifts->full + shifts->empty > 0) {
        t->shift_fixed_ns = (shifts->full_ns + shifts->empty_ns) / (shifts->full + shifts->empty);
    }
}

int sim_trace_read(const char *path, struct sim_trace *ret, struct lbx_error *err)
{
    struct sim_trace t = {.loop = -1, .end_ns = INT64_MIN};
    struct shifts shifts = {0};
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int rc = 0;

    if (!f)
        return lbx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    while (rc == 0 && getline(&line, &size, f) > 0)
        rc = take_line(&t, line, &shifts);
    free(line);
    fclose(f);
    if (rc < 0) {
        sim_trace_fini(&t);
        return lbx_error_set(err, rc, "%s: no memory", path);
    }
    complete(&t, &shifts);
    if (t.loop < 0 || t.passes < 1 || t.end_ns <= t.begin_ns) {
        sim_trace_fini(&t);
        return lbx_error_set(err, -EPROTO, "%s: a trace of a run with a loop is needed", path);
    }
    *ret = t;
    return 0;
}

void sim_trace_fini(struct sim_trace *t)
{
    for (uint32_t r = 0; t->rank && r < t->nranks; r++)
        free(t->rank[r].piece);
    free(t->rank);
    free(t->weight);
    free(t->cost);
    free(t->seen);
    *t = (struct sim_trace){.loop = -1};
}

double sim_trace_took_ns(const struct sim_trace *t)
{
    double took = 0;

    for (uint32_t r = 0; r < t->nranks; r++)
        took = fmax(took, t->rank[r].elapsed_ns);
    return t->kind == SIM_DOALL || took <= 0 ? (double)(t->end_ns - t->begin_ns) : took;
}
