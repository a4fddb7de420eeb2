/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of very many ranks, where each is told its own block alone of a layout: all bounds are right when it is applied, and
 * nothing is where they cannot be, or not all have heard of it, or a rank has closed the loop.  The others are a transport that
 * reduces as if they were there.
 */
#include "libclient/bounds.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/exchange.h"
#include "libclient/lb.h"
#include "libclient/step.h"
#include "tests/unit/suite.h"

#define RANKS 10000
#define N (INT64_C(1) << 40)
#define ME 7000
#define LEAVER 5

static struct lbc_transport others;
static struct lbw_rank_msg msg;
static int64_t bound[RANKS + 1];      /* of the layout that all are told */
static int64_t *value;                /* of the reduction that is under way; NULL: none */
static int nvalues, gathered, longer; /* longer: reductions that were no votes */
static bool unheard;                  /* another rank has not heard of the layout */
static bool differs;                  /* another was told something else */
static bool leaves, voted;            /* another closes the loop when all have voted for it */
static lb_ctx *ctx;
static lb_loop *l;
static int fd; /* the balancer's end */

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

static int barrier_start(struct lbc_transport *t)
{
    (void)t;
    return 0;
}

static int barrier_test(struct lbc_transport *t)
{
    (void)t;
    return 1;
}

static int exchange_create(struct lbc_transport *t, const struct lbc_part *part, size_t n,
                           struct lbc_exchange **ret)
{
    (void)t;
    for (size_t i = 0; i < n; i++)
        ck_assert(part[i].peer != ME && part[i].peer >= 0 && part[i].peer < RANKS);
    *ret = malloc(1);
    return *ret ? 0 : -ENOMEM;
}

static int exchange_start(struct lbc_transport *t, struct lbc_exchange *e)
{
    (void)t, (void)e;
    return 0;
}

static int exchange_test(struct lbc_transport *t, struct lbc_exchange *e)
{
    (void)t, (void)e;
    return 1;
}

static bool exchange_destroy(struct lbc_transport *t, struct lbc_exchange *e)
{
    (void)t;
    free(e);
    return true;
}

static int least_start(struct lbc_transport *t, int64_t *mine, int n)
{
    (void)t;
    ck_assert_ptr_null(value);
    ck_assert_int_le(n, LBC_LEAST_MAX);
    value = mine;
    nvalues = n;
    return 0;
}

static void vote(int64_t *v)
{
    if (unheard && v[LBC_VOTE_NEXT] > 0)
        v[LBC_VOTE_NEXT] = v[LBC_VOTE_HASH] = 0;
    if (differs && v[LBC_VOTE_NEXT] > 0)
        v[LBC_VOTE_HASH]--;
    if (leaves && voted) {
        v[LBC_VOTE_LEAVER] = LEAVER;
        v[LBC_VOTE_NEXT] = v[LBC_VOTE_LINK] = 0;
    }
    voted = v[LBC_VOTE_NEXT] > 0;
}

static int least_test(struct lbc_transport *t)
{
    (void)t;
    ck_assert_ptr_nonnull(value);
    if (nvalues == LBC_VOTES) {
        vote(value);
        gathered = 0;
    } else {
        for (int i = 0; i < nvalues; i++, gathered++)
            if (gathered != ME && bound[gathered] < value[i])
                value[i] = bound[gathered];
        longer++;
    }
    value = NULL;
    return 1;
}

static void destroy(struct lbc_transport *t)
{
    (void)t;
}

static const struct lbc_transport_ops ops = {.usable = usable,
                                             .probe = probe,
                                             .barrier_start = barrier_start,
                                             .barrier_test = barrier_test,
                                             .exchange_create = exchange_create,
                                             .exchange_start = exchange_start,
                                             .exchange_test = exchange_test,
                                             .exchange_destroy = exchange_destroy,
                                             .least_start = least_start,
                                             .least_test = least_test,
                                             .destroy = destroy};

