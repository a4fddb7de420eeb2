/* SPDX-License-Identifier: BSD-3-Clause */
/* Exactly once, whatever the balancer says and however it ends. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "tests/unit/brief.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/job.h"
#include "tests/unit/libclient/world.h"
#include "tests/unit/suite.h"

static void expect_right(const struct job *j, const struct job_result *r)
{
    bool right = r->missing == 0 && r->duplicated == 0 && r->bad_rows == 0 &&
                 r->not_partitioned == 0 && r->errors == 0 && r->moved == 0 && r->leftovers == 0 &&
                 r->mind.wrong == 0;

    if (!right)
        fprintf(stderr,
                "seed=%" PRIu64 " size=%d n=%" PRId64 " loops=%d passes=%d end=%d after=%d: "
                "missing=%" PRId64 " duplicated=%" PRId64 " bad_rows=%" PRId64
                " not_partitioned=%" PRId64 " errors=%" PRId64 " moved=%" PRId64
                " leftovers=%" PRId64 " wrong=%" PRId64 "\n",
                j->seed, j->size, j->n, j->loops, j->passes, (int)j->end, j->after, r->missing,
                r->duplicated, r->bad_rows, r->not_partitioned, r->errors, r->moved, r->leftovers,
                r->mind.wrong);
    ck_assert(right);
}

static const int64_t sizes[] = {0, 1, -1, -2, -3, 1000}; /* negative: np - 1, np, np + 1 */
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

START_TEST(test_static)
{
    for (int np = 1; np <= 5; np++) {
        struct job j = {.size = np, .loops = 2, .passes = 3, .n = crew_n_of(sizes[_i], np)};
        struct job_result r;

        j.uneven_first = np % 2;
        r = job_run(&j);
        expect_right(&j, &r);
    }
}
END_TEST

START_TEST(test_balanced)
{
    int64_t sent = 0, refused = 0, received = 0;
    /* of a pass of a millisecond most moves come too late, so that it takes some jobs to see enough of those that do not */
    uint64_t seeds = sizes[_i] == 1000 ? 6 : 2;

    for (int np = 1; np <= 5; np++) {
        for (uint64_t seed = 0; seed < seeds; seed++) {
            struct job j = {.size = np,
                            .loops = 2,
                            .passes = 4,
                            .n = crew_n_of(sizes[_i], np),
                            .balanced = true,
                            .seed = crew_first_seed() * 1000 + seed,
                            .uneven_first = seed % 2};
            struct job_result r = job_run(&j);

            expect_right(&j, &r);
            ck_assert_int_eq(r.mind.leaves, np);
            ck_assert_int_eq(r.mind.opens, 2 * np);
            ck_assert_int_eq(r.mind.closes, 2 * np);
            ck_assert_int_ge(r.mind.dry, 2 * 4 * np);
            sent += r.mind.sent;
            received += r.mind.received;
            refused += r.mind.refused;
            if (np == 1)
                ck_assert_int_eq(r.mind.sent, 0);
        }
    }
    /* the test would be worth nothing if nothing moved */
    if (sizes[_i] == 1000) {
        ck_assert_int_gt(sent, 20);
        ck_assert_int_gt(refused, 2);
    }
    ck_assert_int_eq(sent, received);
}
END_TEST

START_TEST(test_balancer_ends)
{
    uint64_t random = crew_first_seed();

    for (int end = MIND_LIVES + 1; end < MIND_ENDS; end++) {
        struct job j = {.size = 2 + _i % 3,
                        .loops = 1 + _i % 2,
                        .passes = 3,
                        .n = _i % 4 ? 300 : 7,
                        .balanced = true,
                        .end = (enum mind_end)end,
                        .seed = crew_first_seed() * 5000 + (uint64_t)_i};
        struct job_result r;

        j.after = 1 + (int)world_random(&random, 150) * (_i + 1) / 4;
        r = job_run(&j);
        expect_right(&j, &r);
    }
}
END_TEST

START_TEST(test_sends_fail)
{
    struct job j = {.size = 3,
                    .loops = 1,
                    .passes = 3,
                    .n = 400,
                    .balanced = true,
                    .fail_sends = 2 + _i,
                    .seed = crew_first_seed() * 7000 + (uint64_t)_i};
    struct job_result r = job_run(&j);

    expect_right(&j, &r);
}
END_TEST

/* Without memory moves are refused or come later, and the balancer may be lost; iterations are not. */
START_TEST(test_memory_runs_out)
{
    int64_t before = fault_count();
    struct job j = {.size = 3,
                    .loops = 2,
                    .passes = 4,
                    .n = 300,
                    .balanced = true,
                    .fail_memory = 1U << (_i + 1),
                    .seed = crew_first_seed() * 13000 + (uint64_t)_i};
    struct job_result r = job_run(&j);

    expect_right(&j, &r);
    if (_i < 4) /* rarer ones may not come about */
        ck_assert_int_gt(fault_count(), before);
}
END_TEST

