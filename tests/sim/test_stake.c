/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stepped and pipelined loops whose moves are dear: what is staked on a plan is little as long as the gain may be none, and
 * enough when it is certain.  Compared with the better of fixed shares and of `profit=0`, which moves at once whatever it costs.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/praise.h"
#include "tests/sim/step_cases.h"
#include "tests/unit/brief.h"
#include "tests/unit/suite.h"

#define ROUNDS 1500
#define MOVING 400 /* loops whose loads come and go */

/* All rows to one rank take 1 % to 3 times the loop's time. */
static void draw_dear(struct step_case *c, unsigned seed)
{
    double work = 0, cores = 0;

    step_case_draw(c, seed);
    for (int64_t i = 0; i < c->config.n; i++)
        work += c->cost_ns[i];
    for (uint32_t i = 0; i < c->config.nranks; i++)
        cores += c->host[i].cores * (c->host[i].hardware > 0 ? c->host[i].hardware : 1);
    c->config.row_ns = (int64_t)(work / cores * (double)c->config.steps / (double)c->config.n *
                                 pow(10, step_case_uniform(&seed, -2, 0.5)));
    c->config.row_bytes =
        1 + (int64_t)((double)c->config.row_ns * pow(10, step_case_uniform(&seed, -1, 0.3)));
}

static double time_of(struct step_case *c, const char *policy, double *ret_static)
{
    struct sim_step_result r;

    c->config.policy = policy;
    if (sim_step_run(&c->config, &r) < 0 || !r.ended) {
        fprintf(stderr, "%s\n", r.why ? r.why : "cannot be run");
        abort();
    }
    *ret_static = (double)r.static_ns;
    return (double)r.end_ns;
}

/* What is tested; or, for planted.sh: who stakes all at once, and who never moves. */
static const char *tested(const char *policy)
{
    if (getenv("SIM_PLANTED"))
        return "auto,profit=0";
    return getenv("SIM_STILL") ? "static" : policy;
}

/* Of loops, over the time of fixed shares. */
struct outcome {
    unsigned n, over1, over5; /* loops; that take 1 % longer; and 5 % */
    double sum, lost, worst;  /* ratios; lost: by those that take longer */
};

/* Runs one more loop, and frees it. */
static void add_case(struct outcome *o, struct step_case *c, const char *policy)
{
    double fixed, over = time_of(c, tested(policy), &fixed) / fixed;

    o->n++;
    o->over1 += over > 1.01;
    o->over5 += over > 1.05;
    o->sum += over;
    o->lost += fmax(0, over - 1);
    o->worst = fmax(o->worst, over);
    free(c->cost_ns);
}

/* What loops with dear moves may take under a policy: the worst, of fixed shares; so many of 1000 over 1 %; and the mean, of the
 * best.  Who stakes more wins more, and loses more. */
static const struct dear_limits {
    const char *policy;
    double worst;
    unsigned lost;
    double mean;
} dear_limits[] = {{"auto", 1.05, 5, 1.18}, {"auto,stake=0.25", 1.08, 18, 1.085}};

#define POLICIES (sizeof(dear_limits) / sizeof(*dear_limits))
#define EAGER "auto,profit=0"

/* Of them, and of those whose hosts are steady. */
struct dear_outcome {
    double n[2], sum[2], to_static[2], worst[2], most; /* most: of all, of fixed shares */
    unsigned lost[2], far[2];
};

static void add_dear(struct dear_outcome *o, bool steady, double automatic, double eager,
                     double fixed)
{
    double over = automatic / fmin(eager, fixed);

    o->n[steady]++;
    o->sum[steady] += over;
    o->to_static[steady] += automatic / fixed;
    o->worst[steady] = fmax(o->worst[steady], over);
    o->most = fmax(o->most, automatic / fixed);
    o->lost[steady] += automatic > 1.01 * fixed;
    o->far[steady] += over > 1.2;
}

