/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a simulated stepped or pipelined loop: their blocks, their reports, their rows. */
#include "sim/step_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/period.h"

#define READ_NS INT64_C(1000000000) /* a rank reads its quota so often, as in libclient/quota.c */

static bool sooner(const struct sim_mail *a, const struct sim_mail *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void post(struct sim_steps *w, const struct sim_mail *m)
{
    size_t i = w->nmail;

    if (w->nmail == w->size) {
        size_t size = w->size ? 2 * w->size : 64;
        struct sim_mail *grown = realloc(w->mail, size * sizeof(*grown));

        if (!grown) {
            sim_step_fail(w, "out of memory");
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

struct sim_mail sim_step_mail(struct sim_steps *w)
{
    struct sim_mail top = w->mail[0], last = w->mail[--w->nmail];
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

int64_t sim_step_elements(const struct sim_steps *w)
{
    int64_t m = w->c->pipelined, leg = w->step % w->legs;

    return m * (leg + 1) / w->legs - m * leg / w->legs;
}

int64_t sim_step_block(const struct sim_steps *w)
{
    int64_t block = (int64_t)floor((double)w->block / sqrt((double)w->legs) + 0.5);

    return block < 1 ? 1 : block;
}

/* A step's part of the work of a pass. */
static double part_of_pass(const struct sim_steps *w)
{
    return w->legs > 1 ? (double)sim_step_elements(w) / (double)w->c->pipelined : 1;
}

/* CPU work of iterations [first, last) in this step, on a rank's host. */
static double cpu_of(const struct sim_steps *w, uint32_t r, int64_t first, int64_t last)
{
    const struct sim_host *h = &w->rank[r].host;
    double cold = w->step < w->legs && w->c->cold > 0 ? w->c->cold : 1;

    return cold * part_of_pass(w) * (w->before[last] - w->before[first]) / sim_host_hardware(h) *
           sim_host_slower(h, w->now_ns);
}

static void ran(struct sim_steps *w, uint32_t r, int64_t from, int64_t to, double cpu)
{
    double wrong = w->c->cpu_noise * (2.0 * rand_r(&w->seed) / RAND_MAX - 1);

    w->rank[r].wall += (double)(to - from);
    w->rank[r].cpu += cpu * (1 + wrong);
}

/* All blocks at once. */
int64_t sim_step_barrier(struct sim_steps *w)
{
    int64_t end = w->now_ns;

    for (uint32_t r = 0; r < w->c->nranks; r++) {
        double cpu = cpu_of(w, r, w->bound[r], w->bound[r + 1]);

        w->ready[r] = w->now_ns;
        if (cpu > 0) {
            w->ready[r] = sim_host_run(&w->rank[r].host, w->start[r], cpu);
            ran(w, r, w->start[r], w->ready[r], cpu);
        }
        end = w->ready[r] > end ? w->ready[r] : end;
    }
    return end;
}

uint32_t sim_step_holders(const struct sim_steps *w)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < w->c->nranks; r++)
        n += w->bound[r] < w->bound[r + 1];
    return n;
}

/*
 * Block by block from rank to rank.  What a message takes is what ranks in the middle are busy with for each block, half of
 * it with receiving and half with sending it on; of two ranks alone, all of it.
 */
int64_t sim_step_pipeline(struct sim_steps *w)
{
    const struct sim_step_config *c = w->c;
    int64_t end = w->now_ns, m = sim_step_elements(w), block = sim_step_block(w);
    int64_t blocks = (m + block - 1) / block;
    uint32_t holders = sim_step_holders(w), nth = 0;

    for (uint32_t r = 0; r < c->nranks; r++) {
        double cpu = cpu_of(w, r, w->bound[r], w->bound[r + 1]);
        int64_t at = w->start[r];
        double sides;

        w->ready[r] = w->now_ns;
        if (w->bound[r] == w->bound[r + 1])
            continue;
        sides = holders == 2 ? 1 : ((nth > 0) + (nth + 1 < holders)) / 2.0;
        for (int64_t j = 0; j < blocks; j++) {
            int64_t size = j + 1 < blocks ? block : m - j * block;
            double part = cpu * (double)size / (double)m;
            double shift = sides * ((double)c->shift_fixed_ns + c->shift_incr_ns * (double)size);
            int64_t from = nth == 0 || w->blocks[j] < at ? at : w->blocks[j];

            w->rank[r].r.wait_ns += from - at;
            at = sim_host_run(&w->rank[r].host, from, part + shift);
            ran(w, r, from, from + (int64_t)((double)(at - from) * part / fmax(part + shift, 1)),
                part);
            w->blocks[j] = at;
        }
        nth++;
        w->ready[r] = at;
        end = at > end ? at : end;
    }
    return end;
}

/* The last step's block, timed in parts. */
static void time_parts(struct sim_steps *w, uint32_t r, struct sim_mail *m)
{
    int64_t first = w->bound[r], size = w->bound[r + 1] - first, parts = w->c->parts;

    if (size < parts)
        parts = size;
    for (int64_t k = 0; k < parts; k++) {
        int64_t a = first + size * k / parts, b = first + size * (k + 1) / parts;
        double cpu = cpu_of(w, r, a, b);
        double wrong = w->c->cpu_noise * (2.0 * rand_r(&w->seed) / RAND_MAX - 1);

        m->sample[k] = (struct lbp_sample){a, b, (int64_t)cpu, (int64_t)(cpu * (1 + wrong))};
    }
    m->r.nsamples = (size_t)parts;
}

static void tell_quota(const struct sim_steps *w, uint32_t r, struct lbp_stepped_report *to)
{
    struct sim_stepper *rank = &w->rank[r];
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

static void send(struct sim_steps *w, uint32_t r, int64_t reported_ns)
{
    struct sim_stepper *rank = &w->rank[r];
    struct sim_mail m = {.at_ns = w->ready[r] + w->c->latency_ns, .order = w->order++};

    rank->r.rank = r;
    rank->r.step = w->step + 1;
    rank->r.first = w->bound[r];
    rank->r.last = w->bound[r + 1];
    rank->r.epoch = w->epoch;
    rank->r.wall_ns = (int64_t)rank->wall;
    rank->r.cpu_ns = (int64_t)rank->cpu;
    tell_quota(w, r, &rank->r);
    m.r = rank->r;
    if (rank->r.steps > 0)
        time_parts(w, r, &m);
    post(w, &m);
    rank->r = (struct lbp_stepped_report){.shift_iterations = -1};
    rank->wall = rank->cpu = 0;
    rank->reported_ns = reported_ns;
}

/* Whether this step ends within a pass. */
static bool is_joint(const struct sim_steps *w)
{
    return (w->step + 1) % w->legs != 0;
}

/*
 * When a rank has the rows after its own; in a pipeline that is not drained nobody else keeps it.  At a joint it needs nothing, unless
 * a layout comes into force.
 */
static int64_t has_rows(const struct sim_steps *w, uint32_t r, int64_t end)
{
    uint32_t next = r + 1;

    if (is_joint(w))
        return w->ready[r];
    if (!sim_step_is_flowing(w) || w->bound[r] == w->bound[r + 1])
        return end;
    while (next < w->c->nranks && w->bound[next] == w->bound[next + 1])
        next++;
    return next < w->c->nranks && w->ready[next] > w->ready[r] ? w->ready[next] : w->ready[r];
}

bool sim_step_report(struct sim_steps *w, int64_t end)
{
    const struct sim_step_config *c = w->c;
    bool some = false;

    for (uint32_t r = 0; r < c->nranks; r++) {
        struct sim_stepper *rank = &w->rank[r];
        int64_t has = has_rows(w, r, end);

        rank->r.steps++;
        rank->r.wait_ns += has - w->ready[r];
        w->start[r] = is_joint(w) ? has : has + c->latency_ns + c->exchange_ns;
        if (!w->policy || end - rank->reported_ns < w->period_ns)
            continue;
        if (c->kind == LBP_DOACROSS && r > 0) {
            bool full = w->step % 2;

            rank->r.shift_iterations = full ? w->block : 0;
            rank->r.shift_ns = c->shift_fixed_ns;
            if (full)
                rank->r.shift_ns += (int64_t)(c->shift_incr_ns * (double)sim_step_block(w));
        }
        send(w, r, end);
        some = true;
        w->start[r] = sim_host_run(&rank->host, w->start[r], c->hook_cpu_ns);
    }
    return some;
}

/* Does a bound go back over more than half of its last way? */
static bool reverses(const struct sim_steps *w)
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
static int64_t rows_given(const struct sim_steps *w, uint32_t r)
{
    int64_t first = w->bound[r] > w->next[r] ? w->bound[r] : w->next[r];
    int64_t last = w->bound[r + 1] < w->next[r + 1] ? w->bound[r + 1] : w->next[r + 1];

    return w->bound[r + 1] - w->bound[r] - (last > first ? last - first : 0);
}

static int64_t rows_moved(const struct sim_steps *w, uint32_t r)
{
    int64_t given = rows_given(w, r);

    return 2 * given + (w->next[r + 1] - w->next[r]) - (w->bound[r + 1] - w->bound[r]);
}

void sim_step_apply(struct sim_steps *w)
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
        if (n > 0) /* where no rows move nobody waits, and a pipeline goes on as it is filled */
            w->start[r] = (w->start[r] > begin ? w->start[r] : begin) + end - begin;
    }
    if (n > 0) {
        w->result.reversals += reverses(w);
        memcpy(w->undo, w->bound, (c->nranks + 1) * sizeof(*w->undo));
        w->result.plans++;
        w->result.last_plan_ns = begin;
    }
    memcpy(w->bound, w->next, (c->nranks + 1) * sizeof(*w->bound));
    if (c->laid && n > 0)
        c->laid(c->arg, w->bound, end, end - begin);
    w->epoch = w->planned;
    for (uint32_t r = 0; r < c->nranks && !w->published && !w->sync; r++)
        send(w, r, end - w->period_ns + lbp_period_after_layout(w->period_ns, w->step_ns));
    if (w->planned_block > 0 && c->block <= 0)
        w->block = w->planned_block;
    w->plan_ns = INT64_MAX;
    w->now_ns = end;
    if (c->trace)
        printf("%9.3f  applied %" PRIu64 " in %.3f ms\n", (double)begin / 1e6, w->epoch,
               (double)(end - begin) / 1e6);
}
