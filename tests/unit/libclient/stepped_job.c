/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of a stepped loop, and what is right of it. */
#include "tests/unit/libclient/stepped_job.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "libclient/step.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/lists.h"

#define STEPS 25
#define SHORT_NS 1e6 /* of which LATER_NS of policy/votes.c has room for LATER */
#define LONG_NS 1e15 /* half of a step is never over */
#define WIDE 600     /* words in a row of the wide array, if not said otherwise: pages of its own */

struct shared {
    const struct stepped_job *job;
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
    const struct stepped_job *j = s->job;

    for (int p = 0; p <= STEPS; p++) {
        s->expected[p] = calloc((size_t)j->n + 1, sizeof(uint64_t));
        for (int64_t i = 0; i < j->n; i++)
            s->expected[p][i] =
                p == 0 ? (uint64_t)i * 31 + 5 : stencil(s->expected[p - 1], 1, i, j->halo, j->n);
    }
}

static size_t wide_of(const struct stepped_job *j)
{
    return j->wide > 0 ? j->wide : WIDE;
}

/*
 * Pages of an array on which there is no row of the block's and none near it, nor of the one that was told and is not in force yet.
 * The array's last page may be kept: it is not whole.
 */
static int64_t kept(const struct stepped_job *j, const lb_loop *l, const struct lbc_rows *rows,
                    int64_t first, int64_t last)
{
    struct lbx_span next =
        l->step->next ? lbc_layout_block(l, l->step->next) : (struct lbx_span){0, 0};
    size_t small = (size_t)sysconf(_SC_PAGESIZE), page = rows->page_bytes;
    size_t bytes = (size_t)j->n * rows->row_bytes / page * page;
    size_t from = (size_t)(first > j->halo ? first - j->halo : 0) * rows->row_bytes / page * page;
    size_t to = ((size_t)(last + j->halo) * rows->row_bytes + page - 1) / page * page;
    size_t coming = (size_t)next.first * rows->row_bytes / page * page;
    size_t comes = ((size_t)next.last * rows->row_bytes + page - 1) / page * page;
    unsigned char *there = calloc(bytes / small + 1, 1);
    int64_t sum = 0;

    ck_assert_int_eq(mincore(rows->base, bytes, there), 0);
    for (size_t k = 0; k < bytes / small; k++)
        if ((first == last || k * small < from || k * small >= to) &&
            (next.first == next.last || k * small < coming || k * small >= comes))
            sum += there[k] & 1;
    free(there);
    return sum;
}

/* One step; its results go into b, and into the middle of the rows of the wide array. */
static void run_step(struct member *m, lb_loop *l, int step, const uint64_t *a, uint64_t *b,
                     uint64_t *wide)
{
    struct shared *s = m->shared;
    size_t w = wide_of(s->job);
    int64_t first, last;

    while (lb_loop_next(l, &first, &last)) {
        if (lb_loop_exchange(l) != -EBUSY || first >= last)
            crew_add(&s->errors, 1);
        for (int64_t i = first; i < last; i++) {
            uint64_t was = wide[(size_t)i * w + w / 2];

            __atomic_fetch_add(&s->runs[step][i], 1, __ATOMIC_RELAXED);
            b[i] = stencil(a, 1, i, s->job->halo, s->job->n);
            if (b[i] != s->expected[step + 1][i] || was != s->expected[step][i] ||
                lb_loop_owner(l, i) != m->rank)
                crew_add(&s->wrong, 1);
            wide[(size_t)i * w + w / 2] = b[i];
            if (!lists_step(m->lists, i, step))
                crew_add(&s->wrong, 1);
        }
    }
}

static void check_collected(struct member *m, lb_loop *l, uint64_t *a, int steps)
{
    struct shared *s = m->shared;
    int root = s->job->size - 1;

    if (lb_loop_collect(l, a, root) != 0)
        crew_add(&s->errors, 1);
    for (int64_t i = 0; m->rank == root && i < s->job->n; i++)
        if (a[i] != s->expected[steps][i])
            crew_add(&s->wrong, 1);
}

/* What a layout takes within an exchange is told as the move's, and not as waiting again. */
static void exchange(struct member *m, lb_loop *l)
{
    const struct lbc_step *step = l->step;
    const struct lbc_layout *before = step->layout;
    int64_t began_ns = lbx_clock_mono_ns();

    if (lb_loop_exchange(l) != 0)
        crew_add(&m->shared->errors, 1);
    else if (before && step->layout != before &&
             (step->applied_ns <= 0 ||
              step->wait_ns > lbx_clock_mono_ns() - began_ns - step->applied_ns))
        crew_add(&m->shared->wrong, 1);
}

static void run_loop(struct member *m, lb_ctx *ctx)
{
    struct shared *s = m->shared;
    const struct stepped_job *j = s->job;
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    size_t w = wide_of(j);
    uint64_t *a = lb_array_alloc(ctx, j->n, sizeof(*a)), *b = lb_array_alloc(ctx, j->n, sizeof(*b));
    uint64_t *wide = lb_array_alloc(ctx, j->n, w * sizeof(*wide)), *swap;
    struct lb_pack pack = lists_pack(m->lists);
    lb_loop *l = lb_loop_open(ctx, "stepped", j->n);
    int64_t first = 0, last = 0;

    if (!l || lb_loop_array(l, a, sizeof(*a)) || lb_loop_stepped(l, -1) != -EINVAL ||
        lb_loop_exchange(l) != -EINVAL || lb_loop_owner(l, 0) != -1 ||
        lb_loop_stepped(l, j->halo) || lb_loop_stepped(l, j->halo) != -EBUSY ||
        lb_loop_array(l, b, sizeof(*b)) || lb_loop_array(l, wide, w * sizeof(*wide)) ||
        lb_loop_pack(l, &pack))
        abort();
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++) {
            a[i] = wide[(size_t)i * w + w / 2] = s->expected[0][i];
            lists_fill(m->lists, i);
        }
    fault_arm(j->seed + (uint64_t)m->rank, j->fail_memory);
    for (int step = 0; step < STEPS; step++) {
        if (j->late)
            l->step->step_ns = SHORT_NS;
        exchange(m, l);
        if (j->late && l->step->voted)
            crew_add(j->late, 1);
        if (j->early)
            l->step->step_ns = m->rank % 2 ? 1 : LONG_NS;
        run_step(m, l, step, a, b, wide);
        if (j->early && l->step->voted)
            crew_add(j->early, 1);
        swap = a;
        a = b;
        b = swap;
    }
    fault_arm(0, 0);
    if (lb_loop_owned(l, 1, &first, &last) || lb_loop_array(l, a, 8) != -EBUSY)
        crew_add(&s->errors, 1);
    if (!lb_loop_owned(l, 0, &first, &last))
        first = last;
    if (j->kept)
        crew_add(j->kept, kept(j, l, &l->rows[2], first, last));
    if (lists_count(m->lists) != last - first)
        crew_add(&s->wrong, 1);
    check_collected(m, l, a, STEPS);
    lb_loop_stats(l, &stats);
    crew_add(&s->in, stats.iterations_in);
    crew_add(&s->out, stats.iterations_out);
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

static void run(const struct stepped_job *j, struct shared *s)
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

int64_t stepped_job_right(const struct stepped_job *j, struct crew_result *ret_crew)
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
    if (ret_crew)
        *ret_crew = s.crew;
    return s.in;
}
