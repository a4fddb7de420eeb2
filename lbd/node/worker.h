/* SPDX-License-Identifier: BSD-3-Clause */
/* Repetitions of one kernel: by the calling thread, or by a thread on each of several cores at once. */
#ifndef LBD_NODE_WORKER_H
#define LBD_NODE_WORKER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "lbd/node/kernel.h"

/* What a repetition is. */
struct lbd_work {
    const struct lbd_kernel *kernel;
    size_t area_bytes;
    int64_t repetition_ns; /* of CPU time */
    const atomic_bool *cancel;
};

/*
 * n repetitions in the calling thread, pinned to `cpu` meanwhile (-1: left where it may run).  ret_hz[out] [n] operations per CPU second.
 * Returns 0, -ECANCELED, -ENOMEM.
 */
int lbd_worker_alone(const struct lbd_work *w, int cpu, size_t n, double *ret_hz)
    __attribute__((warn_unused_result));

/*
 * n repetitions by ncpus threads, each pinned to one of cpu[]; all work until the last one has had its time, so that none is
 * measured alone.  ret_hz[out] [n] operations per CPU second of one core, summed over the cores.
 * Returns 0, -ECANCELED, -ENOMEM, -EAGAIN (threads are not to be had).
 */
int lbd_worker_all(const struct lbd_work *w, const int *cpu, size_t ncpus, size_t n, double *ret_hz)
    __attribute__((warn_unused_result));

#endif
