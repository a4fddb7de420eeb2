/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stepped and pipelined loops under a load that comes and goes inside a host's quota, as on the hosts of `./run bench oscillate`:
 * the same programs, hosts and loads, and other periods and duties.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/step.h"
#include "tests/sim/praise.h"
#include "tests/sim/swing.h"
#include "tests/unit/brief.h"
#include "tests/unit/suite.h"

static const struct program programs[] = {{"sor1000", LBP_DOACROSS, 1000, 40, 0, 4.2},
                                          {"sor2000", LBP_DOACROSS, 2000, 10, 0, 4.2},
                                          {"jacobi", LBP_STEPPED, 1000, 40, 0, 4.2},
                                          {"jacobi-short", LBP_STEPPED, 1000, 400, 0, 4.2}};

/* What is true of most needs more runs than those that sanitizers look at. */
static bool few(void)
{
    return brief_rounds(10) < 10;
}

/* What a policy does that looks neither at errors nor back: planted.sh. */
static const char *policy_to_test(void)
{
    return getenv("SIM_PLANTED") ? "siegell,period=50ms" : "auto";
}

struct limit {
    const char *what;
    double is, most;
};

static void check(const char *name, const struct limit *limit, size_t n)
{
    size_t passed = 0;

    printf("swings %s", name);
    for (size_t i = 0; i < n; i++) {
        printf(" %s=%.4f", limit[i].what, limit[i].is);
        passed += limit[i].is > limit[i].most;
    }
    puts("");
    if (few())
        return;
    if (getenv("SIM_PLANTED"))
        ck_assert_msg(passed < n, "%s: all limits are passed", name);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(limit[i].is <= limit[i].most, "%s: %s %.4f, and not %.4f", name,
                      limit[i].what, limit[i].is, limit[i].most);
}

/* Over all programs, periods and duties, or those of one period and a duty of a half. */
struct outcome {
    double mean, worst;
    int lost; /* runs that take over 1.05 */
    int n;
};

static struct outcome table(const char *policy, double only_s, bool uneven, unsigned seeds)
{
    static const double periods[] = {0, .3, .5, 1, 2, 3, 6, 20}, duties[] = {.2, .5, .8};
    unsigned first = first_seed();
    struct outcome o = {0};

    seeds = brief_rounds(seeds);

    for (size_t k = 0; k < sizeof(programs) / sizeof(programs[0]); k++)
        for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++)
            for (size_t d = 0; d < (periods[i] > 0 ? 3 : 1); d++) {
                double sum = 0, auto_s = 0, static_s = 0, worst = 0;

                if (only_s > 0 && (periods[i] != only_s || d != 1))
                    continue;
                for (unsigned seed = first; seed < first + seeds; seed++) {
                    struct sim_step_result r;
                    double x =
                        swing(&programs[k], policy, periods[i], duties[d], uneven, seed, false, &r);

                    worst = x > worst ? x : worst;
                    sum += x;
                    o.lost += x > 1.05;
                    auto_s += (double)r.end_ns / 1e9;
                    static_s += (double)r.static_ns / 1e9;
                }
                o.worst = fmax(o.worst, worst);
                o.mean += sum;
                o.n += (int)seeds;
                if (getenv("SIM_VERBOSE"))
                    printf("swing program=%s period_s=%.1f duty=%.1f over_static=%.4f worst=%.4f "
                           "static_s=%.3f auto_s=%.3f\n",
                           programs[k].name, periods[i], duties[d], sum / seeds, worst,
                           static_s / seeds, auto_s / seeds);
            }
    o.mean /= o.n;
    printf("swings only_s=%.1f uneven=%d over_static=%.4f worst=%.4f over_1.05=%d runs=%d\n",
           only_s, uneven, o.mean, o.worst, o.lost, o.n);
    return o;
}

