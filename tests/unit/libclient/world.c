/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as threads of one process: the world itself, and what all ranks do together in it. */
#include "tests/unit/libclient/world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/libclient/wired.h"
#include "tests/unit/libclient/world_impl.h"

uint64_t world_random(uint64_t *state, uint64_t n)
{
    /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % n;
}

static bool world_usable(struct lbc_transport *t)
{
    (void)t;
    return true;
}

static int world_barrier_start(struct lbc_transport *t)
{
    struct rank *r = world_rank(t);

    world_enter(r->world);
    r->world->entered[r->barriers++]++;
    r->delay_barrier = (int)world_random(&r->world->random, DELAY_LONG);
    world_leave(r->world);
    return 0;
}

static int world_barrier_test(struct lbc_transport *t)
{
    struct rank *r = world_rank(t);
    int done;

    world_enter(r->world);
    done = r->world->entered[r->barriers - 1] == r->world->size && r->delay_barrier-- <= 0;
    world_leave(r->world);
    return done;
}

/* The rank's values count from here on; they wait outside until all have left the reduction before. */
static void least_enter(struct world *w, int me)
{
    if (w->least_delay[me] >= 0 || w->least_left > 0)
        return;
    if (w->least_entered > 0 && w->least_n[me] != w->least_size) /* MPI would fail, or worse */
        abort();
    w->least_size = w->least_n[me];
    for (int i = 0; i < w->least_size; i++)
        if (w->least_entered == 0 || w->least_value[me][i] < w->least[i])
            w->least[i] = w->least_value[me][i];
    w->least_delay[me] = (int)world_random(&w->random, DELAY);
    if (++w->least_entered == w->size) {
        w->least_entered = 0;
        w->least_left = w->size;
    }
}

static int world_least_start(struct lbc_transport *t, int64_t *value, int n)
{
    struct world *w = world_rank(t)->world;

    world_enter(w);
    if (w->least_value[t->rank]) /* one at a time */
        abort();
    w->least_value[t->rank] = value;
    w->least_n[t->rank] = n;
    w->least_delay[t->rank] = -1;
    least_enter(w, t->rank);
    world_leave(w);
    return 0;
}

static int world_least_test(struct lbc_transport *t)
{
    struct world *w = world_rank(t)->world;
    int me = t->rank, done = 0;

    world_enter(w);
    if (w->least_delay[me] >= 0 && w->least_left > 0 && w->least_delay[me]-- == 0) {
        memcpy(w->least_value[me], w->least, (size_t)w->least_n[me] * sizeof(w->least[0]));
        w->least_left--;
        w->least_delay[me] = -1;
        w->least_value[me] = NULL;
        done = 1;
    } else {
        least_enter(w, me);
    }
    world_leave(w);
    return done;
}

static int world_allgather(struct lbc_transport *t, const double *values, int n, double *ret_values)
{
    struct world *w = world_rank(t)->world;
    int round;

    world_enter(w);
    round = w->gather_round;
    w->gathered = realloc(w->gathered, (size_t)(w->size * n) * sizeof(*values));
    memcpy(w->gathered + t->rank * n, values, (size_t)n * sizeof(*values));
    if (++w->gather_count == w->size) {
        w->gather_count = 0;
        w->gather_round++;
        pthread_cond_broadcast(&w->changed);
    }
    while (round == w->gather_round)
        pthread_cond_wait(&w->changed, &w->lock);
    memcpy(ret_values, w->gathered, (size_t)(w->size * n) * sizeof(*values));
    world_leave(w);
    return 0;
}

static void world_transport_destroy(struct lbc_transport *t)
{
    (void)t;
}

static const struct lbc_transport_ops world_ops = {
    .usable = world_usable,
    .send = world_send,
    .send_test = world_send_test,
    .probe = world_probe,
    .recv = world_recv,
    .recv_test = world_recv_test,
    .recv_drop = world_recv_drop,
    .barrier_start = world_barrier_start,
    .barrier_test = world_barrier_test,
    .exchange_create = world_exchange_create,
    .exchange_start = world_exchange_start,
    .exchange_test = world_exchange_test,
    .exchange_destroy = world_exchange_destroy,
    .least_start = world_least_start,
    .least_test = world_least_test,
    .allgather = world_allgather,
    .destroy = world_transport_destroy,
};

struct world *world_create(int size, uint64_t seed)
{
    struct world *w = calloc(1, sizeof(*w));

    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->size = size;
    w->random = seed;
    for (int r = 0; r < size; r++) {
        w->rank[r].base = (struct lbc_transport){&world_ops, r, size};
        w->rank[r].world = w;
    }
    if (getenv("LB_TEST_TCP"))
        wired_create(size, w->wired);
    return w;
}

void world_destroy(struct world *w)
{
    while (w->all)
        world_free_message(w, w->all);
    for (int i = 0; i < w->size * w->size; i++)
        while (w->line[i / w->size][i % w->size])
            world_drop_piece(w, &w->line[i / w->size][i % w->size]);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w->gathered);
    free(w);
}

struct lbc_transport *world_transport(struct world *w, int rank)
{
    return w->wired[rank] ? w->wired[rank] : &w->rank[rank].base;
}

void world_fail_sends(struct world *w, int nth)
{
    w->fail_every = nth;
}

int world_leftovers(struct world *w)
{
    return w->held;
}
