/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of a job's balancing. */
#include "lbd/balancer/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

#define POLICY_BYTES 512

struct lbd_trace {
    FILE *file; /* NULL after a failed write */
    int64_t begin_ns;
};

static const char *const reason_name[LBP_REASONS] = {
    [LBP_REASON_PROPORTIONAL] = "proportional",
    [LBP_REASON_DRY] = "dry",
    [LBP_REASON_BELOW_THRESHOLD] = "below_threshold",
    [LBP_REASON_UNPROFITABLE] = "unprofitable",
    [LBP_REASON_FILTERED] = "filtered",
    [LBP_REASON_UNSTABLE] = "unstable",
};

const char *lbd_trace_reason(enum lbp_reason reason)
{
    return reason_name[reason];
}

int lbd_trace_open(const char *path, int64_t now_ns, struct lbd_trace **ret, struct lbx_error *err)
{
    struct lbd_trace *t;
    int fd;

    /* of a pipe nobody may read, and the ranks would wait for us */
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0)
        return lbx_error_set(err, -errno, "trace=%s: %s", path, strerror(errno));
    t = calloc(1, sizeof(*t));
    if (t)
        t->file = fdopen(fd, "w");
    if (!t || !t->file) {
        close(fd);
        free(t);
        return lbx_error_set(err, -ENOMEM, "trace=%s: no memory", path);
    }
    t->begin_ns = now_ns;
    *ret = t;
    return 0;
}

void lbd_trace_close(struct lbd_trace *t)
{
    if (!t)
        return;
    if (t->file)
        fclose(t->file);
    free(t);
}

void lbd_trace_flush(struct lbd_trace *t)
{
    if (t && t->file && fflush(t->file) != 0) {
        fclose(t->file);
        t->file = NULL;
    }
}

/* Write one line; takes the object over, which is NULL when there was no memory for it. */
static void put(struct lbd_trace *t, int64_t now_ns, json_t *line)
{
    if (line && t->file) {
        json_object_set_new(line, "t", json_integer(now_ns - t->begin_ns));
        if (json_dumpf(line, t->file, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(9)) < 0 ||
            fputc('\n', t->file) == EOF) {
            fclose(t->file);
            t->file = NULL;
        }
    }
    json_decref(line);
}

void lbd_trace_start(struct lbd_trace *t, int64_t now_ns, uint32_t nranks, const char *policy,
                     const double *weight)
{
    char text[POLICY_BYTES];
    json_t *w;

    if (!t)
        return;
    lbx_text_clean(policy, text,
                   sizeof(text)); /* it has a file's name in it: JSON takes UTF-8 alone */
    w = json_array();
    for (uint32_t r = 0; weight && r < nranks; r++)
        json_array_append_new(w, json_real(weight[r]));
    put(t, now_ns,
        json_pack("{s:s, s:I, s:s, s:o}", "event", "start", "nranks", (json_int_t)nranks, "policy",
                  text, "weight", w));
}

static json_t *pack_samples(const struct lbw_sample *s, size_t n)
{
    json_t *samples = json_array();

    for (size_t i = 0; i < n; i++, s++)
        json_array_append_new(samples,
                              json_pack("[I,I,I,I]", (json_int_t)s->first, (json_int_t)s->last,
                                        (json_int_t)s->wall_ns, (json_int_t)s->cpu_ns));
    return samples;
}

static json_t *pack_step(uint32_t rank, const struct lbw_step *m)
{
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:[I,I], s:I, s:I, s:I, s:[I,I,I], s:[I,I], s:o}", "event",
        "step", "loop", (json_int_t)m->loop, "rank", (json_int_t)rank, "step", (json_int_t)m->step,
        "steps", (json_int_t)m->steps, "epoch", (json_int_t)m->epoch, "owned", (json_int_t)m->first,
        (json_int_t)m->last, "wall_ns", (json_int_t)m->wall_ns, "cpu_ns", (json_int_t)m->cpu_ns,
        "wait_ns", (json_int_t)m->wait_ns, "move", (json_int_t)m->move_bytes,
        (json_int_t)m->move_wall_ns, (json_int_t)m->move_cpu_ns, "shift",
        (json_int_t)m->shift_elements, (json_int_t)m->shift_ns, "samples",
        pack_samples(m->sample, m->nsamples));
}

void lbd_trace_layout(struct lbd_trace *t, int64_t now_ns, uint32_t loop,
                      const struct lbp_stepped_action *plan, uint32_t nranks)
{
    json_t *counts;

    if (!t)
        return;
    counts = json_array();
    for (uint32_t r = 0; r < nranks; r++)
        json_array_append_new(counts, json_integer(plan->bound[r + 1] - plan->bound[r]));
    put(t, now_ns,
        json_pack("{s:s, s:I, s:I, s:I, s:o}", "event", "layout", "loop", (json_int_t)loop, "epoch",
                  (json_int_t)plan->epoch, "block", (json_int_t)plan->block, "counts", counts));
}