static void check_table(const char *name, struct outcome o, double mean, double worst, double lost)
{
    check(name,
          (struct limit[]){{"over_static", o.mean, mean},
                           {"worst", o.worst, worst},
                           {"over_1.05", (double)o.lost / o.n, lost}},
          3);
}

START_TEST(test_all)
{
    check_table("all", table(policy_to_test(), 0, false, 20), 0.885, 1.09, 0.004);
}
END_TEST

/*
 * The load is there a fifth of the time, for as long as it takes to be seen: who follows it is always late, and fixed shares are
 * right again before that.  Who knows what hosts do on the average stays with them.
 */
START_TEST(test_short_load)
{
    static const double periods[] = {0.5, 1};
    const struct program *p = &programs[3];
    double sum = 0;
    int n = 0;

    for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
        for (unsigned seed = first_seed(); seed < first_seed() + brief_rounds(20); seed++, n++) {
            struct sim_step_result r;

            sum += swing(p, policy_to_test(), periods[i], 0.2, false, seed, false, &r);
        }
    check("short load", (struct limit[]){{"over_static", sum / n, 1.01}}, 1);
}
END_TEST

/* The load is there for as long as a few steps take: each plan comes too late, and speeds of the past are what to plan by. */
START_TEST(test_too_quick_to_follow)
{
    struct outcome o = table(policy_to_test(), 1, false, 20);

    check("too quick to follow", (struct limit[]){{"over_static", o.mean, 0.93}}, 1);
}
END_TEST

/* A host of 0.3 cores whose quota a load shares from the beginning on. */
static struct sim_host loaded_host(unsigned uneven)
{
    return (struct sim_host){.cores = 0.3,
                             .other_cores = 0.15,
                             .flip_ns = 1,
                             .flip_once = true,
                             .flip_phase_ns = 10,
                             .inside = true,
                             .quota = true,
                             .quota_cores = 0.3,
                             .period = -1,
                             .uneven = uneven};
}

/* A load inside a quota: half for who computes all the time, and nothing in a period that was slept through until it was used up. */
START_TEST(test_load_inside)
{
    struct sim_host h = loaded_host(0);

    ck_assert_int_eq(sim_host_run(&h, 0, 15e6),
                     91500000); /* ten periods' halves but for the rest */
    h.period = -1;
    ck_assert_int_eq(sim_host_run(&h, 100000000, 1e6), 101000000);
    ck_assert_int_eq(sim_host_run(&h, 114000000, 1e6),
                     121000000); /* the load has used it up by 113 */
    ck_assert_int_eq(sim_host_run(&h, 132000000, 0.5e6), 132500000);
    ck_assert_int_eq(sim_host_run(&h, 132500000, 1e6), 141000000);
}
END_TEST

/*
 * Equal hosts, nothing to gain, and CPU times that a rank's whole block, or each of four parts of it, takes at one time and not
 * at the next: by up to 20 %, as where processors share a core.
 */
START_TEST(test_noisy_times)
{
    static const int64_t steps[] = {600, 200, 60};
    static struct job j;
    unsigned first = first_seed();
    double sum = 0, worst = 0;
    int n = 0;

    for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++)
        for (int parts = 1; parts <= 4; parts += 3)
            for (unsigned seed = first; seed < first + brief_rounds(20); seed++, n++) {
                struct program p = {"noisy", LBP_STEPPED, 1000, steps[k], 0, 4.2};
                struct sim_step_result r;
                unsigned s = seed;
                double x;

                set_up(&j, &p, policy_to_test(), &s);
                j.config.told = NULL;
                j.config.cpu_noise = 0.2;
                j.config.parts = parts;
                x = run(&j, &r);
                sum += x;
                worst = fmax(worst, x);
            }
    check("noisy times", (struct limit[]){{"over_static", sum / n, 1.005}, {"worst", worst, 1.02}},
          2);
}
END_TEST

#define MOMENTS 600 /* of 50 ms */

/*
 * How much slower processors are, moment by moment: by a few thousandths, and about every fourth second for up to half of one all
 * of them, each as much slower as it comes.
 */
