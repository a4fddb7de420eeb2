/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packed tcp|mpi free|stepped|pipelined: how much memory a rank takes beside the program's own while packed data moves to it.
 * Rank 0 is slow, so that nearly all it has goes to rank 1.  Without MPI_Init the ranks are connected over TCP.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <mpi.h>

#include "libclient/lb.h"

#define N 96
#define BLOCK_BYTES ((size_t)2 << 20)
#define PASSES 8
#ifdef __SANITIZE_ADDRESS__ /* keeps what is freed */
#define BESIDE_KIB (1 << 30)
#else
#define BESIDE_KIB (32 << 10) /* 4 MiB are packed, the rest is MPI's and the library's */
#endif

static char *block[N];
static long held, most_held; /* blocks */
static int64_t wrong;

static long peak_kib(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static void *new_block(void)
{
    void *p = malloc(BLOCK_BYTES);

    if (!p)
        exit(3);
    if (++held > most_held)
        most_held = held;
    return p;
}

static size_t bytes(void *arg, int64_t i)
{
    (void)arg;
    (void)i;
    return BLOCK_BYTES;
}

static void pack(void *arg, int64_t i, void *to)
{
    (void)arg;
    memcpy(to, block[i], BLOCK_BYTES);
    free(block[i]);
    block[i] = NULL;
    held--;
}

static void unpack(void *arg, int64_t i, const void *from, size_t n)
{
    (void)arg;
    wrong += n != BLOCK_BYTES || block[i];
    block[i] = new_block();
    memcpy(block[i], from, BLOCK_BYTES);
}

/* Each pass adds one to every byte. */
static void run_one(int64_t i, int pass, int rank)
{
    const struct timespec nap = {0, rank == 0 ? 20000000 : 200000};

    if (!block[i]) {
        wrong++;
        return;
    }
    for (size_t k = 0; k < BLOCK_BYTES; k += 4096)
        wrong += block[i][k] != pass;
    memset(block[i], pass + 1, BLOCK_BYTES);
    nanosleep(&nap, NULL);
}

static void run_pass(lb_loop *l, const char *kind, int pass, int rank)
{
    int64_t first, last, from, to;

    if (*kind != 'f' && lb_loop_exchange(l) != 0)
        wrong++;
    if (*kind == 'p') {
        while (lb_loop_next_block(l, &first, &last, &from, &to))
            for (int64_t i = first; i < last && from == 0; i++)
                run_one(i, pass, rank);
        return;
    }
    while (lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++)
            run_one(i, pass, rank);
}

int main(int argc, char **argv)
{
    const struct lb_pack p = {sizeof(p), NULL, bytes, pack, unpack};
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    int with_mpi = argc > 1 && strcmp(argv[1], "mpi") == 0, rank;
    const char *kind = argc > 2 ? argv[2] : "free";
    int64_t first, last;
    lb_ctx *ctx;
    lb_loop *l;
    long base_kib, beside_kib;

    mallopt(M_MMAP_THRESHOLD, 1 << 16); /* what is freed goes back to the system */
    if (with_mpi)
        MPI_Init(&argc, &argv);
    ctx = lb_init();
    rank = lb_rank(ctx);
    base_kib = peak_kib();
    l = lb_loop_open(ctx, "packed", N);
    if (!l || lb_loop_pack(l, &p) || (*kind == 's' && lb_loop_stepped(l, 0)) ||
        (*kind == 'p' && lb_loop_doacross(l, 0, 1)))
        return 3;
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++) {
            block[i] = new_block();
            memset(block[i], 0, BLOCK_BYTES);
        }
    for (int pass = 0; pass < PASSES; pass++)
        run_pass(l, kind, pass, rank);
    lb_loop_stats(l, &stats);
    beside_kib = peak_kib() - base_kib - most_held * (long)(BLOCK_BYTES >> 10);
    printf("packed rank=%d moved_in=%" PRId64 " wrong=%" PRId64 " held=%ld beside_kib=%ld ok=%d\n",
           rank, stats.iterations_in, wrong, held, beside_kib,
           wrong == 0 && beside_kib <= BESIDE_KIB);
    lb_loop_close(l);
    for (int i = 0; i < N; i++)
        free(block[i]);
    lb_finalize(ctx);
    if (with_mpi)
        MPI_Finalize();
    return 0;
}
