/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed data of many MiB moves in loops of each kind: it comes whole and once, and of all of it only so much is packed at once
 * as packed.h says, even where an order moves all that a rank has.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libclient/lb.h"
#include "libclient/packed.h"
#include "tests/unit/brief.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/fault.h"
#include "tests/unit/suite.h"

#define N 512
#define RANKS 2
#define SEEDS 3 /* the balancer dies in the last one */
#define PASSES 8
#define USUAL_BYTES ((size_t)128 << 10)
#define LARGE_BYTES ((size_t)5 << 20) /* more than is packed at once, by itself */
/* Of each rank what goes and what comes, and what goes with each piece. */
#define MOST (RANKS * 2 * (int64_t)LARGE_BYTES + (1 << 20))

enum kind { FREE, STEPPED, PIPELINED, KINDS };

struct block {
    size_t bytes;
    uint64_t *v; /* NULL: not here */
};

struct heap {
    enum kind kind;
    int64_t held, peak, packed; /* bytes packed and not yet unpacked; the most of it; of all */
    int64_t wrong, runs, in, out;
};

struct mine {
    struct heap *heap;
    struct block block[N];
};

static void add(int64_t *sum, int64_t n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static size_t size_of(int64_t i)
{
    return i % 5 == 4 ? 0 : i == N / 3 ? LARGE_BYTES : USUAL_BYTES + (size_t)(i % 7) * 8;
}

static void fill(struct block *b, int64_t i, uint64_t pass)
{
    for (size_t k = 0; k < b->bytes / sizeof(uint64_t); k++)
        b->v[k] = (uint64_t)i * 1000 + pass + k;
}

static bool is_right(const struct block *b, int64_t i, uint64_t pass)
{
    bool right = b->v && b->bytes == size_of(i);

    for (size_t k = 0; right && k < b->bytes / sizeof(uint64_t); k++)
        right = b->v[k] == (uint64_t)i * 1000 + pass + k;
    return right;
}

static size_t bytes(void *arg, int64_t i)
{
    return ((struct mine *)arg)->block[i].bytes;
}

static void pack(void *arg, int64_t i, void *to)
{
    struct mine *m = arg;
    struct block *b = &m->block[i];
    int64_t held = __atomic_add_fetch(&m->heap->held, (int64_t)b->bytes, __ATOMIC_RELAXED);
    int64_t peak = __atomic_load_n(&m->heap->peak, __ATOMIC_RELAXED);

    while (held > peak && !__atomic_compare_exchange_n(&m->heap->peak, &peak, held, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    add(&m->heap->packed, (int64_t)b->bytes);
    if (!b->v)
        abort();
    memcpy(to, b->v, b->bytes);
    free(b->v);
    *b = (struct block){0, NULL};
}

static void unpack(void *arg, int64_t i, const void *from, size_t n)
{
    struct mine *m = arg;
    struct block *b = &m->block[i];

    if (b->v)
        abort();
    add(&m->heap->held, -(int64_t)n);
    fault_pause();
    *b = (struct block){n, malloc(n + 1)};
    fault_resume();
    memcpy(b->v, from, n);
}

static void run_one(struct mine *m, int64_t i, uint64_t pass)
{
    if (!is_right(&m->block[i], i, pass))
        add(&m->heap->wrong, 1);
    fill(&m->block[i], i, pass + 1);
    add(&m->heap->runs, 1);
}

static void run_pass(struct mine *m, lb_loop *l, uint64_t pass)
{
    int64_t first, last, from, to;

    if (m->heap->kind != FREE && lb_loop_exchange(l) != 0)
        add(&m->heap->wrong, 1);
    if (m->heap->kind == PIPELINED) {
        while (lb_loop_next_block(l, &first, &last, &from, &to))
            for (int64_t i = first; i < last && from == 0; i++)
                run_one(m, i, pass);
        return;
    }
    while (lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++)
            run_one(m, i, pass);
}

static void run(lb_ctx *ctx, int rank, void *data)
{
    struct mine *m = calloc(1, sizeof(*m));
    const struct lb_pack p = {sizeof(p), m, bytes, pack, unpack};
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    lb_loop *l = lb_loop_open(ctx, "packed", N);
    double *rows = lb_array_alloc(ctx, N, sizeof(*rows));
    int64_t first, last;

    (void)rank;
    m->heap = data;
    if (!l || !rows || lb_loop_array(l, rows, sizeof(*rows)) || lb_loop_pack(l, &p) ||
        (m->heap->kind == STEPPED && lb_loop_stepped(l, 0)) ||
        (m->heap->kind == PIPELINED && lb_loop_doacross(l, 0, 1)))
        abort();
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++) {
            m->block[i] = (struct block){size_of(i), malloc(size_of(i) + 1)};
            fill(&m->block[i], i, 0);
        }
    for (uint64_t pass = 0; pass < PASSES; pass++)
        run_pass(m, l, pass);
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++)
            add(&m->heap->wrong, !is_right(&m->block[i], i, PASSES));
    lb_loop_stats(l, &stats);
    add(&m->heap->in, stats.iterations_in);
    add(&m->heap->out, stats.iterations_out);
    lb_loop_close(l);
    lb_array_free(ctx, rows);
    for (int64_t i = 0; i < N; i++)
        free(m->block[i].v);
    free(m);
}

START_TEST(test_large)
{
    struct heap h = {.kind = (enum kind)(_i % KINDS)};

    for (uint64_t seed = 1; seed <= SEEDS || (h.packed <= 2 * MOST && seed < 50); seed++) {
        struct crew_config crew = {.size = RANKS,
                                   .seed = seed * 10 + (uint64_t)_i,
                                   .balanced = true,
                                   .mind = {.loops_max = 1,
                                            .n = N,
                                            .elements = h.kind == PIPELINED,
                                            .end = seed == SEEDS ? MIND_CLOSES : MIND_LIVES,
                                            .after = 12},
                                   .run = run,
                                   .data = &h};
        struct crew_result r = crew_run(&crew);

        ck_assert_int_eq(h.wrong, 0);
        ck_assert_int_eq(h.held, 0);
        ck_assert_int_eq(h.runs, (int64_t)seed * N * PASSES);
        ck_assert_int_eq(h.in, h.out);
        ck_assert_int_eq(r.leftovers, 0);
        ck_assert_int_eq(r.mind.wrong, 0);
        if (r.mind.leaves == RANKS)
            ck_assert_int_eq(r.mind.sent, r.mind.received);
    }
    ck_assert_int_gt(h.packed, 2 * MOST);
    ck_assert_int_le(h.peak, MOST);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("packed");

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_large, 0, brief_cases(KINDS));
    return suite_run("packed", tc);
}
