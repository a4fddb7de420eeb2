/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The balancer on drawn cases, in virtual time: every iteration exactly once, always an end, and never worse than doing
 * nothing by more than 1 % and one iteration; and on hosts that stay as they are nothing goes to and fro.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cases.h"
#include "tests/sim/moved.h"
#include "tests/unit/brief.h"
#include "tests/unit/suite.h"

#define ROUNDS 2000
#define STEADY_ROUNDS 4000

static double draw(unsigned *seed, double from, double to)
{
    return from + (to - from) * (double)rand_r(seed) / RAND_MAX;
}

static int pick(unsigned *seed, int n)
{
    return (int)((unsigned)rand_r(seed) % (unsigned)n);
}

static double shape(int kind, double x, unsigned *seed)
{
    switch (kind) {
    case 0:
        return 1;
    case 1:
        return draw(seed, 0.1, 2);
    case 2:
        return 0.1 + x;
    case 3:
        return 0.05 + sqrt(x);
    case 4:
        return x < 0.25 ? 9 : 1;
    case 5:
        return x > 0.75 ? 9 : 1;
    case 6:
        return pick(seed, 50) ? 1 : 30;
    default:
        return pow(10, -2 * x);
    }
}

/* How the work is spread, and on what. */
static void draw_hosts(struct sim_case *c, unsigned *seed)
{
    bool equal = pick(seed, 3) == 0, quota = pick(seed, 2), flips = pick(seed, 3) == 0, fast;
    double cores = draw(seed, 0.1, 1);
    unsigned other = *seed; /* so that the cases stay those they were */

    fast = pick(&other, 4) == 0;

    for (uint32_t i = 0; i < c->config.nranks; i++) {
        struct sim_host *h = &c->host[i];

        h->cores = equal ? cores : draw(seed, 0.05, 1);
        h->quota = quota;
        h->hardware = fast && pick(&other, 2) ? 2 : 1;
        h->phase_ns = pick(seed, 10000000);
        if (flips && pick(seed, 2)) {
            h->other_cores = h->cores * draw(seed, 0.1, 0.9);
            h->flip_ns = (int64_t)draw(seed, 50e6, 3e9);
            h->flip_phase_ns = (int64_t)draw(seed, 0, 3e9);
            h->flip_once = pick(seed, 2);
        }
        if (pick(seed, 40) == 0) {
            h->stop_from_ns = (int64_t)draw(seed, 0, 2e9);
            h->stop_to_ns = h->stop_from_ns + (int64_t)draw(seed, 0, 1e9);
        }
    }
}

static void draw_case(struct sim_case *c, unsigned seed)
{
    static const double sizes[] = {30, 300, 3000};
    double work, sum = 0;
    int kind;

    memset(c, 0, sizeof(*c));
    c->config = (struct sim_config){.nranks = 1 + (uint32_t)pick(&seed, 12),
                                    .host = c->host,
                                    .weights = pick(&seed, 2),
                                    .policy = "auto",
                                    .latency_ns = (int64_t)pow(10, draw(&seed, 4.5, 7)),
                                    .move_fixed_ns = (int64_t)pow(10, draw(&seed, 4.5, 6.5)),
                                    .row_bytes = pick(&seed, 3) ? pick(&seed, 100000) : 0,
                                    .hook_cpu_ns = 20000,
                                    .move_cpu_ns = 100000,
                                    .passes = pick(&seed, 3) ? 1 : 1 + pick(&seed, 4),
                                    .measured = pick(&seed, 4) != 0};
    c->config.row_ns = c->config.row_bytes; /* 1 GB/s */
    draw_hosts(c, &seed);
    c->config.n = pick(&seed, 8) ? 1 + (int64_t)draw(&seed, 0, sizes[pick(&seed, 3)])
                                 : (int64_t)c->config.nranks - 1 + pick(&seed, 3);
    c->cost_ns = calloc((size_t)c->config.n + 1, sizeof(double));
    if (!c->cost_ns)
        abort();
    c->config.cost_ns = c->cost_ns;
    kind = pick(&seed, 8);
    work = draw(&seed, 0.02e9, 1e9) * c->config.nranks;
    for (int64_t i = 0; i < c->config.n; i++)
        sum += c->cost_ns[i] = shape(kind, (double)i / (double)c->config.n, &seed);
    for (int64_t i = 0; i < c->config.n; i++)
        c->cost_ns[i] *= work / c->config.passes / sum;
}

