/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of spans and rows in the world. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/libclient/world_impl.h"

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

void world_free_message(struct world *w, struct message *m)
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

int world_send(struct lbc_transport *t, int dest, const void *header, size_t header_bytes,
               const struct lbc_segment *segment, size_t n, struct lbc_send **ret_send)
{
    struct world *w = world_rank(t)->world;
    struct message *m, **end;

    world_enter(w);
    if (w->fail_every > 0 && ++w->sends % w->fail_every == 0) {
        world_leave(w);
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
    world_leave(w);
    return 0;
}

int world_send_test(struct lbc_transport *t, struct lbc_send *s)
{
    struct world *w = world_rank(t)->world;
    struct message *m = s->m;
    int done;

    world_enter(w);
    done = m->taken && (m->buffered || m->received) && m->delay_send-- <= 0;
    if (done) {
        m->source_done = true;
        if (m->dest_done)
            world_free_message(w, m);
    }
    world_leave(w);
    return done;
}

int world_probe(struct lbc_transport *t, void *header, size_t *ret_header_bytes, int *ret_source,
                struct lbc_recv **ret_recv)
{
    struct rank *r = world_rank(t);
    struct message *m;
    int there = 0;

    world_enter(r->world);
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
    world_leave(r->world);
    return there;
}

/* The rows may be there long before the transport says so.  Segments match one to one, as with MPI. */
int world_recv(struct lbc_transport *t, struct lbc_recv *recv, const struct lbc_segment *segment,
               size_t n)
{
    struct world *w = world_rank(t)->world;
    struct message *m = recv->m;

    world_enter(w);
    m->matches = n == m->nsegments && sum_bytes(segment, n) == sum_bytes(m->segment, n);
    for (size_t i = 0; m->matches && i < n; i++)
        memcpy(segment[i].base, m->segment[i].base, segment[i].bytes);
    world_leave(w);
    return fault_strikes() ? -ENOMEM : 0;
}

static void end_receiving(struct world *w, struct lbc_recv *recv)
{
    recv->m->dest_done = true;
    if (recv->m->source_done)
        world_free_message(w, recv->m);
}

int world_recv_test(struct lbc_transport *t, struct lbc_recv *recv)
{
    struct world *w = world_rank(t)->world;
    struct message *m = recv->m;
    int done = 0;

    world_enter(w);
    if (m->delay_recv-- <= 0) {
        done = m->matches ? 1 : -EIO;
        m->received = true;
        end_receiving(w, recv);
    }
    world_leave(w);
    return done;
}

void world_recv_drop(struct lbc_transport *t, struct lbc_recv *recv)
{
    struct world *w = world_rank(t)->world;

    world_enter(w);
    recv->m->received |=
        recv->m->nsegments == 0; /* with MPI rows that nobody takes stay where they are */
    end_receiving(w, recv);
    world_leave(w);
}
