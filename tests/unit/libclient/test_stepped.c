/* SPDX-License-Identifier: BSD-3-Clause */
/* Stepped loops: exactly once and the serial result, whatever layouts come and however the balancer ends. */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
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
#include "tests/unit/libclient/lists.h"
#include "tests/unit/libclient/world.h"
#include "tests/unit/suite.h"

#define STEPS 25
#define WIDE 600 /* words in a row of the wide array: pages of its own */

struct job {
    int size;
    int64_t n, halo;
    uint64_t seed;
    bool balanced, contradicts, uneven_first;
    enum mind_end end;
    int after;
    unsigned fail_memory;
    int64_t sync_ns;        /* see struct crew_config */
    int lose, lose_layouts; /* see struct mind_config */
};

struct shared {
    const struct job *job;
    uint64_t *expected[STEPS + 1];  /* [n] the serial result */
    int *runs[STEPS];               /* [n] */
    int64_t wrong, errors, in, out; /* by atomic additions */
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

/* A stencil in which every row of the halo tells, and its place too. */
static uint64_t stencil(const uint64_t *a, size_t stride, int64_t i, int64_t halo, int64_t n)
{
    uint64_t v = (uint64_t)i;

    for (int64_t k = i - halo; k <= i + halo; k++)
        v = (v ^ (k < 0 || k >= n ? 7 : a[(size_t)k * stride])) * UINT64_C(6364136223846793005) + 1;
    return v;
}

static void compute_serial(struct shared *s)
{
    const struct job *j = s->job;

    for (int p = 0; p <= STEPS; p++) {
        s->expected[p] = calloc((size_t)j->n + 1, sizeof(uint64_t));
        for (int64_t i = 0; i < j->n; i++)
            s->expected[p][i] =
                p == 0 ? (uint64_t)i * 31 + 5 : stencil(s->expected[p - 1], 1, i, j->halo, j->n);
    }
}

/* One step; its results go into b, and into the middle of the rows of the wide array. */
static void run_step(struct member *m, lb_loop *l, int step, const uint64_t *a, uint64_t *b,
                     uint64_t *wide)
{
    struct shared *s = m->shared;
    int64_t first, last;

    while (lb_loop_next(l, &first, &last)) {
        if (lb_loop_exchange(l) != -EBUSY || first >= last)
            add(&s->errors, 1);
        for (int64_t i = first; i < last; i++) {
            uint64_t was = wide[i * WIDE + WIDE / 2];

            __atomic_fetch_add(&s->runs[step][i], 1, __ATOMIC_RELAXED);
            b[i] = stencil(a, 1, i, s->job->halo, s->job->n);
            if (b[i] != s->expected[step + 1][i] || was != s->expected[step][i] ||
                lb_loop_owner(l, i) != m->rank)
                add(&s->wrong, 1);
            wide[i * WIDE + WIDE / 2] = b[i];
            if (!lists_step(m->lists, i, step))
                add(&s->wrong, 1);
        }
    }
}

static void check_collected(struct member *m, lb_loop *l, uint64_t *a, int steps)
{
    struct shared *s = m->shared;
    int root = s->job->size - 1;

    if (lb_loop_collect(l, a, root) != 0)
        add(&s->errors, 1);
    for (int64_t i = 0; m->rank == root && i < s->job->n; i++)
        if (a[i] != s->expected[steps][i])
            add(&s->wrong, 1);
}

static void run_loop(struct member *m, lb_ctx *ctx)
{
    struct shared *s = m->shared;
    const struct job *j = s->job;
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    uint64_t *a = lb_array_alloc(ctx, j->n, sizeof(*a)), *b = lb_array_alloc(ctx, j->n, sizeof(*b));
    uint64_t *wide = lb_array_alloc(ctx, j->n, WIDE * sizeof(*wide)), *swap;
    struct lb_pack pack = lists_pack(m->lists);
    lb_loop *l = lb_loop_open(ctx, "stepped", j->n);
    int64_t first = 0, last = 0;

    if (!l || lb_loop_array(l, a, sizeof(*a)) || lb_loop_stepped(l, -1) != -EINVAL ||
        lb_loop_exchange(l) != -EINVAL || lb_loop_owner(l, 0) != -1 ||
        lb_loop_stepped(l, j->halo) || lb_loop_stepped(l, j->halo) != -EBUSY ||
        lb_loop_array(l, b, sizeof(*b)) || lb_loop_array(l, wide, WIDE * sizeof(*wide)) ||
        lb_loop_pack(l, &pack))
        abort();
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++) {
            a[i] = wide[i * WIDE + WIDE / 2] = s->expected[0][i];
            lists_fill(m->lists, i);
        }
    fault_arm(j->seed + (uint64_t)m->rank, j->fail_memory);
    for (int step = 0; step < STEPS; step++) {
        if (lb_loop_exchange(l) != 0)
            add(&s->errors, 1);
        run_step(m, l, step, a, b, wide);
        swap = a;
        a = b;
        b = swap;
    }
    fault_arm(0, 0);
    if (lb_loop_owned(l, 1, &first, &last) || lb_loop_array(l, a, 8) != -EBUSY)
        add(&s->errors, 1);
    if (!lb_loop_owned(l, 0, &first, &last))
        first = last;
    if (lists_count(m->lists) != last - first)
        add(&s->wrong, 1);
    check_collected(m, l, a, STEPS);
    lb_loop_stats(l, &stats);
    add(&s->in, stats.iterations_in);
    add(&s->out, stats.iterations_out);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    lb_array_free(ctx, b);
    lb_array_free(ctx, wide);
}

