/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops as large as they can be, and reports with figures that are none, to balance.c and stepped.c. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "policy/balance.h"
#include "policy/stepped.h"
#include "policy/stepped_impl.h"
#include "tests/unit/policy/halves.h"
#include "tests/unit/suite.h"

#define MANY (INT64_C(1) << 40)

/* Rank 0 is through with a share of its half, rank 1 at a tenth of its speed; half a second later than before. */
static struct lbp_report half_second(uint32_t rank, int64_t each, int k)
{
    static struct lbp_sample sample[2];
    static struct lbx_span left[2];
    int64_t first = rank * (MANY / 2), last = first + MANY / 2;
    int64_t before = first + each * (k - 1), at = k < 20 ? before + each : last;

    sample[rank] = (struct lbp_sample){before, at, 500 * MS, rank == 0 ? 500 * MS : 50 * MS};
    left[rank] = (struct lbx_span){at, last};
    return (struct lbp_report){.rank = rank,
                               .executed = at - first,
                               .remaining = last - at,
                               .sample = &sample[rank],
                               .nsamples = 1,
                               .span = &left[rank],
                               .nspans = at < last,
                               .dry = at == last};
}

/* 2^40 iterations whose rows have no bytes: the slow rank gives, no more than there is, and the pass ends. */
START_TEST(test_balance_huge)
{
    static const char *const policy[] = {"auto", "siegell", "liu"};
    struct lbp_balance_config c = {.nranks = 2, .n = MANY, .first_epoch = 100};
    struct lbp_actions out = {0};
    struct lbp_balance *b;
    int64_t moved = 0;
    bool ended = false;

    ck_assert_int_eq(lbp_params_parse(&c.params, policy[_i], NULL), 0);
    ck_assert_int_eq(lbp_balance_create(&c, 0, &b, NULL), 0);
    for (uint32_t r = 0; r < 2; r++)
        ck_assert_int_eq(lbp_balance_join(b, r, r * (MANY / 2), (r + 1) * (MANY / 2), 0, &out), 0);
    for (int k = 1; k <= 20 && moved == 0; k++) {
        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_report w = half_second(r, MANY / 40 / (r == 0 ? 1 : 10), k - (int)r);

            if (k > (int)r)
                ck_assert_int_eq(lbp_balance_report(b, &w, k * 500 * MS, &out), 0);
        }
        ck_assert_int_eq(lbp_balance_tick(b, k * 500 * MS + MS, &out), 0);
        for (size_t i = 0; i < out.n; i++) {
            const struct lbp_action *a = &out.action[i];

            if (a->type != LBP_MOVE)
                continue;
            ck_assert(a->rank == 1 && a->dest == 0 && a->first >= MANY / 2 && a->first < a->last &&
                      a->last <= MANY);
            moved += a->last - a->first;
        }
    }
    ck_assert_int_gt(moved, MANY / 100);
    for (int k = 0; k < 4; k++)
        for (uint32_t r = 0; r < 2; r++) {
            struct lbp_report w = {.rank = r, .executed = MANY / 2, .dry = true};

            ck_assert_int_eq(lbp_balance_report(b, &w, (20000 + 3000 * k) * MS, &out), 0);
        }
    for (size_t i = 0; i < out.n; i++)
        ended = ended || out.action[i].type == LBP_FINAL;
    ck_assert(ended);
    lbp_balance_destroy(b);
    lbp_actions_fini(&out);
}
END_TEST

/* Whatever a decision was made of, it can be carried out. */
static void check_sound(struct lbp_stepped *s)
{
    const struct lbp_stepped_config *c = &s->config;
    double speed[2], share[2];

    for (size_t k = 0; k < n; k++) {
        const struct lbp_stepped_action *a = &action[k];

        if (a->type == LBP_STEPPED_INSTRUCT)
            ck_assert_int_gt(a->period_ns, 0);
        if (a->type != LBP_STEPPED_PLAN)
            continue;
        ck_assert(a->bound[0] == 0 && a->bound[1] >= 0 && a->bound[1] <= c->n &&
                  a->bound[2] == c->n);
        ck_assert(c->pipelined == 0 || (a->block >= 1 && a->block <= c->pipelined));
    }
    lbp_stepped_ranks(s, speed, share);
    for (int r = 0; r < 2; r++)
        ck_assert(isfinite(speed[r]) && speed[r] >= 0 && isfinite(share[r]) && share[r] >= 0);
}

