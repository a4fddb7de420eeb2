/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One job step's balancing: which ranks have joined, which loops are open, and the way between the ranks' messages and the
 * pure policy of policy/balance.h.  Balancing needs all ranks: when one is lost it stops for the job, and every rank goes on
 * with what it has.
 */
#ifndef LBD_JOB_H
#define LBD_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/clock.h"
#include "policy/registry.h"
#include "wire/endpoint.h"
#include "wire/rank.h"

/* Between beats while no rank waits: what else is done now and then is done as often, in the same wake-up. */
#define LBD_JOB_BEAT_MS (LBW_BUSY * LBW_BEAT_NS / LBX_NS_PER_MS)

struct lbd_job;
struct lbd_explain;
struct lbd_trace;

struct lbd_job_config {
    uint32_t nranks_most; /* a job with more is refused */
    struct lbp_params params;
    const struct lbw_endpoint *endpoint; /* borrowed */
    struct lbd_trace *trace;             /* borrowed; NULL none */
    struct lbd_explain *explain;         /* borrowed; NULL none */
    void (*over)(void *arg); /* called once, from the loop: all ranks left, or balancing stopped */
    void *arg;
};

/* *ret is owned by the caller.  Returns 0 or -ENOMEM. */
int lbd_job_create(uv_loop_t *loop, const struct lbd_job_config *config, struct lbd_job **ret)
    __attribute__((warn_unused_result));

/* A connection to the balancer's port; fd is transferred. */
void lbd_job_accept(struct lbd_job *j, int fd);

/* Tell the ranks that it is over, and close.  why: for the log; NULL when nothing is wrong. */
void lbd_job_stop(struct lbd_job *j, const char *why);

/* The job's loops; NULL before all ranks have joined. */
struct lbd_loops;
const struct lbd_loops *lbd_job_loops(const struct lbd_job *j);
uint32_t lbd_job_ranks(const struct lbd_job *j); /* that have joined */
const char *lbd_job_host(const struct lbd_job *j,
                         uint32_t rank); /* borrowed; "" before it has joined */

bool lbd_job_joined(const struct lbd_job *j); /* whether any rank ever joined */

void lbd_job_destroy(struct lbd_job *j); /* after the loop has run out of handles; NULL is fine */

#endif
