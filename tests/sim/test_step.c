/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The balancer on stepped and pipelined loops, in virtual time: it converges within three periods (to which it adds two steps:
 * reports and plans wait for their ends), and stays under a steady load.  On drawn cases it must win much on the whole, and
 * lose more than 1 % in few: a load that changes just after a plan makes that plan wrong, and what is lost until that is
 * seen cannot be known before.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/step.h"
#include "tests/unit/brief.h"

#define RANKS 16
#define ROUNDS 1500

struct step_case {
    struct sim_step_config config;
    struct sim_host host[RANKS];
    double *cost_ns;
    bool steady;
};

static double draw(unsigned *seed, double from, double to)
{
    return from + (to - from) * (double)rand_r(seed) / RAND_MAX;
}

static int pick(unsigned *seed, int n)
{
    return (int)((unsigned)rand_r(seed) % (unsigned)n);
}

static void costs(struct step_case *c, int64_t n, double step_ns, int kind, unsigned seed)
{
    double sum = 0;

    c->config.n = n;
    c->cost_ns = calloc((size_t)n + 1, sizeof(*c->cost_ns));
    if (!c->cost_ns)
        abort();
    c->config.cost_ns = c->cost_ns;
    for (int64_t i = 0; i < n; i++) {
        double x = (double)i / (double)n;

        sum += c->cost_ns[i] = kind == 0   ? 1
                               : kind == 1 ? 0.1 + x
                               : kind == 2 ? (x < 0.25 ? 9 : 1)
                                           : draw(&seed, 0.5, 1.5);
    }
    for (int64_t i = 0; i < n; i++)
        c->cost_ns[i] *= step_ns / sum;
}

static void defaults(struct step_case *c, enum lbp_stepped_kind kind, uint32_t nranks,
                     unsigned seed)
{
    memset(c, 0, sizeof(*c));
    c->steady = true;
    c->config = (struct sim_step_config){.kind = kind,
                                         .nranks = nranks,
                                         .host = c->host,
                                         .policy = "auto",
                                         .latency_ns = 100000,
                                         .move_fixed_ns = 300000,
                                         .row_bytes = 8000,
                                         .row_ns = 8000,
                                         .hook_cpu_ns = 20000,
                                         .move_cpu_ns = 100000,
                                         .steps = 100,
                                         .pipelined = kind == LBP_DOACROSS ? 1000 : 0,
                                         .shift_fixed_ns = 100000,
                                         .shift_incr_ns = 8,
                                         .cpu_noise = 0.01,
                                         .seed = seed};
    for (uint32_t i = 0; i < nranks; i++)
        c->host[i] = (struct sim_host){.cores = 1};
}

static void run(struct step_case *c, struct sim_step_result *r, unsigned seed)
{
    ck_assert_int_eq(sim_step_run(&c->config, r), 0);
    ck_assert_msg(r->ended, "seed %u: %s", seed, r->why);
}

/*
 * One host at a third: to the right bounds within four periods from the very start, and then they stay.  What rows cost to
 * move is not known yet: the first plan may go only a part of the way.
 */
START_TEST(test_converges)
{
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct step_case c;
        struct sim_step_result r;

        defaults(&c, seed % 2 ? LBP_STEPPED : LBP_DOACROSS, 4, seed);
        c.host[seed % 4].cores = 0.33;
        c.host[1].hardware = seed % 3 ? 1 : 2;
        costs(&c, 1000, 80e6, (int)(seed % 4), seed);
        c.config.trace = getenv("SIM_TRACE") && seed == (unsigned)atoi(getenv("SIM_TRACE"));
        run(&c, &r, seed);
        if (getenv("SIM_VERBOSE"))
            printf("converges seed=%u ratio=%.4f static=%.4f plans=%ld settled_ms=%.1f "
                   "period_ms=%.1f reversals=%ld block=%ld\n",
                   seed, (double)r.end_ns / (double)r.ideal_ns,
                   (double)r.static_ns / (double)r.ideal_ns, (long)r.plans,
                   (double)r.settled_ns / 1e6, (double)r.period_ns / 1e6, (long)r.reversals,
                   (long)r.block);
        ck_assert_int_le(r.settled_ns, 4 * (r.period_ns + 2 * r.end_ns / c.config.steps));
        ck_assert_int_eq(r.reversals, 0);
        ck_assert_int_le(r.plans, 8);
        free(c.cost_ns);
    }
}
END_TEST

