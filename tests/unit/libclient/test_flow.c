/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelined loops: exactly once and the serial result, whatever layouts and blocks come and however the balancer ends. */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "libclient/step.h"
#include "tests/unit/brief.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/lists.h"
#include "tests/unit/libclient/world.h"
#include "tests/unit/suite.h"

#define STEPS 15
#define OTHER 3 /* words in a row of the array that does not flow */

struct job {
    int size;
    int64_t n, halo, elements, test_block, grain;
    uint64_t seed;
    bool balanced, contradicts, uneven_first, leaves;
    enum mind_end end;
    int after;
    unsigned fail_memory;
    int64_t sync_ns;           /* see struct crew_config */
    int lose;                  /* see struct mind_config */
    int64_t work_ns, delay_ns; /* CPU time of an element in the first step, of sending a message */
    int slow_first; /* rank 0 takes so many times that for an element; 0: as the others */
};

struct shared {
    const struct job *job;
    uint64_t *expected[STEPS + 1];                         /* [n * elements] the serial result */
    int *runs[STEPS];                                      /* [n * elements] */
    int64_t wrong, errors, in, out, blocks, most, flow_ns; /* by atomic additions */
    struct crew_result crew;
};

struct member {
    struct shared *shared;
    int rank;
    struct lists *lists;
};

static void add(int64_t *sum, int64_t n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

/* Element k of row i, from what is there: every neighbour tells, and its place too. */
static uint64_t point(const struct job *j, const uint64_t *a, int64_t i, int64_t k)
{
    uint64_t v = (uint64_t)(i * j->elements + k);

    for (int64_t r = i - j->halo; r <= i + j->halo; r++)
        v = (v ^ (r < 0 || r >= j->n ? 7 : a[r * j->elements + k])) *
                UINT64_C(6364136223846793005) +
            1;
    v ^= k > 0 ? a[i * j->elements + k - 1] : 11;
    return v * 31 + (k + 1 < j->elements ? a[i * j->elements + k + 1] : 13);
}

static void compute_serial(struct shared *s)
{
    const struct job *j = s->job;
    size_t bytes = (size_t)(j->n * j->elements + 1) * sizeof(uint64_t);

    for (int p = 0; p <= STEPS; p++) {
        uint64_t *a = s->expected[p] = calloc(1, bytes);

        if (p > 0)
            memcpy(a, s->expected[p - 1], bytes);
        for (int64_t i = 0; i < j->n; i++)
            for (int64_t k = 0; k < j->elements; k++)
                a[i * j->elements + k] = p == 0 ? (uint64_t)(i * 31 + k + 5) : point(j, a, i, k);
    }
}

static void work(int64_t ns)
{
    int64_t end_ns = lbx_clock_thread_cpu_ns() + ns;

    while (ns > 0 && lbx_clock_thread_cpu_ns() < end_ns)
        ;
}

/* One step.  Rows of the other array, which does not flow, hold the step that computed them last. */
static bool run_step(struct member *m, lb_loop *l, int step, uint64_t *a, uint64_t *other)
{
    struct shared *s = m->shared;
    const struct job *j = s->job;
    int64_t first, last, from, to, before = 0;

    while (lb_loop_next_block(l, &first, &last, &from, &to)) {
        if (lb_loop_exchange(l) != -EBUSY || first >= last || from != before ||
            to - from > lb_loop_block(l) || lb_loop_owner(l, first) != m->rank)
            add(&s->errors, 1);
        before = to;
        add(&s->blocks, 1);
        if (step == 0)
            work((to - from) * j->work_ns *
                 (m->rank == 0 && j->slow_first > 0 ? j->slow_first : 1));
        for (int64_t i = first - j->halo; i < last + j->halo && from == 0; i++)
            if (i >= 0 && i < j->n && other[i * OTHER] != (uint64_t)(i * 1000 + step))
                add(&s->wrong, 1);
        for (int64_t i = first; i < last; i++)
            for (int64_t k = from; k < to; k++) {
                uint64_t *x = &a[i * j->elements + k];

                __atomic_fetch_add(&s->runs[step][i * j->elements + k], 1, __ATOMIC_RELAXED);
                *x = point(j, a, i, k);
                if (*x != s->expected[step + 1][i * j->elements + k])
                    add(&s->wrong, 1);
            }
        for (int64_t i = first; i < last && to == j->elements; i++) {
            other[i * OTHER]++;
            if (!lists_step(m->lists, i, step))
                add(&s->wrong, 1);
        }
        if (j->leaves && step + 1 == STEPS && (m->rank + (int)j->seed) % 2)
            return false;
    }
    if (before != 0 && before != j->elements)
        add(&s->errors, 1);
    if (l->step->flow_ns >
        l->step->cpu_ns) /* messages that were taken for the program's time are a part of it */
        add(&s->errors, 1);
    add(&s->flow_ns, l->step->flow_ns);
    return true;
}

static void check_collected(struct member *m, lb_loop *l, uint64_t *a)
{
    struct shared *s = m->shared;
    const struct job *j = s->job;
    int root = j->size - 1;

    if (lb_loop_collect(l, a, root) != 0)
        add(&s->errors, 1);
    for (int64_t i = 0; m->rank == root && i < j->n * j->elements; i++)
        if (a[i] != s->expected[STEPS][i])
            add(&s->wrong, 1);
}

static void fill(const struct job *j, lb_loop *l, const struct shared *s, uint64_t *a,
                 uint64_t *other)
{
    int64_t first, last;

    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++) {
            memcpy(a + i * j->elements, s->expected[0] + i * j->elements,
                   (size_t)j->elements * sizeof(*a));
            other[i * OTHER] = (uint64_t)(i * 1000);
        }
}