static void draw_moments(double slower[RANKS][MOMENTS], unsigned *seed)
{
    double all[RANKS] = {0};
    int left = 0;

    for (int at = 0; at < MOMENTS; at++) {
        if (left == 0 && draw(seed, 0, 80) < 1) {
            left = (int)draw(seed, 2, 11);
            for (int i = 0; i < RANKS; i++)
                all[i] = draw(seed, 0, 0.5);
        }
        for (int i = 0; i < RANKS; i++)
            slower[i][at] =
                1 + draw(seed, 0, 0.01) + (left > 0 ? all[i] * draw(seed, 0.5, 1.5) : 0);
        left -= left > 0;
    }
}

/*
 * Equal hosts that share a machine with others, as virtual ones do: for some tenths of a second now and then all their work takes
 * more CPU time, of one more than of another.  There is nothing to gain: it is over before it is known.
 */
START_TEST(test_slow_moments)
{
    static const int64_t steps[] = {2400, 240, 80};
    static struct job j;
    static double slower[RANKS][MOMENTS];
    unsigned first = first_seed();
    double sum = 0, worst = 0, lost = 0;
    int n = 0, planned = 0;

    for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++)
        for (unsigned seed = first; seed < first + brief_rounds(100); seed++, n++) {
            struct program p = {"moments", LBP_STEPPED, 1000, steps[k], 0, 4.2};
            struct sim_step_result r;
            unsigned s = seed;
            double x;

            set_up(&j, &p, policy_to_test(), &s);
            draw_moments(slower, &s);
            j.config.told = NULL;
            j.config.cpu_noise = 0;
            for (int i = 0; i < RANKS; i++) {
                j.host[i].slower = slower[i];
                j.host[i].nslower = MOMENTS;
                j.host[i].slower_ns = 50000000;
            }
            x = run(&j, &r);
            planned += r.plans > 0;
            sum += x;
            worst = fmax(worst, x);
            lost += x > 1.01;
            if (getenv("SIM_VERBOSE") && x > 1.01)
                printf("slow moments steps=%d seed=%u over_static=%.4f plans=%d\n", (int)steps[k],
                       seed, x, (int)r.plans);
        }
    check("slow moments",
          (struct limit[]){{"over_static", sum / n, 1.0022},
                           {"worst", worst, 1.03},
                           {"over_1.01", lost / n, 0.01},
                           {"planned", (double)planned / n, 0.05}},
          4);
}
END_TEST

/*
 * Hosts that are slow and fast in turn within a few steps, each in its own time, and first shares by their mean speeds: what a step
 * takes is the time of who is slow in it.  Little can be gained; and what plans have brought must be known as it is, though by
 * mean speeds much seems to be gained (a tenth).
 */
START_TEST(test_in_turn)
{
    static struct job j;
    unsigned first = first_seed();
    double sum = 0, worst = 0, praise = 0, lost = 0;
    int n = 0;

    for (size_t k = 2; k < sizeof(programs) / sizeof(programs[0]); k++)
        for (unsigned seed = first; seed < first + brief_rounds(300); seed++, n++) {
            struct sim_step_result r;
            unsigned s = seed;
            double x;

            set_up(&j, &programs[k], policy_to_test(), &s);
            for (int i = 0; i < RANKS; i++) {
                struct sim_host *h = &j.host[i];

                h->quota = false;
                h->cores = draw(&s, 0.3, 1);
                h->other_cores = h->cores * draw(&s, 0.2, 0.7);
                h->flip_ns = (int64_t)(4.2e9 / (double)programs[k].steps * draw(&s, 0.3, 5));
                h->flip_phase_ns = (int64_t)draw(&s, 0, (double)h->flip_ns);
                j.told[i] = (h->cores + h->other_cores) / 2;
            }
            j.config.trace = getenv("SIM_TRACE") && seed == (unsigned)atoi(getenv("SIM_TRACE"));
            if (getenv("SIM_PLANTED"))
                sim_praise(&j.config);
            x = run(&j, &r);
            sum += x;
            worst = fmax(worst, x);
            lost += x > 1.05;
            if (getenv("SIM_VERBOSE") && x > 1.05)
                printf("in turn program=%s seed=%u over_static=%.4f plans=%ld account_ms=%.1f\n",
                       programs[k].name, seed, x, (long)r.plans, r.account_ns / 1e6);
            praise += r.account_ns / (double)r.static_ns - (1 - x);
        }
    check("in turn",
          (struct limit[]){{"over_static", sum / n, 1.0},
                           {"worst", worst, 1.08},
                           {"over_1.05", lost / n, 0.012},
                           {"account_over_truth", praise / n, 0.01}},
          4);
}
END_TEST