static void run_member(lb_ctx *ctx, int rank, void *data)
{
    struct member m = {data, rank, lists_create(((struct shared *)data)->job->n)};

    ctx->test_chunk = (int64_t)(m.shared->job->seed % 3);
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
                                        .lose_layouts = j->lose_layouts,
                                        .contradicts = j->contradicts},
                               .run = run_member,
                               .data = s};

    *s = (struct shared){.job = j};
    compute_serial(s);
    for (int p = 0; p < STEPS; p++)
        s->runs[p] = calloc((size_t)j->n + 1, sizeof(int));
    s->crew = crew_run(&crew);
}

/* Runs the job; returns how many iterations moved. */
static int64_t expect_right(const struct job *j, struct mind_sums *ret_sums)
{
    struct shared s;
    int64_t missing = 0, duplicated = 0;

    run(j, &s);
    for (int p = 0; p < STEPS; p++) {
        for (int64_t i = 0; i < j->n; i++) {
            missing += s.runs[p][i] == 0;
            duplicated += s.runs[p][i] > 1;
        }
        free(s.runs[p]);
    }
    for (int p = 0; p <= STEPS; p++)
        free(s.expected[p]);
    ck_assert_msg(missing == 0 && duplicated == 0 && s.wrong == 0 && s.errors == 0 &&
                      s.in == s.out && s.crew.leftovers == 0 && s.crew.mind.wrong == 0,
                  "seed=%" PRIu64 " size=%d n=%" PRId64 " halo=%" PRId64
                  " end=%d after=%d: missing=%" PRId64 " duplicated=%" PRId64 " wrong=%" PRId64
                  " errors=%" PRId64 " in=%" PRId64 " out=%" PRId64 " leftovers=%d"
                  " mind.wrong=%" PRId64,
                  j->seed, j->size, j->n, j->halo, (int)j->end, j->after, missing, duplicated,
                  s.wrong, s.errors, s.in, s.out, s.crew.leftovers, s.crew.mind.wrong);
    if (ret_sums)
        *ret_sums = s.crew.mind;
    return s.in;
}

static uint64_t first_seed(void)
{
    const char *text = getenv("LB_TEST_SEED");

    return text ? strtoull(text, NULL, 0) : 1;
}

static const int64_t sizes[] = {0, 1, -1, -2, -3, 97}; /* negative: np - 1, np, np + 1 */
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static int64_t n_of(int64_t which, int np)
{
    return which < 0 ? np - 2 - which : which;
}

static const int64_t halos[] = {0, 1, 3, 60}; /* the last one larger than blocks */
#define HALOS 4

START_TEST(test_static)
{
    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct job j = {.size = np,
                            .n = n_of(sizes[_i], np),
                            .halo = halos[h],
                            .seed = (uint64_t)h,
                            .uneven_first = np % 2};

            ck_assert_int_eq(expect_right(&j, NULL), 0);
        }
}
END_TEST

START_TEST(test_balanced)
{
    int64_t moved = 0, layouts = 0;

    for (int np = 1; np <= 5; np++)
        for (int h = 0; h < HALOS; h++) {
            struct job j = {.size = np,
                            .n = n_of(sizes[_i], np),
                            .halo = halos[h],
                            .balanced = true,
                            .seed = first_seed() * 1000 + (uint64_t)(h + np),
                            .uneven_first = h % 2};
            struct mind_sums sums;

            moved += expect_right(&j, &sums);
            layouts += sums.layouts;
            ck_assert_int_eq(sums.leaves, np);
            ck_assert_int_eq(sums.opens, np);
            ck_assert_int_eq(sums.closes, np);
            ck_assert_int_ge(sums.steps, np);
        }
    /* the test would be worth nothing if nothing moved */
    if (sizes[_i] == 97)
        ck_assert_int_gt(moved, 100);
    ck_assert_int_ge(layouts, 20);
}
END_TEST

START_TEST(test_balancer_ends)
{
    uint64_t random = first_seed() + (uint64_t)_i;

    for (int end = MIND_LIVES + 1; end < MIND_ENDS; end++) {
        struct job j = {.size = 2 + _i % 4,
                        .n = _i % 3 ? 97 : 6,
                        .halo = halos[_i % HALOS],
                        .balanced = true,
                        .end = (enum mind_end)end,
                        .after = 1 + (int)world_random(&random, 40),
                        .seed = first_seed() * 5000 + (uint64_t)_i};

        expect_right(&j, NULL);
    }
}
END_TEST

