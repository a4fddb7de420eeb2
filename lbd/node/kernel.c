/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the benchmark.  Source of the three: seed 004, section 4.1; a new one is one more row of the table. */
#include "lbd/node/kernel.h"

#include <string.h>

#define SERIES_OPS 100000
#define BLOCK_BYTES ((size_t)1 << 20) /* two of them: beyond a second-level cache */
#define COPIES 4

/* An integer series with all basic operations in each term. */
static uint64_t run_integer(void *area, uint64_t seed)
{
    uint64_t sum = seed;

    (void)area;
    for (uint64_t i = 1; i <= SERIES_OPS; i++)
        sum += (i * i - sum / (i & 15 ? i & 15 : 16)) + (sum >> 3);
    return sum;
}

/* A series of fractions with all basic operations; each term waits for the one before. */
static uint64_t run_floating(void *area, uint64_t seed)
{
    double sum = (double)(seed & 7);
    uint64_t bits;

    (void)area;
    for (int i = 1; i <= SERIES_OPS; i++)
        sum = sum * .5 + (i - .5) / (i + sum * 1e-9);
    memcpy(&bits, &sum, sizeof(bits));
    return bits;
}

/* Copies of data blocks, bytes as operations. */
static uint64_t run_memory(void *area, uint64_t seed)
{
    uint8_t *a = area, *b = a + BLOCK_BYTES;

    for (int i = 0; i < COPIES; i += 2) {
        a[seed % BLOCK_BYTES]++;
        memcpy(b, a, BLOCK_BYTES);
        b[(seed + 1) % BLOCK_BYTES]++;
        memcpy(a, b, BLOCK_BYTES);
    }
    return a[seed % BLOCK_BYTES];
}

const struct lbd_kernel lbd_kernels[LBD_KERNELS] = {
    {"integer", 2.80e8, SERIES_OPS, 0, run_integer},
    {"floating", 1.65e8, SERIES_OPS, 0, run_floating},
    {"memory", 4.90e10, COPIES *BLOCK_BYTES, 2 * BLOCK_BYTES, run_memory},
};
