/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as threads of one process. */
#include "tests/unit/libclient/world.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/wired.h"

#define BARRIERS_MAX 100000
#define WORLD_LEAST_MAX 8
#define LARGE_BYTES (64 << 10) /* what MPI keeps at its source until it is asked for */
#define DELAY 4 /* polls at most that a step of a transfer takes longer than it must */
#define DELAY_LONG 40

struct lbc_send {
    struct message *m;
};
struct lbc_recv {
    struct message *m;
};

/* One transfer; freed when both sides are through with it, or with the world: ranks that have failed test for nothing. */
struct message {
    struct message *next;        /* in the destination's queue, until its header is taken */
    struct message **at, *other; /* in the list of all */
    struct lbc_send send;
    struct lbc_recv recv;
    int source;
    char header[LBC_HEADER_MAX];
    size_t header_bytes;
    struct lbc_segment *segment;
    size_t nsegments;
    bool buffered; /* the rows were copied when sent */
    bool taken, matches, received, source_done, dest_done;
    int delay_header, delay_send, delay_recv;
};

/* A part on its way: copied when it is sent, or when it is received, like small and large ones with MPI. */
struct piece {
    struct piece *next;
    struct lbc_segment segment;
    bool buffered, *taken;
};

struct lbc_exchange {
    size_t n;
    int delay;
    struct {
        struct lbc_part part;
        bool done; /* in: received; out: its memory is free again */
    } part[];
};

struct rank {
    struct lbc_transport base;
    struct world *world;
    struct message *queue;
    int barriers; /* entered so far */
    int delay_barrier;
};

struct world {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int size;
    uint64_t random;
    struct rank rank[WORLD_RANKS_MAX];
    struct message *all;
    int entered[BARRIERS_MAX];
    struct piece *line[WORLD_RANKS_MAX][WORLD_RANKS_MAX]; /* from, to */
    int64_t least[WORLD_LEAST_MAX];
    int least_entered, least_left, least_delay[WORLD_RANKS_MAX];
    int64_t *least_value[WORLD_RANKS_MAX];
    int least_n;
    double *gathered;
    int gather_count, gather_round;
    int fail_every, sends, held;
    struct lbc_transport *wired[WORLD_RANKS_MAX]; /* in place of ours; NULL: none */
};

uint64_t world_random(uint64_t *state, uint64_t n)
{
    /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % n;
}

static struct rank *of(struct lbc_transport *t)
{
    return (struct rank *)t;
}

/* What the world needs for itself is not what the tests take away. */
static void enter(struct world *w)
{
    fault_pause();
    pthread_mutex_lock(&w->lock);
}

static void leave(struct world *w)
{
    pthread_mutex_unlock(&w->lock);
    fault_resume();
}

static size_t sum_bytes(const struct lbc_segment *s, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += s[i].bytes;
    return sum;
}

static int delay(struct world *w)
{
    static const uint64_t most[] = {DELAY, DELAY, DELAY, DELAY, DELAY, DELAY_LONG, 10 * DELAY_LONG};

    return (int)world_random(&w->random,
                             most[world_random(&w->random, sizeof(most) / sizeof(most[0]))]);
}

static void free_message(struct world *w, struct message *m)
{
    if (m->buffered)
        for (size_t i = 0; i < m->nsegments; i++)
            free(m->segment[i].base);
    free(m->segment);
    *m->at = m->other;
    if (m->other)
        m->other->at = m->at;
    free(m);
    w->held--;
}

static bool world_usable(struct lbc_transport *t)
{
    (void)t;
    return true;
}

