/* SPDX-License-Identifier: BSD-3-Clause */
/* A real run again, from its trace. */
#include "sim/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world.h"

#define N_MAX 100000000
#define CORES_MIN 0.001

struct trace {
    uint32_t nranks;
    int64_t loop, n, row_bytes; /* loop < 0: none opened yet */
    double *cpu, *wall;         /* [nranks] of the samples */
    double *cost, *seen;        /* [n] CPU ns, executions */
    int64_t begin_ns, end_ns, passes, moves;
};

static int64_t get(const json_t *line, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(line, key);

    return json_is_integer(v) ? (int64_t)json_integer_value(v) : otherwise;
}

static int64_t at(const json_t *array, size_t i)
{
    return (int64_t)json_integer_value(json_array_get(array, i));
}

static int start(struct trace *t, const json_t *line)
{
    int64_t nranks = get(line, "nranks", 0);

    if (t->nranks > 0 || nranks < 1 || nranks > SIM_RANKS_MAX)
        return 0;
    t->nranks = (uint32_t)nranks;
    t->cpu = calloc(t->nranks, sizeof(*t->cpu));
    t->wall = calloc(t->nranks, sizeof(*t->wall));
    return t->cpu && t->wall ? 0 : -ENOMEM;
}

static int open_loop(struct trace *t, const json_t *line)
{
    int64_t n = get(line, "n", -1);

    if (t->loop >= 0 || n < 1 || n > N_MAX)
        return 0;
    t->cost = calloc((size_t)n, sizeof(*t->cost));
    t->seen = calloc((size_t)n, sizeof(*t->seen));
    if (!t->cost || !t->seen)
        return -ENOMEM;
    t->loop = get(line, "loop", 0);
    t->n = n;
    t->row_bytes = get(line, "row_bytes", 0);
    return 0;
}

static void take_report(struct trace *t, const json_t *line)
{
    const json_t *samples = json_object_get(line, "samples"), *s;
    int64_t rank = get(line, "rank", -1), now = get(line, "t", 0), pass = get(line, "pass", 0);
    int64_t wall = 0;
    size_t i;

    if (rank < 0 || rank >= t->nranks)
        return;
    json_array_foreach(samples, i, s)
    {
        int64_t first = at(s, 0), last = at(s, 1), cpu = at(s, 3);

        if (json_array_size(s) != 4 || first < 0 || last > t->n || first >= last || cpu < 0 ||
            at(s, 2) < 0)
            continue;
        wall += at(s, 2);
        t->wall[rank] += (double)at(s, 2);
        t->cpu[rank] += (double)cpu;
        for (int64_t k = first; k < last; k++) {
            t->cost[k] += (double)cpu / (double)(last - first);
            t->seen[k] += 1;
        }
    }
    if (wall > 0) {
        t->begin_ns = t->begin_ns < now - wall ? t->begin_ns : now - wall;
        t->end_ns = t->end_ns > now ? t->end_ns : now;
    }
    t->passes = t->passes > pass + 1 ? t->passes : pass + 1;
}

static int take_line(struct trace *t, const char *text)
{
    json_t *line = json_loads(text, 0, NULL);
    const char *event = json_string_value(json_object_get(line, "event"));
    int ret = 0;

    if (event && strcmp(event, "start") == 0)
        ret = start(t, line);
    else if (event && t->nranks > 0 && strcmp(event, "open") == 0)
        ret = open_loop(t, line);
    else if (event && t->loop >= 0 && get(line, "loop", -1) == t->loop) {
        if (strcmp(event, "report") == 0)
            take_report(t, line);
        t->moves += strcmp(event, "move") == 0;
    }
    json_decref(line);
    return ret;
}

static int read_trace(struct trace *t, const char *path, struct lbx_error *err)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int ret = 0;

    if (!f)
        return lbx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    while (ret == 0 && getline(&line, &size, f) > 0)
        ret = take_line(t, line);
    free(line);
    fclose(f);
    if (ret < 0)
        return lbx_error_set(err, ret, "%s: no memory", path);
    if (t->loop < 0 || t->end_ns <= t->begin_ns)
        return lbx_error_set(err, -EPROTO, "%s: a trace of a run with a loop is needed", path);
    return 0;
}

/* Iterations that were never timed cost as the others do in the mean; a rank that did nothing is as fast as the others. */
static void complete(struct trace *t, struct sim_host *host)
{
    double cost = 0, seen = 0, cpu = 0, wall = 0;

    for (int64_t k = 0; k < t->n; k++) {
        cost += t->cost[k];
        seen += t->seen[k];
    }
    for (int64_t k = 0; k < t->n; k++)
        t->cost[k] = t->seen[k] > 0 ? t->cost[k] / t->seen[k] : cost / seen;
    for (uint32_t r = 0; r < t->nranks; r++) {
        cpu += t->cpu[r];
        wall += t->wall[r];
    }
    for (uint32_t r = 0; r < t->nranks; r++) {
        double cores = t->wall[r] > 0 ? t->cpu[r] / t->wall[r] : cpu / wall;

        host[r].cores = fmin(1, fmax(CORES_MIN, cores));
    }
}

static int run(const struct sim_options *o, const struct trace *t, const struct sim_host *host,
               FILE *out, struct lbx_error *err)
{
    double measured = (double)(t->end_ns - t->begin_ns) / 1e9;

    for (int i = 0; i < o->npolicies; i++) {
        struct sim_config c = {.nranks = t->nranks,
                               .host = host,
                               .n = t->n,
                               .cost_ns = t->cost,
                               .policy = o->policy[i],
                               .latency_ns = o->latency_ns,
                               .move_fixed_ns = 300000,
                               .row_bytes = t->row_bytes,
                               .row_ns = (int64_t)((double)t->row_bytes / o->bytes_per_s * 1e9),
                               .hook_cpu_ns = 20000,
                               .move_cpu_ns = 100000,
                               .passes = (int)(t->passes < 100000 ? t->passes : 100000),
                               .measured = true};
        struct sim_result r;
        int ret = sim_run(&c, &r);

        if (ret < 0 || !r.ended)
            return lbx_error_set(err, ret < 0 ? ret : -EIO, "%s: %s", o->policy[i],
                                 ret < 0 ? strerror(-ret) : r.why);
        fprintf(out,
                "replay policy=%s ranks=%" PRIu32 " n=%" PRId64 " passes=%" PRId64
                " measured_s=%.4f predicted_s=%.4f predicted_over_measured=%.4f static_s=%.4f "
                "ideal_s=%.4f moves=%" PRId64 " predicted_moves=%" PRId64 "\n",
                o->policy[i], t->nranks, t->n, t->passes, measured, (double)r.end_ns / 1e9,
                (double)r.end_ns / 1e9 / measured, (double)r.static_ns / 1e9,
                (double)r.ideal_ns / 1e9, t->moves, r.moves);
    }
    return 0;
}

int sim_replay(const struct sim_options *o, FILE *out, struct lbx_error *err)
{
    struct trace t = {.loop = -1, .begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    struct sim_host *host = NULL;
    int ret = read_trace(&t, o->replay, err);

    if (ret == 0) {
        host = calloc(t.nranks, sizeof(*host));
        ret = host ? 0 : lbx_error_set(err, -ENOMEM, "no memory");
    }
    if (ret == 0) {
        complete(&t, host);
        ret = run(o, &t, host, out, err);
    }
    free(host);
    free(t.cpu);
    free(t.wall);
    free(t.cost);
    free(t.seen);
    return ret;
}
