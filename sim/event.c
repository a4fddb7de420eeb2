/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a simulated job: a binary heap by time, then by order of posting. */
#include "sim/event.h"

#include <stdlib.h>

void sim_fail(struct sim_world *w, const char *why)
{
    if (!w->why)
        w->why = why;
}

static bool before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void sim_post(struct sim_world *w, struct sim_event event)
{
    size_t i = w->nevents;

    if (w->nevents == w->size) {
        size_t size = w->size ? 2 * w->size : 64;
        struct sim_event *grown = realloc(w->event, size * sizeof(*grown));

        if (!grown) {
            sim_fail(w, "out of memory");
            free(event.report);
            return;
        }
        w->event = grown;
        w->size = size;
    }
    event.order = w->order++;
    w->nevents++;
    for (; i > 0 && before(&event, &w->event[(i - 1) / 2]); i = (i - 1) / 2)
        w->event[i] = w->event[(i - 1) / 2];
    w->event[i] = event;
}

struct sim_event sim_next(struct sim_world *w)
{
    struct sim_event top = w->event[0], last = w->event[--w->nevents];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < w->nevents; i = child) {
        if (child + 1 < w->nevents && before(&w->event[child + 1], &w->event[child]))
            child++;
        if (!before(&w->event[child], &last))
            break;
        w->event[i] = w->event[child];
    }
    if (w->nevents > 0)
        w->event[i] = last;
    return top;
}