/* The longest time that one iteration can take anywhere. */
static double longest_iteration(const struct sim_case *c)
{
    double cost = 0, cores = 1;

    for (int64_t i = 0; i < c->config.n; i++)
        cost = fmax(cost, c->cost_ns[i]);
    for (uint32_t i = 0; i < c->config.nranks; i++) {
        cores = fmin(cores, c->host[i].cores);
        if (c->host[i].flip_ns > 0)
            cores = fmin(cores, c->host[i].other_cores);
    }
    return cost / cores;
}

static double longest_stop(const struct sim_case *c)
{
    int64_t longest = 0;

    for (uint32_t i = 0; i < c->config.nranks; i++)
        if (c->host[i].stop_to_ns - c->host[i].stop_from_ns > longest)
            longest = c->host[i].stop_to_ns - c->host[i].stop_from_ns;
    return (double)longest;
}

static void check_whole(const struct sim_case *c, const struct sim_result *r, unsigned seed)
{
    ck_assert_msg(r->ended, "seed %u policy %s: %s", seed, c->config.policy, r->why);
    ck_assert_msg(r->missing == 0 && r->repeated == 0,
                  "seed %u policy %s: %ld missing %ld repeated", seed, c->config.policy,
                  (long)r->missing, (long)r->repeated);
}

START_TEST(test_never_worse)
{
    unsigned rounds =
        getenv("SIM_ROUNDS") ? (unsigned)atoi(getenv("SIM_ROUNDS")) : brief_rounds(ROUNDS);
    double worst = 0, sum_auto = 0, sum_static = 0, sum_ideal = 0;
    unsigned worst_seed = 0, bad = 0;

    unsigned begin = getenv("SIM_FIRST") ? (unsigned)atoi(getenv("SIM_FIRST")) : 1;

    for (unsigned seed = begin; seed < begin + rounds; seed++) {
        struct sim_case c;
        struct sim_result r;
        double over;

        draw_case(&c, seed);
        ck_assert_int_eq(sim_run(&c.config, &r), 0);
        check_whole(&c, &r, seed);
        /* what is lost beyond one iteration a pass, of the static time; with two round trips at each pass's end, and what
         * nobody could foresee: that a host which was given more stops altogether */
        over = ((double)r.end_ns - c.config.passes * longest_iteration(&c) - longest_stop(&c) -
                4.0 * c.config.passes * (double)c.config.latency_ns) /
               (double)(r.static_ns + 1);
        if (over > worst) {
            worst = over;
            worst_seed = seed;
        }
        if (over > 1.01) {
            bad++;
            if (getenv("SIM_VERBOSE"))
                printf("seed=%u over=%.4f to_static=%.4f np=%u n=%ld passes=%d lat=%.2f moves=%ld "
                       "static_ms=%.1f longest_ms=%.1f\n",
                       seed, over, (double)r.end_ns / (double)r.static_ns, c.config.nranks,
                       (long)c.config.n, c.config.passes, (double)c.config.latency_ns / 1e6,
                       (long)r.moves, (double)r.static_ns / 1e6, longest_iteration(&c) / 1e6);
        }
        sum_auto += (double)r.end_ns;
        sum_static += (double)r.static_ns;
        sum_ideal += (double)r.ideal_ns;
        case_free(&c);
    }
    printf(
        "random rounds=%u auto_to_static=%.4f auto_to_ideal=%.4f worst=%.4f seed=%u over_1.01=%u\n",
        rounds, sum_auto / sum_static, sum_auto / sum_ideal, worst, worst_seed, bad);
    ck_assert_msg(worst <= 1.01, "worst %.4f at seed %u", worst, worst_seed);
}
END_TEST

/* No host changes its speed: nothing asks for a move but what was not known at the beginning, and chance. */
static void make_steady(struct sim_case *c)
{
    for (uint32_t i = 0; i < c->config.nranks; i++) {
        c->host[i].flip_ns = 0;
        c->host[i].stop_from_ns = c->host[i].stop_to_ns = 0;
    }
}

