/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was begun when a rank gave up: with MPI the memory of it may be written to as long as the process lives.  The transport here
 * is one whose exchanges never come to an end, and which writes where it was told to when the loop is gone; that it is memory of
 * ours no more, and so nobody else's, is seen by what watches over memory (lanes valgrind and sanitizers).
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libclient/carry.h"
#include "libclient/lanes.h"
#include "libclient/layout.h"
#include "libclient/lb.h"
#include "libclient/step.h"
#include "tests/unit/suite.h"

#define N 100
#define ELEMENTS 1000
#define MOST 100 /* segments under way */

struct lbc_exchange {
    bool active;
    size_t n;
    struct lbc_part part[];
};

static struct lbc_transport rank;
static struct lbc_exchange *kept[MOST]; /* active when it was destroyed */
static size_t nkept, tests;
static lb_ctx *ctx;

static bool usable(struct lbc_transport *t)
{
    (void)t;
    return true;
}

static int probe(struct lbc_transport *t, void *header, size_t *ret_header_bytes, int *ret_source,
                 struct lbc_recv **ret_recv)
{
    (void)t, (void)header, (void)ret_header_bytes, (void)ret_source, (void)ret_recv;
    return 0;
}

static int exchange_create(struct lbc_transport *t, const struct lbc_part *part, size_t n,
                           struct lbc_exchange **ret)
{
    struct lbc_exchange *e = calloc(1, sizeof(*e) + n * sizeof(*part));

    (void)t;
    if (!e)
        return -ENOMEM;
    e->n = n;
    memcpy(e->part, part, n * sizeof(*part));
    *ret = e;
    return 0;
}

static int exchange_start(struct lbc_transport *t, struct lbc_exchange *e)
{
    (void)t;
    e->active = true;
    return 0;
}

/* What is sent has gone; what is to come does not, until the rank gives up. */
static int exchange_test(struct lbc_transport *t, struct lbc_exchange *e)
{
    (void)t;
    for (size_t i = 0; i < e->n; i++)
        if (!e->part[i].out)
            return ++tests < 3 ? 0 : -EIO;
    e->active = false;
    return 1;
}

static bool exchange_destroy(struct lbc_transport *t, struct lbc_exchange *e)
{
    (void)t;
    if (e && e->active) {
        kept[nkept++] = e;
        return false;
    }
    free(e);
    return true;
}

static void destroy(struct lbc_transport *t)
{
    (void)t;
}

static const struct lbc_transport_ops ops = {.usable = usable,
                                             .probe = probe,
                                             .exchange_create = exchange_create,
                                             .exchange_start = exchange_start,
                                             .exchange_test = exchange_test,
                                             .exchange_destroy = exchange_destroy,
                                             .destroy = destroy};

/* The second of two ranks, without a balancer. */
static void setup(void)
{
    rank = (struct lbc_transport){&ops, 1, 2};
    ctx = lbc_ctx_create(1, 2, &rank, false, NULL, NULL);
    ck_assert_ptr_nonnull(ctx);
    nkept = tests = 0;
}

/* All that was to come comes now.  Returns how many bytes. */
static size_t arrive(void)
{
    size_t bytes = 0;

    for (size_t i = 0; i < nkept; i++) {
        for (size_t k = 0; k < kept[i]->n; k++)
            if (!kept[i]->part[k].out) {
                memset(kept[i]->part[k].segment.base, 1, kept[i]->part[k].segment.bytes);
                bytes += kept[i]->part[k].segment.bytes;
            }
        free(kept[i]);
    }
    return bytes;
}

/* While the block size of a pipelined loop is found, the rank before it tells it. */
START_TEST(the_size_of_blocks)
{
    int64_t first, last, from, to;
    lb_loop *l = lb_loop_open(ctx, "loop", N);
    double *a = lb_array_alloc(ctx, N, ELEMENTS * sizeof(*a));
    void *lent;

    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(lb_loop_array(l, a, ELEMENTS * sizeof(*a)), 0);
    ck_assert_int_eq(lb_loop_doacross(l, 1, ELEMENTS), 0);
    ck_assert_int_eq(lb_loop_flow(l, a), 0);
    while (lb_loop_next_block(l, &first, &last, &from, &to))
        ;
    ck_assert_int_eq(lb_error(ctx), -EIO);
    lent = l->step->layout->size;
    lb_loop_close(l);
    ck_assert_uint_eq(arrive(), sizeof(struct lbc_found));
    free(lent);
    lb_finalize(ctx);
    lb_array_free(NULL, a);
}
END_TEST

static size_t bytes(void *arg, int64_t i)
{
    (void)arg, (void)i;
    return 8;
}

static void pack(void *arg, int64_t i, void *to)
{
    (void)arg;
    memcpy(to, &i, sizeof(i));
}

static void unpack(void *arg, int64_t i, const void *from, size_t n)
{
    (void)arg, (void)i, (void)from, (void)n;
}

/* When packed data goes from layout to layout the ranks tell each other how much. */
START_TEST(the_sizes_of_what_is_packed)
{
    const struct lb_pack p = {
        .struct_bytes = sizeof(p), .bytes = bytes, .pack = pack, .unpack = unpack};
    lb_loop *l = lb_loop_open(ctx, "loop", N);
    struct lbc_layout *old = lbc_layout_create(l, 0), *new = lbc_layout_create(l, 1);
    struct lbc_carry *c = NULL;

    ck_assert_int_eq(lb_loop_pack(l, &p), 0);
    old->bound[1] = N / 2;
    new->bound[1] = N / 4;
    old->bound[2] = new->bound[2] = N;
    ck_assert_int_eq(lbc_carry_create(l, old, new, &c), 0);
    ck_assert_ptr_nonnull(c);
    ck_assert_int_eq(lbc_carry_run(l, c), -EIO);
    lbc_carry_destroy(l, c);
    ck_assert_uint_eq(arrive(), sizeof(c->parcel[0].lot));
    free(c);
    free(old->bound);
    free(old);
    free(new->bound);
    free(new);
    lb_finalize(ctx);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("given_up");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, the_size_of_blocks);
    tcase_add_test(tc, the_sizes_of_what_is_packed);
    return suite_run("libclient/given_up", tc);
}