static void check_dear(const struct dear_outcome *o, const struct dear_limits *limits,
                       unsigned rounds)
{
    unsigned all = o->lost[0] + o->lost[1];
    bool few = all <= rounds * limits->lost / 1000;

    for (int k = 0; k < 2; k++)
        printf("stake steady=%d rounds=%.0f auto_to_best=%.4f worst=%.3f over_1.2=%u "
               "auto_to_static=%.4f lost_1%%=%u\n",
               k, o->n[k], o->sum[k] / o->n[k], o->worst[k], o->far[k], o->to_static[k] / o->n[k],
               o->lost[k]);
    printf("stake policy=%s most=%.4f of fixed shares\n", limits->policy, o->most);
    if (rounds < ROUNDS) /* too few for what is true of most */
        return;
    if (getenv("SIM_PLANTED")) /* each of the limits must be passed */
        ck_assert_msg(o->most <= limits->worst || few,
                      "where moves are dear %u lose more than 1 %%, the worst takes %.3f", all,
                      o->most);
    ck_assert_double_le(o->most, limits->worst);
    ck_assert(few);
    for (int k = 0; k < 2; k++)
        ck_assert_msg(o->sum[k] / o->n[k] <= limits->mean, "dear moves take %.3f of the best",
                      o->sum[k] / o->n[k]);
}

START_TEST(test_dear)
{
    unsigned rounds =
        getenv("SIM_ROUNDS") ? (unsigned)atoi(getenv("SIM_ROUNDS")) : brief_rounds(ROUNDS);
    unsigned begin = getenv("SIM_FIRST") ? (unsigned)atoi(getenv("SIM_FIRST")) : 1;
    struct dear_outcome of[POLICIES] = {0};

    for (unsigned seed = begin; seed < begin + rounds; seed++) {
        struct step_case c;
        double fixed, eager, automatic;
        const char *ran = EAGER;

        draw_dear(&c, seed);
        if (c.config.nranks == 1) {
            free(c.cost_ns);
            continue;
        }
        automatic = eager = time_of(&c, EAGER, &fixed);
        for (size_t i = 0; i < POLICIES; i++) {
            const char *policy = tested(dear_limits[i].policy);

            if (strcmp(policy, ran) != 0) /* planted, all are the same */
                automatic = time_of(&c, policy, &fixed);
            ran = policy;
            add_dear(&of[i], c.steady, automatic, eager, fixed);
            if (getenv("SIM_VERBOSE"))
                printf("seed=%u steady=%d told=%d policy=%s over=%.3f auto=%.3f eager=%.3f\n", seed,
                       c.steady, c.config.steps_told, policy, automatic / fmin(eager, fixed),
                       automatic / fixed, eager / fixed);
        }
        free(c.cost_ns);
    }
    for (size_t i = 0; i < POLICIES; i++)
        check_dear(&of[i], &dear_limits[i], rounds);
}
END_TEST

/* Rows of 50 kB to 3 MB at 100 MB/s, hosts that are alike or not, and loads on some of them for half of each 1 to 60 s. */
static void draw_moving(struct step_case *c, unsigned seed)
{
    uint32_t nranks = 2 + (uint32_t)step_case_uniform(&seed, 0, 11);
    double first = step_case_uniform(&seed, 0, 2), left = step_case_uniform(&seed, 0.2, 0.8),
           loaded = step_case_uniform(&seed, 0.2, 0.8),
           seconds = pow(10, step_case_uniform(&seed, 1, 2)),
           flip_ns = 1e9 * pow(10, step_case_uniform(&seed, -0.3, 1.5));
    uint32_t nloaded = 0;

    step_case_defaults(c, LBP_STEPPED, nranks, seed);
    c->config.steps = (int64_t)pow(10, step_case_uniform(&seed, 2.3, 3.6));
    c->config.row_ns = (int64_t)pow(10, step_case_uniform(&seed, 5.7, 7.5));
    c->config.row_bytes = c->config.row_ns / 10;
    for (uint32_t i = 0; i < nranks; i++) {
        struct sim_host *h = &c->host[i];

        if (first < 1) /* from the least speed up to a whole core */
            h->cores = first * 0.8 + 0.2 + (0.8 - first * 0.8) * i / (nranks - 1);
        nloaded += (uint32_t)((i + 1) * loaded) > (uint32_t)(i * loaded) || i + 1 == nranks;
        if ((uint32_t)((i + 1) * loaded) == (uint32_t)(i * loaded) &&
            (i + 1 < nranks || nloaded > 1))
            continue;
        h->other_cores = h->cores * left;
        h->flip_ns = (int64_t)flip_ns;
        h->flip_phase_ns = (int64_t)step_case_uniform(&seed, 0, flip_ns);
    }
    step_case_costs(c, 1000 * (int64_t)nranks, seconds * 1e9 * nranks / (double)c->config.steps, 0,
                    seed);
}