static void run_loop(struct member *m, lb_ctx *ctx)
{
    struct shared *s = m->shared;
    const struct job *j = s->job;
    size_t row = (size_t)j->elements * sizeof(uint64_t);
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    uint64_t *a = lb_array_alloc(ctx, j->n, row);
    uint64_t *other = lb_array_alloc(ctx, j->n, OTHER * sizeof(*other));
    struct lb_pack pack = lists_pack(m->lists);
    lb_loop *l = lb_loop_open(ctx, "pipelined", j->n);
    int64_t first, last, from, to;
    bool whole = true;

    if (!l || lb_loop_array(l, a, row) || lb_loop_flow(l, a) != -EINVAL ||
        lb_loop_next_block(l, &first, &last, &from, &to) != 0 || lb_loop_block(l) != 0 ||
        lb_loop_doacross(l, j->halo, 0) != -EINVAL ||
        lb_loop_doacross(l, -1, j->elements) != -EINVAL ||
        lb_loop_doacross(l, j->halo, j->elements) || lb_loop_stepped(l, 1) != -EBUSY ||
        lb_loop_flow(l, other) != -EINVAL || lb_loop_array(l, other, OTHER * sizeof(*other)) ||
        lb_loop_flow(l, a) || lb_loop_next(l, &first, &last) != 0 || lb_loop_pack(l, &pack))
        abort();
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++)
            lists_fill(m->lists, i);
    fill(j, l, s, a, other);
    fault_arm(j->seed + (uint64_t)m->rank, j->fail_memory);
    for (int step = 0; step < STEPS && whole; step++) {
        if (lb_loop_exchange(l) != 0)
            add(&s->errors, 1);
        if (lb_loop_block(l) > s->most)
            __atomic_store_n(&s->most, lb_loop_block(l), __ATOMIC_RELAXED);
        whole = run_step(m, l, step, a, other);
    }
    fault_arm(0, 0);
    if (whole && (lb_loop_owned(l, 1, &first, &last) || lb_loop_flow(l, a) != -EBUSY))
        add(&s->errors, 1);
    if (!j->leaves)
        check_collected(m, l, a);
    lb_loop_stats(l, &stats);
    add(&s->in, stats.iterations_in);
    add(&s->out, stats.iterations_out);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    lb_array_free(ctx, other);
}

static void run_member(lb_ctx *ctx, int rank, void *data)
{
    struct member m = {data, rank, lists_create(((struct shared *)data)->job->n)};

    ctx->test_block = m.shared->job->test_block;
    ctx->grain = m.shared->job->grain;
    ctx->test_delay_ns = m.shared->job->delay_ns;
    run_loop(&m, ctx);
    lists_destroy(m.lists);
}

static void run(const struct job *j, struct shared *s)
{
    struct crew_config crew = {.size = j->size,
                               .seed = j->seed,
                               .balanced = j->balanced,
                               .uneven_first = j->uneven_first,
                               .sync_ns = j->sync_ns,
                               .mind = {.loops_max = 1,
                                        .n = j->n,
                                        .end = j->end,
                                        .after = j->after,
                                        .lose = j->lose,
                                        .contradicts = j->contradicts,
                                        .elements = j->elements},
                               .run = run_member,
                               .data = s};

    *s = (struct shared){.job = j};
    compute_serial(s);
    for (int p = 0; p < STEPS; p++)
        s->runs[p] = calloc((size_t)(j->n * j->elements) + 1, sizeof(int));
    s->crew = crew_run(&crew);
}