/* Equal hosts: nothing to gain, nothing to lose. */
START_TEST(test_equal)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct step_case c;
        struct sim_step_result r;

        defaults(&c, seed % 2 ? LBP_STEPPED : LBP_DOACROSS, 6, seed);
        c.config.cpu_noise = 0.02;
        c.config.block = 25;
        costs(&c, 900, 30e6, 0, seed);
        run(&c, &r, seed);
        ck_assert_double_le((double)r.end_ns, 1.005 * (double)r.static_ns);
        ck_assert_int_le(r.plans, 1);
        free(c.cost_ns);
    }
}
END_TEST

/* Under sync=yes all ranks report in one step, and wait: no report of any is ahead of the others, and waiting costs time. */
START_TEST(test_sync)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct step_case c;
        struct sim_step_result r, free_running;

        defaults(&c, seed % 2 ? LBP_STEPPED : LBP_DOACROSS, 4, seed);
        costs(&c, 1000, 80e6, (int)(seed % 4), seed);
        c.config.policy = "static";
        run(&c, &free_running, seed);
        c.config.policy = "static,sync=yes";
        run(&c, &r, seed);
        ck_assert_int_gt(r.reports, 0);
        ck_assert_int_eq(r.reports % 4, 0);
        ck_assert_int_ge(r.end_ns, free_running.end_ns + r.reports / 4 * c.config.latency_ns);
        ck_assert_int_lt(r.end_ns, 2 * free_running.end_ns); /* nobody had to lose patience */
        c.config.policy = "auto,sync=yes";
        c.host[seed % 4].cores = 0.33;
        run(&c, &r, seed);
        ck_assert_int_ge(r.plans, 1);
        ck_assert_int_lt(r.end_ns, r.static_ns);
        free(c.cost_ns);
    }
}
END_TEST

/* A load comes and stays: right again within three periods. */
START_TEST(test_reacts)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct step_case c;
        struct sim_step_result r;
        int64_t begins = 1500000000;

        defaults(&c, seed % 2 ? LBP_STEPPED : LBP_DOACROSS, 4, seed);
        c.config.steps = 300;
        c.host[2].other_cores = 0.5;
        c.host[2].flip_ns = begins;
        c.host[2].flip_once = true;
        costs(&c, 1000, 40e6, 0, seed);
        run(&c, &r, seed);
        if (getenv("SIM_VERBOSE"))
            printf("reacts seed=%u ratio=%.4f static=%.4f plans=%ld settled_ms=%.1f "
                   "period_ms=%.1f\n",
                   seed, (double)r.end_ns / (double)r.ideal_ns,
                   (double)r.static_ns / (double)r.ideal_ns, (long)r.plans,
                   (double)(r.settled_ns - begins) / 1e6, (double)r.period_ns / 1e6);
        ck_assert_int_gt(r.settled_ns, begins);
        ck_assert_int_le(r.settled_ns - begins, 3 * (r.period_ns + 2 * r.end_ns / c.config.steps));
        ck_assert_int_eq(r.reversals, 0);
        free(c.cost_ns);
    }
}
END_TEST

/* The automatic block is within 2 % of the best one (seed 000, figure 8). */
START_TEST(test_grain)
{
    static const struct {
        uint32_t nranks;
        int64_t shift_ns;
    } cases[] = {{2, 100000}, {4, 100000}, {6, 100000}, {4, 1000000}, {6, 10000000}, {4, 5000}};

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct step_case c;
        struct sim_step_result r;
        int64_t best = INT64_MAX, best_block = 0, automatic;
        unsigned seed = 1;

        defaults(&c, LBP_DOACROSS, cases[k].nranks, 1);
        c.config.shift_fixed_ns = cases[k].shift_ns;
        c.config.steps = 200;
        costs(&c, 1000, 200e6, 0, seed);
        run(&c, &r, 0);
        automatic = r.end_ns;
        for (int64_t b = 1; b <= 1000; b = b * 5 / 4 + 1) {
            struct sim_step_result s;

            c.config.block = b;
            run(&c, &s, 0);
            if (getenv("SIM_VERBOSE"))
                printf("  block %ld ratio %.4f\n", (long)b, (double)s.end_ns / (double)automatic);
            if (s.end_ns < best) {
                best = s.end_ns;
                best_block = b;
            }
        }
        printf("grain hosts=%u shift_us=%ld block=%ld best_block=%ld auto_over_best=%.4f\n",
               cases[k].nranks, (long)cases[k].shift_ns / 1000, (long)r.block, (long)best_block,
               (double)automatic / (double)best);
        ck_assert_double_le((double)automatic, 1.02 * (double)best);
        free(c.cost_ns);
    }
}
END_TEST

