/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of plans whose rows go farther than to a neighbour: policy siegell passes them on, auto does not. */
#include "policy/stepped.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"

#define MS INT64_C(1000000)
#define RANKS 4
#define ROWS 1000

static struct lbp_stepped_action action[LBP_STEPPED_ACTIONS];
static int64_t at[RANKS + 1]; /* in force on the ranks */
static int64_t step, now_ns;
static uint64_t epoch; /* in force */

/* All rows on one rank, hosts that are alike: a step takes 400 ms until others have some. */
static struct lbp_stepped *make(const char *policy, uint32_t holder)
{
    static const double weight[RANKS] = {1, 1, 1, 1};
    struct lbp_stepped_config c = {.kind = LBP_STEPPED,
                                   .nranks = RANKS,
                                   .n = ROWS,
                                   .row_bytes = 8,
                                   .weight = weight,
                                   .first_epoch = 1};
    struct lbp_stepped *s;

    for (uint32_t r = 0; r <= RANKS; r++)
        at[r] = r > holder ? ROWS : 0;
    step = now_ns = 0;
    epoch = 0;
    ck_assert_int_eq(lbp_params_parse(&c.params, policy, NULL), 0);
    ck_assert_int_eq(lbp_stepped_create(&c, at, 0, &s, NULL), 0);
    return s;
}

/* All ranks report five steps, and what applying their layout took.  Returns what is planned, once at most; NULL: nothing. */
static const struct lbp_stepped_action *report(struct lbp_stepped *s, int64_t move_ns)
{
    static struct lbp_stepped_action plan;
    static int64_t bound[RANKS + 1];
    int plans = 0;

    step += 5;
    now_ns += 2000 * MS;
    for (uint32_t r = 0; r < RANKS; r++) {
        int64_t wall_ns = (at[r + 1] - at[r]) * 5 * 400 * MS / ROWS;
        struct lbp_stepped_report d = {.rank = r,
                                       .step = step,
                                       .steps = 5,
                                       .epoch = epoch,
                                       .first = at[r],
                                       .last = at[r + 1],
                                       .wall_ns = wall_ns,
                                       .cpu_ns = wall_ns,
                                       .move_bytes = move_ns > 0 ? 1000 : 0,
                                       .move_wall_ns = move_ns,
                                       .shift_iterations = -1};
        size_t n;

        ck_assert_int_eq(lbp_stepped_report(s, &d, now_ns, action, &n), 0);
        for (size_t i = 0; i < n; i++) {
            if (action[i].type != LBP_STEPPED_PLAN)
                continue;
            plan = action[i];
            memcpy(bound, plan.bound, sizeof(bound));
            plan.bound = bound;
            plans++;
        }
    }
    ck_assert_int_le(plans, 1);
    return plans > 0 ? &plan : NULL;
}

static void apply(const struct lbp_stepped_action *plan)
{
    ck_assert_uint_eq(plan->epoch, epoch + 1);
    memcpy(at, plan->bound, sizeof(at));
    epoch = plan->epoch;
}

/* No rank gets a row but from its neighbours. */
static void check_neighbours(const int64_t *old, const int64_t *new)
{
    for (uint32_t r = 0; r < RANKS; r++)
        if (new[r + 1] > new[r])
            ck_assert(new[r] >= old[r > 0 ? r - 1 : 0] &&
                      new[r + 1] <= old[r + 2 < RANKS ? r + 2 : RANKS]);
}

static void check_quarters(const int64_t *bound)
{
    for (uint32_t r = 0; r <= RANKS; r++)
        ck_assert_int_le(llabs(bound[r] - r * ROWS / RANKS),
                         3); /* the least time is found to 0.2 % */
}

static int64_t decisions(const struct lbp_stepped *s, struct lbp_stepped_stats *ret)
{
    int64_t sum = 0;

    lbp_stepped_stats(s, ret);
    for (int i = 0; i < LBP_REASONS; i++)
        sum += ret->decisions[i];
    return sum;
}

/*
 * All on the first or last of four takes three layouts, on one in the middle two; each is told when all have applied the one before,
 * and until the last nothing is decided.  Auto tells one.  What the layouts took, and the shares, are those of the way.
 */
