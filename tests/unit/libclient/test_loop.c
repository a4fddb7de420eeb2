/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops and arrays on their own: blocks, errors, figures, memory. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libclient/array.h"
#include "libclient/lb.h"
#include "libclient/loop.h"
#include "libclient/packed.h"
#include "tests/unit/libclient/crew.h"
#include "tests/unit/libclient/world.h"
#include "tests/unit/suite.h"

/* Blocks follow each other, cover everything, and are as large as the weights say, to one. */
START_TEST(test_blocks)
{
    static const int64_t sizes[] = {0, 1, 2, 7, 1000, INT64_MAX};
    uint64_t random = 42 + (uint64_t)_i;

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (int size = 1; size < 40; size++) {
            int64_t n = sizes[k], end = 0, first, last;
            double weight[40], sum = 0;

            for (int r = 0; r < size; r++)
                sum += weight[r] = 0.01 + (double)world_random(&random, 1000);
            for (int r = 0; r < size; r++) {
                double ideal = (double)n * (_i ? weight[r] / sum : 1.0 / size);

                lbc_loop_block(n, r, size, _i ? weight : NULL, &first, &last);
                ck_assert_int_eq(first, end);
                ck_assert_int_ge(last, first);
                ck_assert_double_le(((double)(last - first) - ideal) / (1 + 1e-12 * (double)n),
                                    1.001);
                ck_assert_double_ge(((double)(last - first) - ideal) / (1 + 1e-12 * (double)n),
                                    -1.001);
                end = last;
            }
            ck_assert_int_eq(end, n);
        }
    }
}
END_TEST

static size_t no_bytes(void *arg, int64_t i)
{
    (void)arg;
    (void)i;
    return 0;
}

static void pack_nothing(void *arg, int64_t i, void *to)
{
    (void)arg;
    (void)i;
    (void)to;
}

static void unpack_nothing(void *arg, int64_t i, const void *from, size_t bytes)
{
    (void)arg;
    (void)i;
    (void)from;
    (void)bytes;
}

/* What cannot be is refused, and changes nothing; packing is settled before a loop starts. */
START_TEST(test_pack)
{
    const struct lb_pack good = {sizeof(good), NULL, no_bytes, pack_nothing, unpack_nothing};
    struct lb_pack bad[4] = {good, good, good, good};
    lb_loop *l = lb_loop_open(NULL, "pack", 2);
    int64_t first, last;

    bad[0].struct_bytes = sizeof(good) - 1;
    bad[1].bytes = NULL;
    bad[2].pack = NULL;
    bad[3].unpack = NULL;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(lb_loop_pack(l, &bad[i]), -EINVAL);
    ck_assert_int_eq(lb_loop_pack(l, NULL), -EINVAL);
    ck_assert_int_eq(lb_loop_pack(NULL, &good), -EINVAL);
    ck_assert_int_eq(lb_loop_pack(l, &good), 0);
    ck_assert_int_eq(lb_loop_next(l, &first, &last), 1);
    ck_assert_int_eq(lb_loop_pack(l, &good), -EBUSY);
    lb_loop_close(l);
    l = lb_loop_open(NULL, "stepped", 2);
    ck_assert_int_eq(lb_loop_stepped(l, 1), 0);
    ck_assert_int_eq(lb_loop_pack(l, &good), 0);
    ck_assert_int_eq(lb_loop_exchange(l), 0);
    ck_assert_int_eq(lb_loop_pack(l, &good), 0); /* without a context nothing has begun yet */
    ck_assert_int_eq(lb_loop_next(l, &first, &last), 1);
    ck_assert_int_eq(lb_loop_pack(l, &good), -EBUSY);
    lb_loop_close(l);
}
END_TEST

static int asked;

static size_t one_byte(void *arg, int64_t i)
{
    (void)arg;
    (void)i;
    asked++;
    return 1;
}

