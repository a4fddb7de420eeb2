/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of 2^40 iterations whose arrays have no bytes: nothing is counted through, iterations move, and nothing is lost. */
#include <check.h>
#include <stdlib.h>

#include "common/clock.h"
#include "libclient/lb.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/suite.h"

#define HUGE_N (INT64_C(1) << 40)
#define HUGE_PASSES 3

static void add(int64_t *sum, int64_t n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

struct free {
    int64_t done[HUGE_PASSES], in, out; /* by atomic additions */
};

static void run_free(lb_ctx *ctx, int rank, void *data)
{
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    lb_loop *l = lb_loop_open(ctx, "huge", HUGE_N);
    struct free *h = data;
    int64_t first, last;
    char none;

    (void)rank;
    if (lb_loop_array(l, &none, 0))
        abort();
    for (int pass = 0; pass < HUGE_PASSES; pass++)
        while (lb_loop_next(l, &first, &last))
            add(&h->done[pass], last - first);
    lb_loop_stats(l, &stats);
    add(&h->in, stats.iterations_in);
    add(&h->out, stats.iterations_out);
    lb_loop_close(l);
}

/* Without a balancer; then with one, until something has moved: an order may come when all is done. */
START_TEST(test_free)
{
    int64_t moved = 0;

    for (uint64_t k = 0; k < 40 && (k < 2 || moved == 0); k++) {
        struct free huge = {{0}, 0, 0};
        struct crew_config crew = {.size = 3,
                                   .seed = crew_first_seed() * 40 + k,
                                   .balanced = k > 0,
                                   .mind = {.loops_max = 1, .n = HUGE_N},
                                   .run = run_free,
                                   .data = &huge};
        struct crew_result r = crew_run(&crew);

        for (int pass = 0; pass < HUGE_PASSES; pass++)
            ck_assert_int_eq(huge.done[pass], HUGE_N);
        ck_assert_int_eq(huge.in, huge.out);
        ck_assert_int_eq(r.leftovers, 0);
        ck_assert_int_eq(r.mind.wrong, 0);
        moved += huge.in;
    }
    ck_assert_int_gt(moved, 0);
}
END_TEST

#define HUGE_STEPS 40
#define HUGE_ELEMENTS 6

struct flow {
    int64_t done[HUGE_STEPS], errors, in; /* iterations times elements; by atomic additions */
};

static void run_flow(lb_ctx *ctx, int rank, void *data)
{
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    lb_loop *l = lb_loop_open(ctx, "huge", HUGE_N);
    int64_t first, last, from, to;
    struct flow *s = data;
    char none;

    (void)rank;
    if (lb_loop_array(l, &none, 0) || lb_loop_doacross(l, 1, HUGE_ELEMENTS) ||
        lb_loop_flow(l, &none))
        abort();
    for (int step = 0; step < HUGE_STEPS; step++) {
        if (lb_loop_exchange(l) != 0)
            add(&s->errors, 1);
        while (lb_loop_next_block(l, &first, &last, &from, &to))
            add(&s->done[step], (last - first) * (to - from));
    }
    lb_loop_stats(l, &stats);
    add(&s->in, stats.iterations_in);
    lb_loop_close(l);
}

/* Those of stepped loops are in test_stepped.c. */
START_TEST(test_pipelined)
{
    int64_t moved = 0;

    for (uint64_t k = 0; k < 10 && moved == 0; k++) {
        struct flow huge = {{0}, 0, 0};
        struct crew_config crew = {.size = 3,
                                   .seed = crew_first_seed() * 10 + k,
                                   .balanced = true,
                                   .sync_ns = 60 * LBX_NS_PER_S, /* with a report for each vote */
                                   .mind = {.loops_max = 1, .n = HUGE_N, .elements = HUGE_ELEMENTS},
                                   .run = run_flow,
                                   .data = &huge};
        struct crew_result r = crew_run(&crew);

        ck_assert_int_eq(huge.errors, 0);
        ck_assert_int_eq(r.leftovers, 0);
        ck_assert_int_eq(r.mind.wrong, 0);
        for (int step = 0; step < HUGE_STEPS; step++)
            ck_assert_int_eq(huge.done[step], HUGE_N * HUGE_ELEMENTS);
        moved += huge.in;
    }
    ck_assert_int_gt(moved, 0);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("huge");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_free);
    tcase_add_test(tc, test_pipelined);
    return suite_run("huge", tc);
}