/*
 * How much may be lost where moves are dear, and loads come and go in a time in which they could pay, or not: all of them and the
 * worst, of fixed shares; so many of 1000 over 1 and 5 %.
 */
static void moving(const char *policy, double mean_limit, double worst_limit, unsigned over1_limit,
                   unsigned over5_limit)
{
    unsigned rounds =
        getenv("SIM_ROUNDS") ? (unsigned)atoi(getenv("SIM_ROUNDS")) : brief_rounds(MOVING);
    unsigned begin = getenv("SIM_FIRST") ? (unsigned)atoi(getenv("SIM_FIRST")) : 1;
    struct outcome o = {0};

    for (unsigned seed = begin; seed < begin + rounds; seed++) {
        struct step_case c;

        draw_moving(&c, seed);
        add_case(&o, &c, policy);
    }
    printf(
        "stake moving policy=%s rounds=%u auto_to_static=%.4f worst=%.3f over_1.01=%u over_1.05=%u "
        "lost=%.4f\n",
        policy, o.n, o.sum / o.n, o.worst, o.over1, o.over5, o.lost / o.n);
    if (rounds < MOVING) /* too few for what is true of most */
        return;
    if (getenv("SIM_PLANTED")) /* each of the limits must be passed */
        ck_assert_msg(o.worst <= worst_limit || o.over1 <= o.n * over1_limit / 1000 ||
                          o.over5 <= o.n * over5_limit / 1000,
                      "under loads that move %u lose more than 1 %%, %u more than 5 %%, the worst "
                      "takes %.3f",
                      o.over1, o.over5, o.worst);
    ck_assert_msg(o.sum / o.n <= mean_limit, "loads that move leave %.3f of fixed shares",
                  o.sum / o.n);
    ck_assert_uint_le(o.over1, o.n * over1_limit / 1000);
    ck_assert_uint_le(o.over5, o.n * over5_limit / 1000);
    ck_assert_double_le(o.worst, worst_limit);
}

START_TEST(test_moving)
{
    moving("auto", 0.955, 1.06, 45, 3);
}
END_TEST

START_TEST(test_moving_bold)
{
    moving("auto,stake=0.25", 0.94, 1.1, 80, 15);
}
END_TEST

/* stake=0: little is lost, also where moves are dear and loads come and go; and much is won all the same. */
START_TEST(test_nothing_at_stake)
{
    const char *policy = "auto,stake=0";
    struct outcome dear = {0}, moving = {0};
    unsigned lost;

    for (unsigned seed = 1; seed <= brief_rounds(MOVING); seed += 4) {
        struct step_case c;

        draw_moving(&c, seed);
        add_case(&moving, &c, policy);
    }
    for (unsigned seed = 1; seed <= brief_rounds(ROUNDS); seed += 4) {
        struct step_case c;

        draw_dear(&c, seed);
        if (c.config.nranks > 1)
            add_case(&dear, &c, policy);
        else
            free(c.cost_ns);
    }
    printf("stake nothing dear=%.4f of %u, moving=%.4f of %u; over_1.01=%u %u worst=%.4f %.4f\n",
           dear.sum / dear.n, dear.n, moving.sum / moving.n, moving.n, dear.over1, moving.over1,
           dear.worst, moving.worst);
    lost = dear.over1 + moving.over1;
    if (brief_rounds(MOVING) < MOVING) /* too few for what is true of most */
        return;
    if (getenv("SIM_PLANTED")) /* each of the limits must be passed */
        ck_assert_msg(lost <= 2 || fmax(dear.worst, moving.worst) <= 1.025,
                      "with no stake %u lose more than 1 %%, and the worst takes %.3f", lost,
                      fmax(dear.worst, moving.worst));
    ck_assert_msg(lost <= 2 && fmax(dear.worst, moving.worst) <= 1.025,
                  "with no stake %u lose more than 1 %%, the worst takes %.3f", lost,
                  fmax(dear.worst, moving.worst));
    ck_assert_msg(dear.sum / dear.n <= 0.73 && moving.sum / moving.n <= 0.977,
                  "with no stake all take %.3f and %.3f of fixed shares", dear.sum / dear.n,
                  moving.sum / moving.n);
}
END_TEST

