/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated host. */
#include "sim/host.h"

#include <math.h>

#define PERIOD_NS INT64_C(10000000)
#define STEP_NS INT64_C(1000000)
/* A quota is handed out by whole slices, and who comes late has to do without: a load inside keeps its part of it for so long, and
 * leaves the rank a part between these. */
#define UNEVEN_NS 100000000
#define UNEVEN_LEAST 0.05
#define UNEVEN_MOST 0.95

double sim_host_hardware(const struct sim_host *h)
{
    return h->hardware > 0 ? h->hardware : 1;
}

double sim_host_slower(const struct sim_host *h, int64_t now_ns)
{
    return h->slower ? h->slower[(size_t)(now_ns / h->slower_ns) % h->nslower] : 1;
}

/* The part of the cores that a recorded load leaves. */
static double left_at(const struct sim_host *h, int64_t now_ns)
{
    if (!h->left)
        return 1;
    return h->left[(size_t)((now_ns + h->left_phase_ns) / h->left_ns) % h->nleft];
}

/* Does the load run that comes and goes? */
static bool is_loaded(const struct sim_host *h, int64_t now_ns)
{
    int64_t since = now_ns + h->flip_phase_ns;

    if (h->flip_ns <= 0)
        return false;
    if (h->flip_once)
        return since >= h->flip_ns;
    if (h->duty > 0)
        return (double)(since % (2 * h->flip_ns)) >= 2 * (double)h->flip_ns * (1 - h->duty);
    return since / h->flip_ns % 2;
}

double sim_host_cores(const struct sim_host *h, int64_t now_ns)
{
    if (now_ns >= h->stop_from_ns && now_ns < h->stop_to_ns)
        return 0;
    if (h->flip_ns <= 0)
        return h->cores * left_at(h, now_ns);
    return is_loaded(h, now_ns) ? h->other_cores : h->cores;
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

/* Has it the same cores all the time? */
static bool is_steady(const struct sim_host *h)
{
    return h->flip_ns <= 0 && !h->left && h->stop_from_ns >= h->stop_to_ns;
}

/* Smooth: in steps of 1 ms of constant speed. */
static int64_t run_smooth(struct sim_host *h, int64_t now, double left)
{
    double at = (double)now;

    if (is_steady(h))
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

/*
 * What is left of the period's quota at a moment.  A load inside has had it to itself until then, on another processor; from
 * then on it uses as much as the rank.
 */
static double quota_left(struct sim_host *h, double at, double begin, bool loaded)
{
    double all = h->inside ? h->cores * (double)sim_host_period(h)
                           : sim_host_cores(h, (int64_t)at) * (double)sim_host_period(h);

    if (loaded)
        h->used_ns += fmin(fmax(0, at - fmax(begin, h->seen_ns)), fmax(0, all - h->used_ns));
    h->seen_ns = fmax(h->seen_ns, at);
    return all - h->used_ns;
}

/* What the rank gets of a quota while a load in it wants all. */
static double part_at(const struct sim_host *h, double at)
{
    uint64_t x = (uint64_t)(at / UNEVEN_NS) * 0x9e3779b97f4a7c15U + h->uneven;

    if (h->uneven == 0)
        return 0.5;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
    return UNEVEN_LEAST + (UNEVEN_MOST - UNEVEN_LEAST) * (double)(x >> 40) / (double)(1 << 24);
}

static int64_t run_quota(struct sim_host *h, int64_t now, double left)
{
    int64_t length = sim_host_period(h);
    double at = (double)now;

    for (;;) {
        int64_t period = ((int64_t)at + h->phase_ns) / length;
        double begin = (double)(period * length - h->phase_ns), end = begin + (double)length;
        bool loaded = h->inside && is_loaded(h, (int64_t)at);
        double part = loaded ? part_at(h, at) : 1, may;

        if (period != h->period) {
            h->period = period;
            h->used_ns = 0;
            h->seen_ns = begin;
        }
        may = fmin(fmax(0, quota_left(h, at, begin, loaded)) * part, end - at);
        h->used_ns += fmin(may, left) / part;
        if (may >= left) {
            h->seen_ns = at + left;
            return (int64_t)ceil(at + left);
        }
        left -= may;
        at = end;
    }
}

int64_t sim_host_run(struct sim_host *h, int64_t now_ns, double cpu_ns)
{
    if (cpu_ns <= 0)
        return now_ns;
    return h->quota ? run_quota(h, now_ns, cpu_ns) : run_smooth(h, now_ns, cpu_ns);
}

double sim_host_given(const struct sim_host *h, int64_t to_ns)
{
    double sum = 0;

    if (is_steady(h))
        return h->cores * (double)to_ns;
    for (int64_t at = 0; at < to_ns; at += STEP_NS)
        sum += sim_host_cores(h, at) * (double)(to_ns - at < STEP_NS ? to_ns - at : STEP_NS);
    return sum;
}

int64_t sim_host_ideal(const struct sim_host *h, int nhosts, int64_t now_ns, double work)
{
    double steady = 0; /* of the hosts whose cores stay */

    for (int i = 0; i < nhosts; i++)
        if (is_steady(&h[i]))
            steady += h[i].cores * sim_host_hardware(&h[i]);
    while (work > 0) {
        double cores = steady;

        for (int i = 0; i < nhosts; i++)
            if (!is_steady(&h[i]))
                cores += sim_host_cores(&h[i], now_ns) * sim_host_hardware(&h[i]);
        if (cores * STEP_NS >= work)
            return now_ns + (int64_t)ceil(work / cores);
        work -= cores * STEP_NS;
        now_ns += STEP_NS;
    }
    return now_ns;
}
