/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelined loops: exactly once and the serial result, whatever layouts and blocks come and however the balancer ends. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "libclient/step.h"
#include "tests/unit/brief.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/flow_job.h"
#include "tests/unit/libclient/world.h"
#include "tests/unit/suite.h"

static const int64_t sizes[] = {0, 1, -1, -2, -3, 40}; /* negative: np - 1, np, np + 1 */
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static const int64_t halos[] = {0, 1, 2, 25}; /* the last one larger than blocks */
#define HALOS 4

START_TEST(test_static)
{
    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct flow_job j = {.size = np,
                                 .n = crew_n_of(sizes[_i], np),
                                 .halo = halos[h],
                                 .elements = 1 + 6 * h,
                                 .test_block = h,
                                 .seed = (uint64_t)h,
                                 .uneven_first = np % 2};

            ck_assert_int_eq(flow_job_right(&j, NULL), 0);
        }
}
END_TEST

START_TEST(test_balanced)
{
    int64_t moved = 0, layouts = 0, most = 0;

    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct flow_job j = {.size = np,
                                 .n = crew_n_of(sizes[_i], np),
                                 .halo = halos[h],
                                 .elements = 1 + 6 * h,
                                 .balanced = true,
                                 .seed = crew_first_seed() * 1000 + (uint64_t)(h + np),
                                 .uneven_first = h % 2};
            struct flow_result s;

            moved += flow_job_right(&j, &s);
            layouts += s.crew.mind.layouts;
            most = s.most > most ? s.most : most;
            ck_assert_int_eq(s.crew.mind.closes, np);
            ck_assert_int_ge(s.crew.mind.steps, np);
        }
    /* the test would be worth nothing if nothing moved, and all blocks were of one element */
    if (sizes[_i] == 40)
        ck_assert_int_gt(moved, 100);
    ck_assert_int_ge(layouts, 20);
    ck_assert_int_gt(most, 1);
}
END_TEST

/* Rows change hands within steps, too, with all that came and was computed of them. */
START_TEST(test_joints)
{
    int64_t within = 0;

    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < 2 * HALOS; h++) {
            struct flow_job j = {.size = np,
                                 .n = crew_n_of(sizes[_i], np),
                                 .halo = halos[h % HALOS],
                                 .elements = 3 + 9 * h,
                                 .test_block = h % 3,
                                 .legs = 2 + h,
                                 .balanced = h > 0,
                                 .seed = crew_first_seed() * 1000 + (uint64_t)(h + np),
                                 .uneven_first = h % 2};
            struct flow_result s;

            flow_job_right(&j, &s);
            within += s.within;
        }
    if (sizes[_i] == 40)
        ck_assert_int_gt(within, 20);
}
END_TEST

/* The first step shows how many legs there are, also where messages are so cheap that its blocks are too large. */
START_TEST(test_legs_are_found)
{
    struct flow_job j = {.size = 2 + _i,
                         .n = 12,
                         .halo = 1,
                         .elements = 480,
                         .legs = 4,
                         .balanced = true,
                         .work_ns = LBX_NS_PER_MS,
                         .seed = crew_first_seed() * 45000 + (uint64_t)_i};
    struct flow_result s;

    flow_job_right(&j, &s);
    /* whether a layout comes within a step is chance: on a busy machine few do */
    for (int more = 30; more > 0 && s.within == 0; more--) {
        j.seed++;
        flow_job_right(&j, &s);
    }
    ck_assert_int_gt(s.within, 0);
}
END_TEST

/* Votes that some enter in the step before an exchange, and others in it, all take in that exchange. */
START_TEST(test_votes_within)
{
    int64_t moved = 0, within = 0;

    for (int np = 2; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct flow_job j = {.size = np,
                                 .n = crew_n_of(sizes[_i], np),
                                 .halo = halos[h],
                                 .elements = 24,
                                 .test_block = 1,
                                 .balanced = true,
                                 .seed = crew_first_seed() * 1000 + (uint64_t)(h + np),
                                 .uneven_first = h % 2,
                                 .end = h == 3 ? MIND_CLOSES : MIND_LIVES,
                                 .after = 40,
                                 .within = &within};

            moved += flow_job_right(&j, NULL);
        }
    if (sizes[_i] == 40) {
        ck_assert_int_gt(moved, 100);
        ck_assert_int_gt(within, 0); /* else none was entered within a step */
    }
}
END_TEST

/* Votes of a pipelined loop are taken a step after they were entered, and there is none in every step; but in long steps of a loop
 * that is alone, whose last rank is not far behind the first. */