static int world_send(struct lbc_transport *t, int dest, const void *header, size_t header_bytes,
                      const struct lbc_segment *segment, size_t n, struct lbc_send **ret_send)
{
    struct world *w = of(t)->world;
    struct message *m, **end;

    enter(w);
    if (w->fail_every > 0 && ++w->sends % w->fail_every == 0) {
        leave(w);
        return -ENOMEM;
    }
    m = calloc(1, sizeof(*m));
    w->held++;
    m->source = t->rank;
    memcpy(m->header, header, header_bytes);
    m->header_bytes = header_bytes;
    m->segment = calloc(n + 1, sizeof(*segment));
    if (n > 0) /* a header alone comes with no memory at all */
        memcpy(m->segment, segment, n * sizeof(*segment));
    m->nsegments = n;
    m->buffered = world_random(&w->random, 2) && sum_bytes(segment, n) < LARGE_BYTES;
    for (size_t i = 0; m->buffered && i < n; i++) {
        m->segment[i].base = malloc(segment[i].bytes);
        memcpy(m->segment[i].base, segment[i].base, segment[i].bytes);
    }
    m->delay_header = (int)world_random(&w->random, DELAY);
    m->delay_send = (int)delay(w);
    m->delay_recv = (int)delay(w);
    for (end = &w->rank[dest].queue; *end; end = &(*end)->next)
        ;
    *end = m;
    m->send.m = m->recv.m = m;
    m->other = w->all;
    m->at = &w->all;
    if (m->other)
        m->other->at = &m->other;
    w->all = m;
    *ret_send = &m->send;
    leave(w);
    return 0;
}

static int world_send_test(struct lbc_transport *t, struct lbc_send *s)
{
    struct world *w = of(t)->world;
    struct message *m = s->m;
    int done;

    enter(w);
    done = m->taken && (m->buffered || m->received) && m->delay_send-- <= 0;
    if (done) {
        m->source_done = true;
        if (m->dest_done)
            free_message(w, m);
    }
    leave(w);
    return done;
}

static int world_probe(struct lbc_transport *t, void *header, size_t *ret_header_bytes,
                       int *ret_source, struct lbc_recv **ret_recv)
{
    struct rank *r = of(t);
    struct message *m;
    int there = 0;

    enter(r->world);
    m = r->queue;
    if (m && m->delay_header-- <= 0) {
        r->queue = m->next;
        m->taken = true;
        memcpy(header, m->header, m->header_bytes);
        *ret_header_bytes = m->header_bytes;
        *ret_source = m->source;
        *ret_recv = &m->recv;
        there = 1;
    }
    leave(r->world);
    return there;
}

/* The rows may be there long before the transport says so.  Segments match one to one, as with MPI. */
static int world_recv(struct lbc_transport *t, struct lbc_recv *recv,
                      const struct lbc_segment *segment, size_t n)
{
    struct world *w = of(t)->world;
    struct message *m = recv->m;

    enter(w);
    m->matches = n == m->nsegments && sum_bytes(segment, n) == sum_bytes(m->segment, n);
    for (size_t i = 0; m->matches && i < n; i++)
        memcpy(segment[i].base, m->segment[i].base, segment[i].bytes);
    leave(w);
    return fault_strikes() ? -ENOMEM : 0;
}

static void end_receiving(struct world *w, struct lbc_recv *recv)
{
    recv->m->dest_done = true;
    if (recv->m->source_done)
        free_message(w, recv->m);
}

static int world_recv_test(struct lbc_transport *t, struct lbc_recv *recv)
{
    struct world *w = of(t)->world;
    struct message *m = recv->m;
    int done = 0;

    enter(w);
    if (m->delay_recv-- <= 0) {
        done = m->matches ? 1 : -EIO;
        m->received = true;
        end_receiving(w, recv);
    }
    leave(w);
    return done;
}

static void world_recv_drop(struct lbc_transport *t, struct lbc_recv *recv)
{
    struct world *w = of(t)->world;

    enter(w);
    recv->m->received |=
        recv->m->nsegments == 0; /* with MPI rows that nobody takes stay where they are */
    end_receiving(w, recv);
    leave(w);
}

static int world_barrier_start(struct lbc_transport *t)
{
    struct rank *r = of(t);

    enter(r->world);
    r->world->entered[r->barriers++]++;
    r->delay_barrier = (int)world_random(&r->world->random, DELAY_LONG);
    leave(r->world);
    return 0;
}