/* What decides how much there is to move on steady hosts: the costs of iterations, and whether speeds are seen as they are. */
enum kind { ALIKE, UNLIKE, QUOTA, SMOOTH, ROUGH, KINDS };
static const char *const kind_name[] = {"even costs, equal hosts", "even costs",
                                        "even costs, quotas", "smooth costs", "rough costs"};

static bool hosts_equal(const struct sim_case *c)
{
    for (uint32_t i = 1; i < c->config.nranks; i++)
        if (c->host[i].cores != c->host[0].cores ||
            sim_host_hardware(&c->host[i]) != sim_host_hardware(&c->host[0]))
            return false;
    return true;
}

static enum kind kind_of(const struct sim_case *c)
{
    double least = INFINITY, most = 0, ways = 0;

    for (int64_t i = 0; i < c->config.n; i++) {
        least = fmin(least, c->cost_ns[i]);
        most = fmax(most, c->cost_ns[i]);
        ways += i > 0 ? fabs(c->cost_ns[i] - c->cost_ns[i - 1]) : 0;
    }
    if (most - least >= 1) /* smooth: one slope, or a step */
        return ways < 1.5 * (most - least) ? SMOOTH : ROUGH;
    return c->host[0].quota ? QUOTA : hosts_equal(c) ? ALIKE : UNLIKE;
}

/* Of the loops of one kind: sums, but for the greatest of one. */
struct steady {
    unsigned loops;
    double passes, iterations; /* executed */
    double rank_passes, moves, moved, back, plans;
    double most_plans; /* a pass, of one loop */
};

static void add_steady(struct steady *o, const struct sim_case *c, const struct moved *m)
{
    o->loops++;
    o->passes += c->config.passes;
    o->rank_passes += (double)c->config.passes * c->config.nranks;
    o->iterations += (double)c->config.passes * (double)c->config.n;
    o->moves += (double)m->moves;
    o->moved += (double)m->iterations;
    o->back += (double)m->back;
    o->plans += (double)m->plans;
    o->most_plans = fmax(o->most_plans, (double)m->plans / c->config.passes);
}

/* What loops of one kind may do. */
struct steady_limit {
    double plans, most_plans; /* a pass: of all, and of one loop */
    double moves;             /* a rank and pass */
    double back; /* iterations that return to who gave them away, of all that are executed */
};

/*
 * Hosts that stay as they are, up to 20 passes.  Where iterations are alike and hosts, too, nothing may ever be moved, and where
 * hosts are not, next to nothing may come back; quotas make speeds uncertain.  Costs that go up or down must be learned.  Where
 * each iteration has a cost of its own no speed says when a rank will be ready, and in each pass what is left at its end goes to
 * and fro: that is bounded, and no more.
 */
