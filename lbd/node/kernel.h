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
    size_t least_bytes;      /* of the area that run gets; 0: none */
    size_t caches;           /* and so many last-level caches, where that is more; 0: least_bytes */
    /* area[in,out] of area_bytes; the result must be used, so that no work is left out */
    uint64_t (*run)(void *area, size_t area_bytes, uint64_t seed);
};

#define LBD_KERNELS 5

/* integer, floating, memory; fma, triad.  Operations of memory and triad are bytes. */
extern const struct lbd_kernel lbd_kernels[LBD_KERNELS];

#endif
