/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that one rank closes before the others: all learn of it, and nobody waits for ever. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "libclient/loop.h"
#include "libclient/step.h"
#include "tests/unit/brief.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/world.h"
#include "tests/unit/suite.h"

#define STEPS 40
#define LEAVES 7 /* steps of the one that closes early, where it does not matter */
#define TELL_NS (10 * LBX_NS_PER_MS)
#define LONG_NS 1e15 /* half of a step is never over */
#define ROWS 24
#define ELEMENTS 8

struct shared {
    int size, leaver, leaves; /* leaver: -1: nobody leaves early; leaves: after so many steps */
    int64_t halo;
    bool pipelined,
        slow;    /* slow: the last rank comes to its last step when the others have long ended */
    bool second; /* another loop after it, */
    bool within; /* which is opened before it is closed */
    bool
        between; /* the leaver does so after one more exchange, whose vote was entered in the step before, */
    int64_t legs;   /* also with joints; 0: without */
    int fail_sends; /* see world_fail_sends */
    int early; /* ranks that enter votes in the step before the exchange: 0: as it comes, 1: all, 2: every second one */
    uint64_t row[WORLD_RANKS_MAX][ROWS][ELEMENTS];
    int late[WORLD_RANKS_MAX]; /* exchanges that failed, and of them */
    int good_after[WORLD_RANKS_MAX];
    int second_errors, failed; /* by atomic additions */
    int64_t second_done;
};

static void step(lb_loop *l, bool pipelined, uint64_t (*row)[ELEMENTS])
{
    int64_t first, last, from = 0, to = ELEMENTS;

    while (pipelined ? lb_loop_next_block(l, &first, &last, &from, &to)
                     : lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++)
            for (int64_t k = from; k < to; k++)
                row[i][k]++;
}

static void run_second(struct shared *s, lb_loop *l)
{
    int64_t first, last;

    if (lb_loop_stepped(l, 1))
        abort();
    if (lb_loop_exchange(l) != 0)
        __atomic_fetch_add(&s->second_errors, 1, __ATOMIC_RELAXED);
    while (lb_loop_next(l, &first, &last))
        __atomic_fetch_add(&s->second_done, last - first, __ATOMIC_RELAXED);
    lb_loop_close(l);
}

static void run_member(lb_ctx *ctx, int rank, void *data)
{
    struct shared *s = data;
    uint64_t(*row)[ELEMENTS] = s->row[rank];
    int steps = rank == s->leaver ? s->leaves : STEPS;
    lb_loop *l = lb_loop_open(ctx, "leave", ROWS), *second = NULL;

    ctx->test_block = s->between;
    ctx->test_legs = s->legs;
    ctx->patience_ns =
        LBC_TELL_PART * TELL_NS; /* who waits in the end says so after a thirtieth of it */
    if (lb_loop_array(l, row, sizeof(row[0])) ||
        (s->pipelined ? lb_loop_doacross(l, s->halo, ELEMENTS) || lb_loop_flow(l, row)
                      : lb_loop_stepped(l, s->halo)) ||
        (s->legs > 0 && lb_loop_joints(l)))
        abort();
    for (int i = 0; i < steps; i++) {
        int rc = lb_loop_exchange(l);

        if (rc == -EIO)
            s->late[rank]++;
        else if (s->late[rank] > 0 || rc != 0)
            s->good_after[rank]++;
        if (s->slow && rank == s->size - 1 && i == steps - 1)
            lbx_clock_sleep_ns(4 * TELL_NS);
        if (s->between)
            l->step->step_ns = LONG_NS;
        if (s->early)
            l->step->step_ns = s->early == 1 || rank % 2 ? 1 : LONG_NS;
        step(l, s->pipelined, row);
    }
    if (s->between && rank == s->leaver && lb_loop_exchange(l) != 0)
        abort();
    if (s->within)
        second = lb_loop_open(ctx, "second", ROWS);
    lb_loop_close(l);
    __atomic_fetch_add(&s->failed, ctx->failed, __ATOMIC_RELAXED);
    if (s->second)
        run_second(s, second ? second : lb_loop_open(ctx, "second", ROWS));
}