/* Who leaves a pass early loses what it had; but nobody waits for ever, and nothing runs twice. */
START_TEST(test_leaves_early)
{
    struct job j = {.size = 4,
                    .loops = 2,
                    .passes = 2,
                    .n = 300,
                    .balanced = true,
                    .leave_early = true,
                    .seed = crew_first_seed() * 9000 + (uint64_t)_i};
    struct job_result r = job_run(&j);

    ck_assert_int_eq(r.duplicated, 0);
    ck_assert_int_eq(r.bad_rows, 0);
    ck_assert_int_eq(r.errors, 0);
    ck_assert_int_eq(r.leftovers, 0);
    ck_assert_int_eq(r.mind.wrong, 0);
}
END_TEST

START_TEST(test_small_chunks)
{
    struct job j = {.size = 3,
                    .loops = 1,
                    .passes = 2,
                    .n = 500,
                    .balanced = _i > 0,
                    .test_chunk = 1 + _i,
                    .seed = crew_first_seed() * 11000 + (uint64_t)_i};
    struct job_result r = job_run(&j);

    expect_right(&j, &r);
}
END_TEST

/* Chunks are no larger than a person has said. */
START_TEST(test_grain)
{
    struct job j = {.size = 3,
                    .loops = 1,
                    .passes = 2,
                    .n = 500,
                    .balanced = true,
                    .grain = 1 + 6 * _i,
                    .seed = crew_first_seed() * 31000 + (uint64_t)_i};
    struct job_result r = job_run(&j);

    expect_right(&j, &r);
}
END_TEST

/* Ranks that wait for the answers to what they report get all of them, and go on without where the balancer ends. */
START_TEST(test_sync)
{
    static const enum mind_end ends[] = {MIND_LIVES, MIND_LIVES,  MIND_LIVES,  MIND_CLOSES,
                                         MIND_STOPS, MIND_SILENT, MIND_GARBAGE};
    int64_t asked = 0, answered = 0;

    for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
        struct job j = {.size = 2 + _i % 3,
                        .loops = 2,
                        .passes = 3,
                        .n = 2000, /* passes are longer than periods then */
                        .balanced = true,
                        .sync_ns = 60 * LBX_NS_PER_S,
                        .end = ends[k],
                        .after = 30 + 20 * _i,
                        .seed = crew_first_seed() * 19000 + 10 * (uint64_t)_i + k};
        struct job_result r = job_run(&j);

        expect_right(&j, &r);
        asked += r.asked;
        answered += r.answered;
        if (ends[k] == MIND_LIVES)
            ck_assert_int_eq(r.asked, r.mind.waits);
    }
    ck_assert_int_gt(asked, 0);
    ck_assert_int_gt(answered, 0);
}
END_TEST

/* Answers that never come hold nobody up for ever. */
START_TEST(test_sync_answers_lost)
{
    int64_t asked = 0, answered = 0;

    for (uint64_t seed = 0; seed < 4; seed++) {
        struct job j = {.size = 3,
                        .loops = 1,
                        .passes = 2,
                        .n = 2000,
                        .balanced = true,
                        .sync_ns = 2 * LBX_NS_PER_MS,
                        .lose = 1 + _i,
                        .seed = crew_first_seed() * 23000 + 10 * (uint64_t)_i + seed};
        struct job_result r = job_run(&j);

        expect_right(&j, &r);
        asked += r.asked;
        answered += r.answered;
    }
    ck_assert_int_gt(asked, 0);
    if (_i == 0)
        ck_assert_int_eq(answered, 0);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("coverage");

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_static, 0, brief_cases(SIZES));
    tcase_add_loop_test(tc, test_balanced, 0, brief_cases(SIZES));
    tcase_add_loop_test(tc, test_balancer_ends, 0, brief_cases(12));
    tcase_add_loop_test(tc, test_sends_fail, 0, brief_cases(4));
    if (!getenv("LB_TEST_TCP")) /* there its end is the connections' end */
        tcase_add_loop_test(tc, test_memory_runs_out, 0, brief_cases(7));
    tcase_add_loop_test(tc, test_leaves_early, 0, brief_cases(6));
    tcase_add_loop_test(tc, test_small_chunks, 0, brief_cases(3));
    tcase_add_loop_test(tc, test_grain, 0, brief_cases(3));
    tcase_add_loop_test(tc, test_sync, 0, brief_cases(4));
    tcase_add_loop_test(tc, test_sync_answers_lost, 0, brief_cases(3));
    return suite_run("coverage", tc);
}
