/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the world share. */
#ifndef TEST_WORLD_IMPL_H
#define TEST_WORLD_IMPL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/world.h"

#define BARRIERS_MAX 100000
#define DELAY 4 /* polls at most that a step of a transfer takes longer than it must */
#define DELAY_LONG 40
#define LARGE_BYTES ((size_t)64 << 10) /* what MPI keeps at its source until it is asked for */

struct message; /* of world_transfer.c */
struct piece;   /* of world_exchange.c */

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
    int64_t least[LBC_LEAST_MAX];
    int least_entered, least_left, least_delay[WORLD_RANKS_MAX];
    int64_t *least_value[WORLD_RANKS_MAX];
    int least_n[WORLD_RANKS_MAX], least_size; /* values of each rank, of those that have entered */
    double *gathered;
    int gather_count, gather_round;
    int fail_every, sends, held;
    struct lbc_transport *wired[WORLD_RANKS_MAX]; /* in place of ours; NULL: none */
};

static inline struct rank *world_rank(struct lbc_transport *t)
{
    return (struct rank *)t;
}

/* What the world needs for itself is not what the tests take away. */
static inline void world_enter(struct world *w)
{
    fault_pause();
    pthread_mutex_lock(&w->lock);
}

static inline void world_leave(struct world *w)
{
    pthread_mutex_unlock(&w->lock);
    fault_resume();
}

/* world_transfer.c: spans and rows from rank to rank */
void world_free_message(struct world *w, struct message *m);
int world_send(struct lbc_transport *t, int dest, const void *header, size_t header_bytes,
               const struct lbc_segment *segment, size_t n, struct lbc_send **ret_send);
int world_send_test(struct lbc_transport *t, struct lbc_send *s);
int world_probe(struct lbc_transport *t, void *header, size_t *ret_header_bytes, int *ret_source,
                struct lbc_recv **ret_recv);
int world_recv(struct lbc_transport *t, struct lbc_recv *recv, const struct lbc_segment *segment,
               size_t n);
int world_recv_test(struct lbc_transport *t, struct lbc_recv *recv);
void world_recv_drop(struct lbc_transport *t, struct lbc_recv *recv);

/* world_exchange.c: the transfers that each step repeats */
int world_exchange_create(struct lbc_transport *t, const struct lbc_part *part, size_t n,
                          struct lbc_exchange **ret);
int world_exchange_start(struct lbc_transport *t, struct lbc_exchange *e);
void world_drop_piece(struct world *w, struct piece **line);
int world_exchange_test(struct lbc_transport *t, struct lbc_exchange *e);
bool world_exchange_destroy(struct lbc_transport *t, struct lbc_exchange *e);

#endif
