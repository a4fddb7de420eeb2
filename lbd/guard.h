/* SPDX-License-Identifier: BSD-3-Clause */
/* How many connections and messages each peer (a uid, an address) may have, so that one cannot crowd out the others. */
#ifndef LBD_GUARD_H
#define LBD_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#define LBD_GUARD_PEERS 256

struct lbd_guard_peer {
    uint64_t key;
    uint32_t connections;
    double tokens; /* messages it may send at once */
    int64_t at_ns; /* when tokens was true; 0: the place is free */
};

struct lbd_guard {
    uint32_t connections, connections_max, connections_each;
    double rate_hz, burst; /* messages of one peer */
    struct lbd_guard_peer peer[LBD_GUARD_PEERS];
};

void lbd_guard_init(struct lbd_guard *g, uint32_t connections_max, uint32_t connections_each,
                    double rate_hz, double burst);

/* A connection of key begins: whether it may.  Each true one is followed by lbd_guard_leave. */
bool lbd_guard_enter(struct lbd_guard *g, uint64_t key, int64_t now_ns);
void lbd_guard_leave(struct lbd_guard *g, uint64_t key);

/* A message of a peer with a connection: whether it is within the rate. */
bool lbd_guard_message(struct lbd_guard *g, uint64_t key, int64_t now_ns);

#endif
