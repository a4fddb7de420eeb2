/* SPDX-License-Identifier: BSD-3-Clause */
/* Stepped loops: exactly once and the serial result, whatever layouts come and however the balancer ends. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "libclient/loop.h"
#include "libclient/step.h"
#include "tests/unit/brief.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/stepped_job.h"
#include "tests/unit/libclient/world.h"
#include "tests/unit/suite.h"

static const int64_t sizes[] = {0, 1, -1, -2, -3, 97}; /* negative: np - 1, np, np + 1 */
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static const int64_t halos[] = {0, 1, 3, 60}; /* the last one larger than blocks */
#define HALOS 4

START_TEST(test_static)
{
    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct stepped_job j = {.size = np,
                                    .n = crew_n_of(sizes[_i], np),
                                    .halo = halos[h],
                                    .seed = (uint64_t)h,
                                    .uneven_first = np % 2};

            ck_assert_int_eq(stepped_job_right(&j, NULL), 0);
        }
}
END_TEST

START_TEST(test_balanced)
{
    int64_t moved = 0, layouts = 0, late = 0;

    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct stepped_job j = {.size = np,
                                    .n = crew_n_of(sizes[_i], np),
                                    .halo = halos[h],
                                    .balanced = true,
                                    .seed = crew_first_seed() * 1000 + (uint64_t)(h + np),
                                    .uneven_first = h % 2,
                                    .late = &late};
            struct crew_result crew;

            moved += stepped_job_right(&j, &crew);
            layouts += crew.mind.layouts;
            ck_assert_int_eq(crew.mind.leaves, np);
            ck_assert_int_eq(crew.mind.opens, np);
            ck_assert_int_eq(crew.mind.closes, np);
            ck_assert_int_ge(crew.mind.steps, np);
        }
    /* the test would be worth nothing if nothing moved */
    if (sizes[_i] == 97)
        ck_assert_int_gt(moved, 100);
    ck_assert_int_ge(layouts, 20);
    ck_assert_int_gt(late, 0); /* nor if no vote was taken later than it was entered */
}
END_TEST

/* Votes that some enter in the step before an exchange, and others in it. */
START_TEST(test_early)
{
    int64_t moved = 0, early = 0;

    for (int np = 2; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct stepped_job j = {.size = np,
                                    .n = crew_n_of(sizes[_i], np),
                                    .halo = halos[h],
                                    .balanced = true,
                                    .seed = crew_first_seed() * 1000 + (uint64_t)(h + np),
                                    .uneven_first = h % 2,
                                    .end = h == 3 ? MIND_CLOSES : MIND_LIVES,
                                    .after = 40,
                                    .early = &early};

            moved += stepped_job_right(&j, NULL);
        }
    if (sizes[_i] == 97) {
        ck_assert_int_gt(moved, 0);
        ck_assert_int_gt(early, 0);
    }
}
END_TEST

/* The rule of policy/votes.h, asked with what this loop is; at once with the key sync, also when its balancer is lost. */
START_TEST(test_votes_later)
{
    struct lb_ctx ctx = {0};
    struct lbc_step s = {.interval = 8, .step_ns = 5e6};
    struct lb_loop l = {.ctx = &ctx, .step = &s, .period_ns = 200000000};

    ck_assert_int_eq(lbc_step_interval(&l), 10);
    ck_assert_int_eq(lbc_step_later(&l), 3);
    ctx.sync_ns = 1;
    ck_assert_int_eq(lbc_step_later(&l), 0);
    ctx.link.fd = -1;
    ck_assert_int_eq(lbc_step_interval(&l), 10); /* nobody is waited for */
    ck_assert_int_eq(lbc_step_later(&l), 0);
}
END_TEST

START_TEST(test_balancer_ends)
{
    uint64_t random = crew_first_seed() + (uint64_t)_i;

    for (int end = MIND_LIVES + 1; end < MIND_ENDS; end++) {
        struct stepped_job j = {.size = 2 + _i % 4,
                                .n = _i % 3 ? 97 : 6,
                                .halo = halos[_i % HALOS],
                                .balanced = true,
                                .end = (enum mind_end)end,
                                .after = 1 + (int)world_random(&random, 40),
                                .seed = crew_first_seed() * 5000 + (uint64_t)_i};

        stepped_job_right(&j, NULL);
    }
}
END_TEST

/* Ranks that are told different things follow neither. */
START_TEST(test_contradictions)
{
    struct stepped_job j = {.size = 2 + _i % 4,
                            .n = 97,
                            .halo = 1,
                            .balanced = true,
                            .contradicts = true,
                            .seed = crew_first_seed() * 3000 + (uint64_t)_i};

    stepped_job_right(&j, NULL);
}
END_TEST

