/* SPDX-License-Identifier: BSD-3-Clause */
/* How rank 0 comes by the balancer's address and key. */
#ifndef LBC_LAUNCH_H
#define LBC_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

/* A balancer that we started; it ends when our end of the socket is closed. */
struct lbc_launch {
    int fd;    /* -1: none */
    pid_t pid; /* 0: none */
};

#define LBC_LAUNCH_NONE \
    {                   \
        -1, 0           \
    }

enum lbc_launch_how {
    LBC_LAUNCH_STEP, /* the ranks are all of the step's: the step's balancer may be taken */
    LBC_LAUNCH_PART, /* a part of them, or a later context: only a balancer of our own will do */
};

/*
 * Get the endpoint of this job's balancer (wire/endpoint.h, encoded), starting one where that is
 * ours to do.
 * srun[in]  the launcher is Slurm's: who wants a balancer asked for it by --lb, and the plugin
 * started it ret_blob[out]  [size]; secret, to be wiped by the caller
 * Returns 0; -ENOENT when nobody asked for balancing (nothing need be said); another negative errno
 * with a text when it was asked for and cannot be had.
 */
int lbc_launch_open(struct lbc_launch *l, enum lbc_launch_how how, bool srun, uint32_t nranks,
                    uint8_t *ret_blob, size_t size, size_t *ret_n, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* Let our balancer end, and wait for it a moment. */
void lbc_launch_close(struct lbc_launch *l);

#endif