/* Where more is packed already than may be, no more iterations are asked for than the one that there always is. */
START_TEST(test_pack_no_room)
{
    const struct lb_pack pack = {sizeof(pack), NULL, one_byte, pack_nothing, unpack_nothing};
    lb_loop *l = lb_loop_open(NULL, "pack", 1000);
    struct lbx_span all = {0, 1000}, span;
    int64_t bytes;
    size_t n;

    ck_assert_int_eq(lb_loop_pack(l, &pack), 0);
    ck_assert_int_eq(lbc_packed_fit(l, &all, 1, -LBC_PACKED_PIECE, &span, &n, &bytes), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(span.first, 0);
    ck_assert_int_eq(span.last, 1);
    ck_assert_int_le(asked, 2);
    lb_loop_close(l);
}
END_TEST

/* A pipelined loop, too, with and without joints, and left within a step. */
START_TEST(test_no_context_pipelined)
{
    int64_t first, last, from, to;
    char x[10][12] = {{0}};

    for (int joints = 0; joints < 2; joints++) {
        lb_loop *l = lb_loop_open(NULL, "pipelined", 10);

        ck_assert_int_eq(lb_loop_array(l, x, sizeof(x[0])), 0);
        ck_assert_int_eq(lb_loop_doacross(l, 1, 12), 0);
        ck_assert_int_eq(lb_loop_flow(l, x), 0);
        if (joints)
            ck_assert_int_eq(lb_loop_joints(l), 0);
        for (int step = 0; step < 3; step++) {
            ck_assert_int_eq(lb_loop_exchange(l), 0);
            while (lb_loop_next_block(l, &first, &last, &from, &to))
                for (int64_t i = first; i < last; i++)
                    for (int64_t k = from; k < to; k++)
                        x[i][k]++;
        }
        for (int i = 0; i < 10; i++)
            for (int k = 0; k < 12; k++)
                ck_assert_int_eq(x[i][k], 3 * (joints + 1));
        ck_assert_int_eq(lb_loop_next_block(l, &first, &last, &from, &to), 1);
        lb_loop_close(l);
    }
}
END_TEST

/* Without a context everything works as a single rank. */
START_TEST(test_no_context)
{
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};
    int64_t first, last, sum = 0;
    int x[10] = {0};
    lb_loop *l;

    ck_assert_int_eq(lb_rank(NULL), 0);
    ck_assert_int_eq(lb_size(NULL), 1);
    ck_assert_int_eq(lb_balanced(NULL), 0);
    ck_assert_str_eq(lb_version(), "0.1.0");
    lb_finalize(NULL);
    lb_loop_close(NULL);
    ck_assert_int_eq(lb_loop_next(NULL, &first, &last), 0);
    ck_assert_int_eq(lb_loop_owned(NULL, 0, &first, &last), 0);
    ck_assert_int_eq(lb_loop_array(NULL, x, 4), -EINVAL);
    ck_assert_int_eq(lb_loop_collect(NULL, x, 0), -EINVAL);
    ck_assert_int_eq(lb_loop_stats(NULL, &stats), -EINVAL);
    ck_assert_ptr_null(lb_loop_open(NULL, "negative", -1));
    l = lb_loop_open(NULL, NULL, 10);
    ck_assert_ptr_nonnull(l);
    ck_assert_int_eq(lb_loop_array(l, x, sizeof(x[0])), 0);
    for (int pass = 0; pass < 3; pass++)
        while (lb_loop_next(l, &first, &last))
            for (int64_t i = first; i < last; i++)
                x[i]++, sum += i;
    ck_assert_int_eq(sum, 3 * 45);
    ck_assert_int_eq(lb_loop_owned(l, 0, &first, &last), 1);
    ck_assert_int_eq(last - first, 10);
    ck_assert_int_eq(lb_loop_owned(l, 1, &first, &last), 0);
    ck_assert_int_eq(lb_loop_owned(l, -1, &first, &last), 0);
    ck_assert_int_eq(lb_loop_collect(l, x, 0), 0);
    ck_assert_int_eq(lb_loop_collect(l, x, 1), -EINVAL);
    ck_assert_int_eq(lb_loop_collect(l, &stats, 0), -EINVAL);
    ck_assert_int_eq(lb_loop_stats(l, &stats), 0);
    ck_assert_int_eq(stats.passes, 3);
    ck_assert_int_eq(stats.iterations, 30);
    ck_assert_int_eq(stats.moves_in + stats.moves_out, 0);
    lb_loop_close(l);
}
END_TEST

START_TEST(test_array_errors)
{
    lb_loop *l = lb_loop_open(NULL,
                              "a name of more than sixty-three bytes is cut, not refused, "
                              "and nothing is written behind it",
                              INT64_MAX);
    int64_t first, last;
    int x;

    ck_assert_ptr_nonnull(l);
    ck_assert_uint_eq(strlen(l->name), 63);
    ck_assert_int_eq(lb_loop_array(l, &x, 2), -EINVAL); /* more bytes than there can be */
    ck_assert_int_eq(lb_loop_array(l, NULL, 1), -EINVAL);
    ck_assert_int_eq(lb_loop_array(l, NULL, 0), 0);
    ck_assert_int_eq(lb_loop_next(l, &first, NULL), 0);
    ck_assert_int_eq(lb_loop_next(l, NULL, &last), 0);
    ck_assert_int_eq(lb_loop_next(l, &first, &last), 1);
    ck_assert_int_eq(lb_loop_array(l, NULL, 0), -EBUSY);
    ck_assert_int_eq(lb_loop_collect(l, NULL, 0), -EBUSY);
    lb_loop_close(l);
}
END_TEST