/* A layout that there is no memory for was not heard of. */
START_TEST(test_memory_runs_out)
{
    int64_t before = fault_count();
    struct stepped_job j = {.size = 3,
                            .n = 97,
                            .halo = 2,
                            .balanced = true,
                            .fail_memory = 1U << (_i + 1),
                            .seed = crew_first_seed() * 13000 + (uint64_t)_i};

    stepped_job_right(&j, NULL);
    if (_i < 4)
        ck_assert_int_gt(fault_count(), before);
}
END_TEST

/* Several ranks that cannot reach each other: static, and the exchange says so. */
START_TEST(test_without_transport)
{
    lb_ctx *ctx = lbc_ctx_create(1, 3, NULL, false, NULL, NULL);
    lb_loop *l = lb_loop_open(ctx, "alone", 10);
    int64_t first, last, n = 0;

    ck_assert_int_eq(lb_loop_stepped(l, 1), 0);
    for (int step = 0; step < 3; step++) {
        ck_assert_int_eq(lb_loop_exchange(l), -EIO);
        while (lb_loop_next(l, &first, &last))
            n += last - first;
    }
    ck_assert_int_eq(n, 3 * 3); /* of 10 on 3: 4, 3, 3 */
    ck_assert_int_eq(lb_loop_owner(l, 3), 0);
    ck_assert_int_eq(lb_loop_owner(l, 4), 1);
    ck_assert_int_eq(lb_loop_owner(l, 10), -1);
    lb_loop_close(l);
    lb_finalize(ctx);
}
END_TEST

static void expect_sync(struct stepped_job j, bool lose)
{
    struct crew_result crew;
    int64_t moved = stepped_job_right(&j, &crew);

    ck_assert_int_eq(crew.asked, crew.mind.steps);
    if (lose) {
        ck_assert_int_lt(crew.answered, crew.asked);
    } else {
        ck_assert_int_eq(crew.answered, crew.asked);
        ck_assert_int_gt(moved, 0); /* and what they waited for was done */
    }
}

/* All ranks report at the same step and wait there; what they are told is voted on at once. */
START_TEST(test_sync)
{
    struct stepped_job j = {.size = 2 + _i % 4,
                            .n = 97,
                            .halo = halos[_i % HALOS],
                            .balanced = true,
                            .sync_ns = 60 * LBX_NS_PER_S,
                            .seed = crew_first_seed() * 19000 + (uint64_t)_i};

    expect_sync(j, false);
    j.sync_ns = 2 * LBX_NS_PER_MS;
    j.lose = 1 + _i % 3;
    expect_sync(j, true);
}
END_TEST

START_TEST(test_sync_balancer_ends)
{
    for (int end = MIND_LIVES + 1; end < MIND_ENDS; end++) {
        struct stepped_job j = {.size = 2 + _i % 4,
                                .n = 97,
                                .halo = 1,
                                .balanced = true,
                                .end = (enum mind_end)end,
                                .after = 3 + 9 * _i,
                                .sync_ns = 60 * LBX_NS_PER_S,
                                .seed = crew_first_seed() * 29000 + (uint64_t)_i};

        stepped_job_right(&j, NULL);
    }
}
END_TEST

/* Many ranks, most of which own nothing now and then. */
START_TEST(test_many_ranks)
{
    struct stepped_job j = {.size = 17 + _i,
                            .n = 97,
                            .halo = 1 + 5 * _i,
                            .balanced = true,
                            .seed = crew_first_seed() * 37000 + (uint64_t)_i};

    ck_assert_int_gt(stepped_job_right(&j, NULL), 0);
}
END_TEST

/* Rows of half a megabyte: memory comes by large pages, several rows on each, and none is kept for rows that have gone. */
START_TEST(test_large_pages)
{
    int64_t kept = 0, moved = 0;

    for (int np = 2; np <= 4; np++) {
        struct stepped_job j = {.size = np,
                                .n = 41 + np,
                                .halo = 1,
                                .balanced = true,
                                .wide = ((size_t)1 << 16) + (size_t)np,
                                .kept = &kept,
                                .seed = crew_first_seed() * 43000 + (uint64_t)np};

        moved += stepped_job_right(&j, NULL);
    }
    ck_assert_int_gt(moved, 0);
    ck_assert_int_eq(kept, 0);
}
END_TEST

/* A layout that did not reach all is applied by none; told again, it is by all. */
START_TEST(test_layouts_lost)
{
    int64_t moved = 0, again = 0;

    for (uint64_t seed = 0; seed < 6; seed++) {
        struct stepped_job j = {.size = 3,
                                .n = 97,
                                .halo = 1,
                                .balanced = true,
                                .sync_ns = 60 * LBX_NS_PER_S, /* with a report for each vote */
                                .lose_layouts = 1 + (int)seed % 3,
                                .seed = crew_first_seed() * 41000 + seed};
        struct crew_result crew;

        moved += stepped_job_right(&j, &crew);
        again += crew.mind.again;
    }
    ck_assert_int_gt(moved, 0);
    ck_assert_int_gt(again, 0);
}
END_TEST

