/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is this host slower than it was?  Its benchmarks are kept over restarts and reboots, and a new one is held against them, kernel
 * by kernel: heat slows all of them, a bad memory module only those that use memory.
 */
#ifndef LBD_NODE_HEALTH_H
#define LBD_NODE_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbd/node/bench.h"
#include "wire/node.h"

#define LBD_HEALTH_MAX 16   /* benchmarks remembered */
#define LBD_HEALTH_LEAST 3  /* before that nothing is known */
#define LBD_HEALTH_SLOW .85 /* a kernel that gets less than this of what is usual */

struct lbd_health {
    char model[LBW_NODE_MODEL_MAX]; /* of the processor: another one has another history */
    size_t n;                       /* oldest first */
    double hz[LBD_HEALTH_MAX][LBD_KERNELS];
};

struct lbd_health_verdict {
    double ratio; /* the worst kernel against the median of its history; 1: as usual, or unknown */
    int kernel;   /* which one */
    bool slow;
};

/* What the history says of a new benchmark.  Pure. */
void lbd_health_judge(const struct lbd_health *h, const struct lbd_bench_result *r,
                      struct lbd_health_verdict *ret);

/* Remember it, the oldest goes.  Those of a slow host are not to be remembered: they would become usual. */
void lbd_health_add(struct lbd_health *h, const struct lbd_bench_result *r);

/* Read it; a file that is not there, not ours, or of another processor gives an empty one. */
void lbd_health_read(const char *path, const char *model, struct lbd_health *ret);

/* Returns 0 or a negative errno; a file that is there is replaced at once or left as it is. */
int lbd_health_write(const char *path, const struct lbd_health *h)
    __attribute__((warn_unused_result));

#endif
