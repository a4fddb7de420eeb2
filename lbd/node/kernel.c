/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of the benchmark.  The first three: seed 004, section 4.1.  Beyond it: fused multiply-adds, which numeric programs
 * live on, and the triad of STREAM, which lives on memory alone.  A new one is one more row of the table.
 */
#include "lbd/node/kernel.h"

#include <string.h>

#define SERIES_OPS 100000
#define BLOCK_BYTES ((size_t)1 << 20) /* two of them: beyond a second-level cache */
#define COPIES 4
#define FMA_LANES 64 /* independent sums: enough for every unit and its latency */
#define FMA_ROUNDS 8000
#define TRIAD_ITEMS 32768 /* of each of the three arrays, in one call */

/* An integer series with all basic operations in each term. */
static uint64_t run_integer(void *area, size_t area_bytes, uint64_t seed)
{
    uint64_t sum = seed;

    (void)area;
    (void)area_bytes;
    for (uint64_t i = 1; i <= SERIES_OPS; i++)
        sum += (i * i - sum / (i & 15 ? i & 15 : 16)) + (sum >> 3);
    return sum;
}

/* A series of fractions with all basic operations; each term waits for the one before. */
static uint64_t run_floating(void *area, size_t area_bytes, uint64_t seed)
{
    double sum = (double)(seed & 7);
    uint64_t bits;

    (void)area;
    (void)area_bytes;
    for (int i = 1; i <= SERIES_OPS; i++)
        sum = sum * .5 + (i - .5) / (i + sum * 1e-9);
    memcpy(&bits, &sum, sizeof(bits));
    return bits;
}

/* Copies of data blocks, bytes as operations. */
static uint64_t run_memory(void *area, size_t area_bytes, uint64_t seed)
{
    uint8_t *a = area, *b = a + BLOCK_BYTES;

    (void)area_bytes;
    for (int i = 0; i < COPIES; i += 2) {
        a[seed % BLOCK_BYTES]++;
        memcpy(b, a, BLOCK_BYTES);
        b[(seed + 1) % BLOCK_BYTES]++;
        memcpy(a, b, BLOCK_BYTES);
    }
    return a[seed % BLOCK_BYTES];
}

/* Written twice from one text: by the processor's own instruction where it has one, else as the compiler's default target does. */
#define FMA_ROUND(multiply_add)               \
    double x[FMA_LANES], sum = 0;             \
    uint64_t bits;                            \
    for (int l = 0; l < FMA_LANES; l++)       \
        x[l] = 1 + (double)((seed + l) & 7);  \
    for (int i = 0; i < FMA_ROUNDS; i++)      \
        for (int l = 0; l < FMA_LANES; l++)   \
            x[l] = multiply_add(x[l], .5, 1); \
    for (int l = 0; l < FMA_LANES; l++)       \
        sum += x[l];                          \
    memcpy(&bits, &sum, sizeof(bits));        \
    return bits

#define PLAIN_MULTIPLY_ADD(x, a, b) ((x) * (a) + (b))

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static uint64_t run_fma_native(uint64_t seed)
{
    FMA_ROUND(__builtin_fma);
}
#endif

static uint64_t run_fma_plain(uint64_t seed)
{
    FMA_ROUND(PLAIN_MULTIPLY_ADD);
}

static uint64_t run_fma(void *area, size_t area_bytes, uint64_t seed)
{
    (void)area;
    (void)area_bytes;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
        return run_fma_native(seed);
#endif
    return run_fma_plain(seed);
}

/* a = b + s c over a window of the arrays that moves on from call to call, bytes as operations. */
static uint64_t run_triad(void *area, size_t area_bytes, uint64_t seed)
{
    size_t n = area_bytes / (3 * sizeof(double)), windows = n / TRIAD_ITEMS;
    size_t first = (size_t)(seed / (TRIAD_ITEMS * 3 * sizeof(double)) % windows) * TRIAD_ITEMS;
    double *restrict a = area, *restrict b = a + n, *restrict c = b + n;
    uint64_t bits;

    for (size_t i = first; i < first + TRIAD_ITEMS; i++)
        a[i] = b[i] + 3 * c[i];
    b[first] += 1; /* so that no pass is like the one before */
    memcpy(&bits, &a[first], sizeof(bits));
    return bits;
}

const struct lbd_kernel lbd_kernels[LBD_KERNELS] = {
    {"integer", 2.80e8, SERIES_OPS, 0, 0, run_integer},
    {"floating", 1.65e8, SERIES_OPS, 0, 0, run_floating},
    {"memory", 4.90e10, COPIES *BLOCK_BYTES, 2 * BLOCK_BYTES, 0, run_memory},
    {"fma", 1.1e10, (uint64_t)FMA_LANES *FMA_ROUNDS, 0, 0, run_fma},
    {"triad", 2.4e10, TRIAD_ITEMS * 3 * sizeof(double), (size_t)12 << 20, 4, run_triad},
};
