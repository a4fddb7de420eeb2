/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/adjacent.c. */
#include "policy/adjacent.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"

#define RANKS 24

static struct lbp_profile profile;

static void even(int64_t n)
{
    lbp_profile_init(&profile, n);
    lbp_profile_add(&profile, 0, n, 1000.0 * (double)n);
}

static void check_bounds(const int64_t *bound, uint32_t nranks, int64_t n, int64_t least)
{
    ck_assert_int_eq(bound[0], 0);
    ck_assert_int_eq(bound[nranks], n);
    for (uint32_t r = 0; r < nranks; r++) {
        int64_t size = bound[r + 1] - bound[r];

        ck_assert_msg(size == 0 || size >= least || (size == n && n < least),
                      "rank %u holds %ld, least %ld", r, (long)size, (long)least);
    }
}

START_TEST(test_proportional)
{
    static const double speed[4] = {.4, .4, .4, .133};
    int64_t old[5] = {0, 750, 1500, 2250, 3000}, bound[5];
    struct lbp_adjacent_config c = {.nranks = 4, .speed = speed};

    even(3000);
    ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), 0);
    check_bounds(bound, 4, 3000, 0);
    ck_assert_int_le(llabs(bound[1] - 900), 1);
    ck_assert_int_le(llabs(bound[2] - 1800), 2);
    ck_assert_int_le(llabs(bound[3] - 2701), 2);
    ck_assert_double_le(lbp_adjacent_time_ns(&profile, speed, 4, bound),
                        1.002 * 3000e3 / (.4 + .4 + .4 + .133));
    /* balanced already: nothing moves */
    memcpy(old, bound, sizeof(old));
    c.slack = 0.003;
    ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), 0);
    ck_assert_mem_eq(old, bound, sizeof(old));
}
END_TEST

START_TEST(test_slow_rank_holds_nothing)
{
    static const double speed[3] = {1, 0, 1};
    int64_t old[4] = {0, 33, 66, 100}, bound[4];
    struct lbp_adjacent_config c = {.nranks = 3, .speed = speed};

    even(100);
    ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), 0);
    ck_assert_int_eq(bound[1], 50);
    ck_assert_int_eq(bound[2], 50);
    ck_assert(isinf(lbp_adjacent_time_ns(&profile, speed, 3, old)));
}
END_TEST

START_TEST(test_invalid)
{
    double speed[2] = {1, NAN};
    int64_t old[3] = {0, 5, 10}, bound[3] = {-1, -1, -1};
    struct lbp_adjacent_config c = {.nranks = 2, .speed = speed};

    even(10);
    ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), -EINVAL);
    speed[0] = speed[1] = 0;
    ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), -EINVAL);
    speed[0] = 1;
    old[1] = 11;
    ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), -EINVAL);
    old[1] = 5;
    old[2] = 9;
    ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), -EINVAL);
    ck_assert_int_eq(bound[0], -1);
}
END_TEST

/* The least time of all distributions into blocks of none or enough, by dynamic programming over every cut. */
static double least_time(int n, int p, int enough, const double *cost, const double *speed)
{
    static double best[RANKS + 1][64];

    for (int i = 0; i <= n; i++)
        best[0][i] = i ? INFINITY : 0;
    for (int r = 1; r <= p; r++)
        for (int i = 0; i <= n; i++) {
            double work = 0;

            best[r][i] = best[r - 1][i];
            for (int j = i; j-- > 0;) {
                work += cost[j];
                if (i - j >= enough)
                    best[r][i] = fmin(best[r][i], fmax(best[r - 1][j], work / speed[r - 1]));
            }
        }
    return best[p][n];
}

/* Iterations of any cost, as the profile tells them. */
static void draw_costs(int n, double *cost, unsigned *seed)
{
    lbp_profile_init(&profile, n);
    for (int i = 0; i < n; i++)
        lbp_profile_add(&profile, i, i + 1, 10 + rand_r(seed) % 1000);
    for (int i = 0; i < n; i++)
        cost[i] = lbp_profile_work(&profile, i, i + 1);
}

START_TEST(test_least)
{
    for (unsigned round = 1; round <= 500; round++) {
        unsigned seed = round;
        int n = 1 + rand_r(&seed) % 60, p = 1 + rand_r(&seed) % 6;
        double cost[64], speed[RANKS], least;
        int64_t old[RANKS + 1] = {0}, bound[RANKS + 1];
        struct lbp_adjacent_config c = {.nranks = (uint32_t)p, .speed = speed};

        draw_costs(n, cost, &seed);
        for (int r = 0; r < p; r++) {
            speed[r] = 0.05 + (double)rand_r(&seed) / RAND_MAX;
            old[r + 1] = r + 1 < p ? old[r] + rand_r(&seed) % (n - (int)old[r] + 1) : n;
        }
        least = least_time(n, p, 1, cost, speed);
        ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), 0);
        check_bounds(bound, (uint32_t)p, n, 0);
        ck_assert_msg(lbp_adjacent_time_ns(&profile, speed, (uint32_t)p, bound) <= least * 1.0025,
                      "round %u: %g, least %g", round,
                      lbp_adjacent_time_ns(&profile, speed, (uint32_t)p, bound), least);
    }
}
END_TEST