/* Block r has weight(r) of the iterations. */
static void draw(int64_t (*weight)(int r))
{
    int64_t sum = 0, at = 0;

    for (int r = 0; r < RANKS; r++)
        sum += weight(r);
    for (int r = 0; r < RANKS; r++) {
        bound[r] = (int64_t)((double)N * (double)at / (double)sum);
        at += weight(r);
    }
    bound[RANKS] = N;
}

static int64_t slow_half(int r)
{
    return r < RANKS / 2 ? 1 : 2;
}

static int64_t some_empty(int r)
{
    return r % 3;
}

static void setup(void)
{
    struct lbx_channel plain;
    struct lbc_link link;
    int pair[2];
    char none;

    others = (struct lbc_transport){&ops, ME, RANKS};
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    fd = pair[1];
    lbc_link_init(&link);
    link.silence_ns = INT64_MAX;
    lbx_channel_init_plain(&plain);
    lbc_link_attach(&link, pair[0], &plain);
    ctx = lbc_ctx_create(ME, RANKS, &others, true, &link, NULL);
    ck_assert_ptr_nonnull(ctx);
    ctx->told_lost = true; /* the output stays clean */
    l = lb_loop_open(ctx, "many", N);
    ck_assert_int_eq(lb_loop_array(l, &none, 0), 0);
    ck_assert_int_eq(lb_loop_stepped(l, 1), 0);
    ck_assert_int_eq(lb_loop_exchange(l), 0);
}

static void teardown(void)
{
    lb_loop_close(l);
    lb_finalize(ctx);
    close(fd);
}

/* The balancer tells this rank where its block begins. */
static void tell(uint64_t epoch, int64_t first, uint32_t nranks)
{
    struct lbx_channel plain;
    struct lbx_buf body, out;

    lbx_channel_init_plain(&plain);
    lbx_buf_init(&body, LBX_FRAME_CAP);
    lbx_buf_init(&out, LBX_FRAME_CAP);
    msg.type = LBW_LAYOUT;
    msg.u.layout =
        (struct lbw_layout){.loop = l->number, .epoch = epoch, .first = first, .nranks = nranks};
    ck_assert_int_eq(lbw_rank_encode(&msg, &body), 0);
    ck_assert_int_eq(lbx_frame_append(&plain, &out, lbx_buf_data(&body), lbx_buf_len(&body)), 0);
    ck_assert_int_eq(write(fd, lbx_buf_data(&out), lbx_buf_len(&out)), (ssize_t)lbx_buf_len(&out));
    lbc_exchange_listen(ctx, lbx_clock_mono_ns());
    lbx_buf_fini(&body);
    lbx_buf_fini(&out);
}

/* So many steps that a vote is entered and taken.  Returns how many of their exchanges failed. */
static int run(void)
{
    int64_t first, last;
    int errors = 0;

    for (int step = 0; step < 50; step++) {
        while (lb_loop_next(l, &first, &last))
            ;
        errors += lb_loop_exchange(l) != 0;
    }
    return errors;
}

static uint64_t epoch(void)
{
    return l->step->layout->epoch;
}

/* This rank owns what the layout says, and knows of every other what it owns. */
static void is_in_force(uint64_t number)
{
    int64_t first = 0, last = 0;

    ck_assert_uint_eq(epoch(), number);
    ck_assert_ptr_null(l->step->next);
    ck_assert_int_eq(memcmp(l->step->layout->bound, bound, sizeof(bound)), 0);
    if (lb_loop_owned(l, 0, &first, &last)) {
        ck_assert_int_eq(first, bound[ME]);
        ck_assert_int_eq(last, bound[ME + 1]);
    } else {
        ck_assert_int_eq(bound[ME], bound[ME + 1]);
    }
    for (int r = 0; r < RANKS; r++)
        if (bound[r] < bound[r + 1]) {
            ck_assert_int_eq(lb_loop_owner(l, bound[r]), r);
            ck_assert_int_eq(lb_loop_owner(l, bound[r + 1] - 1), r);
        }
}