static void draw_case(struct step_case *c, unsigned seed)
{
    uint32_t nranks = 1 + (uint32_t)pick(&seed, RANKS);
    enum lbp_stepped_kind kind = pick(&seed, 3) ? LBP_STEPPED : LBP_DOACROSS;
    unsigned other;
    bool slow_quota, quota_flips, equal = pick(&seed, 3) == 0, quota = pick(&seed, 3) == 0,
                                  flips = pick(&seed, 2) == 0;
    double step_ns = pow(10, draw(&seed, 5.5, 8.3)) * nranks, base = draw(&seed, 0.2, 1);

    defaults(c, kind, nranks, seed);
    other = seed; /* so that the cases stay those they were */
    slow_quota = quota && pick(&other, 3) == 0;
    c->config.quotas_untold = getenv("SIM_UNTOLD") != NULL; /* what it brings that they are told */
    quota_flips = pick(&other, 2);
    c->config.weights = pick(&seed, 2);
    c->config.steps_told = pick(&seed, 2);
    c->config.latency_ns = (int64_t)pow(10, draw(&seed, 4.3, 6));
    c->config.move_fixed_ns = (int64_t)pow(10, draw(&seed, 4.5, 6.5));
    c->config.row_bytes = pick(&seed, 3) ? (int64_t)pow(10, draw(&seed, 1, 6)) : 0;
    c->config.row_ns = c->config.row_bytes;
    c->config.parts = pick(&seed, 3) ? pick(&seed, SIM_STEP_PARTS + 1) : 0;
    c->config.min_iterations = pick(&seed, 2) ? pick(&seed, 5) : 0;
    c->config.cpu_noise = draw(&seed, 0, 0.03);
    c->config.steps = (int64_t)(draw(&seed, 0.5e9, 20e9) * nranks / step_ns) + 1;
    if (c->config.steps > 3000)
        c->config.steps = 3000;
    for (uint32_t i = 0; i < nranks; i++) {
        struct sim_host *h = &c->host[i];

        h->cores = equal ? base : draw(&seed, 0.1, 1);
        h->hardware = pick(&seed, 3) ? 1 : draw(&seed, 0.5, 2);
        h->quota = quota;
        h->quota_ns = slow_quota ? 100000000 : 0;
        h->quota_cores = quota_flips ? 0 : h->cores; /* else a load in the same quota */
        h->phase_ns = pick(&seed, 10000000);
        if (flips && pick(&seed, 2)) {
            h->other_cores = h->cores * draw(&seed, 0.1, 0.9);
            h->flip_ns = (int64_t)pow(10, draw(&seed, 7.7, 10));
            h->flip_phase_ns = (int64_t)draw(&seed, 0, (double)h->flip_ns);
            h->flip_once = pick(&seed, 2);
            c->steady = false;
        }
    }
    costs(c, 1 + (int64_t)pow(10, draw(&seed, 0.5, 3.5)), step_ns, pick(&seed, 4), seed);
}