/*
 * The slowest rank takes no longer than slack lets it, and the more it lets, the less is moved.  When it was looked for how far
 * ranks could go that need not, those behind them were given work by what iterations cost elsewhere: the slowest took a third
 * longer.
 */
START_TEST(test_slack)
{
    unsigned seed = 3;
    double cost[64];
    int moved_less = 0;

    for (int i = 0; i < 400; i++) {
        int n = 8 + rand_r(&seed) % 57;
        uint32_t nranks = 2 + (uint32_t)rand_r(&seed) % 9;
        double speed[10], least = 0, before, most = INFINITY;
        int64_t old[11], bound[11];
        struct lbp_adjacent_config c = {.nranks = nranks, .speed = speed};

        draw_costs(n, cost, &seed);
        for (uint32_t r = 0; r <= nranks; r++)
            old[r] = n * (int64_t)r / nranks;
        for (uint32_t r = 0; r < nranks; r++)
            speed[r] = 0.1 + (double)(rand_r(&seed) % 100) / 50;
        before = lbp_adjacent_time_ns(&profile, speed, nranks, old);
        for (int k = 0; k <= 4; k++) {
            double time, moves = 0;

            ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), 0);
            check_bounds(bound, nranks, n, 0);
            time = lbp_adjacent_time_ns(&profile, speed, nranks, bound);
            if (k == 0)
                least = time;
            ck_assert_double_le(time, least * (1 + c.slack) * 1.001);
            for (uint32_t r = 1; r < nranks; r++)
                moves += fabs((double)(bound[r] - old[r]));
            moved_less += moves < most;
            ck_assert(k < 4 || moves == 0);
            most = fmin(most, moves);
            c.slack = (before / least * (1 + 1e-9) - 1) * (k + 1) / 4;
        }
    }
    ck_assert_int_gt(moved_less, 800);
}
END_TEST

/* Halos: none or enough, and not much slower than without. */
START_TEST(test_halo)
{
    for (unsigned round = 1; round <= 2000; round++) {
        unsigned seed = round;
        uint32_t p = 1 + (uint32_t)rand_r(&seed) % RANKS;
        int64_t n = 1 + rand_r(&seed) % 400;
        double speed[RANKS];
        int64_t old[RANKS + 1] = {0}, bound[RANKS + 1];
        struct lbp_adjacent_config c = {
            .nranks = p, .speed = speed, .min_iterations = rand_r(&seed) % 12};

        even(n);
        for (uint32_t r = 0; r < p; r++) {
            speed[r] = pow(10, -2.0 * rand_r(&seed) / RAND_MAX);
            old[r + 1] = n * (r + 1) / p;
        }
        ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), 0);
        check_bounds(bound, p, n, c.min_iterations);
    }
}
END_TEST

/* Few iterations for many ranks: the least time of all distributions where a rank has none or enough, and as near as can be. */
START_TEST(test_halo_least)
{
    int wide = 0;

    for (unsigned round = 1; round <= 1000; round++) {
        unsigned seed = round;
        int enough = 2 + rand_r(&seed) % 5, n = enough + 1 + rand_r(&seed) % (60 - enough),
            p = 1 + rand_r(&seed) % RANKS;
        double cost[64], speed[RANKS], least, time;
        int64_t old[RANKS + 1] = {0}, bound[RANKS + 1], again[RANKS + 1];
        struct lbp_adjacent_config c = {
            .nranks = (uint32_t)p, .speed = speed, .min_iterations = enough};

        draw_costs(n, cost, &seed);
        for (int r = 0; r < p; r++) {
            speed[r] = r % 5 == 4 ? 0 : 0.05 + (double)rand_r(&seed) / RAND_MAX;
            old[r + 1] = r + 1 < p ? old[r] + rand_r(&seed) % (n - (int)old[r] + 1) : n;
        }
        least = least_time(n, p, enough, cost, speed);
        ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), 0);
        check_bounds(bound, (uint32_t)p, n, enough);
        time = lbp_adjacent_time_ns(&profile, speed, (uint32_t)p, bound);
        ck_assert_msg(time <= least * 1.0025, "round %u: %g, least %g", round, time, least);
        wide += time > least_time(n, p, 1, cost, speed) * 1.01;
        /* there already: nothing moves */
        c.slack = 0.003;
        ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, bound, again), 0);
        ck_assert_mem_eq(again, bound, ((size_t)p + 1) * sizeof(*bound));
    }
    ck_assert_int_gt(wide, 100); /* else nothing was tried */
}
END_TEST

/* In how many stops bound b comes to its target: as many blocks as lie between, as these are at first. */
static uint32_t stops_of(const int64_t *old, const int64_t *target, uint32_t p, uint32_t b)
{
    uint32_t k = 0;

    while (target[b] < old[b > k ? b - k : 0] || target[b] > old[b + k < p ? b + k : p])
        k++;
    return k;
}

