/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user is told at the end of a step. */
#include "lbd/balancer/summary.h"

#include <check.h>
#include <string.h>

#include "lbd/balancer/loops.h"
#include "tests/unit/suite.h"

#define MS INT64_C(1000000)
#define ROWS 100 /* of each of two ranks */

static void hear_nothing(void *arg, uint32_t rank, const struct lbw_rank_msg *msg)
{
    (void)arg;
    (void)rank;
    (void)msg;
}

static const char *host_of(const void *arg, uint32_t rank)
{
    (void)arg;
    (void)rank;
    return "n1";
}

static void say(struct lbd_loops *l, uint32_t rank, struct lbw_rank_msg m, int64_t now_ns)
{
    ck_assert_int_eq(lbd_loops_message(l, rank, &m, now_ns, NULL), 0);
}

/* Two ranks run a loop, each its own half, for so long. */
static void summarize(int64_t took_ns, char *text, size_t size)
{
    struct lbd_loops_config config = {.nranks = 2, .send = hear_nothing};
    struct lbd_loops *l;

    ck_assert_int_eq(lbp_params_parse(&config.params, "auto", NULL), 0);
    ck_assert_int_eq(lbd_loops_create(&config, &l), 0);
    for (uint32_t r = 0; r < 2; r++) {
        struct lbw_rank_msg open = {.type = LBW_OPEN,
                                    .u.open = {.name = "loop",
                                               .n = 2 * ROWS,
                                               .owned_first = r * ROWS,
                                               .owned_last = (r + 1) * ROWS}};

        say(l, r, open, 0);
    }
    for (uint32_t r = 0; r < 2; r++) {
        struct lbw_rank_msg report = {
            .type = LBW_REPORT,
            .u.report = {.executed = ROWS,
                         .flags = LBW_DRY,
                         .nsamples = 1,
                         .sample = {{r * ROWS, (r + 1) * ROWS, took_ns, took_ns}}}};

        say(l, r, report, took_ns);
    }
    for (uint32_t r = 0; r < 2; r++) {
        struct lbw_rank_msg close = {
            .type = LBW_CLOSE,
            .u.close = {.passes = 1, .iterations = ROWS, .compute_ns = took_ns, .cpu_ns = took_ns}};

        say(l, r, close, took_ns);
    }
    lbd_summary(l, 2, host_of, NULL, "auto", text, size);
    lbd_loops_destroy(l);
}

/* What a run of some ms would have taken with other shares is not known. */
START_TEST(test_short)
{
    char text[4096];

    summarize(40 * MS, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, ": too short to say what was gained\n"));
    ck_assert_ptr_null(strstr(text, "first shares"));
    summarize(400 * MS, text, sizeof(text));
    ck_assert_ptr_null(strstr(text, "too short"));
    ck_assert_ptr_nonnull(strstr(text, "first shares"));
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("summary");

    tcase_add_test(tc, test_short);
    return suite_run("summary", tc);
}