START_TEST(test_votes_are_apart)
{
    int64_t bound[] = {0, 5, 10};
    struct lbc_layout layout = {.bound = bound, .block = 2};
    struct lb_ctx ctx = {.size = 2};
    struct lbc_step s = {
        .interval = 8, .step_ns = 100e6, .rounds = 2, .legs = 1, .layout = &layout};
    struct lb_loop l = {.ctx = &ctx, .step = &s, .period_ns = 100000000}, other = {0};

    ck_assert_int_eq(lbc_step_interval(&l), 1);
    l.elements = 10;
    ck_assert_int_eq(lbc_step_interval(&l), 2);
    l.period_ns = 2000000000;
    ck_assert_int_eq(lbc_step_interval(&l), 5);
    ck_assert_int_eq(lbc_step_later(&l), 1);
    s.interval = 1; /* in the beginning they follow one another quickly */
    ck_assert_int_eq(lbc_step_interval(&l), 2);
    l.period_ns = 100000000;
    s.rounds = 1; /* the first ones at once */
    ck_assert_int_eq(lbc_step_interval(&l), 1);
    ck_assert_int_eq(lbc_step_later(&l), 1);
    ctx.sync_ns = 1; /* the key sync, and no balancer any more */
    ck_assert_int_eq(lbc_step_later(&l), 0);
    ctx.sync_ns = 0;
    s.rounds = 2;
    ctx.loop = &l; /* alone */
    ck_assert_int_eq(lbc_step_later(&l), 0);
    ck_assert_int_eq(lbc_step_interval(&l), 1);
    s.holders = lbc_layout_holders(&l, &layout);
    layout.block = 3; /* the second rank is three tenths of a step behind */
    ck_assert_int_eq(lbc_step_later(&l), 1);
    ck_assert_int_eq(lbc_step_interval(&l), 2);
    bound[1] = 10; /* which does not count when it holds nothing */
    s.holders = lbc_layout_holders(&l, &layout);
    ck_assert_int_eq(lbc_step_later(&l), 0);
    l.next = &other;
    ck_assert_int_eq(lbc_step_later(&l), 1);
}
END_TEST

START_TEST(test_balancer_ends)
{
    uint64_t random = crew_first_seed() + (uint64_t)_i;

    for (int end = MIND_LIVES + 1; end < MIND_ENDS; end++) {
        struct flow_job j = {.size = 2 + _i % 4,
                             .n = _i % 3 ? 40 : 6,
                             .halo = halos[_i % HALOS],
                             .elements = 9,
                             .balanced = true,
                             .end = (enum mind_end)end,
                             .after = 1 + (int)world_random(&random, 40),
                             .seed = crew_first_seed() * 5000 + (uint64_t)_i};

        flow_job_right(&j, NULL);
    }
}
END_TEST

START_TEST(test_contradictions)
{
    struct flow_job j = {.size = 2 + _i % 4,
                         .n = 40,
                         .halo = 1,
                         .elements = 5,
                         .balanced = true,
                         .contradicts = true,
                         .seed = crew_first_seed() * 3000 + (uint64_t)_i};

    flow_job_right(&j, NULL);
}
END_TEST

START_TEST(test_memory_runs_out)
{
    int64_t before = fault_count();
    struct flow_job j = {.size = 3,
                         .n = 40,
                         .halo = 2,
                         .elements = 6,
                         .balanced = true,
                         .fail_memory = 1U << (_i + 3),
                         .seed = crew_first_seed() * 13000 + (uint64_t)_i};

    flow_job_right(&j, NULL);
    if (_i < 2)
        ck_assert_int_gt(fault_count(), before);
}
END_TEST

/* Some ranks leave the last step after a block, and the others get to its end all the same. */
START_TEST(test_leaves_early)
{
    struct flow_job j = {.size = 2 + _i % 4,
                         .n = 40,
                         .halo = _i % 3,
                         .elements = 7,
                         .balanced = _i % 2,
                         .leaves = true,
                         .seed = crew_first_seed() * 17000 + (uint64_t)_i};

    flow_job_right(&j, NULL);
}
END_TEST

