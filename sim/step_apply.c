/* SPDX-License-Identifier: BSD-3-Clause */
/* A layout comes into force in a simulated stepped or pipelined loop: whose rows travel, who waits for whom. */
#include "sim/step_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/period.h"

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

/* Whose rows change hands wait for each other, and for nobody else: w->ready is when both are there. */
static void meet(struct sim_steps *w)
{
    uint32_t n = w->c->nranks;

    memcpy(w->ready, w->came, n * sizeof(*w->ready));
    for (uint32_t p = 0, q = 0; p < n && q < n;) {
        int64_t first = w->bound[p] > w->next[q] ? w->bound[p] : w->next[q];
        int64_t last = w->bound[p + 1] < w->next[q + 1] ? w->bound[p + 1] : w->next[q + 1];

        if (first < last && w->ready[p] < w->came[q])
            w->ready[p] = w->came[q];
        if (first < last && w->ready[q] < w->came[p])
            w->ready[q] = w->came[p];
        if (w->bound[p + 1] <= w->next[q + 1])
            p++;
        else
            q++;
    }
}

/* Rows travel; w->ready is when a rank has its own.  Returns how many ranks gave or got some. */
static size_t travel(struct sim_steps *w)
{
    const struct sim_step_config *c = w->c;
    size_t n = 0;

    meet(w);
    for (uint32_t r = 0; r < c->nranks; r++) {
        int64_t rows = rows_moved(w, r);

        if (rows == 0)
            continue;
        w->ready[r] +=
            c->move_fixed_ns + c->latency_ns + rows * c->row_ns + (int64_t)c->move_cpu_ns;
        w->rank[r].r.move_bytes = rows * c->row_bytes;
        w->result.moved_iterations += rows_given(w, r);
        n++;
    }
    return n;
}

static bool holds(const struct sim_steps *w, uint32_t r)
{
    return w->next[r] < w->next[r + 1];
}

static int64_t latest(const struct sim_steps *w, const int64_t *at_ns)
{
    int64_t end = at_ns[0];

    for (uint32_t r = 1; r < w->c->nranks; r++)
        end = at_ns[r] > end ? at_ns[r] : end;
    return end;
}

/* The rows after its own come to each rank, and at a joint those before them, when their owners have theirs: where libclient takes
 * halos and seams. */
static void flow_on(struct sim_steps *w)
{
    int64_t latency_ns = w->c->latency_ns, after = 0, before = 0;

    for (uint32_t r = w->c->nranks; r-- > 0;) {
        w->halo[r] = w->ready[r];
        if (!holds(w, r))
            continue;
        if (after > 0)
            w->halo[r] = (after > w->ready[r] ? after : w->ready[r]) + latency_ns;
        after = w->ready[r];
    }
    for (uint32_t r = 0; r < w->c->nranks; r++) {
        int64_t start = w->halo[r];

        if (holds(w, r) && before > 0 && sim_step_is_joint(w))
            start = (before > start ? before : start) + latency_ns;
        if (holds(w, r))
            before = w->halo[r];
        w->start[r] = start > w->start[r] ? start : w->start[r];
    }
}

/* Where no pipeline flows the ranks wait for each other. */
static void go_on(struct sim_steps *w, int64_t took_ns)
{
    for (uint32_t r = 0; r < w->c->nranks && took_ns > 0; r++)
        w->start[r] = (w->start[r] > w->now_ns ? w->start[r] : w->now_ns) + took_ns;
}

void sim_step_apply(struct sim_steps *w)
{
    const struct sim_step_config *c = w->c;
    int64_t begin = latest(w, w->came), end;
    bool flows = sim_step_is_flowing(w);
    size_t n;

    for (uint32_t r = 0; r < c->nranks; r++)
        if (w->rank[r].r.steps > 0)
            sim_step_send(w, r, w->came[r], w->came[r]);
    n = travel(w);
    end = latest(w, w->ready);
    for (uint32_t r = 0; r < c->nranks; r++) {
        w->rank[r].r.move_wall_ns = flows ? w->ready[r] - w->came[r] : end - begin;
        w->rank[r].r.move_cpu_ns = (int64_t)c->move_cpu_ns;
    }
    if (flows)
        flow_on(w);
    else
        go_on(w, end - begin);
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
    for (uint32_t r = 0; r < c->nranks && !w->published && !w->sync; r++) {
        int64_t at = flows ? w->ready[r] : end;

        sim_step_send(w, r, w->ready[r],
                      at - w->period_ns + lbp_period_after_layout(w->period_ns, w->step_ns));
        if (flows)
            w->rank[r].r.wait_ns += w->start[r] - w->ready[r];
    }
    if (w->planned_block > 0 && c->block <= 0)
        w->block = w->planned_block;
    w->plan_ns = INT64_MAX;
    w->now_ns = end;
    if (c->trace)
        printf("%9.3f  applied %" PRIu64 " in %.3f ms\n", (double)begin / 1e6, w->epoch,
               (double)(end - begin) / 1e6);
}
