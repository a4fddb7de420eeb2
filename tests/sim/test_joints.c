/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows that change hands within the passes of a pipelined loop, in virtual time: the SOR of `./run bench oscillate`, under loads
 * of other periods, too, against the same loop whose passes are whole.
 */
#include <check.h>

#include "policy/legs.h"
#include "tests/sim/swing.h"
#include "tests/unit/brief.h"
#include "tests/unit/suite.h"

#define SEEDS 20
#define MESSAGES 40 /* of a pass, at least */

static const struct program whole[] = {{"sor1000", LBP_DOACROSS, 1000, 40, 1, 12},
                                       {"sor2000", LBP_DOACROSS, 2000, 10, 1, 12}};

/* The same with as many legs as the library chooses; planted.sh: with one, or far too many. */
static struct program in_legs(const struct program *p)
{
    struct program q = *p;

    q.legs = lbp_legs(p->cpu_s * 1e9 / 1.2 / (double)p->steps, 10e6, MESSAGES);
    if (getenv("SIM_PLANTED"))
        q.legs = 1;
    if (getenv("SIM_MANY"))
        q.legs = 400;
    return q;
}

struct sums {
    double fixed_s, whole_s,
        legs_s; /* with shares that stay, with passes that are whole, and in legs */
};

static struct sums add_up(const struct program *p, double period_s, bool uneven)
{
    const struct program q = in_legs(p);
    struct sums s = {0};

    for (unsigned seed = first_seed(); seed < first_seed() + brief_rounds(SEEDS); seed++) {
        struct sim_step_result r;

        (void)swing(p, "auto", period_s, .5, uneven, seed, false, &r);
        s.whole_s += (double)r.end_ns / 1e9;
        s.fixed_s += (double)r.static_ns / 1e9;
        (void)swing(&q, "auto", period_s, .5, uneven, seed, false, &r);
        ck_assert_int_eq(r.legs, q.legs);
        s.legs_s += (double)r.end_ns / 1e9;
    }
    printf("joints program=%s legs=%ld period_s=%g uneven=%d over_whole=%.4f over_static=%.4f "
           "whole_over_static=%.4f\n",
           p->name, (long)q.legs, period_s, uneven, s.legs_s / s.whole_s, s.legs_s / s.fixed_s,
           s.whole_s / s.fixed_s);
    return s;
}

/* `most`: of the time with whole passes, where a load comes with this period; all together. */
static void compare(const double *period_s, size_t n, double most)
{
    struct sums all = {0};

    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < n; i++)
            for (int uneven = 0; uneven < 2; uneven++) {
                struct sums s = add_up(&whole[k], period_s[i], uneven);

                all.legs_s += s.legs_s;
                all.whole_s += s.whole_s;
                all.fixed_s += s.fixed_s;
            }
    printf("joints from period_s=%g over_whole=%.4f over_static=%.4f\n", period_s[0],
           all.legs_s / all.whole_s, all.legs_s / all.fixed_s);
    if (brief_rounds(SEEDS) < SEEDS) /* too few for what is true of most */
        return;
    ck_assert_msg(all.legs_s <= most * all.whole_s, "in legs %.4f of the time of whole passes",
                  all.legs_s / all.whole_s);
    ck_assert_double_lt(all.legs_s, all.fixed_s);
}

/* A load that stays for seconds is answered within the pass. */
START_TEST(test_long_loads)
{
    compare((const double[]){6, 12}, 2, 0.95);
}
END_TEST

START_TEST(test_short_loads)
{
    compare((const double[]){1, 2, 3}, 3, 1.01);
}
END_TEST

/* Nothing to gain: nothing lost. */
START_TEST(test_no_load)
{
    for (size_t k = 0; k < 2; k++) {
        struct sums s = add_up(&whole[k], 0, false);

        ck_assert_msg(s.legs_s <= 1.003 * s.whole_s,
                      "without a load %.4f of the time of whole passes", s.legs_s / s.whole_s);
        ck_assert_double_le(s.legs_s, 1.003 * s.fixed_s);
    }
}
END_TEST

int main(void)
{
    TCase *t = suite_case("joints");

    tcase_set_timeout(t, 600);
    tcase_add_test(t, test_long_loads);
    tcase_add_test(t, test_short_loads);
    tcase_add_test(t, test_no_load);
    return suite_run("joints", t);
}