/* Reports that make rates of 0, of infinity, of nothing over nothing, and quotas like them: what is decided stays sound. */
START_TEST(test_stepped_rates)
{
    static const struct {
        int64_t wall_ns, cpu_ns, wait_ns;
        double quota;
        int rc;
    } table[] = {
        {0, 0, 0, 0, 0},
        {0, 5 * MS, 0, 0, 0},
        {5 * MS, 0, 0, 0, 0},
        {1, INT64_MAX, 0, 0, 0},
        {INT64_MAX, 1, 0, 0, 0},
        {INT64_MAX, INT64_MAX, 0, 0, 0},
        {MS, MS, INT64_MAX, 0, -EINVAL}, /* longer than there can be */
        {INT64_MAX, 0, INT64_MAX, 0, -EINVAL},
        {-1, MS, 0, 0, -EINVAL},
        {MS, INT64_MIN, 0, 0, -EINVAL},
        {MS, MS, -1, 0, -EINVAL},
        {MS, MS, 0, 1e-300, 0},
        {MS, MS, 0, 1e300, 0},
        {MS, MS, 0, -1, -EINVAL},
        {MS, MS, 0, NAN, -EINVAL},
        {MS, MS, 0, INFINITY, 0},
    };
    static const char *const policy[] = {"auto", "siegell", "auto,threshold=0"};

    for (size_t i = 0; i < 3 * sizeof(table) / sizeof(table[0]); i++) {
        struct lbp_stepped_config c = {.kind = _i ? LBP_DOACROSS : LBP_STEPPED,
                                       .nranks = 2,
                                       .n = 1000,
                                       .pipelined = _i ? 300 : 0,
                                       .first_epoch = 1};
        struct lbp_stepped_stats stats;
        struct lbp_stepped *s;

        ck_assert_int_eq(lbp_params_parse(&c.params, policy[i % 3], NULL), 0);
        ck_assert_int_eq(lbp_stepped_create(&c, even, 0, &s, NULL), 0);
        for (int k = 1; k < 30; k++)
            for (uint32_t r = 0; r < 2; r++) {
                struct lbp_stepped_report d = did(r, 5 * k, 5, 50 * MS);
                struct lbp_sample sample;
                int rc = r == 0 ? table[i / 3].rc : 0;

                d.epoch = s->epoch;
                d.first = s->bound[r];
                d.last = s->bound[r + 1];
                if (r == 0) {
                    d.wall_ns = table[i / 3].wall_ns;
                    d.cpu_ns = table[i / 3].cpu_ns;
                    d.wait_ns = table[i / 3].wait_ns;
                    d.quota_cpus = table[i / 3].quota;
                    d.quota_period_ns = 100 * MS;
                    sample = (struct lbp_sample){d.first, d.last, d.wall_ns, d.cpu_ns};
                    d.sample = &sample;
                    d.nsamples = k % 2;
                    d.shift_iterations = k % 3;
                    d.shift_ns = d.wall_ns;
                    d.move_bytes = INT64_MAX - 3;
                }
                n = 0;
                ck_assert_msg(say(s, d, k * 500 * MS) == rc, "case %zu", i);
                check_sound(s);
            }
        lbp_stepped_stats(s, &stats);
        ck_assert_int_eq(stats.moved_bytes, table[i / 3].rc == 0 ? INT64_MAX : 0);
        lbp_stepped_destroy(s);
    }
}
END_TEST

/* 2^40 iterations whose rows have no bytes, in a pipeline of rows as long: half the speed gets half of them. */
START_TEST(test_stepped_huge)
{
    const int64_t half[3] = {0, MANY / 2, MANY};
    struct lbp_stepped_config c = {.kind = _i ? LBP_DOACROSS : LBP_STEPPED,
                                   .nranks = 2,
                                   .n = MANY,
                                   .pipelined = _i ? MANY : 0,
                                   .first_epoch = 1};
    struct lbp_stepped *s;
    bool planned = false;

    lbp_params_init(&c.params);
    ck_assert_int_eq(lbp_stepped_create(&c, half, 0, &s, NULL), 0);
    for (uint32_t r = 0; r < 2; r++) {
        struct lbp_stepped_report d = did(r, 5, 5, (1 + (int64_t)r) * 500 * MS);

        d.first = half[r];
        d.last = half[r + 1];
        d.cpu_ns = 500 * MS;
        ck_assert_int_eq(say(s, d, 1000 * MS), 0);
        check_sound(s);
        for (size_t k = 0; k < n; k++)
            if (action[k].type == LBP_STEPPED_PLAN) {
                planned = true;
                ck_assert_int_le(llabs(action[k].bound[1] - MANY / 3 * 2), MANY / 100);
            }
    }
    ck_assert(planned);
    lbp_stepped_destroy(s);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("extremes");

    tcase_add_loop_test(t, test_balance_huge, 0, 3);
    tcase_add_loop_test(t, test_stepped_rates, 0, 2);
    tcase_add_loop_test(t, test_stepped_huge, 0, 2);
    return suite_run("extremes", t);
}