static json_t *pack_report(uint32_t rank, const struct lbw_report *m)
{
    json_t *samples = pack_samples(m->sample, m->nsamples), *done = json_array();

    for (size_t i = 0; i < m->ndone; i++) {
        const struct lbw_done *d = &m->done[i];

        json_array_append_new(done,
                              json_pack("[I,I,I,I,I,I]", (json_int_t)d->epoch, (json_int_t)d->role,
                                        (json_int_t)d->iterations, (json_int_t)d->bytes,
                                        (json_int_t)d->wall_ns, (json_int_t)d->cpu_ns));
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:I, s:o, s:o}", "event", "report",
                     "loop", (json_int_t)m->loop, "rank", (json_int_t)rank, "pass",
                     (json_int_t)m->pass, "executed", (json_int_t)m->executed, "remaining",
                     (json_int_t)m->remaining, "dry", (m->flags & LBW_DRY) != 0, "low",
                     (m->flags & LBW_LOW) != 0, "wait_ns", (json_int_t)m->wait_ns, "samples",
                     samples, "done", done);
}

static const char *kind_name(uint32_t kind)
{
    return kind == LBW_STEPPED ? "stepped" : kind == LBW_DOACROSS ? "doacross" : "doall";
}

static json_t *pack_open(uint32_t rank, const struct lbw_open *o)
{
    char name[LBW_NAME_MAX];

    lbx_text_clean(o->name, name,
                   sizeof(name)); /* as the program has it, or cut within a character */
    return json_pack("{s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:I, s:[I,I]}", "event", "open", "kind",
                     kind_name(o->kind), "pipelined", (json_int_t)o->pipelined, "loop",
                     (json_int_t)o->loop, "name", name, "n", (json_int_t)o->n, "row_bytes",
                     (json_int_t)o->row_bytes, "rank", (json_int_t)rank, "owned",
                     (json_int_t)o->owned_first, (json_int_t)o->owned_last);
}

void lbd_trace_message(struct lbd_trace *t, int64_t now_ns, uint32_t rank,
                       const struct lbw_rank_msg *msg)
{
    const struct lbw_open *o = &msg->u.open;
    const struct lbw_close *c = &msg->u.close;

    if (!t)
        return;
    if (msg->type == LBW_OPEN)
        put(t, now_ns, pack_open(rank, o));
    else if (msg->type == LBW_REPORT)
        put(t, now_ns, pack_report(rank, &msg->u.report));
    else if (msg->type == LBW_STEP)
        put(t, now_ns, pack_step(rank, &msg->u.step));
    else if (msg->type == LBW_CLOSE)
        put(t, now_ns,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "event",
                      "close", "loop", (json_int_t)c->loop, "rank", (json_int_t)rank, "passes",
                      (json_int_t)c->passes, "iterations", (json_int_t)c->iterations, "moves_in",
                      (json_int_t)c->moves_in, "bytes_in", (json_int_t)c->bytes_in, "compute_ns",
                      (json_int_t)c->compute_ns, "cpu_ns", (json_int_t)c->cpu_ns, "wait_ns",
                      (json_int_t)c->wait_ns, "library_ns", (json_int_t)c->library_ns,
                      "library_cpu_ns", (json_int_t)c->library_cpu_ns));
}

void lbd_trace_decision(struct lbd_trace *t, int64_t now_ns, json_t *line)
{
    if (line)
        json_object_set_new(line, "event", json_string("decision"));
    put(t, now_ns, line);
}

void lbd_trace_action(struct lbd_trace *t, int64_t now_ns, uint32_t loop,
                      const struct lbp_action *a)
{
    if (!t)
        return;
    if (a->type == LBP_MOVE)
        put(t, now_ns,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:[I,I], s:s}", "event", "move", "loop",
                      (json_int_t)loop, "pass", (json_int_t)a->pass, "epoch", (json_int_t)a->epoch,
                      "source", (json_int_t)a->rank, "dest", (json_int_t)a->dest, "span",
                      (json_int_t)a->first, (json_int_t)a->last, "reason", reason_name[a->reason]));
    else if (a->type == LBP_INSTRUCT)
        put(t, now_ns,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "event", "instruct", "loop",
                      (json_int_t)loop, "rank", (json_int_t)a->rank, "period_ns",
                      (json_int_t)a->period_ns, "low_ns", (json_int_t)a->low_ns, "chunk_ns",
                      (json_int_t)a->chunk_ns));
    else if (a->type == LBP_FINAL)
        put(t, now_ns,
            json_pack("{s:s, s:I, s:I}", "event", "final", "loop", (json_int_t)loop, "pass",
                      (json_int_t)a->pass));
}