static struct crew_result run(struct shared *s, bool balanced, uint64_t seed)
{
    struct crew_config crew = {
        .size = s->size,
        .seed = seed,
        .balanced = balanced,
        .fail_sends = s->fail_sends,
        .mind = {.loops_max = 2, .n = ROWS, .elements = s->pipelined ? ELEMENTS : 0},
        .run = run_member,
        .data = s};

    return crew_run(&crew);
}

/* One rank closes the loop early: all others get an error, at once in every later call; none waits, nor in another loop. */
static void expect_all_hear(int size, int leaver, int leaves, bool pipelined, bool balanced,
                            int64_t halo, int early)
{
    struct shared *s = calloc(1, sizeof(*s));

    s->size = size;
    s->leaver = leaver;
    s->leaves = leaves;
    s->pipelined = pipelined;
    s->halo = halo;
    s->early = early;
    s->second = true;
    (void)run(s, balanced, (uint64_t)(size * 100 + leaver));
    ck_assert_int_eq(s->failed, size);
    for (int r = 0; r < size; r++) {
        ck_assert_int_eq(s->good_after[r], 0);
        if (r == leaver)
            ck_assert_int_eq(s->late[r], 0);
        else
            ck_assert_int_gt(s->late[r], 0);
    }
    ck_assert_int_eq(s->second_errors, size);
    free(s);
}

START_TEST(test_stepped)
{
    for (int size = 2; size <= 5; size++)
        for (int leaver = 0; leaver<size; leaver += size> 3 ? 2 : 1)
            expect_all_hear(size, leaver, LEAVES, false, _i >= 1, 1 + size % 2, _i / 2);
}
END_TEST

/* Under layouts that come at any time: it may leave when it has voted for one, which the others then apply, and wait for its rows. */
START_TEST(test_pipelined)
{
    for (int size = 2; size <= 4; size++)
        for (int leaver = 0; leaver < size; leaver++)
            expect_all_hear(size, leaver, LEAVES + _i, true, _i > 0, 1, 0);
}
END_TEST

/*
 * It leaves between an exchange and the step after it, and all votes are entered in the step before: the others wait for its rows,
 * and do not come to the vote that it waits for.
 */
START_TEST(test_between)
{
    for (int size = 2; size <= 4; size++)
        for (int leaver = 0; leaver < size; leaver++) {
            struct shared *s = calloc(1, sizeof(*s));

            *s = (struct shared){.size = size,
                                 .leaver = leaver,
                                 .leaves = LEAVES,
                                 .pipelined = true,
                                 .halo = 1,
                                 .between = true,
                                 .legs = _i};
            (void)run(s, true, (uint64_t)(size * 100 + leaver));
            ck_assert_int_eq(s->failed, size);
            for (int r = 0; r < size; r++)
                ck_assert_int_eq(s->good_after[r], 0);
            free(s);
        }
}
END_TEST

/* Who hears of it, and has no memory to tell the others at first, tells them all the same: they wait for its rows alone. */
START_TEST(test_short_of_memory)
{
    struct shared s = {.size = 4, .leaves = LEAVES, .halo = 1, .fail_sends = 2};

    (void)run(&s, false, 1);
    ck_assert_int_eq(s.failed, s.size);
    for (int r = 1; r < s.size; r++)
        ck_assert_int_gt(s.late[r], 0);
}
END_TEST

/* Without a halo nobody waits for anybody but to agree on layouts: there it is noticed. */
START_TEST(test_without_halo)
{
    for (int early = 0; early <= 2; early++)
        expect_all_hear(3, 1, LEAVES, false, true, 0, early);
}
END_TEST

