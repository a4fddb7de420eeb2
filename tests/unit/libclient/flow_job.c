/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of a pipelined loop, and what is right of it. */
#include "tests/unit/libclient/flow_job.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "libclient/pass.h"
#include "libclient/step.h"
#include "policy/votes.h"
#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/lists.h"

#define STEPS 15
#define LONG_NS 1e15 /* a quarter of a step is never over */
#define OTHER 75     /* words in a row of the array that does not flow: several rows on a page */

struct shared {
    const struct flow_job *job;
    uint64_t *expected[STEPS + 1]; /* [n * elements] the serial result */
    int *runs[STEPS];              /* [n * elements] */
    int64_t wrong, errors, within, in, out, blocks, strips, most, flow_ns; /* by atomic additions */
    struct crew_result crew;
};

struct member {
    struct shared *shared;
    int rank;
    int64_t legs; /* 0: without joints */
    struct lists *lists;
};

/* Element k of row i, from what is there: every neighbour tells, and its place too. */
static uint64_t point(const struct flow_job *j, const uint64_t *a, int64_t i, int64_t k)
{
    uint64_t v = (uint64_t)(i * j->elements + k);

    for (int64_t r = i - j->halo; r <= i + j->halo; r++)
        v = (v ^ (r < 0 || r >= j->n ? 7 : a[r * j->elements + k])) *
                UINT64_C(6364136223846793005) +
            1;
    v ^= k > 0 ? a[i * j->elements + k - 1] : 11;
    if (j->halo > 0 && i > 0 &&
        k > 0) /* computed in this step, perhaps before rows changed hands */
        v += 3 * a[(i - 1) * j->elements + k - 1];
    if (j->halo > 0 && i + 1 < j->n && k + 1 < j->elements)
        v += 5 * a[(i + 1) * j->elements + k + 1];
    return v * 31 + (k + 1 < j->elements ? a[i * j->elements + k + 1] : 13);
}

static void compute_serial(struct shared *s)
{
    const struct flow_job *j = s->job;
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
    const struct flow_job *j = s->job;
    int64_t first, last, from, to, before = 0;
    struct lbx_span rows = {0, 0};

    while (lb_loop_next_block(l, &first, &last, &from, &to)) {
        if (lb_loop_exchange(l) != -EBUSY || first >= last ||
            (m->legs > 0 ? from < before : from != before) || to - from > lb_loop_block(l) ||
            lb_loop_owner(l, first) != m->rank)
            crew_add(&s->errors, 1);
        crew_add(&s->within, before > 0 && from > before);
        if (before > 0 && first != rows.first)
            crew_add(&s->within, 1);
        rows.first = first;
        before = to;
        crew_add(&s->blocks, 1);
        if (step == 0)
            work((to - from) * j->work_ns *
                 (m->rank == 0 && j->slow_first > 0 ? j->slow_first : 1));
        work((to - from) * j->wide_ns * (to - from > 2 ? 2 : 1));
        crew_add(&s->strips, to % lb_loop_block(l) != 0 && to < j->elements);
        for (int64_t i = first - j->halo; i < last + j->halo && from == 0; i++)
            if (i >= 0 && i < j->n && other[i * OTHER] != (uint64_t)(i * 1000 + step))
                crew_add(&s->wrong, 1);
        for (int64_t i = first; i < last; i++)
            for (int64_t k = from; k < to; k++) {
                uint64_t *x = &a[i * j->elements + k];

                __atomic_fetch_add(&s->runs[step][i * j->elements + k], 1, __ATOMIC_RELAXED);
                *x = point(j, a, i, k);
                if (*x != s->expected[step + 1][i * j->elements + k])
                    crew_add(&s->wrong, 1);
            }
        for (int64_t i = first; i < last && to == j->elements; i++) {
            other[i * OTHER]++;
            if (!lists_step(m->lists, i, step))
                crew_add(&s->wrong, 1);
        }
        if (j->leaves && step + 1 == STEPS && (m->rank + (int)j->seed) % 2)
            return false;
    }
    if (before != 0 && before != j->elements && m->legs == 0)
        crew_add(&s->errors, 1);
    if (l->step->flow_ns >
        l->step->cpu_ns) /* messages that were taken for the program's time are a part of it */
        crew_add(&s->errors, 1);
    crew_add(&s->flow_ns, l->step->flow_ns);
    return true;
}

