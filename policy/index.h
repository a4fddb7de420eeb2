/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host is worth: the share of it that a new task or job gets beside the load that is there, and BEC's performance
 * index.  Pure.
 */
#ifndef LBP_INDEX_H
#define LBP_INDEX_H

#include <stddef.h>

struct lbp_index_weights {
    double scale;    /* > 0 */
    double user;     /* wu, per user logged in, >= 0 */
    double terminal; /* wy, per open terminal, >= 0 */
    double task;     /* wt, per task placed by us whose load is not visible yet, >= 0 */
};

/* Tasks that we placed. */
struct lbp_placed {
    double tasks, age_ns; /* >= 0 */
};

/*
 * How many of the placed tasks do not show in the load yet: all of them when they are new, so that the next ones go elsewhere;
 * fewer as their load appears, and as they grow older, since a task that never computes never will.
 * placed_cpus >= 0: load that they are seen to be;  cpus > 0;  half_life_ns > 0
 * Source: ours; BEC counts every task as long as it runs, which counts its load twice once that is measured.
 */
double lbp_index_fresh_tasks(const struct lbp_placed *placed, size_t n, double placed_cpus,
                             double cpus, double half_life_ns);

/*
 * BEC's index: scale x HI x WI x (1 + wu users + wy terminals + wt tasks); lower is better.
 * hardware_s > 0: CPU seconds of the benchmark; workload_ratio >= 1: elapsed / CPU time a task would see now
 * Source: seed 004, section 4.2.
 */
double lbp_index(const struct lbp_index_weights *w, double hardware_s, double workload_ratio,
                 double users, double terminals, double tasks);

/*
 * The share of one core that one more task gets on a host of `cpus` cores (may be below 1: a quota) of which others use
 * external_cpus: what they leave, or its fair part of the host where they leave less.  0 < result <= 1.
 * cpus > 0, external_cpus >= 0.  Source: ours; others are counted as processes that each use what one can get at most.
 */
double lbp_index_task_share(double cpus, double external_cpus);

/* The cores that a job with one task per core gets, likewise; 0 < result <= cpus. */
double lbp_index_job_cpus(double cpus, double external_cpus);

#endif