/* Runs the job; returns how many iterations moved. */
static int64_t expect_right(const struct job *j, struct shared *ret)
{
    struct shared s;
    int64_t missing = 0, duplicated = 0;

    run(j, &s);
    for (int p = 0; p < STEPS; p++) {
        for (int64_t i = 0; i < j->n * j->elements; i++) {
            missing += s.runs[p][i] == 0 && !(j->leaves && p + 1 == STEPS);
            duplicated += s.runs[p][i] > 1;
        }
        free(s.runs[p]);
    }
    for (int p = 0; p <= STEPS; p++)
        free(s.expected[p]);
    ck_assert_msg(missing == 0 && duplicated == 0 && (s.wrong == 0 || j->leaves) && s.errors == 0 &&
                      s.in == s.out && s.crew.leftovers == 0 && s.crew.mind.wrong == 0,
                  "seed=%" PRIu64 " size=%d n=%" PRId64 " halo=%" PRId64 " elements=%" PRId64
                  " end=%d after=%d: missing=%" PRId64 " duplicated=%" PRId64 " wrong=%" PRId64
                  " errors=%" PRId64 " in=%" PRId64 " out=%" PRId64 " leftovers=%d"
                  " mind.wrong=%" PRId64,
                  j->seed, j->size, j->n, j->halo, j->elements, (int)j->end, j->after, missing,
                  duplicated, s.wrong, s.errors, s.in, s.out, s.crew.leftovers, s.crew.mind.wrong);
    if (ret)
        *ret = s;
    return s.in;
}

static uint64_t first_seed(void)
{
    const char *text = getenv("LB_TEST_SEED");

    return text ? strtoull(text, NULL, 0) : 1;
}

static const int64_t sizes[] = {0, 1, -1, -2, -3, 40}; /* negative: np - 1, np, np + 1 */
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static int64_t n_of(int64_t which, int np)
{
    return which < 0 ? np - 2 - which : which;
}

static const int64_t halos[] = {0, 1, 2, 25}; /* the last one larger than blocks */
#define HALOS 4

START_TEST(test_static)
{
    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct job j = {.size = np,
                            .n = n_of(sizes[_i], np),
                            .halo = halos[h],
                            .elements = 1 + 6 * h,
                            .test_block = h,
                            .seed = (uint64_t)h,
                            .uneven_first = np % 2};

            ck_assert_int_eq(expect_right(&j, NULL), 0);
        }
}
END_TEST