/*
 * Two loops whose first small plan loses 1 to 2 % in some moments, and in none of them so much that the way home would pay within the
 * time that speeds stay: they stayed away from home, and lost it to the end.
 */
START_TEST(test_home)
{
    struct outcome o = {0};

    for (int i = 0; i < 2; i++) {
        struct step_case c;

        draw_moving(&c, i ? 244 : 19);
        add_case(&o, &c, "auto");
    }
    printf("stake home worst=%.4f\n", o.worst);
    ck_assert_msg(o.worst <= 1.003, "who loses little for ever takes %.3f", o.worst);
}
END_TEST

/*
 * Loops with dear moves whose plan for a part of the way takes longer than their first bounds, while the whole way would win much: what
 * is won by who goes it must not keep them there, where they lost 15 % to the end.
 */
START_TEST(test_by_itself)
{
    static const unsigned seeds[] = {5583, 30116, 31977, 32919};
    struct outcome o = {0};

    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        struct step_case c;

        draw_dear(&c, seeds[i]);
        add_case(&o, &c, "auto");
    }
    printf("stake by_itself auto_to_static=%.4f worst=%.4f\n", o.sum / o.n, o.worst);
    ck_assert_msg(o.sum / o.n <= 0.97 && o.worst <= 1.06,
                  "bounds that lose by themselves take %.3f of fixed shares, the worst %.3f",
                  o.sum / o.n, o.worst);
}
END_TEST

/* One of four hosts has half of itself for half of each period; n rows of so many bytes go at 100 MB/s. */
static void half_at_times(struct step_case *c, int64_t steps, int64_t n, int64_t row_bytes,
                          double period_s)
{
    step_case_defaults(c, LBP_STEPPED, 4, 1);
    c->config.steps = steps;
    c->config.row_ns = row_bytes * 10;
    c->config.row_bytes = row_bytes;
    c->config.parts = 4;
    c->host[3].other_cores = 0.5;
    c->host[3].flip_ns = (int64_t)(period_s * 500e6);
    step_case_costs(c, n, 80e6, 0, 1);
}

/*
 * One of four hosts has half of itself for half of each period, and all that is right for a moment takes a second to move.  What is
 * lost in one period must not be all that may be lost: who always follows the moment, goes broke and goes home wins nothing,
 * however long the loop is.
 */
START_TEST(test_long)
{
    static const int64_t period_s[] = {1, 4, 10, 20, 40};
    static const int64_t steps[] = {3000, 12000, 48000};
    double over[3] = {0};

    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < 5; i++) {
            struct step_case c;
            double fixed, x;

            half_at_times(&c, steps[k], 2000, 400000, (double)period_s[i]);
            x = time_of(&c, tested("auto"), &fixed) / fixed;
            printf("stake long steps=%ld period_s=%ld auto_to_static=%.4f\n", (long)steps[k],
                   (long)period_s[i], x);
            over[k] += x / 5;
            free(c.cost_ns);
        }
    }
    printf("stake long auto_to_static=%.4f %.4f %.4f\n", over[0], over[1], over[2]);
    if (getenv("SIM_PLANTED")) /* each of the limits must be passed */
        ck_assert_msg(over[2] <= 0.9 || over[1] <= 0.93 || over[0] <= 0.99,
                      "in all long loops %.3f, %.3f and %.3f of the time of fixed shares", over[0],
                      over[1], over[2]);
    ck_assert_msg(over[2] <= 0.9, "in long loops %.3f of the time of fixed shares", over[2]);
    ck_assert_double_le(over[1], 0.93);
    ck_assert_double_le(over[0], 0.99);
}
END_TEST

