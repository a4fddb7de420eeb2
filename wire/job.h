/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A balanced job step: what the lbd beside its balancer tells the controller, now and then while it runs and once when it has
 * ended.  A message of wire/node.h.
 */
#ifndef LBW_JOB_H
#define LBW_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/flat.h"
#include "wire/local.h"
#include "wire/placement.h"

#define LBW_JOB_NAME_MAX 64   /* bytes with the NUL */
#define LBW_JOB_HOSTS_MAX 256 /* told one by one; a job may have more */

/* Of a decision, in this order; the first two move work. */
#define LBW_JOB_REASONS 6
#define LBW_JOB_REASONS_MOVING 2
extern const char *const lbw_job_reason[LBW_JOB_REASONS];

struct lbw_job_host {
    char host[LBW_LOCAL_HOST_MAX];
    double share;   /* of the iterations, 0 to 1 */
    double rate_hz; /* iterations per second, filtered, >= 0 */
    uint64_t iterations;
    int64_t compute_ns, wait_ns; /* summed over its ranks, >= 0 */
};

struct lbw_job {
    uint64_t seq;      /* one series with the reports of this lbd */
    uint32_t ended;    /* 1: it has ended; 0: it runs, and seq is 0: nobody waits for an answer */
    int64_t age_ns;    /* since these figures were taken, >= 0 */
    int64_t run_ns;    /* since the balancer's start, >= 0 */
    int64_t placed_ns; /* run time that placement expected; 0: it did not */
    uint32_t jobid, stepid;
    char user[LBW_JOB_NAME_MAX], account[LBW_JOB_NAME_MAX], partition[LBW_JOB_NAME_MAX];
    char policy[LBW_JOB_NAME_MAX]; /* these four: any bytes but control characters */
    uint32_t hosts, ranks;
    uint32_t placement;              /* enum lbw_placement */
    double load_balance, efficiency; /* 0 to 1 */
    double
        balance_before; /* the load balance that its loops have with their first shares, 0 to 1; 0: not known */
    int64_t compute_ns, wait_ns; /* summed over ranks, >= 0 */
    int64_t overhead_ns;         /* likewise: moving, and the balancer's CPU time */
    int64_t saved_ns;  /* likewise, by the balancer's estimate; negative: it took longer */
    int64_t period_ns; /* between decisions, >= 0 */
    uint64_t loops, moved_bytes, moved_iterations;
    uint64_t decisions[LBW_JOB_REASONS];
    size_t nhost;
    struct lbw_job_host host[LBW_JOB_HOSTS_MAX];
};

/* Bytes of it that count: its hosts are the last field, and only nhost of them need memory. */
size_t lbw_job_bytes(const struct lbw_job *job);

/* As those of wire/hosts.h; within wire/ only. */
size_t lbw_job_fields(const struct lbw_job *job);
bool lbw_job_valid(const struct lbw_job *job);
void lbw_job_write(struct lbw_writer *w, const struct lbw_job *job);
void lbw_job_read(struct lbw_reader *r, struct lbw_job *ret_job);

#endif
