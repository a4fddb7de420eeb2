/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runs behind the figures of docs/internals, in virtual time: four hosts, a stepped loop, a competing load on the first,
 * in the times of Siegell & Steenkiste 1997: time slices of 100 ms, a balancing period of 1 s, a load that is on for 30 s in
 * each 60 s.  usage: figures NAME (19, 22a, 22b, 23, 24a, 24b, 24c); writes CSV.  The same each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/step.h"

#define HOSTS 4
#define ROWS 1000
#define STEPS 300
#define STEP_NS 400e6               /* on unloaded hosts */
#define SLICE_NS INT64_C(200000000) /* the program's and the load's */
#define HALF_NS INT64_C(30000000000)

static const struct figure {
    const char *name, *policy;
    bool constant; /* the load is always on */
} figures[] = {
    {"22a", "siegell,period=1s,threshold=0", false},
    {"22b", "siegell,period=1s,threshold=0,filter=0", false},
    {"23", "siegell,period=1s", true},
    {"24a", "siegell,period=1s,threshold=0,filter=0.8", false},
    {"24b", "siegell,period=1s,threshold=0.1", false},
    {"24c", "auto", false},
};

static struct sim_step_config config(struct sim_host host[HOSTS], double cost[ROWS],
                                     const char *policy, bool constant)
{
    for (int i = 0; i < HOSTS; i++)
        host[i] = (struct sim_host){.cores = 1, .other_cores = 1};
    host[0].other_cores = .5;
    host[0].quota = true; /* full speed in its slices, none in the load's */
    host[0].quota_ns = SLICE_NS;
    host[0].flip_ns = constant ? 0 : HALF_NS;
    if (constant)
        host[0].cores = .5;
    for (int i = 0; i < ROWS; i++)
        cost[i] = STEP_NS * HOSTS / ROWS;
    return (struct sim_step_config){.kind = LBP_STEPPED,
                                    .nranks = HOSTS,
                                    .host = host,
                                    .n = ROWS,
                                    .cost_ns = cost,
                                    .steps = STEPS,
                                    .policy = policy,
                                    .latency_ns = 1000000,
                                    .move_fixed_ns = 5000000,
                                    .row_bytes = 8000,
                                    .row_ns = 800000,
                                    .hook_cpu_ns = 100000,
                                    .move_cpu_ns = 1000000,
                                    .cpu_noise = 0.02,
                                    .parts = 4,
                                    .seed = 1};
}

/* The loaded rank: its rate and what is believed of it, as parts of a free host's; its share, as a part of an equal one. */
static void decided(void *arg, struct lbp_stepped *s, int64_t now_ns)
{
    double whole_hz = 1e9 * ROWS / (STEP_NS * HOSTS);
    struct lbp_seen seen[HOSTS];
    struct lbp_decision d;

    (void)arg;
    if (!lbp_stepped_decided(s, &d))
        return;
    lbp_stepped_seen(s, seen);
    printf("%.3f,%.4f,%.4f,%.4f,%d\n", (double)now_ns / 1e9, seen[0].raw_hz / whole_hz,
           seen[0].filtered_hz / whole_hz, seen[0].share_ratio * HOSTS, d.done);
}

static int run(const struct sim_step_config *c, struct sim_step_result *r)
{
    if (sim_step_run(c, r) == 0 && r->ended)
        return 0;
    fprintf(stderr, "figures: the simulation failed: %s\n", r->why ? r->why : "out of memory");
    return 1;
}

/* Efficiency, ideal / measured, by the period; without a filter and a threshold but for the last. */
static int periods(void)
{
    static const char *const period[] = {"0.2", "0.5", "1", "2", "5", "10"};
    struct sim_host host[HOSTS];
    struct sim_step_result r;
    double cost[ROWS];
    char policy[64];

    puts("period_s,efficiency");
    for (size_t i = 0; i <= sizeof(period) / sizeof(*period); i++) {
        bool last = i == sizeof(period) / sizeof(*period);
        struct sim_step_config c;

        snprintf(policy, sizeof(policy),
                 last ? "auto%s" : "siegell,threshold=0,filter=0,period=%ss",
                 last ? "" : period[i]);
        c = config(host, cost, policy, false);
        if (run(&c, &r) != 0)
            return 1;
        printf("%s,%.4f\n", last ? "auto" : period[i], (double)r.ideal_ns / (double)r.end_ns);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct sim_host host[HOSTS];
    struct sim_step_config c;
    struct sim_step_result r;
    double cost[ROWS];

    if (argc == 2 && strcmp(argv[1], "19") == 0)
        return periods();
    for (size_t i = 0; argc == 2 && i < sizeof(figures) / sizeof(*figures); i++) {
        if (strcmp(argv[1], figures[i].name) != 0)
            continue;
        puts("seconds,raw_rate,filtered_rate,share,moved");
        c = config(host, cost, figures[i].policy, figures[i].constant);
        c.decided = decided;
        if (run(&c, &r) != 0)
            return 1;
        fprintf(stderr, "figure name=%s efficiency=%.4f plans=%lld\n", argv[1],
                (double)r.ideal_ns / (double)r.end_ns, (long long)r.plans);
        return 0;
    }
    fprintf(stderr, "usage: figures 19 | 22a | 22b | 23 | 24a | 24b | 24c\n");
    return 2;
}