/* A program built with an older or newer struct gets what it has room for, and no more. */
START_TEST(test_stats_sizes)
{
    union {
        struct lb_stats stats;
        unsigned char bytes[sizeof(struct lb_stats) + 64];
    } u;
    lb_loop *l = lb_loop_open(NULL, "stats", 5);
    int64_t first, last;

    while (lb_loop_next(l, &first, &last))
        ;
    memset(&u, 0xee, sizeof(u));
    u.stats.struct_bytes = offsetof(struct lb_stats, iterations_in);
    ck_assert_int_eq(lb_loop_stats(l, &u.stats), 0);
    ck_assert_int_eq(u.stats.iterations, 5);
    for (size_t i = offsetof(struct lb_stats, iterations_in); i < sizeof(u); i++)
        ck_assert_uint_eq(u.bytes[i], 0xee);
    u.stats.struct_bytes = sizeof(u);
    ck_assert_int_eq(lb_loop_stats(l, &u.stats), 0);
    ck_assert_int_eq(u.stats.passes, 1);
    for (size_t i = sizeof(struct lb_stats); i < sizeof(u); i++)
        ck_assert_uint_eq(u.bytes[i], 0);
    u.stats.struct_bytes = 0;
    ck_assert_int_eq(lb_loop_stats(l, &u.stats), -EINVAL);
    ck_assert_int_eq(lb_loop_stats(l, NULL), -EINVAL);
    lb_loop_close(l);
}
END_TEST

static size_t resident_pages(void *base, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (bytes + page - 1) / page, sum = 0;
    unsigned char *map = calloc(n, 1);

    ck_assert_int_eq(mincore(base, bytes, map), 0);
    for (size_t i = 0; i < n; i++)
        sum += map[i] & 1;
    free(map);
    return sum;
}

/* Whether this kernel has memory for many pages at once, as Linux has from 5.14 on; valgrind knows of no such advice. */
static bool populates(char *page)
{
    const int populate_write = 23;

    return madvise(page, (size_t)sysconf(_SC_PAGESIZE), populate_write) == 0;
}

START_TEST(test_arrays)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), row = 3 * page, much;
    char *p = lb_array_alloc(NULL, 1000, row);

    ck_assert_ptr_nonnull(p);
    madvise(p, 1000 * row, MADV_NOHUGEPAGE);
    ck_assert_uint_eq((uintptr_t)p % page, 0);
    ck_assert_uint_eq(resident_pages(p, 1000 * row), 0);
    memset(p + 10 * row, 1, 5 * row);
    ck_assert_uint_eq(resident_pages(p, 1000 * row), 15);
    /* two bytes of each end's page belong to others: these pages stay */
    lbc_array_release(p + 10 * row + 2, 5 * row - 4, 1);
    ck_assert_uint_eq(resident_pages(p, 1000 * row), 2);
    ck_assert_int_eq(p[10 * row], 1);
    ck_assert_int_eq(p[10 * row + page], 0);
    lbc_array_release(p + 10 * row + 1, page - 2, 1);
    ck_assert_int_eq(p[10 * row + 1], 1);
    /* nor does one page more come than is wholly inside, and what is there stays */
    lbc_array_populate(p + 10 * row + 2, 5 * row - 4);
    ck_assert_uint_eq(resident_pages(p, 1000 * row), populates(p + 10 * row) ? 15 : 2);
    ck_assert_int_eq(p[10 * row + 1], 1);
    ck_assert_int_eq(p[10 * row + page], 0);
    lb_array_free(NULL, p);
    lb_array_free(NULL, NULL);
    /* far more than the machine has, as long as nobody touches it; memcheck keeps most addresses for itself, and a
     * terabyte is refused there */
    much = (size_t)1 << (getenv("LB_TEST_VALGRIND") ? 33 : 40);
    p = lb_array_alloc(NULL, INT64_C(1) << 20, much >> 20);
    ck_assert_ptr_nonnull(p);
    p[much - 1] = 1;
    lb_array_free(NULL, p);
    ck_assert_ptr_null(lb_array_alloc(NULL, -1, 8));
    ck_assert_ptr_null(lb_array_alloc(NULL, INT64_MAX, 8));
    ck_assert_ptr_null(lb_array_alloc(NULL, INT64_MAX, 2));
    p = lb_array_alloc(NULL, 0, 8);
    ck_assert_ptr_nonnull(p);
    lb_array_free(NULL, p);
}
END_TEST

