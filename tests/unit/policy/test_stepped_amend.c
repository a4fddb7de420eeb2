/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/stepped_amend.c, message by message: two hosts, on one of which a load comes within a step. */
#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "policy/stepped_impl.h"
#include "tests/unit/policy/halves.h"
#include "tests/unit/suite.h"

/* Both halves in one step more, that of rank 0 in so long. */
static void step(struct lbp_stepped *s, int64_t step, int64_t wall_ms, int64_t now_ms)
{
    for (uint32_t r = 0; r < 2; r++) {
        struct lbp_stepped_report d = did(r, step, 1, r == 0 ? wall_ms * MS : 50 * MS);

        d.wait_ns = r == 0 ? 0 : (wall_ms - 50) * MS;
        ck_assert_int_eq(say(s, d, now_ms * MS), 0);
    }
}

/* Both say that they applied the last plan, which took so long; returns whether another was told. */
static bool applied(struct lbp_stepped *s, int64_t step, int64_t move_ms, int64_t now_ms)
{
    uint64_t epoch = s->epoch;

    for (uint32_t r = 0; r < 2; r++) {
        struct lbp_stepped_report d = {.rank = r,
                                       .step = step,
                                       .epoch = epoch,
                                       .first = s->told[r],
                                       .last = s->told[r + 1],
                                       .move_bytes = 1000,
                                       .move_wall_ns = move_ms * MS,
                                       .move_cpu_ns = MS,
                                       .shift_iterations = -1};

        ck_assert_int_eq(say(s, d, now_ms * MS), 0);
    }
    return s->epoch != epoch;
}

/* Steps of 50 ms, and then one of `partly_ms`, for which there is a plan. */
static struct lbp_stepped *planned(const char *policy, int64_t partly_ms)
{
    struct lbp_stepped *s = make_with(policy);

    for (int k = 1; k <= 8; k++)
        step(s, k, 50, 100 * k);
    ck_assert_uint_eq(s->epoch, 0);
    step(s, 9, partly_ms, 900);
    ck_assert_uint_eq(s->epoch, 1);
    ck_assert_int_lt(s->bound[1], 500);
    return s;
}

/* A third of the step was with half the speed, and all of the next one: the plan is amended as soon as it is in force. */
START_TEST(test_load_within_a_step)
{
    struct lbp_stepped *s = planned("auto", 70);
    struct lbp_stepped_stats stats;
    struct lbp_decision d;
    int64_t partly = s->bound[1];

    (void)lbp_stepped_decided(s, &d);
    step(s, 10, 100, 1000); /* with the bounds of before: rows have not moved yet */
    ck_assert_uint_eq(s->epoch, 1);
    ck_assert(applied(s, 10, 1, 1001));
    ck_assert(n == 1 && action[0].type == LBP_STEPPED_PLAN && action[0].epoch == 2);
    ck_assert_int_lt(action[0].bound[1], partly - 20);
    ck_assert(lbp_stepped_decided(s, &d));
    ck_assert(d.done && d.detail == LBP_DETAIL_AMENDS && d.moves == 1);
    ck_assert_int_eq(d.iterations, partly - action[0].bound[1]);
    ck_assert_int_eq(s->prev[1], 500); /* that steps were last seen with */
    lbp_stepped_stats(s, &stats);
    ck_assert_int_eq(stats.moved_iterations, 500 - action[0].bound[1]);
    ck_assert_double_lt(stats.account_ns, 0);
    ck_assert_double_ge(s->passed_ns, 1e6); /* what the first part took is a cost of the plan */
    ck_assert(!s->turned);
    ck_assert(!applied(s, 10, 1, 1002)); /* once is enough, as nothing has changed since */
    lbp_stepped_destroy(s);
}
END_TEST

static void unchanged(struct lbp_stepped *s)
{
    s->turned = false;
}

/* As if the plan had given work to the rank that is slow. */
static void other_way(struct lbp_stepped *s)
{
    s->prev[1] = s->bound[1] - 50;
}

static void distrusted(struct lbp_stepped *s)
{
    s->broken = 1;
}

static void seen(struct lbp_stepped *s)
{
    s->held_steps = 1;
}

static void rich(struct lbp_stepped *s)
{
    s->our_steps += 100;
}

/* What leaves the plan as it is also leaves the balancer as it was. */
START_TEST(test_left)
{
    static const struct {
        const char *policy;
        int64_t next_ms, move_ms;
        void (*change)(struct lbp_stepped *);
        const char *why;
    } table[] = {
        {"auto", 100, 1, unchanged, "nothing has changed since it was made"},
        {"auto", 100, 1, other_way, "the plan went the other way"},
        {"auto", 100, 1, distrusted, "plans have broken their word"},
        {"auto", 100, 1, seen, "a step was seen with the plan"},
        {"auto", 77, 1, NULL, "little would be gained"},
        {"auto", 100, 25, rich, "a move takes longer than it gains in a step"},
        {"auto", 100, 400, NULL, "a move takes far too long"},
        {"auto,sync=yes", 100, 1, NULL, "all wait for answers"},
        {"siegell,period=50ms", 100, 1, NULL, "it is not as published"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct lbp_stepped *s = planned(table[i].policy, 70), was;
        struct lbp_decision d;
        int64_t bound = s->bound[1];

        (void)lbp_stepped_decided(s, &d);
        step(s, 10, table[i].next_ms, 1000);
        s->turned = true;
        if (table[i].change)
            table[i].change(s);
        was = *s;
        ck_assert_msg(!applied(s, 10, table[i].move_ms, 1001), "amended, though %s", table[i].why);
        ck_assert_int_eq(s->bound[1], bound);
        ck_assert(!lbp_stepped_decided(s, &d));
        ck_assert_int_eq(memcmp(&s->last, &was.last, sizeof(was.last)), 0);
        ck_assert_int_eq(memcmp(&s->threshold, &was.threshold, sizeof(was.threshold)), 0);
        ck_assert(s->doubt == was.doubt && s->account_ns == was.account_ns);
        lbp_stepped_destroy(s);
    }
}
END_TEST

int main(void)
{
    TCase *t = suite_case("amend");

    tcase_add_test(t, test_load_within_a_step);
    tcase_add_test(t, test_left);
    return suite_run("stepped_amend", t);
}