START_TEST(test_never_worse)
{
    unsigned rounds =
        getenv("SIM_ROUNDS") ? (unsigned)atoi(getenv("SIM_ROUNDS")) : brief_rounds(ROUNDS);
    double worst = 0, sum_auto = 0, sum_static = 0, sum_ideal = 0;
    unsigned worst_seed = 0, bad = 0, very_bad = 0, wavers = 0;
    unsigned begin = getenv("SIM_FIRST") ? (unsigned)atoi(getenv("SIM_FIRST")) : 1;

    for (unsigned seed = begin; seed < begin + rounds; seed++) {
        struct step_case c;
        struct sim_step_result r;
        double over;

        draw_case(&c, seed);
        run(&c, &r, seed);
        over = (double)r.end_ns / (double)(r.static_ns + 1);
        if (over > worst) {
            worst = over;
            worst_seed = seed;
        }
        very_bad += over > 1.05;
        if (over > 1.01) {
            bad++;
            if (getenv("SIM_VERBOSE"))
                printf("seed=%u over=%.4f steady=%d kind=%d np=%u n=%ld steps=%ld plans=%ld "
                       "static_ms=%.1f reversals=%ld told=%d account_ms=%.1f\n",
                       seed, over, c.steady, c.config.kind, c.config.nranks, (long)c.config.n,
                       (long)c.config.steps, (long)r.plans, (double)r.static_ns / 1e6,
                       (long)r.reversals, c.config.steps_told, r.account_ns / 1e6);
        }
        if (c.steady && !c.host[0].quota && r.reversals > 2) {
            wavers++;
            if (getenv("SIM_VERBOSE"))
                printf("seed=%u wavers: reversals=%ld plans=%ld n=%ld np=%u parts=%d noise=%.3f "
                       "to_ideal=%.3f\n",
                       seed, (long)r.reversals, (long)r.plans, (long)c.config.n, c.config.nranks,
                       c.config.parts, c.config.cpu_noise, (double)r.end_ns / (double)r.ideal_ns);
        }
        sum_auto += (double)r.end_ns / (double)r.static_ns;
        sum_static += 1;
        sum_ideal += (double)r.ideal_ns / (double)r.static_ns;
        free(c.cost_ns);
    }
    printf("step rounds=%u auto_to_static=%.4f auto_to_ideal=%.4f worst=%.4f seed=%u "
           "over_1.01=%u over_1.05=%u wavers=%u\n",
           rounds, sum_auto / sum_static, sum_auto / sum_ideal, worst, worst_seed, bad, very_bad,
           wavers);
    ck_assert_double_le(worst, 1.2);
    if (rounds < ROUNDS) /* too few for what is true of most */
        return;
    ck_assert_double_le(sum_auto / sum_static, 0.62);
    ck_assert_uint_le(bad, rounds * 17 / 1000);
    ck_assert_uint_le(very_bad, rounds * 5 / 1000);
    ck_assert_uint_le(wavers, rounds / 250);
}
END_TEST

/* For a person: ./test_step SEED [POLICY] prints what happened. */
static int trace(int argc, char **argv)
{
    struct step_case c;
    struct sim_step_result r;
    int ret;

    draw_case(&c, (unsigned)atoi(argv[1]));
    c.config.trace = true;
    if (argc > 2)
        c.config.policy = argv[2];
    for (uint32_t i = 0; i < c.config.nranks; i++)
        printf("host %u: cores %.3f hardware %.2f other %.3f flip %.1f ms%s\n", i, c.host[i].cores,
               c.host[i].hardware, c.host[i].other_cores, (double)c.host[i].flip_ns / 1e6,
               c.host[i].flip_once ? " once" : "");
    ret = sim_step_run(&c.config, &r);
    if (ret == 0)
        printf("ended=%d %s to_static=%.4f to_ideal=%.4f n=%ld latency=%.2f fixed=%.2f row=%ld "
               "plans=%ld reversals=%ld below=%ld filtered=%ld unprofitable=%ld unstable=%ld\n",
               r.ended, r.why ? r.why : "", (double)r.end_ns / (double)r.static_ns,
               (double)r.end_ns / (double)r.ideal_ns, (long)c.config.n,
               (double)c.config.latency_ns / 1e6, (double)c.config.move_fixed_ns / 1e6,
               (long)c.config.row_ns, (long)r.plans, (long)r.reversals,
               (long)r.decisions[LBP_REASON_BELOW_THRESHOLD],
               (long)r.decisions[LBP_REASON_FILTERED], (long)r.decisions[LBP_REASON_UNPROFITABLE],
               (long)r.decisions[LBP_REASON_UNSTABLE]);
    free(c.cost_ns);
    return ret < 0;
}

int main(int argc, char **argv)
{
    Suite *s = suite_create("step");
    TCase *t = tcase_create("step"), *drawn = tcase_create("drawn");
    SRunner *runner;
    int failed;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1)
        return trace(argc, argv);
    tcase_set_timeout(t, 1800);
    tcase_set_timeout(drawn, 1800);
    tcase_add_test(t, test_converges);
    tcase_add_test(t, test_equal);
    tcase_add_test(t, test_reacts);
    tcase_add_test(t, test_sync);
    tcase_add_test(t, test_grain);
    tcase_add_test(drawn, test_never_worse);
    suite_add_tcase(s, t);
    suite_add_tcase(s, drawn);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