/* Nor is anybody held up, or a loop spoilt, where the others only come late to their end. */
START_TEST(test_late_is_not_early)
{
    for (int pipelined = 0; pipelined < 2; pipelined++)
        for (int size = 2; size <= 4; size++) {
            struct shared *s = calloc(1, sizeof(*s));
            struct crew_result r;

            s->size = size;
            s->leaver = -1;
            s->pipelined = pipelined;
            s->halo = 1;
            s->slow = s->second = true;
            s->early = pipelined ? 0 : _i / 2;
            s->within = _i == 4;
            r = run(s, _i >= 1, (uint64_t)size);
            ck_assert_int_eq(s->failed, 0);
            ck_assert_int_eq(s->second_errors, 0);
            ck_assert_int_eq(s->second_done, ROWS);
            ck_assert_int_eq(r.leftovers, 0);
            for (int i = 0; i < size; i++)
                ck_assert_int_eq(s->late[i] + s->good_after[i], 0);
            free(s);
        }
}
END_TEST

enum sequel { SEQUEL_END, SEQUEL_FREE, SEQUEL_STEPPED, SEQUELS };

/* A free-running loop, or the collection of one's rows. */
struct free_run {
    int size, leaver;
    bool
        collects; /* the others collect what it has, where it closes; else they make another pass */
    bool stepped; /* what is collected is a stepped loop's */
    enum sequel sequel;
    int64_t delay_ns; /* of the one that closes */
    /* outlive the ranks: others may yet read those of a failed one */
    uint64_t row[WORLD_RANKS_MAX][ROWS];
    int runs[3][ROWS];
    int errors[WORLD_RANKS_MAX], collected; /* errors: of lb_error, before the end */
};

static void run_pass(struct free_run *s, lb_loop *l, int pass)
{
    int64_t first, last;

    while (lb_loop_next(l, &first, &last))
        for (int64_t i = first; i < last; i++)
            __atomic_fetch_add(&s->runs[pass][i], 1, __ATOMIC_RELAXED);
}

static void run_sequel(enum sequel sequel, lb_ctx *ctx)
{
    lb_loop *l;
    int64_t first, last;

    if (sequel == SEQUEL_END)
        return;
    l = lb_loop_open(ctx, "sequel", ROWS);
    if (sequel == SEQUEL_STEPPED && (lb_loop_stepped(l, 1) || lb_loop_exchange(l) > 0))
        abort();
    while (lb_loop_next(l, &first, &last))
        ;
    lb_loop_close(l);
}

static void run_free(lb_ctx *ctx, int rank, void *data)
{
    struct free_run *s = data;
    uint64_t *row = s->row[rank];
    lb_loop *l = lb_loop_open(ctx, "free", ROWS);

    ctx->patience_ns = LBC_TELL_PART * TELL_NS;
    if (lb_loop_array(l, row, sizeof(row[0])) || (s->stepped && lb_loop_stepped(l, 0)))
        abort();
    for (int pass = 0; pass < 2; pass++)
        run_pass(s, l, pass);
    if (rank == s->leaver) {
        lbx_clock_sleep_ns(s->delay_ns);
    } else if (s->collects) {
        int rc = lb_loop_collect(l, row, (s->leaver + 1) % s->size);

        /* who only sends may be through before the root knows */
        if (rc != -EIO && (rc != 0 || rank == (s->leaver + 1) % s->size))
            __atomic_fetch_add(&s->collected, 1, __ATOMIC_RELAXED);
    } else {
        run_pass(s, l, 2);
    }
    lb_loop_close(l);
    run_sequel(s->sequel, ctx);
    s->errors[rank] = lb_error(ctx);
}