/* Layout after layout; what is told of one in force, or of one after the next, is no news. */
START_TEST(test_told_and_applied)
{
    struct lb_stats stats = {.struct_bytes = sizeof(stats)};

    draw(slow_half);
    tell(1, bound[ME], RANKS);
    ck_assert_ptr_nonnull(l->step->next);
    ck_assert_int_eq(run(), 0);
    is_in_force(1);
    ck_assert_int_eq(longer, RANKS / LBC_LEAST_MAX + 1);
    lb_loop_stats(l, &stats);
    ck_assert_int_gt(stats.iterations_in, 0);
    tell(1, 0, RANKS);
    tell(3, 0, RANKS);
    ck_assert_int_eq(run(), 0);
    is_in_force(1);
    draw(some_empty);
    tell(1, 0, RANKS);
    tell(2, bound[ME], RANKS);
    tell(1, 0, RANKS);
    tell(2, 0, RANKS);
    tell(3, 0, RANKS);
    ck_assert_int_eq(run(), 0);
    is_in_force(2);
}
END_TEST

/* A word that is lost on its way to another rank: nothing is applied, nor asked of the others, before it is there. */
START_TEST(test_lost)
{
    draw(slow_half);
    unheard = true;
    tell(1, bound[ME], RANKS);
    ck_assert_int_eq(run(), 0);
    ck_assert_uint_eq(epoch(), 0);
    ck_assert_int_eq(longer, 0);
    unheard = false;
    ck_assert_int_eq(run(), 0);
    is_in_force(1);
}
END_TEST

/* What no balancer says is not heard. */
START_TEST(test_cannot_be)
{
    draw(slow_half);
    tell(1, N + 1, RANKS);
    tell(1, bound[ME], RANKS - 1);
    tell(1, bound[ME], UINT32_MAX);
    ck_assert_ptr_null(l->step->next);
    ck_assert(lbc_link_is_open(&ctx->link));
    tell(1, bound[ME], RANKS);
    ck_assert_int_eq(run(), 0);
    is_in_force(1);
}
END_TEST

enum wrong { DESCENDS, DESCENDS_HERE, BEGINS_LATE, ENDS_LATE, ANOTHER, WRONGS };

/* Bounds that cannot be: all ranks see it, none follows such a balancer any more, and they go on as they are. */
START_TEST(test_no_layout)
{
    draw(slow_half);
    if (_i == DESCENDS)
        bound[RANKS - 2] = bound[RANKS - 1] + 1;
    else if (_i == DESCENDS_HERE)
        bound[ME] = bound[ME + 1] + 1;
    else if (_i == BEGINS_LATE)
        bound[0] = 1;
    else if (_i == ENDS_LATE)
        bound[RANKS - 1] = N + 1;
    differs = _i == ANOTHER;
    tell(1, bound[ME], RANKS);
    ck_assert_ptr_nonnull(l->step->next);
    ck_assert_int_eq(run(), 0);
    ck_assert_uint_eq(epoch(), 0);
    ck_assert(!l->step->asking);
    ck_assert_ptr_null(l->step->next);
    ck_assert(!lbc_link_is_open(&ctx->link));
    ck_assert(!ctx->failed);
}
END_TEST

/* A rank that has voted for it and closes the loop enters a vote, which no reduction of another length may meet. */
START_TEST(test_leaves)
{
    draw(slow_half);
    leaves = true;
    tell(1, bound[ME], RANKS);
    ck_assert_int_gt(run(), 0);
    ck_assert(ctx->failed);
    ck_assert_uint_eq(epoch(), 0);
    ck_assert_int_eq(longer, 0);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("bounds");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_told_and_applied);
    tcase_add_test(tc, test_lost);
    tcase_add_test(tc, test_cannot_be);
    tcase_add_loop_test(tc, test_no_layout, 0, WRONGS);
    tcase_add_test(tc, test_leaves);
    return suite_run("bounds", tc);
}