/*
 * From any distribution to any other, whole blocks empty among them: at each stop a rank gets rows from its neighbours only, and there
 * are no more stops than the farthest bound needs.  With halos no rank ever has too few, for which the rest may be gone at once.
 */
START_TEST(test_stops)
{
    uint32_t far = 0, cut_short = 0;

    for (unsigned round = 1; round <= 4000; round++) {
        unsigned seed = round;
        uint32_t p = 1 + (uint32_t)rand_r(&seed) % RANKS, least = 0, stops = 0;
        int64_t halo = round % 2 ? 0 : 2 + rand_r(&seed) % 8, n = rand_r(&seed) % 300;
        int64_t at[RANKS + 1] = {0}, target[RANKS + 1] = {0}, next[RANKS + 1];

        for (uint32_t r = 0; r < p; r++) {
            at[r + 1] = r + 1 < p ? at[r] + rand_r(&seed) % (n - at[r] + 1) : n;
            target[r + 1] = r + 1 < p ? target[r] + rand_r(&seed) % (n - target[r] + 1) : n;
            if (halo > 0 && r + 1 < p) { /* each has none or enough */
                at[r + 1] = at[r + 1] - at[r] < halo || n - at[r + 1] < halo ? at[r] : at[r + 1];
                target[r + 1] = target[r + 1] - target[r] < halo || n - target[r + 1] < halo
                                    ? target[r]
                                    : target[r + 1];
            }
        }
        if (n < halo)
            continue;
        for (uint32_t b = 1; b < p; b++) {
            uint32_t k = stops_of(at, target, p, b);

            least = k > least ? k : least;
        }
        while (memcmp(at, target, ((size_t)p + 1) * sizeof(*at)) != 0) {
            bool passes = false;

            lbp_adjacent_stop(at, target, p, halo, next);
            check_bounds(next, p, n, halo);
            for (uint32_t r = 0; r < p; r++)
                passes =
                    passes || (next[r + 1] > next[r] && (next[r] < at[r > 0 ? r - 1 : 0] ||
                                                         next[r + 1] > at[r + 2 < p ? r + 2 : p]));
            ck_assert_msg(!passes || (halo > 0 && memcmp(next, target, sizeof(*at) * (p + 1)) == 0),
                          "round %u: rows pass a neighbour", round);
            cut_short += passes;
            memcpy(at, next, sizeof(at));
            ck_assert_uint_le(++stops, least);
        }
        ck_assert(stops == least || halo > 0);
        far += stops > 1;
    }
    ck_assert_uint_gt(far, 1000); /* else nothing was tried */
    ck_assert_uint_gt(cut_short, 10);
}
END_TEST

/* All on the first of four: three stops, and what the second passes on counts when it comes and when it goes. */
START_TEST(test_passed)
{
    static const int64_t old[] = {0, 100, 100, 100, 100}, target[] = {0, 25, 50, 75, 100};
    int64_t one[5], two[5], three[5];

    lbp_adjacent_stop(old, target, 4, 0, one);
    ck_assert(one[1] == 25 && one[2] == 100 && one[3] == 100);
    lbp_adjacent_stop(one, target, 4, 0, two);
    ck_assert(two[1] == 25 && two[2] == 50 && two[3] == 100);
    lbp_adjacent_stop(two, target, 4, 0, three);
    ck_assert_mem_eq(three, target, sizeof(target));
    ck_assert_int_eq(lbp_adjacent_most(old, target, 4), 75);
    ck_assert_int_eq(lbp_adjacent_most_passed(old, target, 4), 125);
    ck_assert_int_eq(lbp_adjacent_most_passed(two, target, 4), lbp_adjacent_most(two, target, 4));
}
END_TEST

START_TEST(test_many)
{
    static double speed[65536];
    static int64_t old[65537], bound[65537];
    unsigned seed = 1;
    double sum = 0;
    struct lbp_adjacent_config c = {.nranks = 65536, .speed = speed};

    even(INT64_C(1) << 40);
    for (uint32_t r = 0; r < c.nranks; r++) {
        sum += speed[r] = 0.1 + (double)rand_r(&seed) / RAND_MAX;
        old[r + 1] = (INT64_C(1) << 24) * (r + 1);
    }
    ck_assert_int_eq(lbp_adjacent_bounds(&c, &profile, old, bound), 0);
    check_bounds(bound, c.nranks, INT64_C(1) << 40, 0);
    ck_assert_double_le(lbp_adjacent_time_ns(&profile, speed, c.nranks, bound),
                        1.002 * lbp_profile_work(&profile, 0, profile.n) / sum);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("adjacent");

    tcase_add_test(t, test_proportional);
    tcase_add_test(t, test_slow_rank_holds_nothing);
    tcase_add_test(t, test_invalid);
    tcase_add_test(t, test_least);
    tcase_add_test(t, test_slack);
    tcase_add_test(t, test_halo);
    tcase_add_test(t, test_halo_least);
    tcase_add_test(t, test_stops);
    tcase_add_test(t, test_passed);
    tcase_add_test(t, test_many);
    return suite_run("adjacent", t);
}