START_TEST(test_balanced)
{
    int64_t moved = 0, layouts = 0, most = 0;

    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct job j = {.size = np,
                            .n = n_of(sizes[_i], np),
                            .halo = halos[h],
                            .elements = 1 + 6 * h,
                            .balanced = true,
                            .seed = first_seed() * 1000 + (uint64_t)(h + np),
                            .uneven_first = h % 2};
            struct shared s;

            moved += expect_right(&j, &s);
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

/* In a vote all wait for the last rank, which empties a pipeline: there it is not in every step, however long steps are. */
START_TEST(test_votes_are_apart)
{
    struct lb_ctx ctx = {0};
    struct lbc_step s = {.interval = 8, .step_ns = 100e6};
    struct lb_loop l = {.ctx = &ctx, .step = &s, .period_ns = 100000000};

    ck_assert_int_eq(lbc_step_interval(&l), 1);
    l.elements = 10;
    ck_assert_int_eq(lbc_step_interval(&l), 3);
    l.period_ns = 1000000000;
    ck_assert_int_eq(lbc_step_interval(&l), 5);
    s.interval = 1; /* in the beginning they follow one another quickly */
    ck_assert_int_eq(lbc_step_interval(&l), 2);
}
END_TEST

START_TEST(test_balancer_ends)
{
    uint64_t random = first_seed() + (uint64_t)_i;

    for (int end = MIND_LIVES + 1; end < MIND_ENDS; end++) {
        struct job j = {.size = 2 + _i % 4,
                        .n = _i % 3 ? 40 : 6,
                        .halo = halos[_i % HALOS],
                        .elements = 9,
                        .balanced = true,
                        .end = (enum mind_end)end,
                        .after = 1 + (int)world_random(&random, 40),
                        .seed = first_seed() * 5000 + (uint64_t)_i};

        expect_right(&j, NULL);
    }
}
END_TEST

START_TEST(test_contradictions)
{
    struct job j = {.size = 2 + _i % 4,
                    .n = 40,
                    .halo = 1,
                    .elements = 5,
                    .balanced = true,
                    .contradicts = true,
                    .seed = first_seed() * 3000 + (uint64_t)_i};

    expect_right(&j, NULL);
}
END_TEST

START_TEST(test_memory_runs_out)
{
    int64_t before = fault_count();
    struct job j = {.size = 3,
                    .n = 40,
                    .halo = 2,
                    .elements = 6,
                    .balanced = true,
                    .fail_memory = 1U << (_i + 3),
                    .seed = first_seed() * 13000 + (uint64_t)_i};

    expect_right(&j, NULL);
    if (_i < 2)
        ck_assert_int_gt(fault_count(), before);
}
END_TEST

/* Some ranks leave the last step after a block, and the others get to its end all the same. */
START_TEST(test_leaves_early)
{
    struct job j = {.size = 2 + _i % 4,
                    .n = 40,
                    .halo = _i % 3,
                    .elements = 7,
                    .balanced = _i % 2,
                    .leaves = true,
                    .seed = first_seed() * 17000 + (uint64_t)_i};

    expect_right(&j, NULL);
}
END_TEST

/* All ranks report at the same step, and wait for the answer. */
START_TEST(test_sync)
{
    for (int lose = 0; lose < 3; lose++) {
        struct job j = {.size = 2 + _i % 4,
                        .n = 40,
                        .halo = _i % 3,
                        .elements = 7,
                        .balanced = true,
                        .sync_ns = lose > 0 ? 2 * LBX_NS_PER_MS : 60 * LBX_NS_PER_S,
                        .lose = lose,
                        .seed = first_seed() * 19000 + (uint64_t)_i};
        struct shared s;

        expect_right(&j, &s);
        ck_assert_int_eq(s.crew.asked, s.crew.mind.steps);
        ck_assert(lose > 0 ? s.crew.answered < s.crew.asked : s.crew.answered == s.crew.asked);
    }
}
END_TEST

/* A long pipeline. */
START_TEST(test_many_ranks)
{
    struct job j = {.size = 16 + 4 * _i,
                    .n = 60,
                    .halo = 1 + _i,
                    .elements = 12,
                    .balanced = true,
                    .seed = first_seed() * 37000 + (uint64_t)_i};

    ck_assert_int_gt(expect_right(&j, NULL), 0);
}
END_TEST

/* A block size that a person has set holds, whatever the balancer tells. */
START_TEST(test_grain)
{
    struct job j = {.size = 3,
                    .n = 40,
                    .halo = 1,
                    .elements = 10,
                    .grain = 1 + 3 * _i,
                    .balanced = _i > 0,
                    .seed = first_seed() * 31000 + (uint64_t)_i};
    struct shared s;

    expect_right(&j, &s);
    ck_assert_int_eq(s.most, j.grain);
}
END_TEST

/* The first step shows what messages cost, and all ranks go by it: with dear ones rows are sent whole, with cheap ones not. */
START_TEST(test_first_step)
{
    for (int dear = 0; dear < 2; dear++) {
        struct job j = {.size = 2 + _i,
                        .n = 12,
                        .halo = 1,
                        .elements = 480,
                        .work_ns = dear ? 0 : 20 * LBX_NS_PER_US,
                        .delay_ns = dear ? 20 * LBX_NS_PER_MS : 0,
                        .seed = first_seed() * 41000 + (uint64_t)_i};
        struct shared s;

        expect_right(&j, &s);
        for (int more = 4; !dear && more > 0 && s.most > j.elements / 4; more--)
            expect_right(&j, &s); /* on a busy machine a message is dear now and then */
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
    struct job j = {.size = 2 + _i,
                    .n = 12,
                    .halo = 1,
                    .elements = 24,
                    .test_block = 4,
                    .work_ns = 100 * LBX_NS_PER_US,
                    .slow_first = 20,
                    .delay_ns = 4 * LBX_NS_PER_MS,
                    .seed = first_seed() * 43000 + (uint64_t)_i};
    struct shared s;

    expect_right(&j, &s);
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
    ck_assert_int_eq(lb_loop_doacross(l, n, n), 0);
    ck_assert_int_eq(lb_loop_flow(l, &none), 0);
    for (int step = 0; step < 3; step++) {
        ck_assert_int_eq(lb_loop_exchange(l), 0);
        for (int64_t before = 0; lb_loop_next_block(l, &first, &last, &from, &to); before = to) {
            ck_assert_int_eq(from, before);
            rows = last - first;
            blocks++;
        }
        ck_assert_int_eq(to, n);
    }
    ck_assert_int_eq(rows, n);
    ck_assert_int_le(blocks, 3 * 4096);
    lb_loop_close(l);
    ck_assert_int_eq(lb_loop_doacross(NULL, 1, 1), -EINVAL);
    ck_assert_int_eq(lb_loop_flow(NULL, &none), -EINVAL);
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
    tcase_add_test(tc, test_votes_are_apart);
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
    tcase_add_test(tc, test_neighbours);
    tcase_add_test(tc, test_huge_and_empty);
    return suite_run("flow", tc);
}