/* For a person: ./test_swings PROGRAM PERIOD_S DUTY SEED [POLICY [uneven]] prints what happened. */
static int trace(int argc, char **argv)
{
    struct sim_step_result r;
    double x = swing(&programs[atoi(argv[1])], argc > 5 ? argv[5] : "auto", atof(argv[2]),
                     atof(argv[3]), argc > 6, (unsigned)atoi(argv[4]), true, &r);

    printf("over_static=%.4f static_s=%.3f auto_s=%.3f\n", x, (double)r.static_ns / 1e9,
           (double)r.end_ns / 1e9);
    return 0;
}

/* The same by chance: in single steps the rank gets from almost nothing to almost all of the quota. */
START_TEST(test_uneven)
{
    check_table("uneven", table(policy_to_test(), 0, true, 12), 0.93, 1.1, 0.009);
}
END_TEST

/* Both with messages that cost a slow machine's CPU. */
START_TEST(test_dear_messages)
{
    bool uneven = _i == 1;
    struct outcome o;

    message_ns = DEAR_MESSAGE;
    o = table(policy_to_test(), 0, uneven, uneven ? 12 : 20);
    message_ns = MESSAGE;
    if (uneven)
        check_table("dear messages, uneven", o, 0.93, 1.1, 0.012);
    else
        check_table("dear messages", o, 0.89, 1.09, 0.006);
}
END_TEST

/* Each 100 ms another part, and half of the quota on the average. */
START_TEST(test_uneven_host)
{
    struct sim_host h = loaded_host(7);
    double got[100] = {0}, least = INFINITY, most = 0, sum = 0;

    for (int64_t now = 0; now < 10000000000;) {
        now = sim_host_run(&h, now, 1e5);
        if (now < 10000000000)
            got[now / 100000000] += 1e5 / 1e8;
    }
    for (int i = 0; i < 100; i++) {
        least = fmin(least, got[i]);
        most = fmax(most, got[i]);
        sum += got[i];
    }
    ck_assert_double_lt(least, 0.05);
    ck_assert_double_gt(most, 0.25);
    ck_assert_double_lt(most, 0.31);
    ck_assert_double_eq_tol(sum / 100, 0.15, 0.02);
}
END_TEST

int main(int argc, char **argv)
{
    TCase *t = suite_case("swings"), *tables = suite_case("tables"), *errors = suite_case("errors");

    if (argc > 4)
        return trace(argc, argv);
    tcase_set_timeout(t, 600);
    tcase_add_test(t, test_load_inside);
    tcase_add_test(t, test_uneven_host);
    tcase_set_timeout(tables, 600);
    tcase_add_test(tables, test_uneven);
    tcase_add_loop_test(tables, test_dear_messages, 0, 2);
    tcase_add_test(tables, test_too_quick_to_follow);
    tcase_add_test(tables, test_short_load);
    tcase_add_test(tables, test_all);
    tcase_set_timeout(errors, 600);
    tcase_add_test(errors, test_noisy_times);
    tcase_add_test(errors, test_slow_moments);
    tcase_add_test(errors, test_in_turn);
    return suite_run("swings", t, tables, errors);
}
