/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of a job for its loops to be balanced, and the way out for the messages to its ranks. */
#ifndef LBD_LOOPS_CONFIG_H
#define LBD_LOOPS_CONFIG_H

#include <stdint.h>

#include "policy/registry.h"
#include "wire/rank.h"

struct lbd_explain;
struct lbd_trace;

/* Called for each message that is to be sent to a rank, in order. */
typedef void lbd_loops_send(void *arg, uint32_t rank, const struct lbw_rank_msg *msg);

struct lbd_loops_config {
    uint32_t nranks;
    const double *weight;   /* [nranks] or NULL; copied */
    const double *hardware; /* [nranks] or NULL; copied */
    int64_t t_interact_ns;
    int64_t stable_ns; /* the hosts' loads are expected to stay so long; 0 unknown */
    struct lbp_params params;
    struct lbd_trace *trace;     /* borrowed; NULL none */
    struct lbd_explain *explain; /* borrowed; NULL none */
    lbd_loops_send *send;
    void *arg;
};

#endif