/*
 * The same with rows that take 80 us to move, and periods in which a few plans come into force: bounds for the worst moments win
 * in each of them, and lose as long as the load is away.  Who then goes home, as plans have lost enough, loses in each period.
 */
START_TEST(test_periods)
{
    static const double period_s[] = {0.6, 0.8, 1, 1.2, 1.5, 2, 3, 4};
    struct outcome o = {0};

    for (size_t i = 0; i < 8; i++) {
        for (int phase = 0; phase < 5; phase++) {
            struct step_case c;

            half_at_times(&c, 3000, 4000, 8000, period_s[i]);
            c.host[3].flip_phase_ns = (int64_t)(period_s[i] * 200e6) * phase;
            add_case(&o, &c, "auto");
        }
    }
    printf("stake periods runs=%u auto_to_static=%.4f worst=%.4f over_1.01=%u\n", o.n, o.sum / o.n,
           o.worst, o.over1);
    ck_assert_msg(o.over1 == 0 && o.sum / o.n <= 0.89 && o.worst <= 0.95,
                  "under short periods all take %.3f of fixed shares, the worst %.3f, and %u lose "
                  "more than 1 %%",
                  o.sum / o.n, o.worst, o.over1);
}
END_TEST

/*
 * A load is on one of four hosts for half of each second, and moves of 3 ms a row are made that hardly change what steps take:
 * the account must not say more than was won.  Ranks report at different steps; taking the longest of their steps in each
 * period for what steps took, it praised itself for 8 % of the time that were never won, and staked them.
 */
START_TEST(test_account)
{
    double most = 0;
    int moved = 0;

    for (unsigned seed = 1; seed <= 20; seed++) {
        struct step_case c;
        struct sim_step_result r;

        step_case_defaults(&c, LBP_STEPPED, 4, seed);
        c.config.steps = 600;
        c.config.row_bytes = 300000;
        c.config.row_ns = 3000000;
        c.config.parts = 4;
        c.host[3].other_cores = 0.5;
        c.host[3].flip_ns = 500000000;
        c.host[3].flip_phase_ns = seed * 25000000;
        step_case_costs(&c, 4000, 80e6, 0, seed);
        if (getenv("SIM_PLANTED"))
            sim_praise(&c.config);
        ck_assert_int_eq(sim_step_run(&c.config, &r), 0);
        ck_assert(r.ended);
        most = fmax(most, (r.account_ns - (double)(r.static_ns - r.end_ns)) / (double)r.static_ns);
        moved += r.moved_iterations > 0;
        free(c.cost_ns);
    }
    printf("stake account_over_truth=%.4f moved=%d\n", most, moved);
    ck_assert_int_ge(moved, 10); /* else nothing is shown */
    ck_assert_msg(most <= 0.022, "the account says %.3f more than was won", most);
}
END_TEST

int main(int argc, char **argv)
{
    TCase *t = suite_case("stake"), *bold = suite_case("bold"), *account = suite_case("account");

    if (argc > 1) { /* for a person: SEED [POLICY] prints what happened */
        struct step_case c;
        double fixed, x;

        draw_dear(&c, (unsigned)atoi(argv[1]));
        c.config.trace = true;
        x = time_of(&c, argc > 2 ? argv[2] : "auto", &fixed);
        printf("to_static=%.4f\n", x / fixed);
        free(c.cost_ns);
        return 0;
    }
    tcase_set_timeout(t, 600);
    tcase_add_test(t, test_dear);
    tcase_add_test(t, test_moving);
    tcase_add_test(t, test_nothing_at_stake);
    tcase_add_test(t, test_home);
    tcase_add_test(t, test_by_itself);
    tcase_add_test(t, test_long);
    tcase_add_test(t, test_periods);
    tcase_set_timeout(bold, 600);
    tcase_add_test(bold, test_moving_bold);
    tcase_set_timeout(account, 600);
    tcase_add_test(account, test_account);
    return suite_run("stake", t, bold, account);
}
