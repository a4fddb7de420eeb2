/* SPDX-License-Identifier: BSD-3-Clause */
/* A small job on a world. */
#include "tests/unit/libclient/job.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/fault.h"
#include "tests/unit/libclient/world.h"

#define LOOPS_MAX 4
#define PASSES_MAX 8
#define WIDE 1100 /* words in a row of the wide array: its middle is in a page of its own */

struct shared {
    const struct job *job;
    int *runs[LOOPS_MAX][PASSES_MAX]; /* [n] */
    int *owners[LOOPS_MAX];           /* [n] */
    struct job_result result;         /* by atomic additions */
};

struct member {
    struct shared *shared;
    int rank;
};

/* What row i holds after so many passes. */
static uint64_t expected(int64_t i, int passes)
{
    uint64_t v = (uint64_t)i * 31 + 7;

    for (int p = 0; p < passes; p++)
        v = (v ^ (uint64_t)i) * UINT64_C(6364136223846793005) + 1;
    return v;
}

static void fill(uint64_t *narrow, uint64_t *wide, int64_t i, int passes)
{
    uint64_t *row = wide + i * WIDE;

    narrow[i] = row[0] = row[WIDE / 2] = row[WIDE - 1] = expected(i, passes);
}

static bool is_right(const uint64_t *narrow, const uint64_t *wide, int64_t i, int passes)
{
    const uint64_t *row = wide + i * WIDE;
    uint64_t v = expected(i, passes);

    return narrow[i] == v && row[0] == v && row[WIDE / 2] == v && row[WIDE - 1] == v;
}

static void add(int64_t *sum, int64_t n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static void execute(struct member *m, int loop, int pass, uint64_t *narrow, uint64_t *wide,
                    int64_t i)
{
    struct shared *s = m->shared;

    __atomic_fetch_add(&s->runs[loop][pass][i], 1, __ATOMIC_RELAXED);
    if (!is_right(narrow, wide, i, pass))
        add(&s->result.bad_rows, 1);
    fill(narrow, wide, i, pass + 1);
}

static void check_collected(struct member *m, lb_loop *l, uint64_t *narrow, uint64_t *wide,
                            int passes)
{
    struct shared *s = m->shared;
    int root = passes % s->job->size;

    if (lb_loop_collect(l, wide, root) != 0 || lb_loop_collect(l, narrow, root) != 0)
        add(&s->result.errors, 1);
    for (int64_t i = 0; m->rank == root && i < s->job->n; i++)
        if (!is_right(narrow, wide, i, passes))
            add(&s->result.bad_rows, 1);
}

static void run_pass(struct member *m, lb_loop *l, int loop, int pass, uint64_t *narrow,
                     uint64_t *wide)
{
    const struct job *j = m->shared->job;
    uint64_t random = j->seed + (uint64_t)(m->rank * 100 + loop * 10 + pass);
    bool leave = j->leave_early && pass == j->passes - 1 && m->rank % 2 == 0;
    int64_t first, last;

    while (lb_loop_next(l, &first, &last)) {
        if (first >= last || first < 0 || last > j->n || (j->grain > 0 && last - first > j->grain))
            add(&m->shared->result.errors, 1);
        if (lb_loop_collect(l, narrow, 0) != -EBUSY && j->n > 0)
            add(&m->shared->result.errors, 1);
        for (int64_t i = first; i < last; i++) {
            execute(m, loop, pass, narrow, wide, i);
            if (world_random(&random, 50) == 0)
                sched_yield();
        }
        if (leave && world_random(&random, 4) == 0)
            return;
    }
}

static void count_owned(struct member *m, lb_loop *l, int loop)
{
    struct shared *s = m->shared;
    int64_t first, last, before = 0;

    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++) {
        if (first < before || last <= first)
            add(&s->result.errors, 1);
        before = last;
        for (int64_t i = first; i < last; i++)
            __atomic_fetch_add(&s->owners[loop][i], 1, __ATOMIC_RELAXED);
    }
}