START_TEST(test_way)
{
    static const struct {
        const char *policy;
        uint32_t holder;
        int layouts;
    } table[] = {{"siegell", 0, 3}, {"siegell", 3, 3}, {"siegell", 1, 2},
                 {"siegell", 2, 2}, {"auto", 0, 1},    {"siegell,sync=yes", 0, 3}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct lbp_stepped *s = make(table[i].policy, table[i].holder);
        const struct lbp_stepped_action *plan = report(s, 0);
        struct lbp_stepped_stats stats;
        double share[RANKS];
        int layouts = 0;

        while (plan) {
            layouts++;
            ck_assert_int_eq(decisions(s, &stats), 1);
            if (strcmp(table[i].policy, "auto") != 0)
                check_neighbours(at, plan->bound);
            apply(plan);
            lbp_stepped_ranks(s, NULL, share);
            for (uint32_t r = 0; r < RANKS; r++)
                ck_assert_double_eq_tol(share[r], (double)(at[r + 1] - at[r]) / ROWS, 1e-9);
            plan = report(s, 10 * MS);
        }
        ck_assert_msg(layouts == table[i].layouts, "case %zu: %d layouts", i, layouts);
        check_quarters(at);
        ck_assert_int_eq(decisions(s, &stats), 2); /* with all applied it goes on */
        ck_assert_int_eq(stats.decisions[LBP_REASON_PROPORTIONAL], 1);
        ck_assert_int_eq(stats.moved_bytes, 1000 * RANKS * layouts);
        ck_assert_double_gt(stats.account_ns, 0);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/* A layout on the way that no rank has applied for 3 s and ten steps is told again, the same; then the way goes on. */
START_TEST(test_lost_on_the_way)
{
    struct lbp_stepped *s = make("siegell", 0);
    const struct lbp_stepped_action *plan = report(s, 0);
    int64_t lost[RANKS + 1];
    int told = 0;

    ck_assert_ptr_nonnull(plan);
    apply(plan);
    plan = report(s, MS);
    ck_assert_ptr_nonnull(plan);
    ck_assert_uint_eq(plan->epoch, 2);
    memcpy(lost, plan->bound, sizeof(lost));
    for (int i = 0; i < 6; i++) {
        plan = report(s, 0);
        if (!plan)
            continue;
        told++;
        ck_assert_uint_eq(plan->epoch, 2);
        ck_assert_mem_eq(plan->bound, lost, sizeof(lost));
    }
    ck_assert_int_ge(told, 2); /* in twelve seconds */
    ck_assert_int_le(told, 4);
    plan = &(struct lbp_stepped_action){.epoch = 2, .bound = lost};
    apply(plan);
    plan = report(s, MS);
    ck_assert_ptr_nonnull(plan);
    apply(plan);
    check_quarters(at);
    lbp_stepped_destroy(s);
}
END_TEST

/* As long as one rank has not told that it applied a layout, the next is not told, and the others are not kept from going on. */
START_TEST(test_one_is_late)
{
    struct lbp_stepped *s = make("siegell", 0);
    const struct lbp_stepped_action *plan = report(s, 0);
    size_t n;

    ck_assert_ptr_nonnull(plan);
    apply(plan);
    for (int i = 1; i <= 20; i++)
        for (uint32_t r = 0; r < RANKS - 1; r++) {
            struct lbp_stepped_report d = {.rank = r,
                                           .step = step + i,
                                           .steps = 1,
                                           .epoch = epoch,
                                           .first = at[r],
                                           .last = at[r + 1],
                                           .wall_ns = 100 * MS,
                                           .cpu_ns = 100 * MS,
                                           .shift_iterations = -1};

            ck_assert_int_eq(lbp_stepped_report(s, &d, now_ns + 100 * i * MS, action, &n), 0);
            for (size_t k = 0; k < n; k++)
                ck_assert(action[k].type != LBP_STEPPED_PLAN || action[k].epoch == epoch);
        }
    step += 20;
    plan = report(s, 0);
    ck_assert_ptr_nonnull(plan);
    ck_assert_uint_eq(plan->epoch, epoch + 1);
    lbp_stepped_destroy(s);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("stepped_way");

    tcase_add_test(t, test_way);
    tcase_add_test(t, test_lost_on_the_way);
    tcase_add_test(t, test_one_is_late);
    return suite_run("stepped_way", t);
}
