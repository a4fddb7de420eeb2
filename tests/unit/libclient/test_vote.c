/* SPDX-License-Identifier: BSD-3-Clause */
/* Votes that are taken later than entered: other loops of the same context vote and end passes meanwhile. */
#include <check.h>
#include <stdlib.h>

#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "libclient/loop.h"
#include "tests/unit/brief.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/suite.h"

#define STEPS 30
#define ROWS 24
#define ELEMENTS 8
#define LOOPS 2 /* pipelined ones, in turn */

struct shared {
    bool free_loop,
        closes_first; /* a free-running loop between their steps; the one is closed sooner */
    int64_t runs[LOOPS][STEPS][ROWS], passes[STEPS][ROWS], errors, late,
        moved; /* by atomic additions */
};

static void add(int64_t *sum, int64_t n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static lb_loop *open_pipelined(lb_ctx *ctx, const char *name, uint64_t (*row)[ELEMENTS])
{
    lb_loop *l = lb_loop_open(ctx, name, ROWS);

    if (!l || lb_loop_array(l, row, sizeof(row[0])) || lb_loop_doacross(l, 1, ELEMENTS) ||
        lb_loop_flow(l, row))
        abort();
    return l;
}

static void step(struct shared *s, lb_loop *l, int which, int number)
{
    int64_t first, last, from, to;

    if (lb_loop_exchange(l) != 0)
        add(&s->errors, 1);
    if (l->ctx->voting) /* is taken by what comes next, whatever that is */
        add(&s->late, 1);
    while (lb_loop_next_block(l, &first, &last, &from, &to))
        for (int64_t i = first; i < last; i++)
            add(&s->runs[which][number][i], to - from);
}

static void run_member(lb_ctx *ctx, int rank, void *data)
{
    static const char *const name[LOOPS] = {"one", "other"};
    struct shared *s = data;
    uint64_t row[LOOPS][ROWS][ELEMENTS] = {{{0}}};
    lb_loop *l[LOOPS], *between = NULL;
    int64_t first, last;

    (void)rank;
    for (int k = 0; k < LOOPS; k++)
        l[k] = open_pipelined(ctx, name[k], row[k]);
    if (s->free_loop)
        between = lb_loop_open(ctx, "between", ROWS);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < LOOPS; k++)
            if (l[k])
                step(s, l[k], k, i);
        while (between && lb_loop_next(between, &first, &last))
            for (int64_t r = first; r < last; r++)
                add(&s->passes[i][r], 1);
        if (s->closes_first && i == STEPS / 2) {
            struct lb_stats stats = {.struct_bytes = sizeof(stats)};

            lb_loop_stats(l[0], &stats);
            add(&s->moved, stats.iterations_in);
            lb_loop_close(l[0]);
            l[0] = NULL;
        }
    }
    for (int k = 0; k < LOOPS; k++) {
        struct lb_stats stats = {.struct_bytes = sizeof(stats)};

        lb_loop_stats(l[k], &stats);
        add(&s->moved, stats.iterations_in);
        lb_loop_close(l[k]);
    }
    lb_loop_close(between);
    if (ctx->voting || lb_error(ctx))
        add(&s->errors, 1);
}

START_TEST(test_in_turn)
{
    int64_t moved = 0;

    for (int size = 2; size <= 5; size++) {
        struct shared s = {.free_loop = _i & 1, .closes_first = _i & 2};
        struct crew_config crew = {.size = size,
                                   .seed = (uint64_t)(100 * size + _i),
                                   .balanced = true,
                                   .mind = {.loops_max = LOOPS + 1,
                                            .n = ROWS,
                                            .elements = ELEMENTS,
                                            .end = _i & 4 ? MIND_CLOSES : MIND_LIVES,
                                            .after = 40},
                                   .run = run_member,
                                   .data = &s};
        struct crew_result r = crew_run(&crew);

        ck_assert_int_eq(s.errors, 0);
        ck_assert_int_eq(r.leftovers, 0);
        ck_assert_int_gt(s.late, 0);
        for (int i = 0; i < STEPS; i++)
            for (int64_t row = 0; row < ROWS; row++) {
                ck_assert_int_eq(s.runs[0][i][row], s.closes_first && i > STEPS / 2 ? 0 : ELEMENTS);
                ck_assert_int_eq(s.runs[1][i][row], ELEMENTS);
                ck_assert_int_eq(s.passes[i][row], s.free_loop);
            }
        moved += s.moved;
    }
    if (!(_i & 4))
        ck_assert_int_gt(moved, 50);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("vote");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, test_in_turn, 0, brief_cases(8));
    return suite_run("vote", tc);
}
