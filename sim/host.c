/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated host. */
#include "sim/host.h"

#include <math.h>

#define PERIOD_NS INT64_C(10000000)
#define STEP_NS INT64_C(1000000)

double sim_host_hardware(const struct sim_host *h)
{
    return h->hardware > 0 ? h->hardware : 1;
}

/* The part of the cores that a recorded load leaves. */
static double left_at(const struct sim_host *h, int64_t now_ns)
{
    if (!h->left)
        return 1;
    return h->left[(size_t)((now_ns + h->left_phase_ns) / h->left_ns) % h->nleft];
}

double sim_host_cores(const struct sim_host *h, int64_t now_ns)
{
    int64_t interval;

    if (now_ns >= h->stop_from_ns && now_ns < h->stop_to_ns)
        return 0;
    if (h->flip_ns <= 0)
        return h->cores * left_at(h, now_ns);
    interval = (now_ns + h->flip_phase_ns) / h->flip_ns;
    if (h->flip_once)
        return interval > 0 ? h->other_cores : h->cores;
    return interval % 2 ? h->other_cores : h->cores;
}

double sim_host_quota(const struct sim_host *h, int64_t now_ns)
{
    if (!h->quota)
        return 0;
    return h->quota_cores > 0 ? h->quota_cores : sim_host_cores(h, now_ns);
}

int64_t sim_host_period(const struct sim_host *h)
{
    return h->quota_ns > 0 ? h->quota_ns : PERIOD_NS;
}

/* Smooth: in steps of 1 ms of constant speed. */
static int64_t run_smooth(struct sim_host *h, int64_t now, double left)
{
    double at = (double)now;

    if (h->flip_ns <= 0 && !h->left && h->stop_from_ns >= h->stop_to_ns)
        return (int64_t)ceil(at + left / h->cores);
    while (left > 0) {
        double cores = sim_host_cores(h, (int64_t)at);
        double end = (floor(at / STEP_NS) + 1) * STEP_NS;
        double can = (end - at) * cores;

        if (can >= left)
            return (int64_t)ceil(at + left / cores);
        left -= can;
        at = end;
    }
    return now;
}

static int64_t run_quota(struct sim_host *h, int64_t now, double left)
{
    int64_t length = sim_host_period(h);
    double at = (double)now;

    for (;;) {
        int64_t period = ((int64_t)at + h->phase_ns) / length;
        double end = (double)((period + 1) * length - h->phase_ns);
        double may;

        if (period != h->period) {
            h->period = period;
            h->used_ns = 0;
        }
        may = fmin(sim_host_cores(h, (int64_t)at) * (double)length - h->used_ns, end - at);
        if (may >= left) {
            h->used_ns += left;
            return (int64_t)ceil(at + left);
        }
        if (may > 0) {
            h->used_ns += may;
            left -= may;
        }
        at = end;
    }
}

int64_t sim_host_run(struct sim_host *h, int64_t now_ns, double cpu_ns)
{
    if (cpu_ns <= 0)
        return now_ns;
    return h->quota ? run_quota(h, now_ns, cpu_ns) : run_smooth(h, now_ns, cpu_ns);
}

int64_t sim_host_ideal(const struct sim_host *h, int nhosts, int64_t now_ns, double work)
{
    while (work > 0) {
        double cores = 0;

        for (int i = 0; i < nhosts; i++)
            cores += sim_host_cores(&h[i], now_ns) * sim_host_hardware(&h[i]);
        if (cores * STEP_NS >= work)
            return now_ns + (int64_t)ceil(work / cores);
        work -= cores * STEP_NS;
        now_ns += STEP_NS;
    }
    return now_ns;
}
