/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a stepped loop's ranks are told of a layout: of few each the blocks of all, of many each its own block alone; and ranks whose
 * rows differ.
 */
#include "lbd/balancer/steps.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/frame.h"
#include "lbd/balancer/loops.h"
#include "tests/unit/suite.h"

#define MS INT64_C(1000000)
#define ROWS 100 /* of a rank, in the beginning */
#define PERIODS 8

struct listener {
    uint32_t nranks, next; /* the rank that hears next of the layout that is being told */
    uint64_t epoch;        /* of the last that all have heard of; 0: none */
    int64_t *first;        /* [nranks + 1] */
    size_t bytes;
    int wrong; /* what should not be; asserting each would take longer than all else */
};

/* Each rank hears of it once, in order, and what it hears fits into a frame. */
static void hear(void *arg, uint32_t rank, const struct lbw_rank_msg *msg)
{
    const struct lbw_layout *y = &msg->u.layout;
    struct listener *h = arg;
    struct lbx_buf body;
    int64_t at = 0;

    if (msg->type != LBW_LAYOUT)
        return;
    lbx_buf_init(&body, LBX_FRAME_CAP);
    h->wrong += lbw_rank_encode(msg, &body) != 0;
    h->bytes += lbx_buf_len(&body);
    lbx_buf_fini(&body);
    h->wrong += rank != h->next || y->nranks != h->nranks || y->epoch != h->epoch + 1;
    if (h->nranks > LBW_LAYOUT_RANKS_MAX) {
        h->wrong += y->first < (rank == 0 ? 0 : h->first[rank - 1]);
        h->first[rank] = y->first;
    } else {
        h->wrong += y->first != -1;
        for (uint32_t r = 0; r < y->nranks; r++) {
            h->wrong += rank > 0 && h->first[r] != at;
            h->first[r] = at;
            at += y->count[r];
        }
        h->wrong += at != (int64_t)ROWS * h->nranks;
    }
    if (++h->next == h->nranks) {
        h->next = 0;
        h->epoch = y->epoch;
    }
}

/* Every rank's steps of a period with its block; the second half of the ranks is slow. */
static void report_all(const struct lbd_loops_config *config, struct lbp_stepped *stepped,
                       struct lbp_firsts *firsts, int period, uint64_t *epoch, int64_t *bound)
{
    struct listener *h = config->arg;
    bool applies = h->epoch > *epoch;

    if (applies) {
        *epoch = h->epoch;
        for (uint32_t r = 0; r <= config->nranks; r++)
            bound[r] = h->first[r];
    }
    for (uint32_t r = 0; r < config->nranks; r++) {
        int64_t ns = (bound[r + 1] - bound[r]) * MS / (r < config->nranks / 2 ? 2 : 1);
        struct lbw_step m = {.step = (period + 1) * 10,
                             .steps = 10,
                             .epoch = *epoch,
                             .first = bound[r],
                             .last = bound[r + 1],
                             .wall_ns = 10 * ns,
                             .cpu_ns = 10 * (bound[r + 1] - bound[r]) * MS / 2,
                             .shift_elements = -1,
                             .move_wall_ns = applies ? MS : 0};

        h->wrong += lbd_steps_take(config, stepped, firsts, r, &m,
                                   (int64_t)(period + 1) * ROWS * 10 * MS, NULL) != 0;
    }
}