static void run_loop(struct member *m, lb_ctx *ctx, int loop)
{
    struct shared *s = m->shared;
    const struct job *j = s->job;
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    uint64_t *narrow = lb_array_alloc(ctx, j->n, sizeof(*narrow));
    uint64_t *wide = lb_array_alloc(ctx, j->n, WIDE * sizeof(*wide));
    lb_loop *l = lb_loop_open(ctx, "test", j->n);
    uint64_t random = j->seed * 7 + (uint64_t)(m->rank * 10 + loop);
    int64_t first, last;

    if (!l || !narrow || !wide || lb_loop_array(l, narrow, sizeof(*narrow)) ||
        lb_loop_array(l, wide, WIDE * sizeof(*wide)))
        abort();
    for (int k = 0; lb_loop_owned(l, k, &first, &last); k++)
        for (int64_t i = first; i < last; i++)
            fill(narrow, wide, i, 0);
    fault_arm(j->seed + (uint64_t)m->rank, j->fail_memory);
    for (int p = 0; p < j->passes; p++) {
        run_pass(m, l, loop, p, narrow, wide);
        if (j->leave_early && p == j->passes - 1)
            break;
        if (world_random(&random, 3) == 0) /* the others are ahead then */
            lbx_clock_sleep_ns(2 * LBX_NS_PER_MS);
        if (p % 2 == 1 && j->balanced)
            check_collected(m, l, narrow, wide, p + 1);
    }
    fault_arm(0, 0);
    if (!j->leave_early) {
        count_owned(m, l, loop);
        if (lb_loop_array(l, narrow, 8) != -EBUSY)
            add(&s->result.errors, 1);
    }
    if (lb_loop_stats(l, &stats) != 0)
        add(&s->result.errors, 1);
    add(&s->result.moved, stats.iterations_in - stats.iterations_out);
    lb_loop_close(l);
    lb_array_free(ctx, narrow);
    lb_array_free(ctx, wide);
}

static void run_member(lb_ctx *ctx, int rank, void *data)
{
    struct member m = {data, rank};

    ctx->test_chunk = m.shared->job->test_chunk;
    ctx->grain = m.shared->job->grain;
    for (int i = 0; i < m.shared->job->loops; i++)
        run_loop(&m, ctx, i);
}

static void judge(struct shared *s)
{
    const struct job *j = s->job;

    for (int loop = 0; loop < j->loops; loop++) {
        for (int64_t i = 0; i < j->n; i++) {
            for (int p = 0; p < j->passes; p++) {
                s->result.missing += s->runs[loop][p][i] == 0;
                s->result.duplicated += s->runs[loop][p][i] > 1;
            }
            s->result.not_partitioned += s->owners[loop][i] != 1;
        }
    }
}

struct job_result job_run(const struct job *j)
{
    struct shared s = {.job = j};
    struct crew_config crew = {.size = j->size,
                               .seed = j->seed,
                               .balanced = j->balanced,
                               .uneven_first = j->uneven_first,
                               .fail_sends = j->fail_sends,
                               .sync_ns = j->sync_ns,
                               .mind = {.loops_max = j->loops,
                                        .n = j->n,
                                        .end = j->end,
                                        .after = j->after,
                                        .lose = j->lose},
                               .run = run_member,
                               .data = &s};
    struct crew_result done;

    for (int i = 0; i < j->loops; i++) {
        s.owners[i] = calloc((size_t)j->n + 1, sizeof(int));
        for (int p = 0; p < j->passes; p++)
            s.runs[i][p] = calloc((size_t)j->n + 1, sizeof(int));
    }
    done = crew_run(&crew);
    s.result.mind = done.mind;
    s.result.leftovers = done.leftovers;
    s.result.asked = done.asked;
    s.result.answered = done.answered;
    judge(&s);
    for (int i = 0; i < j->loops; i++) {
        free(s.owners[i]);
        for (int p = 0; p < j->passes; p++)
            free(s.runs[i][p]);
    }
    return s.result;
}