/* Arrays known to a context, and two loops with the same rows. */
START_TEST(test_array_of_context)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct world *w = world_create(1, 1);
    lb_ctx *ctx = lbc_ctx_create(0, 1, world_transport(w, 0), false, NULL, NULL);
    char *a = lb_array_alloc(ctx, 100, 100), *b = lb_array_alloc(ctx, 10, 10);
    lb_loop *l = lb_loop_open(ctx, "one", 100), *k = lb_loop_open(ctx, "two", 50);

    ck_assert_uint_eq(lbc_array_page(ctx, a, 10000), page);
    ck_assert_uint_eq(lbc_array_page(ctx, a + 100, 9900), page);
    ck_assert_uint_eq(lbc_array_page(ctx, a + 100, 9901), 0);
    ck_assert_uint_eq(lbc_array_page(ctx, &w, 1), 0);
    ck_assert_int_eq(lb_loop_array(l, a, 100), 0);
    ck_assert_uint_eq(l->rows[0].page_bytes, page);
    ck_assert_int_eq(lb_loop_array(k, a + 5000, 100), 0);
    ck_assert_uint_eq(k->rows[0].page_bytes, 0);
    ck_assert_uint_eq(l->rows[0].page_bytes, 0);
    ck_assert_int_eq(l->row_bytes, 100);
    lb_array_free(ctx, b);
    ck_assert_uint_eq(lbc_array_page(ctx, b, 1), 0);
    lb_finalize(ctx); /* closes the loops, leaves the array */
    a[9999] = 1;
    lb_array_free(NULL, a);
    world_destroy(w);
}
END_TEST

/* Where half a large page or more is a rank's, on Linux with large pages. */
START_TEST(test_large_pages)
{
    const size_t large = (size_t)2 << 20;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), of_large = large / page;
    bool known = access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0;
    struct world *w = world_create(1, 1);
    lb_ctx *ctx = lbc_ctx_create(0, 1, world_transport(w, 0), false, NULL, NULL);
    char *few, *many;

    ctx->size = 4; /* for its share alone; nobody else is there */
    few = lb_array_alloc(ctx, 4, large / 2 - 1);
    many = lb_array_alloc(ctx, 4, large / 2);
    ctx->size = 1;
    ck_assert_uint_eq(lbc_array_page(ctx, few, large), page);
    ck_assert_uint_eq(lbc_array_page(ctx, many, 2 * large), known ? large : page);
    lb_array_free(ctx, many);
    many = lb_array_alloc(ctx, 8, large);
    ck_assert_uint_eq(lbc_array_page(ctx, many, 8 * large), known ? large : page);
    ck_assert_uint_eq((uintptr_t)many % large, 0);
    memset(many, 1, 8 * large);
    ck_assert_uint_eq(resident_pages(many, 8 * large), 8 * of_large);
    /* only the second is wholly inside */
    lbc_array_release(many + large - page, large + 3 * page, large);
    ck_assert_uint_eq(resident_pages(many, 8 * large), 7 * of_large);
    ck_assert_int_eq(many[large - 1], 1);
    ck_assert_int_eq(many[large], 0);
    ck_assert_int_eq(many[2 * large], 1);
    lb_array_free(ctx, many);
    lb_array_free(ctx, few);
    lb_finalize(ctx);
    world_destroy(w);
}
END_TEST

static void collect_one(lb_ctx *ctx, int rank, void *data)
{
    int64_t first, last, row = 0;
    lb_loop *l = lb_loop_open(ctx, "one", 1);

    ck_assert_int_eq(lb_loop_array(l, &row, sizeof(row)), 0);
    while (lb_loop_next(l, &first, &last))
        row = 7;
    ck_assert_int_eq(lb_loop_collect(l, &row, 0), 0);
    crew_add(data, rank == 0 ? row : 0);
    lb_loop_close(l);
}

/* Ranks that own nothing say so to the root, which waits for it: also one that has no memory for it at first. */
START_TEST(test_collect_nothing)
{
    int64_t sum = 0;
    struct crew_config c = {
        .size = 3, .seed = 1, .fail_sends = 2, .run = collect_one, .data = &sum};

    crew_run(&c);
    ck_assert_int_eq(sum, 7);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("loop");

    tcase_add_loop_test(tc, test_blocks, 0, 4);
    tcase_add_test(tc, test_no_context);
    tcase_add_test(tc, test_no_context_pipelined);
    tcase_add_test(tc, test_pack);
    tcase_add_test(tc, test_pack_no_room);
    tcase_add_test(tc, test_array_errors);
    tcase_add_test(tc, test_stats_sizes);
    tcase_add_test(tc, test_arrays);
    tcase_add_test(tc, test_array_of_context);
    tcase_add_test(tc, test_large_pages);
    tcase_add_test(tc, test_collect_nothing);
    return suite_run("loop", tc);
}