/* Whatever the one that closes does then: the passes before are whole, and all hear of it. */
static void expect_free(struct free_run s, bool balanced)
{
    struct crew_config crew = {.size = s.size,
                               .seed = (uint64_t)(s.size * 100 + s.leaver),
                               .balanced = balanced,
                               .apart = true,
                               .mind = {.loops_max = 2, .n = ROWS},
                               .run = run_free,
                               .data = &s};

    (void)crew_run(&crew);
    ck_assert_int_eq(s.collected, 0);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < ROWS; i++)
            ck_assert_int_eq(s.runs[pass][i], 1);
    for (int r = 0; r < s.size; r++) {
        bool through = s.collects && r != (s.leaver + 1) % s.size;

        /* at the end it is too late to ask, and who has only sent rows is there before the others */
        if (s.sequel != SEQUEL_END || (r != s.leaver && !through))
            ck_assert_msg(s.errors[r] == -EIO, "rank %d of %d, %d closes early, then %d: no error",
                          r, s.size, s.leaver, (int)s.sequel);
    }
}

START_TEST(test_free)
{
    for (int size = 2; size <= 5; size++)
        for (int leaver = 0; leaver < size; leaver++)
            expect_free((struct free_run){.size = size,
                                          .leaver = leaver,
                                          .sequel = (enum sequel)_i,
                                          .delay_ns = leaver % 2 ? 2 * TELL_NS : 0},
                        true);
}
END_TEST

/* Between two passes, and then waits for the others where no code of the library runs. */
struct elsewhere {
    int size, leaver;
    int64_t tell_ns; /* who finds no memory to tell others tries again for so long */
    int64_t most_ns; /* it waits for so long; 0: as long as it takes */
    int told,
        told_there; /* of the others, that have heard of it; while it waited.  By atomic additions */
    struct free_run passes; /* of it only rows and runs */
};

static void run_elsewhere(lb_ctx *ctx, int rank, void *data)
{
    struct elsewhere *s = data;
    uint64_t *row = s->passes.row[rank];
    lb_loop *l = lb_loop_open(ctx, "free", ROWS);
    int64_t since_ns;

    ctx->patience_ns = LBC_TELL_PART * s->tell_ns;
    if (lb_loop_array(l, row, sizeof(row[0])))
        abort();
    for (int pass = 0; pass < 2; pass++)
        run_pass(&s->passes, l, pass);
    if (rank != s->leaver)
        run_pass(&s->passes, l, 2);
    if (rank != s->leaver && lb_error(ctx) == -EIO)
        __atomic_fetch_add(&s->told, 1, __ATOMIC_RELAXED);
    lb_loop_close(l);
    if (rank != s->leaver)
        return;
    since_ns = lbx_clock_mono_ns();
    while (__atomic_load_n(&s->told, __ATOMIC_RELAXED) < s->size - 1 &&
           (s->most_ns == 0 || lbx_clock_mono_ns() - since_ns < s->most_ns))
        lbx_clock_sleep_ns(TELL_NS / 10);
    s->told_there = __atomic_load_n(&s->told, __ATOMIC_RELAXED);
}

/* Returns how many of the others have heard of it while it waited. */
static int elsewhere(struct elsewhere *s, struct mind_config mind, int fail_sends)
{
    struct crew_config crew = {.size = s->size,
                               .seed = (uint64_t)(s->size * 100 + s->leaver),
                               .balanced = true,
                               .apart = true,
                               .fail_sends = fail_sends,
                               .mind = mind,
                               .run = run_elsewhere,
                               .data = s};

    (void)crew_run(&crew);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < ROWS; i++)
            ck_assert_int_eq(s->passes.runs[pass][i], 1);
    for (int i = 0; i < ROWS; i++)
        ck_assert_int_le(s->passes.runs[2][i], 1);
    return s->told_there;
}