/* All ranks report at the same step, and wait for the answer. */
START_TEST(test_sync)
{
    for (int lose = 0; lose < 3; lose++) {
        struct flow_job j = {.size = 2 + _i % 4,
                             .n = 40,
                             .halo = _i % 3,
                             .elements = 7,
                             .balanced = true,
                             .sync_ns = lose > 0 ? 2 * LBX_NS_PER_MS : 60 * LBX_NS_PER_S,
                             .lose = lose,
                             .seed = crew_first_seed() * 19000 + (uint64_t)_i};
        struct flow_result s;

        flow_job_right(&j, &s);
        ck_assert_int_eq(s.crew.asked, s.crew.mind.steps);
        ck_assert(lose > 0 ? s.crew.answered < s.crew.asked : s.crew.answered == s.crew.asked);
    }
}
END_TEST

/* A long pipeline. */
START_TEST(test_many_ranks)
{
    struct flow_job j = {.size = 16 + 4 * _i,
                         .n = 60,
                         .halo = 1 + _i,
                         .elements = 12,
                         .balanced = true,
                         .seed = crew_first_seed() * 37000 + (uint64_t)_i};

    ck_assert_int_gt(flow_job_right(&j, NULL), 0);
}
END_TEST

/* A block size that a person has set holds, whatever the balancer tells. */
START_TEST(test_grain)
{
    struct flow_job j = {.size = 3,
                         .n = 40,
                         .halo = 1,
                         .elements = 10,
                         .grain = 1 + 3 * _i,
                         .balanced = _i > 0,
                         .seed = crew_first_seed() * 31000 + (uint64_t)_i};
    struct flow_result s;

    flow_job_right(&j, &s);
    ck_assert_int_eq(s.most, j.grain);
}
END_TEST

/* Where narrow parts take less, blocks are computed in them; not under siegell and liu, where somebody has set
 * their size, without a balancer, nor where ranks wait for its answers. */
START_TEST(test_strips)
{
    static const struct {
        bool balanced, published;
        int64_t grain, sync_ns;
    } cases[] = {{true, false, 0, 0},
                 {true, true, 0, 0},
                 {true, false, 40, 0},
                 {false, false, 0, 0},
                 {true, false, 0, LBX_NS_PER_S}};

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct flow_job j = {.size = 2,
                             .n = 4,
                             .halo = 1,
                             .elements = 300,
                             .balanced = cases[k].balanced,
                             .published = cases[k].published,
                             .grain = cases[k].grain,
                             .wide_ns = 10000,
                             .sync_ns = cases[k].sync_ns,
                             .seed = crew_first_seed() * 51000 + (uint64_t)_i};
        struct flow_result s;

        flow_job_right(&j, &s);
        if (k == 0)
            ck_assert_int_gt(s.strips, 50);
        else
            ck_assert_int_eq(s.strips, 0);
    }
}
END_TEST

/* The first step shows what messages cost, and all ranks go by it: with dear ones rows are sent whole, with cheap ones not. */
START_TEST(test_first_step)
{
    for (int dear = 0; dear < 2; dear++) {
        struct flow_job j = {.size = 2 + _i,
                             .n = 12,
                             .halo = 1,
                             .elements = 480,
                             .work_ns = dear ? 0 : 20 * LBX_NS_PER_US,
                             .delay_ns = dear ? 20 * LBX_NS_PER_MS : 0,
                             .seed = crew_first_seed() * 41000 + (uint64_t)_i};
        struct flow_result s;

        flow_job_right(&j, &s);
        /* on a busy machine a message is dear now and then, or what a block does */
        for (int more = 4; more > 0 && (dear ? s.most < j.elements : s.most > j.elements / 4);
             more--)
            flow_job_right(&j, &s);
        if (dear)
            ck_assert_int_eq(s.most, j.elements);
        else
            ck_assert_int_le(s.most, j.elements / 4);
    }
}
END_TEST

/* What messages cost is taken off what blocks do, but not where a rank waited after it: that was never counted.  Ranks behind a
 * slow one wait for each block; the slow one itself for none. */
START_TEST(test_waits_are_not_taken_off)
{
    struct flow_job j = {.size = 2 + _i,
                         .n = 12,
                         .halo = 1,
                         .elements = 24,
                         .test_block = 4,
                         .work_ns = 100 * LBX_NS_PER_US,
                         .slow_first = 20,
                         .delay_ns = 4 * LBX_NS_PER_MS,
                         .seed = crew_first_seed() * 43000 + (uint64_t)_i};
    struct flow_result s;

    flow_job_right(&j, &s);
    ck_assert_int_ge(s.flow_ns,
                     5 * j.delay_ns); /* of the first rank's messages, all but the last one */
}
END_TEST