static void check_collected(struct member *m, lb_loop *l, uint64_t *a)
{
    struct shared *s = m->shared;
    const struct flow_job *j = s->job;
    int root = j->size - 1;

    if (lb_loop_collect(l, a, root) != 0)
        crew_add(&s->errors, 1);
    for (int64_t i = 0; m->rank == root && i < j->n * j->elements; i++)
        if (a[i] != s->expected[STEPS][i])
            crew_add(&s->wrong, 1);
}

static void fill(const struct flow_job *j, lb_loop *l, const struct shared *s, uint64_t *a,
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
    const struct flow_job *j = s->job;
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
        lb_loop_flow(l, a) || (m->legs > 0 && lb_loop_joints(l)) ||
        lb_loop_next(l, &first, &last) != 0 || lb_loop_pack(l, &pack))
        abort();
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++)
            lists_fill(m->lists, i);
    fill(j, l, s, a, other);
    fault_arm(j->seed + (uint64_t)m->rank, j->fail_memory);
    for (int step = 0; step < STEPS && whole; step++) {
        if (j->within)
            l->step->step_ns = LONG_NS;
        if (lb_loop_exchange(l) != 0)
            crew_add(&s->errors, 1);
        if (lbc_step_lag(l) != lbp_votes_lag((uint32_t)lbc_layout_holders(l, l->step->layout),
                                             lb_loop_block(l), j->elements / l->step->legs))
            crew_add(&s->errors, 1);
        if (j->within)
            l->step->step_ns = m->rank % 2 ? 1 : LONG_NS;
        if (lb_loop_block(l) > s->most)
            __atomic_store_n(&s->most, lb_loop_block(l), __ATOMIC_RELAXED);
        whole = run_step(m, l, step, a, other);
        if (j->within && l->step->voted)
            crew_add(j->within, 1);
    }
    fault_arm(0, 0);
    if (!whole &&
        m->legs > 0) /* as closing it does: rows may still change hands in the rest of the step */
        lbc_pass_abandon(l);
    if (whole && (lb_loop_owned(l, 1, &first, &last) || lb_loop_flow(l, a) != -EBUSY))
        crew_add(&s->errors, 1);
    if (!j->leaves)
        check_collected(m, l, a);
    lb_loop_stats(l, &stats);
    crew_add(&s->in, stats.iterations_in);
    crew_add(&s->out, stats.iterations_out);
    lb_loop_close(l);
    lb_array_free(ctx, a);
    lb_array_free(ctx, other);
}

/* What the job says, or else the test's environment. */
static int64_t legs_of(const struct flow_job *j)
{
    const char *legs = getenv("LB_TEST_JOINTS");

    return j->legs > 0 || !legs ? j->legs : atoll(legs);
}

static void run_member(lb_ctx *ctx, int rank, void *data)
{
    struct member m = {data, rank, legs_of(((struct shared *)data)->job),
                       lists_create(((struct shared *)data)->job->n)};

    ctx->test_block = m.shared->job->test_block;
    ctx->test_legs = m.legs;
    ctx->grain = m.shared->job->grain;
    ctx->published = m.shared->job->published;
    ctx->test_delay_ns = m.shared->job->delay_ns;
    run_loop(&m, ctx);
    lists_destroy(m.lists);
}

static void run(const struct flow_job *j, struct shared *s)
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
                                        .published = j->published,
                                        .elements = j->elements},
                               .run = run_member,
                               .data = s};

    *s = (struct shared){.job = j};
    compute_serial(s);
    for (int p = 0; p < STEPS; p++)
        s->runs[p] = calloc((size_t)(j->n * j->elements) + 1, sizeof(int));
    s->crew = crew_run(&crew);
}

int64_t flow_job_right(const struct flow_job *j, struct flow_result *ret_result)
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
    if (ret_result)
        *ret_result = (struct flow_result){s.crew, s.strips, s.most, s.flow_ns, s.within};
    return s.in;
}
