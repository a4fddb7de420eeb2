/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a job as threads on a world, with a mind for their balancer where one is asked for. */
#ifndef TEST_CREW_H
#define TEST_CREW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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

/* Ranks count what they saw in one place. */
static inline void crew_add(int64_t *sum, int64_t n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static inline uint64_t crew_first_seed(void)
{
    const char *text = getenv("LB_TEST_SEED");

    return text ? strtoull(text, NULL, 0) : 1;
}

/* A size of a loop; -1, -2 and -3 are np - 1, np and np + 1. */
static inline int64_t crew_n_of(int64_t which, int np)
{
    return which < 0 ? np - 2 - which : which;
}

#endif
