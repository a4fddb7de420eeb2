/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated balancer's time: it has one core, and does one thing after another.  What it hears and what it says wait in one
 * queue, as in lbd/balancer, where a turn of the loop reads all that is there and then writes.  Internal to sim/.
 */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct sim_server {
    int64_t
        message_ns; /* CPU time of a message, heard or said, with all that is decided by it; 0: none */
    int64_t beat_ns; /* and of a beat to a rank; 0: none */
    uint32_t nranks;
    int64_t *
        said_ns; /* [nranks] when a rank was told something last, so that it needs no beat; borrowed */
    bool *
        waits; /* [nranks] it has said that nothing remains for it, and needs beats the oftener; borrowed */
    /* state */
    int64_t free_ns; /* since when it has nothing to do */
    int64_t busy_ns; /* in all */
    int64_t late_ns; /* the longest that a message has waited for its turn */
    int64_t beats;   /* rounds of beats that are over or in the queue */
};

/* A message comes or is to be said at now_ns, not before that of the last call.  Returns when it has been heard or sent, ns. */
int64_t sim_server_take(struct sim_server *s, int64_t now_ns);

#endif
