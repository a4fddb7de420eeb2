/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the benchmark: small fixed pieces of work that a parallel program consists of. */
#ifndef LBD_NODE_KERNEL_H
#define LBD_NODE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct lbd_kernel {
    const char *name;        /* label in metrics and database */
    double reference_ops_hz; /* operations per CPU second of a reference core (speed 1) */
    uint64_t batch_ops;      /* operations of one call, well below 1 ms on a reference core */
    size_t memory_bytes;     /* of the area that run gets; 0: none */
    uint64_t (*run)(void *area,
                    uint64_t seed); /* the result must be used, so that no work is left out */
};

#define LBD_KERNELS 3

/* integer, floating, memory. */
extern const struct lbd_kernel lbd_kernels[LBD_KERNELS];

#endif