/* Ranks that are told different things follow neither. */
START_TEST(test_contradictions)
{
    struct job j = {.size = 2 + _i % 4,
                    .n = 97,
                    .halo = 1,
                    .balanced = true,
                    .contradicts = true,
                    .seed = first_seed() * 3000 + (uint64_t)_i};

    expect_right(&j, NULL);
}
END_TEST

/* A layout that there is no memory for was not heard of. */
START_TEST(test_memory_runs_out)
{
    int64_t before = fault_count();
    struct job j = {.size = 3,
                    .n = 97,
                    .halo = 2,
                    .balanced = true,
                    .fail_memory = 1U << (_i + 1),
                    .seed = first_seed() * 13000 + (uint64_t)_i};

    expect_right(&j, NULL);
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

static void expect_sync(struct job j, bool lose)
{
    struct shared s;
    int64_t wrong;

    run(&j, &s);
    wrong = s.wrong + s.errors + s.in - s.out + s.crew.leftovers + s.crew.mind.wrong;
    for (int p = 0; p < STEPS; p++) {
        for (int64_t i = 0; i < j.n; i++)
            wrong += s.runs[p][i] != 1;
        free(s.runs[p]);
    }
    for (int p = 0; p <= STEPS; p++)
        free(s.expected[p]);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(s.crew.asked, s.crew.mind.steps);
    if (lose) {
        ck_assert_int_lt(s.crew.answered, s.crew.asked);
    } else {
        ck_assert_int_eq(s.crew.answered, s.crew.asked);
        ck_assert_int_gt(s.in, 0); /* and what they waited for was done */
    }
}

/* All ranks report at the same step and wait there; what they are told is voted on at once. */
START_TEST(test_sync)
{
    struct job j = {.size = 2 + _i % 4,
                    .n = 97,
                    .halo = halos[_i % HALOS],
                    .balanced = true,
                    .sync_ns = 60 * LBX_NS_PER_S,
                    .seed = first_seed() * 19000 + (uint64_t)_i};

    expect_sync(j, false);
    j.sync_ns = 2 * LBX_NS_PER_MS;
    j.lose = 1 + _i % 3;
    expect_sync(j, true);
}
END_TEST

START_TEST(test_sync_balancer_ends)
{
    for (int end = MIND_LIVES + 1; end < MIND_ENDS; end++) {
        struct job j = {.size = 2 + _i % 4,
                        .n = 97,
                        .halo = 1,
                        .balanced = true,
                        .end = (enum mind_end)end,
                        .after = 3 + 9 * _i,
                        .sync_ns = 60 * LBX_NS_PER_S,
                        .seed = first_seed() * 29000 + (uint64_t)_i};

        expect_right(&j, NULL);
    }
}
END_TEST

/* Many ranks, most of which own nothing now and then. */
START_TEST(test_many_ranks)
{
    struct job j = {.size = 17 + _i,
                    .n = 97,
                    .halo = 1 + 5 * _i,
                    .balanced = true,
                    .seed = first_seed() * 37000 + (uint64_t)_i};

    ck_assert_int_gt(expect_right(&j, NULL), 0);
}
END_TEST

/* A layout that did not reach all is applied by none; told again, it is by all. */
START_TEST(test_layouts_lost)
{
    int64_t moved = 0, again = 0;

    for (uint64_t seed = 0; seed < 6; seed++) {
        struct job j = {.size = 3,
                        .n = 97,
                        .halo = 1,
                        .balanced = true,
                        .sync_ns = 60 * LBX_NS_PER_S, /* with a report for each vote */
                        .lose_layouts = 1 + (int)seed % 3,
                        .seed = first_seed() * 41000 + seed};
        struct mind_sums sums;

        moved += expect_right(&j, &sums);
        again += sums.again;
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
            add(&s->errors, 1);
        while (lb_loop_next(l, &first, &last))
            add(&s->done[step], last - first);
    }
    lb_loop_close(l);
}

/* 2^40 iterations and an array of no bytes: nothing is counted through, and nothing is lost. */
START_TEST(test_huge_and_empty)
{
    struct huge huge = {{0}, 0};
    struct crew_config crew = {.size = 3,
                               .seed = first_seed(),
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
    tcase_add_loop_test(tc, test_balancer_ends, 0, brief_cases(8));
    tcase_add_loop_test(tc, test_contradictions, 0, brief_cases(6));
    if (!getenv("LB_TEST_TCP")) /* there its end is the connections' end */
        tcase_add_loop_test(tc, test_memory_runs_out, 0, brief_cases(6));
    tcase_add_loop_test(tc, test_many_ranks, 0, brief_cases(2));
    tcase_add_test(tc, test_layouts_lost);
    tcase_add_test(tc, test_fewer_calls);
    tcase_add_test(tc, test_huge_and_empty);
    tcase_add_loop_test(tc, test_sync, 0, brief_cases(6));
    tcase_add_loop_test(tc, test_sync_balancer_ends, 0, brief_cases(4));
    tcase_add_test(tc, test_without_transport);
    return suite_run("stepped", tc);
}
