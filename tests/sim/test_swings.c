/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stepped and pipelined loops under a load that comes and goes inside a host's quota, as on the hosts of `./run bench oscillate`:
 * the same programs, hosts and loads, and other periods and duties.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/step.h"

#define RANKS 4
#define ITERATIONS 2000

struct program {
    const char *name;
    enum lbp_stepped_kind kind;
    int64_t n, steps;
};

static const struct program programs[] = {{"sor1000", LBP_DOACROSS, 1000, 40},
                                          {"sor2000", LBP_DOACROSS, 2000, 10},
                                          {"jacobi", LBP_STEPPED, 1000, 40},
                                          {"jacobi-short", LBP_STEPPED, 1000, 400}};

static double draw(unsigned *seed, double from, double to)
{
    return from + (to - from) * (double)rand_r(seed) / RAND_MAX;
}

/* One run; returns its time over that with the first shares. */
static double swing(const struct program *p, const char *policy, double period_s, double duty,
                    unsigned seed, bool trace, struct sim_step_result *ret)
{
    struct sim_host host[RANKS];
    double cost[ITERATIONS], told[RANKS];
    struct sim_step_config c = {.kind = p->kind,
                                .nranks = RANKS,
                                .host = host,
                                .n = p->n,
                                .cost_ns = cost,
                                .steps = p->steps,
                                .told = told,
                                .policy = policy,
                                .latency_ns = 300000,
                                .move_fixed_ns = 700000,
                                .row_bytes = 8 * p->n,
                                .row_ns = 30000,
                                .hook_cpu_ns = 50000,
                                .move_cpu_ns = 400000,
                                .pipelined = p->kind == LBP_DOACROSS ? p->n : 0,
                                .shift_fixed_ns = 20000,
                                .shift_incr_ns = 4,
                                .cpu_noise = 0.03,
                                .parts = p->kind == LBP_DOACROSS ? 1 : 4,
                                .trace = trace,
                                .seed = seed};

    for (int64_t i = 0; i < p->n; i++)
        cost[i] = 4.2e9 / (double)(p->steps * p->n);
    for (int r = 0; r < RANKS; r++) {
        host[r] = (struct sim_host){.cores = 0.3,
                                    .quota = true,
                                    .quota_cores = 0.3,
                                    .phase_ns = (int64_t)draw(&seed, 0, 10e6)};
        told[r] = 0.3 * draw(&seed, 0.95, 1.05);
    }
    if (period_s > 0) {
        host[0].other_cores = 0.15;
        host[0].inside = true;
        host[0].duty = duty;
        host[0].flip_ns = (int64_t)(period_s / 2 * 1e9);
        host[0].flip_phase_ns = (int64_t)draw(&seed, 0, period_s * 1e9);
    }
    if (sim_step_run(&c, ret) < 0 || !ret->ended) {
        fprintf(stderr, "seed %u: %s\n", seed, ret->why ? ret->why : "cannot be run");
        abort();
    }
    return (double)ret->end_ns / (double)ret->static_ns;
}

static void table(const char *policy, int seeds)
{
    static const double periods[] = {0, .3, .5, 1, 2, 3, 6, 20}, duties[] = {.2, .5, .8};

    double all = 0, most = 0, n = 0, over = 0;

    for (size_t k = 0; k < sizeof(programs) / sizeof(programs[0]); k++)
        for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++)
            for (size_t d = 0; d < (periods[i] > 0 ? 3 : 1); d++) {
                double sum = 0, sum_s = 0, static_s = 0, worst = 0, plans = 0;

                for (int seed = 1; seed <= seeds; seed++) {
                    struct sim_step_result r;
                    double x = swing(&programs[k], policy, periods[i], duties[d], (unsigned)seed,
                                     false, &r);

                    worst = x > worst ? x : worst;
                    most = x > most ? x : most;
                    over += x > 1.01;
                    all += x;
                    n++;
                    sum += x;
                    sum_s += (double)r.end_ns / 1e9;
                    static_s += (double)r.static_ns / 1e9;
                    plans += (double)r.plans;
                }
                printf("swing program=%s period_s=%.1f duty=%.1f over_static=%.4f worst=%.4f "
                       "static_s=%.3f auto_s=%.3f plans=%.1f\n",
                       programs[k].name, periods[i], duties[d], sum / seeds, worst,
                       static_s / seeds, sum_s / seeds, plans / seeds);
            }
    printf("swings over_static=%.4f worst=%.4f over_1.01=%.4f runs=%.0f\n", all / n, most, over / n, n);
}

int main(int argc, char **argv)
{
    struct sim_step_result r;

    if (argc > 4) {
        double x = swing(&programs[atoi(argv[1])], argc > 5 ? argv[5] : "auto", atof(argv[2]),
                         atof(argv[3]), (unsigned)atoi(argv[4]), true, &r);

        printf("over_static=%.4f static_s=%.3f auto_s=%.3f\n", x, (double)r.static_ns / 1e9,
               (double)r.end_ns / 1e9);
        return 0;
    }
    table(argc > 1 ? argv[1] : "auto", argc > 2 ? atoi(argv[2]) : 20);
    return 0;
}