static void expect_told(uint32_t nranks, size_t most_bytes)
{
    struct listener h = {.nranks = nranks, .first = calloc(nranks + 1, sizeof(*h.first))};
    struct lbd_loops_config config = {.nranks = nranks, .send = hear, .arg = &h};
    struct lbw_open *open = calloc(nranks, sizeof(*open));
    int64_t *bound = calloc(nranks + 1, sizeof(*bound));
    struct lbp_stepped *stepped = NULL;
    struct lbp_firsts *firsts = NULL;
    uint64_t epoch = 0;

    ck_assert_int_eq(lbp_params_parse(&config.params, "auto", NULL), 0);
    for (uint32_t r = 0; r < nranks; r++) {
        bound[r + 1] = bound[r] + ROWS;
        open[r] = (struct lbw_open){.name = "many",
                                    .n = (int64_t)ROWS * nranks,
                                    .row_bytes = 8,
                                    .owned_first = bound[r],
                                    .owned_last = bound[r + 1],
                                    .kind = LBW_STEPPED};
    }
    h.first[nranks] = bound[nranks];
    ck_assert_int_eq(lbd_steps_begin(&config, open, 0, &stepped, &firsts, NULL), 0);
    ck_assert_ptr_nonnull(stepped);
    for (int period = 0; period < PERIODS; period++)
        report_all(&config, stepped, firsts, period, &epoch, bound);
    ck_assert_uint_ge(epoch, 1);
    ck_assert_int_eq(h.wrong, 0);
    ck_assert_uint_eq(h.next, 0);
    ck_assert_uint_le(h.bytes / h.epoch, most_bytes);
    /* the slow half has a third of the rows, about */
    ck_assert_int_gt(bound[nranks / 2], bound[nranks] * 6 / 10);
    lbp_stepped_destroy(stepped);
    lbp_firsts_destroy(firsts);
    free(open);
    free(bound);
    free(h.first);
}

START_TEST(test_few)
{
    expect_told(100, (size_t)100 * 200);
    expect_told(LBW_LAYOUT_RANKS_MAX, (size_t)LBW_LAYOUT_RANKS_MAX * LBW_LAYOUT_RANKS_MAX * 2);
}
END_TEST

START_TEST(test_many)
{
    expect_told(LBW_LAYOUT_RANKS_MAX + 1, (size_t)(LBW_LAYOUT_RANKS_MAX + 1) * 20);
    expect_told(12000, (size_t)12000 * 20);
}
END_TEST

static void hear_nothing(void *arg, uint32_t rank, const struct lbw_rank_msg *msg)
{
    (void)arg;
    (void)rank;
    (void)msg;
}

/* Rows of one length on one rank and of another on the next could not move: that is said before any does. */
START_TEST(test_other_rows)
{
    struct lbd_loops_config config = {.nranks = 2, .send = hear_nothing};

    ck_assert_int_eq(lbp_params_parse(&config.params, "auto", NULL), 0);
    for (int stepped = 0; stepped < 2; stepped++)
        for (int other = 0; other < 2; other++) {
            struct lbx_error err = {0};
            struct lbd_loops *l;
            int rc = 0;

            ck_assert_int_eq(lbd_loops_create(&config, &l), 0);
            for (uint32_t r = 0; r < 2 && rc == 0; r++) {
                struct lbw_rank_msg m = {.type = LBW_OPEN,
                                         .u.open = {.name = "rows",
                                                    .n = 2 * ROWS,
                                                    .row_bytes = r > 0 && other ? 16 : 8,
                                                    .owned_first = r * ROWS,
                                                    .owned_last = (r + 1) * ROWS,
                                                    .kind = stepped ? LBW_STEPPED : LBW_DOALL}};

                rc = lbd_loops_message(l, r, &m, MS, &err);
                if (rc < 0 || stepped)
                    continue;
                m = (struct lbw_rank_msg){.type = LBW_REPORT,
                                          .u.report = {.remaining = ROWS,
                                                       .nspans = 1,
                                                       .span = {{r * ROWS, (r + 1) * ROWS}}}};
                rc = lbd_loops_message(l, r, &m, MS, &err);
            }
            ck_assert_int_eq(rc, other ? -EPROTO : 0);
            ck_assert_int_eq(strstr(err.text, "rows") != NULL, other);
            lbd_loops_destroy(l);
        }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("steps");

    tcase_add_test(tc, test_few);
    tcase_add_test(tc, test_many);
    tcase_add_test(tc, test_other_rows);
    return suite_run("steps", tc);
}
