/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the job steps that have ended, by policy, as the metrics show them. */
#ifndef LBD_CONTROLLER_FINISHED_H
#define LBD_CONTROLLER_FINISHED_H

#include <stddef.h>
#include <stdint.h>

#include "wire/job.h"

#define LBD_FINISHED_POLICIES 16 /* of the registry, and "other" */
#define LBD_FINISHED_BUCKETS 12  /* bounds of the catalogue's "ratio", the last one without bound */

struct lbd_finished_policy {
    const char *name; /* static */
    uint64_t jobs, placement[LBW_PLACEMENTS];
    double saved_s; /* of the jobs that saved anything: a counter */
    uint64_t balance[LBD_FINISHED_BUCKETS], error[LBD_FINISHED_BUCKETS]; /* not cumulative */
    double balance_sum, error_sum;
};

struct lbd_finished {
    size_t n;
    struct lbd_finished_policy policy[LBD_FINISHED_POLICIES];
};

/* All policies of the registry, so that their counters begin at 0. */
void lbd_finished_init(struct lbd_finished *f);

/* A policy's name comes from the job's user: one that the registry does not know is "other". */
void lbd_finished_add(struct lbd_finished *f, const struct lbw_job *job);

#endif
