/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges of halo rows in the world. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/libclient/world_impl.h"

/* A part on its way: copied when it is sent, or when it is received, like small and large ones with MPI. */
struct piece {
    struct piece *next;
    struct lbc_segment segment;
    bool buffered, *taken;
};

struct lbc_exchange {
    size_t n;
    int delay;
    bool active; /* started, and not seen to be through */
    struct {
        struct lbc_part part;
        bool done; /* in: received; out: its memory is free again */
    } part[];
};

int world_exchange_create(struct lbc_transport *t, const struct lbc_part *part, size_t n,
                          struct lbc_exchange **ret)
{
    struct world *w = world_rank(t)->world;
    struct lbc_exchange *e;

    if (fault_strikes())
        return -ENOMEM;
    world_enter(w);
    e = calloc(1, sizeof(*e) + n * sizeof(e->part[0]));
    e->n = n;
    for (size_t i = 0; i < n; i++)
        e->part[i].part = part[i];
    w->held++;
    world_leave(w);
    *ret = e;
    return 0;
}

int world_exchange_start(struct lbc_transport *t, struct lbc_exchange *e)
{
    struct world *w = world_rank(t)->world;

    world_enter(w);
    e->delay = (int)world_random(&w->random, DELAY);
    e->active = true;
    for (size_t i = 0; i < e->n; i++) {
        struct lbc_part *part = &e->part[i].part;
        struct piece *piece, **end = &w->line[t->rank][part->peer];

        e->part[i].done = false;
        if (!part->out)
            continue;
        piece = calloc(1, sizeof(*piece));
        piece->segment = part->segment;
        piece->buffered = world_random(&w->random, 2) && part->segment.bytes < LARGE_BYTES;
        piece->taken = &e->part[i].done;
        if (piece->buffered) {
            piece->segment.base = malloc(part->segment.bytes);
            memcpy(piece->segment.base, part->segment.base, part->segment.bytes);
            e->part[i].done = true;
        }
        while (*end)
            end = &(*end)->next;
        *end = piece;
        w->held++;
    }
    world_leave(w);
    return 0;
}

void world_drop_piece(struct world *w, struct piece **line)
{
    struct piece *p = *line;

    if (p->buffered)
        free(p->segment.base);
    *line = p->next;
    free(p);
    w->held--;
}

static void take_piece(struct world *w, struct piece **line, void *to)
{
    struct piece *p = *line;

    memcpy(to, p->segment.base, p->segment.bytes);
    if (!p->buffered)
        *p->taken = true;
    world_drop_piece(w, line);
}

/* Receives what is there, from any peer in its order, but not always at once. */
int world_exchange_test(struct lbc_transport *t, struct lbc_exchange *e)
{
    struct world *w = world_rank(t)->world;
    bool blocked[WORLD_RANKS_MAX] = {false};
    int done = 1;

    world_enter(w);
    for (size_t i = 0; i < e->n; i++) {
        const struct lbc_part *part = &e->part[i].part;
        struct piece **line = &w->line[part->peer][t->rank];

        if (e->part[i].done)
            continue;
        if (!part->out && *line && !blocked[part->peer] && world_random(&w->random, 3) > 0) {
            if ((*line)->segment.bytes != part->segment.bytes) {
                done = -EIO;
                break;
            }
            take_piece(w, line, part->segment.base);
            e->part[i].done = true;
            continue;
        }
        blocked[part->peer] |= !part->out;
        done = 0;
    }
    if (done == 1 && e->delay-- > 0)
        done = 0;
    e->active = done != 1;
    world_leave(w);
    return done;
}

static bool is_of(const struct lbc_exchange *e, const struct piece *p)
{
    for (size_t i = 0; i < e->n; i++)
        if (p->taken == &e->part[i].done)
            return true;
    return false;
}

/* Its exchange goes while it is on its way, as after a failure. */
static void keep_piece(struct piece *p)
{
    void *copy = malloc(p->segment.bytes);

    memcpy(copy, p->segment.base, p->segment.bytes);
    p->segment.base = copy;
    p->buffered = true;
}

bool world_exchange_destroy(struct lbc_transport *t, struct lbc_exchange *e)
{
    struct world *w = world_rank(t)->world;

    if (!e)
        return true;
    world_enter(w);
    for (int to = 0; to < w->size; to++)
        for (struct piece *p = w->line[t->rank][to]; p; p = p->next)
            if (!p->buffered && is_of(e, p))
                keep_piece(p);
    w->held -= !e->active; /* else it is a leftover: only a context that has failed may do so */
    free(e);
    world_leave(w);
    return true;
}