/* Whether the balancer is lost before it, as it hears of it, or while it tells of it, or lives and does not; and when memory is short. */
START_TEST(test_elsewhere)
{
    const struct mind_config lost[] = {
        {.end = MIND_CLOSES, .after = 2},
        {.end = MIND_LIVES},
        {.end = MIND_CLOSES, .after_closes = 1},
        {.end = MIND_STOPS, .after_closes = 1},
        {.end = MIND_SILENT, .after_closes = 1},
        {.end = MIND_CLOSES, .after_closes = 1, .tells_closed = 1},
        {.end = MIND_CLOSES, .after_closes = 1, .tells_closed = 2},
        {.end = MIND_LIVES, .tells_closed = WORLD_RANKS_MAX},
        {.end = MIND_CLOSES, .after_closes = 1},
    };
    const int fail_sends[] = {0, 0, 0, 0, 0, 0, 0, 0, 2};

    for (int size = 2; size <= 6; size++)
        for (int leaver = 0; leaver < size; leaver++) {
            struct elsewhere s = {
                .size = size, .leaver = leaver, .tell_ns = (fail_sends[_i] ? 20 : 1) * TELL_NS};
            struct mind_config mind = lost[_i];

            mind.loops_max = 1;
            mind.n = ROWS;
            ck_assert_int_eq(elsewhere(&s, mind, fail_sends[_i]), size - 1);
        }
}
END_TEST

/* Planted: where no rank can tell another one anything, and the balancer is lost as it hears of it, nobody hears of it. */
START_TEST(test_planted_elsewhere)
{
    struct elsewhere s = {.size = 3, .leaver = 1, .tell_ns = TELL_NS, .most_ns = 20 * TELL_NS};
    struct mind_config mind = {.loops_max = 1, .n = ROWS, .end = MIND_CLOSES, .after_closes = 1};

    ck_assert_int_eq(elsewhere(&s, mind, 1), 0);
}
END_TEST

/* The others close it with that rank: nobody hears anything, and another loop is whole. */
START_TEST(test_lost_is_not_early)
{
    for (int size = 2; size <= 6; size++) {
        struct free_run f = {.size = size, .leaver = -1, .sequel = SEQUEL_FREE};
        struct crew_config crew = {
            .size = size,
            .seed = (uint64_t)size,
            .balanced = true,
            .mind = {.loops_max = 2, .n = ROWS, .end = MIND_CLOSES, .after = size},
            .run = run_free,
            .data = &f};

        (void)crew_run(&crew);
        for (int pass = 0; pass < 3; pass++)
            for (int i = 0; i < ROWS; i++)
                ck_assert_int_eq(f.runs[pass][i], 1);
        for (int i = 0; i < size; i++)
            ck_assert_int_eq(f.errors[i], 0);
    }
}
END_TEST

START_TEST(test_collect)
{
    for (int size = 2; size <= 4; size++)
        for (int leaver = 0; leaver < size; leaver++)
            expect_free((struct free_run){.size = size,
                                          .leaver = leaver,
                                          .collects = true,
                                          .stepped = _i & 2,
                                          .sequel = leaver % 2 ? SEQUEL_STEPPED : SEQUEL_END,
                                          .delay_ns = leaver % 2 ? 2 * TELL_NS : 0},
                        _i & 1);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("leave");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, test_stepped, 0, brief_cases(6));
    tcase_add_loop_test(tc, test_pipelined, 0, brief_cases(12));
    tcase_add_loop_test(tc, test_between, 0, brief_cases(6));
    tcase_add_test(tc, test_without_halo);
    tcase_add_test(tc, test_short_of_memory);
    tcase_add_loop_test(tc, test_free, 0, SEQUELS);
    tcase_add_loop_test(tc, test_elsewhere, 0, brief_cases(9));
    if (!getenv("LB_TEST_TCP")) /* there nothing that is sent fails as planned */
        tcase_add_test(tc, test_planted_elsewhere);
    tcase_add_test(tc, test_lost_is_not_early);
    tcase_add_loop_test(tc, test_collect, 0, 4);
    tcase_add_loop_test(tc, test_late_is_not_early, 0, brief_cases(6));
    return suite_run("leave", tc);
}
