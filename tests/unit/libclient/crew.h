/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a job as threads on a world, with a mind for their balancer where one is asked for. */
#ifndef TEST_CREW_H
#define TEST_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/lb.h"
#include "tests/unit/libclient/mind.h"

struct crew_config {
    int size;
    uint64_t seed;
    bool balanced, uneven_first; /* uneven: random weights */
    int fail_sends;              /* see world_fail_sends */
    int64_t sync_ns;             /* the synchronous mode, see struct lb_ctx; 0: no */
    struct mind_config mind;     /* where balanced; its size and seed are the crew's */
    bool apart; /* the ranks do not wait for each other after run: what is in flight may be lost */
    /* What each rank does between lb_init and lb_finalize; the ranks wait for each other after it. */
    void (*run)(lb_ctx *ctx, int rank, void *data);
    void *data;
};

struct crew_result {
    struct mind_sums mind;
    int leftovers;           /* see world_leftovers */
    int64_t asked, answered; /* see struct lb_ctx; of all ranks */
};

struct crew_result crew_run(const struct crew_config *config);

#endif