START_TEST(test_steady)
{
    static const struct steady_limit limits[KINDS] = {[ALIKE] = {0, 0, 0, 0},
                                                      [UNLIKE] = {0.04, 1, 0.028, 6e-5},
                                                      [QUOTA] = {0.11, 3, 0.067, 3e-4},
                                                      [SMOOTH] = {0.23, 7, 0.18, 0.002},
                                                      [ROUGH] = {1.4, 22, 2.9, 0.038}};
    unsigned begin = getenv("SIM_FIRST") ? (unsigned)atoi(getenv("SIM_FIRST")) : 1;
    unsigned rounds =
        getenv("SIM_ROUNDS") ? (unsigned)atoi(getenv("SIM_ROUNDS")) : brief_rounds(STEADY_ROUNDS);
    bool planted = getenv("SIM_PLANTED") != NULL; /* loads that come and go: planted.sh */
    struct steady sum[KINDS] = {0};
    int passed = 0;

    for (unsigned seed = begin; seed < begin + rounds; seed++) {
        struct sim_case c;
        struct sim_result r;
        struct moved m;

        draw_case(&c, seed);
        c.config.passes = 1 + (int)(seed % 20);
        if (!planted)
            make_steady(&c);
        moved_begin(c.config.n);
        ck_assert_int_eq(sim_run(&c.config, &r), 0);
        m = moved_end();
        check_whole(&c, &r, seed);
        if (c.config.nranks > 1)
            add_steady(&sum[kind_of(&c)], &c, &m);
        if (getenv("SIM_VERBOSE"))
            printf("steady seed=%u kind=%d np=%u n=%ld passes=%d moves=%ld moved=%ld back=%ld "
                   "most=%ld plans=%ld to_static=%.4f\n",
                   seed, kind_of(&c), c.config.nranks, (long)c.config.n, c.config.passes,
                   (long)m.moves, (long)m.iterations, (long)m.back, (long)m.most, (long)m.plans,
                   (double)r.end_ns / (double)r.static_ns);
        case_free(&c);
    }
    for (int k = 0; k < KINDS; k++) {
        const struct steady *s = &sum[k];
        double plans = s->plans / fmax(1, s->passes), moves = s->moves / fmax(1, s->rank_passes),
               back = s->back / fmax(1, s->iterations);
        bool kept = plans <= limits[k].plans && s->most_plans <= limits[k].most_plans &&
                    moves <= limits[k].moves && back <= limits[k].back;

        printf("steady %s: loops=%u plans=%.4f most_plans=%.2f moves=%.4f back=%.6f "
               "of_moved=%.4f\n",
               kind_name[k], s->loops, plans, s->most_plans, moves, back,
               s->back / fmax(1, s->moved));
        passed += !kept;
        if (rounds >= STEADY_ROUNDS && !planted)
            ck_assert_msg(kept, "%s: more goes to and fro than may", kind_name[k]);
    }
    if (planted) /* the limits of each kind must be passed */
        ck_assert_msg(passed < KINDS, "to and fro: the limits of all kinds are passed");
}
END_TEST

/* The other policies need not be good, but right. */
START_TEST(test_policies)
{
    static const char *const policy[] = {
        "siegell",      "liu", "static", "none", "auto,period=50ms", "auto,threshold=0,chunk=20ms",
        "auto,filter=0"};

    for (unsigned seed = 1; seed <= brief_rounds(ROUNDS) / 2; seed++) {
        struct sim_case c;
        struct sim_result r;

        draw_case(&c, seed);
        c.config.policy = policy[seed % (sizeof(policy) / sizeof(policy[0]))];
        ck_assert_int_eq(sim_run(&c.config, &r), 0);
        check_whole(&c, &r, seed);
        if (strcmp(c.config.policy, "static") == 0 || strcmp(c.config.policy, "none") == 0)
            ck_assert_int_eq(r.moves, 0);
        case_free(&c);
    }
}
END_TEST

/* For a person: ./test_random SEED [POLICY] prints what happened. */
static int trace(int argc, char **argv)
{
    struct sim_case c;
    struct sim_result r;
    int ret;

    draw_case(&c, (unsigned)atoi(argv[1]));
    c.config.trace = true;
    if (argc > 2)
        c.config.policy = argv[2];
    for (uint32_t i = 0; i < c.config.nranks; i++)
        printf("host %u: cores %.3f other %.3f flip %.1f ms%s stop %.1f to %.1f\n", i,
               c.host[i].cores, c.host[i].other_cores, (double)c.host[i].flip_ns / 1e6,
               c.host[i].flip_once ? " once" : "", (double)c.host[i].stop_from_ns / 1e6,
               (double)c.host[i].stop_to_ns / 1e6);
    ret = sim_run(&c.config, &r);
    if (ret == 0)
        printf("ended=%d %s to_static=%.4f to_ideal=%.4f n=%ld latency=%.2f longest=%.1f\n",
               r.ended, r.why ? r.why : "", (double)r.end_ns / (double)r.static_ns,
               (double)r.end_ns / (double)r.ideal_ns, (long)c.config.n,
               (double)c.config.latency_ns / 1e6, longest_iteration(&c) / 1e6);
    case_free(&c);
    return ret < 0;
}

int main(int argc, char **argv)
{
    TCase *t = suite_case("random"), *steady = suite_case("steady");

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1)
        return trace(argc, argv);
    tcase_set_timeout(t, 300);
    tcase_add_test(t, test_never_worse);
    tcase_add_test(t, test_policies);
    tcase_set_timeout(steady, 300);
    tcase_add_test(steady, test_steady);
    return suite_run("random", t, steady);
}