/* Neighbours are those that own something. */
START_TEST(test_neighbours)
{
    const double weight[] = {0, 1, 0, 0, 1};
    lb_ctx *ctx[5];

    for (int r = 0; r < 5; r++) {
        static const int left[] = {-1, -1, -1, -1, 1}, right[] = {-1, 4, -1, -1, -1};
        lb_loop *l;

        ctx[r] = lbc_ctx_create(r, 5, NULL, false, NULL, weight);
        l = lb_loop_open(ctx[r], "neighbours", 10);
        ck_assert_int_eq(lb_loop_neighbour(l, 1), -1);
        ck_assert_int_eq(lb_loop_doacross(l, 1, 4), 0);
        ck_assert_int_eq(lb_loop_neighbour(l, -1), left[r]);
        ck_assert_int_eq(lb_loop_neighbour(l, 1), right[r]);
        ck_assert_int_eq(lb_loop_neighbour(l, 0), -1);
        ck_assert_int_eq(lb_loop_neighbour(l, 2), -1);
        lb_finalize(ctx[r]);
    }
}
END_TEST

/* Huge loops, arrays of no bytes, no arrays at all: nothing is counted through. */
START_TEST(test_huge_and_empty)
{
    int64_t n = INT64_C(1) << 40, first, last, from, to, blocks = 0, rows = 0;
    lb_ctx *ctx = lbc_ctx_create(0, 1, NULL, false, NULL, NULL);
    lb_loop *l = lb_loop_open(ctx, "huge", n);
    char none;

    ck_assert_int_eq(lb_loop_array(l, &none, 0), 0);
    ck_assert_int_eq(lb_loop_joints(l), -EINVAL);
    ck_assert_int_eq(lb_loop_doacross(l, n, n), 0);
    ck_assert_int_eq(lb_loop_flow(l, &none), 0);
    ck_assert_int_eq(lb_loop_joints(l), 0);
    for (int step = 0; step < 3; step++) {
        ck_assert_int_eq(lb_loop_exchange(l), 0);
        for (int64_t before = 0; lb_loop_next_block(l, &first, &last, &from, &to); before = to) {
            ck_assert_int_eq(from, before);
            rows = last - first;
            blocks++;
        }
        ck_assert_int_eq(to, n);
    }
    ck_assert_int_eq(lb_loop_joints(l), -EBUSY);
    ck_assert_int_eq(rows, n);
    ck_assert_int_le(blocks, 3 * 4096);
    lb_loop_close(l);
    ck_assert_int_eq(lb_loop_doacross(NULL, 1, 1), -EINVAL);
    ck_assert_int_eq(lb_loop_flow(NULL, &none), -EINVAL);
    ck_assert_int_eq(lb_loop_joints(NULL), -EINVAL);
    ck_assert_int_eq(lb_loop_next_block(NULL, &first, &last, &from, &to), 0);
    ck_assert_int_eq(lb_loop_block(NULL), 0);
    ck_assert_int_eq(lb_loop_neighbour(NULL, 1), -1);
    lb_finalize(ctx);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("flow");

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_static, 0, brief_cases(SIZES));
    tcase_add_loop_test(tc, test_balanced, 0, brief_cases(SIZES));
    tcase_add_loop_test(tc, test_joints, 0, brief_cases(SIZES));
    tcase_add_loop_test(tc, test_legs_are_found, 0, brief_cases(3));
    tcase_add_test(tc, test_votes_are_apart);
    tcase_add_loop_test(tc, test_votes_within, 0, SIZES);
    tcase_add_loop_test(tc, test_balancer_ends, 0, brief_cases(8));
    tcase_add_loop_test(tc, test_contradictions, 0, brief_cases(6));
    if (!getenv("LB_TEST_TCP")) /* there its end is the connections' end */
        tcase_add_loop_test(tc, test_memory_runs_out, 0, brief_cases(6));
    tcase_add_loop_test(tc, test_leaves_early, 0, brief_cases(8));
    tcase_add_loop_test(tc, test_sync, 0, brief_cases(6));
    tcase_add_loop_test(tc, test_many_ranks, 0, brief_cases(2));
    tcase_add_loop_test(tc, test_first_step, 0, brief_cases(3));
    tcase_add_loop_test(tc, test_waits_are_not_taken_off, 0, 2);
    tcase_add_loop_test(tc, test_grain, 0, brief_cases(4));
    tcase_add_loop_test(tc, test_strips, 0, brief_cases(3));
    tcase_add_test(tc, test_neighbours);
    tcase_add_test(tc, test_huge_and_empty);
    return suite_run("flow", tc);
}