/* For test_fewer_calls: the others' loops; the last rank comes only when its neighbour has said that it waits. */
struct late {
    lb_loop *loop[3];
    int64_t errors;
};

static void run_late(lb_ctx *ctx, int rank, void *data)
{
    struct late *s = data;
    int64_t a[9] = {0}, first, last;
    lb_loop *l = lb_loop_open(ctx, "late", 9);
    int64_t patience_ns = ctx->patience_ns;
    bool told = false;

    ctx->patience_ns = 5 * LBX_NS_PER_MS;
    if (lb_loop_array(l, a, sizeof(a[0])) || lb_loop_stepped(l, 1))
        abort();
    __atomic_store_n(&s->loop[rank], l, __ATOMIC_RELEASE);
    for (int step = 1; step <= 3; step++) {
        while (rank == 2 && !told) {
            const lb_loop *other = __atomic_load_n(&s->loop[1], __ATOMIC_ACQUIRE);

            told = other && __atomic_load_n(&other->told_waiting, __ATOMIC_RELAXED);
            lbx_clock_sleep_ns(LBX_NS_PER_MS);
        }
        while (lb_loop_next(l, &first, &last))
            for (int64_t i = first; i < last; i++)
                a[i] = step;
        if (lb_loop_exchange(l) != 0 || (rank > 0 && a[3 * rank - 1] != step))
            __atomic_fetch_add(&s->errors, 1, __ATOMIC_RELAXED);
    }
    lb_loop_collect(l, a, 0); /* nobody is gone before all have looked */
    lb_loop_close(l);
    ctx->patience_ns = patience_ns; /* else who comes late to the end is not waited for */
}

/* Who waits long for a rank that makes fewer calls says so, and waits on: it may come. */
START_TEST(test_fewer_calls)
{
    struct late late = {{NULL}, 0};
    struct crew_config crew = {.size = 3, .run = run_late, .data = &late};
    struct crew_result r = crew_run(&crew);

    ck_assert_int_eq(late.errors, 0);
    ck_assert_int_eq(r.leftovers, 0);
}
END_TEST

#define HUGE_N (INT64_C(1) << 40)
#define HUGE_STEPS 10

struct huge {
    int64_t done[HUGE_STEPS], errors; /* iterations of each step, by atomic additions */
};

static void run_huge(lb_ctx *ctx, int rank, void *data)
{
    lb_loop *l = lb_loop_open(ctx, "huge", HUGE_N);
    struct huge *s = data;
    int64_t first, last;
    char none;

    (void)rank;
    if (lb_loop_array(l, &none, 0) || lb_loop_stepped(l, 3))
        abort();
    for (int step = 0; step < HUGE_STEPS; step++) {
        if (lb_loop_exchange(l) != 0)
            crew_add(&s->errors, 1);
        while (lb_loop_next(l, &first, &last))
            crew_add(&s->done[step], last - first);
    }
    lb_loop_close(l);
}

/* 2^40 iterations and an array of no bytes: nothing is counted through, and nothing is lost. */
START_TEST(test_huge_and_empty)
{
    struct huge huge = {{0}, 0};
    struct crew_config crew = {.size = 3,
                               .seed = crew_first_seed(),
                               .balanced = true,
                               .sync_ns = 60 * LBX_NS_PER_S, /* with a report for each vote */
                               .mind = {.loops_max = 1, .n = HUGE_N},
                               .run = run_huge,
                               .data = &huge};
    struct crew_result r = crew_run(&crew);

    ck_assert_int_eq(huge.errors, 0);
    ck_assert_int_eq(r.leftovers, 0);
    ck_assert_int_eq(r.mind.wrong, 0);
    for (int step = 0; step < HUGE_STEPS; step++)
        ck_assert_int_eq(huge.done[step], HUGE_N);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("stepped");

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_static, 0, brief_cases(SIZES));
    tcase_add_loop_test(tc, test_balanced, 0, brief_cases(SIZES));
    tcase_add_loop_test(tc, test_early, 0, SIZES);
    tcase_add_test(tc, test_votes_later);
    tcase_add_loop_test(tc, test_balancer_ends, 0, brief_cases(8));
    tcase_add_loop_test(tc, test_contradictions, 0, brief_cases(6));
    if (!getenv("LB_TEST_TCP")) /* there its end is the connections' end */
        tcase_add_loop_test(tc, test_memory_runs_out, 0, brief_cases(6));
    tcase_add_loop_test(tc, test_many_ranks, 0, brief_cases(2));
    tcase_add_test(tc, test_large_pages);
    tcase_add_test(tc, test_layouts_lost);
    tcase_add_test(tc, test_fewer_calls);
    tcase_add_test(tc, test_huge_and_empty);
    tcase_add_loop_test(tc, test_sync, 0, brief_cases(6));
    tcase_add_loop_test(tc, test_sync_balancer_ends, 0, brief_cases(4));
    tcase_add_test(tc, test_without_transport);
    return suite_run("stepped", tc);
}
