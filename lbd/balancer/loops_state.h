/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of a job from within, as loops.c and sums.c know them. */
#ifndef LBD_BALANCER_LOOPS_STATE_H
#define LBD_BALANCER_LOOPS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbd/balancer/loops_config.h"
#include "lbd/balancer/loops_stats.h"
#include "policy/balance.h"
#include "policy/firsts.h"
#include "policy/stepped.h"
#include "wire/rank.h"

struct lbd_loop {
    uint32_t id;
    char name[LBW_NAME_MAX];
    int64_t n;
    uint32_t kind;         /* enum lbw_loop_kind, of all that have it open */
    struct lbw_open *open; /* [nranks] as each rank last told */
    bool *opened, *joined; /* [nranks] */
    uint32_t nopened, nclosed;
    /* The fewest that a rank has closed a free-running loop after; INT64_MAX: none has. */
    int64_t closed_passes;
    int64_t most_pass;    /* that a rank was in; -1: none */
    bool told_closed;     /* that a rank is in a pass that another has closed the loop before */
    struct lbw_close sum; /* of the ranks that have closed it; passes: of the last */
    double elapsed_ns;    /* of the one that was in it longest */
    double cost_ns;       /* of an iteration on a reference core, sum of the ranks' first reports */
    uint32_t ncosts;
    struct lbp_balance *balance; /* from the first report on */
    int64_t row_bytes;           /* of the rank that it was of */
    struct lbp_stepped *stepped; /* instead, for a stepped loop: when all have opened it */
    struct lbp_firsts *firsts;   /* beside it */
    struct lbd_loop *next;
};

struct lbd_loops {
    struct lbd_loops_config config;
    double *weight, *hardware;
    struct lbd_loop *first;
    size_t nloops;
    struct lbp_actions actions;
    struct lbd_loop *last;        /* reported last; NULL when it is closed */
    struct lbd_loops_stats stats; /* of closed loops; what is not a sum as it was last */
    struct lbd_rank_stats *rank;  /* [nranks] */
    struct lbd_wait *wait;        /* [nranks] */
    struct lbp_seen *seen;        /* [nranks] scratch */
};

/* A rank's waiting is told per pass, as a sum. */
struct lbd_wait {
    uint32_t loop;
    int64_t pass, told_ns;
};

#endif
