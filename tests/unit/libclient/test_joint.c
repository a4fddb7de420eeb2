/* SPDX-License-Identifier: BSD-3-Clause */
/* A joint that fails when its layout is in force already: the pass ends, and reads nothing that the new layout has not. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "libclient/loop.h"
#include "libclient/step.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/suite.h"

#define RANKS 4
#define ROWS 24
#define ELEMENTS 8
#define LEG (ELEMENTS / 2)
#define REST_NS (50 * LBX_NS_PER_MS)
#define TRIES 20 /* as the last rank may close before the others are where it should find them */

struct shared {
    uint64_t row[RANKS][ROWS][ELEMENTS];
    int there; /* of the first two ranks, that have the last block before the joint; by atomic additions, as the next */
    int failed;
    bool in_force; /* of rank 1, after the pass, as the next */
    int64_t at;    /* see struct lbc_step */
};

/* Told by no balancer: rows go from rank 0 to rank 1. */
static void tell(lb_loop *l)
{
    struct lbw_layout m = {
        .epoch = 1, .block = 1, .first = -1, .nranks = RANKS, .count = {4, 8, 6, 6}};

    lbc_step_start(l);
    l->told(l, &m);
    if (!l->step->next)
        abort();
}

static void run_pass(struct shared *s, lb_loop *l, int rank)
{
    int64_t first, last, from, to;

    while (lb_loop_next_block(l, &first, &last, &from, &to)) {
        for (int64_t i = first; i < last; i++)
            for (int64_t k = from; k < to; k++)
                s->row[rank][i][k]++;
        if (to == LEG && rank < 2)
            __atomic_fetch_add(&s->there, 1, __ATOMIC_RELAXED);
    }
    if (rank == 1) {
        s->in_force = l->step->layout->epoch == 1;
        s->at = l->step->at;
    }
}

static void run_member(lb_ctx *ctx, int rank, void *data)
{
    struct shared *s = data;
    lb_loop *l = lb_loop_open(ctx, "joint", ROWS);

    ctx->test_block = 1;
    ctx->test_legs = ELEMENTS / LEG;
    ctx->patience_ns = REST_NS;
    if (lb_loop_array(l, s->row[rank], sizeof(s->row[rank][0])) ||
        lb_loop_doacross(l, 1, ELEMENTS) || lb_loop_flow(l, s->row[rank]) || lb_loop_joints(l))
        abort();
    tell(l);
    if (lb_loop_exchange(l) != 0)
        abort();
    if (rank < RANKS - 1) {
        run_pass(s, l, rank);
    } else {
        while (__atomic_load_n(&s->there, __ATOMIC_RELAXED) < 2)
            lbx_clock_sleep_ns(LBX_NS_PER_MS);
        lbx_clock_sleep_ns(REST_NS);
    }
    lb_loop_close(l);
    __atomic_fetch_add(&s->failed, ctx->failed, __ATOMIC_RELAXED);
}

/*
 * The last rank closes the loop before the pass, and has voted for the layout.  Rank 2 waits in the joint until it has taken its
 * blocks, rank 1, in whose new block rows have come from rank 0, for the rows of rank 2 beside it.
 */
START_TEST(test_joint_fails)
{
    struct shared *s = calloc(1, sizeof(*s));
    struct crew_config crew = {
        .size = RANKS,
        .seed = 1,
        .balanced = true,
        .mind = {.loops_max = 1, .n = ROWS, .elements = ELEMENTS, .end = MIND_SILENT, .after = 1},
        .run = run_member,
        .data = s};

    for (int i = 0; i < TRIES && !s->in_force; i++) {
        *s = (struct shared){0};
        (void)crew_run(&crew);
        ck_assert_int_eq(s->failed, RANKS);
    }
    ck_assert(s->in_force);
    ck_assert_int_eq(s->at, 0);
    free(s);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("joint");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_joint_fails);
    return suite_run("joint", tc);
}