static int world_barrier_test(struct lbc_transport *t)
{
    struct rank *r = of(t);
    int done;

    enter(r->world);
    done = r->world->entered[r->barriers - 1] == r->world->size && r->delay_barrier-- <= 0;
    leave(r->world);
    return done;
}

static int world_exchange_create(struct lbc_transport *t, const struct lbc_part *part, size_t n,
                                 struct lbc_exchange **ret)
{
    struct world *w = of(t)->world;
    struct lbc_exchange *e;

    if (fault_strikes())
        return -ENOMEM;
    enter(w);
    e = calloc(1, sizeof(*e) + n * sizeof(e->part[0]));
    e->n = n;
    for (size_t i = 0; i < n; i++)
        e->part[i].part = part[i];
    w->held++;
    leave(w);
    *ret = e;
    return 0;
}

static int world_exchange_start(struct lbc_transport *t, struct lbc_exchange *e)
{
    struct world *w = of(t)->world;

    enter(w);
    e->delay = (int)world_random(&w->random, DELAY);
    for (size_t i = 0; i < e->n; i++) {
        struct lbc_part *part = &e->part[i].part;
        struct piece *piece, **end = &w->line[t->rank][part->peer];

        e->part[i].done = false;
        if (!part->out)
            continue;
        piece = calloc(1, sizeof(*piece));
        piece->segment = part->segment;
        piece->buffered = world_random(&w->random, 2);
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
    leave(w);
    return 0;
}

static void drop_piece(struct world *w, struct piece **line)
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
    drop_piece(w, line);
}

/* Receives what is there, from any peer in its order, but not always at once. */
static int world_exchange_test(struct lbc_transport *t, struct lbc_exchange *e)
{
    struct world *w = of(t)->world;
    bool blocked[WORLD_RANKS_MAX] = {false};
    int done = 1;

    enter(w);
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
    leave(w);
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

static void world_exchange_destroy(struct lbc_transport *t, struct lbc_exchange *e)
{
    struct world *w = of(t)->world;

    if (!e)
        return;
    enter(w);
    for (int to = 0; to < w->size; to++)
        for (struct piece *p = w->line[t->rank][to]; p; p = p->next)
            if (!p->buffered && is_of(e, p))
                keep_piece(p);
    w->held--;
    free(e);
    leave(w);
}

static int world_least_start(struct lbc_transport *t, int64_t *value, int n)
{
    struct world *w = of(t)->world;

    enter(w);
    w->least_value[t->rank] = value;
    w->least_n = n;
    w->least_delay[t->rank] = -1;
    leave(w);
    return 0;
}

static int world_least_test(struct lbc_transport *t)
{
    struct world *w = of(t)->world;
    int me = t->rank, done = 0;

    enter(w);
    if (w->least_delay[me] < 0 && w->least_left == 0) { /* enters */
        for (int i = 0; i < w->least_n; i++)
            if (w->least_entered == 0 || w->least_value[me][i] < w->least[i])
                w->least[i] = w->least_value[me][i];
        w->least_delay[me] = (int)world_random(&w->random, DELAY);
        if (++w->least_entered == w->size) {
            w->least_entered = 0;
            w->least_left = w->size;
        }
    } else if (w->least_delay[me] >= 0 && w->least_left > 0 && w->least_delay[me]-- == 0) {
        memcpy(w->least_value[me], w->least, (size_t)w->least_n * sizeof(w->least[0]));
        w->least_left--;
        w->least_delay[me] = -1;
        done = 1;
    }
    leave(w);
    return done;
}

static int world_allgather(struct lbc_transport *t, const double *values, int n, double *ret_values)
{
    struct world *w = of(t)->world;
    int round;

    enter(w);
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
    leave(w);
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
        free_message(w, w->all);
    for (int i = 0; i < w->size * w->size; i++)
        while (w->line[i / w->size][i % w->size])
            drop_piece(w, &w->line[i / w->size][i % w->size]);
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
