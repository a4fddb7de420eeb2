/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that waits has memory for the rows of the next layout: bit by bit, all of it, and no more. */
#include "libclient/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "libclient/ctx.h"
#include "libclient/step.h"
#include "libclient/wait.h"
#include "tests/unit/suite.h"

#define N 1200
#define ROW ((size_t)1000) /* a rank's even share takes no large page */
#define ARRAYS 3           /* the last one is not the library's */

static int waits; /* so often nothing has come yet */

static int never_at_first(struct lbc_transport *t, struct lbc_exchange *e)
{
    (void)t;
    (void)e;
    return waits-- <= 0;
}

/* Rank 0 of two, whose block was [400, 500) and is to be [100, 1100). */
static const struct lbc_transport_ops ops = {.exchange_test = never_at_first};
static struct lbc_transport transport = {.ops = &ops};
static struct lb_ctx ctx = {
    .size = 2, .transport = &transport, .link.fd = -1, .looked_ns = INT64_MAX};
static int64_t now[] = {400, 500, N}, then[] = {100, 1100, N};
static struct lbc_layout layout = {.bound = now}, next = {.bound = then};
static struct lbc_step step = {.layout = &layout};
static struct lbc_rows rows[ARRAYS];
static struct lb_loop loop = {
    .ctx = &ctx, .n = N, .rows = rows, .nrows = ARRAYS, .step = &step, .idle = lbc_memory_ahead};

static void begin(struct lbc_layout *told)
{
    ctx.patience_ns = INT64_MAX;
    for (int a = 0; a < ARRAYS; a++)
        rows[a] =
            (struct lbc_rows){.base = lb_array_alloc(&ctx, N, ROW),
                              .row_bytes = ROW,
                              .page_bytes = a + 1 < ARRAYS ? (size_t)sysconf(_SC_PAGESIZE) : 0};
    step.next = told;
    step.memory_bytes = 0;
}

static void end(void)
{
    for (int a = 0; a < ARRAYS; a++)
        lb_array_free(&ctx, rows[a].base);
}

/* Pages of an array with memory; of them, those outside of [first, last), and those missing of the whole pages inside. */
static size_t pages(int array, int64_t first, int64_t last, size_t *ret_outside,
                    size_t *ret_missing)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (N * ROW + page - 1) / page, had = 0;
    size_t begins = (size_t)first * ROW, ends = (size_t)last * ROW;
    unsigned char resident[N * ROW / 1024];

    *ret_outside = *ret_missing = 0;
    ck_assert_uint_le(n, sizeof(resident));
    ck_assert_int_eq(mincore(rows[array].base, n * page, resident), 0);
    for (size_t i = 0; i < n; i++) {
        had += resident[i] & 1;
        *ret_outside += (resident[i] & 1) && ((i + 1) * page <= begins || i * page >= ends);
        *ret_missing += !(resident[i] & 1) && i * page >= begins && (i + 1) * page <= ends;
    }
    return had;
}

static size_t all_pages(void)
{
    size_t sum = 0, outside, missing;

    for (int a = 0; a < ARRAYS; a++)
        sum += pages(a, 0, N, &outside, &missing);
    return sum;
}

START_TEST(bit_by_bit)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = 0, outside, missing;
    int turns = 0;

    begin(&next);
    for (; turns < 100; turns++) {
        size_t had;

        lbc_memory_ahead(&loop);
        had = all_pages();
        ck_assert_uint_le(had - before, LBC_MEMORY_BIT / page + 1);
        if (had == before)
            break;
        before = had;
    }
    ck_assert_int_gt(turns, 5); /* 1.8 MB */
    for (int a = 0; a + 1 < ARRAYS; a++) {
        (void)pages(a, 100, 400, &outside, &missing);
        ck_assert_uint_eq(missing, 0);
        (void)pages(a, 500, 1100, &outside, &missing);
        ck_assert_uint_eq(missing, 0);
        (void)pages(a, 100, 1100, &outside, &missing);
        ck_assert_uint_eq(outside, 0);
        /* what it has already is the program's, and may have none yet; but for the pages at its ends */
        (void)pages(a, 400, 500, &outside, &missing);
        ck_assert_uint_ge(missing, 100 * ROW / page - 2);
    }
    ck_assert_uint_eq(pages(ARRAYS - 1, 0, N, &outside, &missing), 0); /* not ours */
    end();
}
END_TEST

START_TEST(what_is_not_known_is_not_had)
{
    begin(NULL);
    lbc_memory_ahead(&loop);
    ck_assert_uint_eq(all_pages(), 0);
    step.next = &next;
    next.partial = true;
    lbc_memory_ahead(&loop);
    ck_assert_uint_eq(all_pages(), 0);
    next.partial = false;
    end();
}
END_TEST

/* What there is stays as it is. */
START_TEST(nothing_is_lost)
{
    begin(&next);
    for (size_t i = 0; i < N * ROW; i++)
        rows[0].base[i] = (char)(i % 251);
    for (int i = 0; i < 100; i++)
        lbc_memory_ahead(&loop);
    lbc_memory_have(&loop, (struct lbx_span){400, 500}, (struct lbx_span){100, 1100});
    for (size_t i = 0; i < N * ROW; i++)
        ck_assert_int_eq(rows[0].base[i], (char)(i % 251));
    end();
}
END_TEST

/* It is had in waits, of any stepped loop, and only there. */
START_TEST(in_waits)
{
    lb_loop *real = lb_loop_open(NULL, "real", N);

    ck_assert_int_eq(lb_loop_stepped(real, 1), 0);
    ck_assert(real->idle == lbc_memory_ahead);
    lb_loop_close(real);
    begin(&next);
    waits = 0;
    ck_assert_int_eq(lbc_wait_for(&loop, (struct lbc_exchange *)&loop), 0);
    ck_assert_uint_eq(all_pages(), 0);
    waits = 2;
    ck_assert_int_eq(lbc_wait_for(&loop, (struct lbc_exchange *)&loop), 0);
    ck_assert_uint_ge(all_pages(), LBC_MEMORY_BIT / (size_t)sysconf(_SC_PAGESIZE));
    waits = 100;
    ck_assert_int_eq(lbc_wait_for(&loop, (struct lbc_exchange *)&loop), 0);
    ck_assert_uint_eq(step.memory_bytes, 2 * 900 * ROW);
    end();
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("memory");

    tcase_add_test(tc, bit_by_bit);
    tcase_add_test(tc, what_is_not_known_is_not_had);
    tcase_add_test(tc, nothing_is_lost);
    tcase_add_test(tc, in_waits);
    return suite_run("libclient/memory", tc);
}
