/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiency of simulated runs, measured and by the model. */
#include "sim/efficiency.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int sim_efficiency(double work_ns, int64_t elapsed_ns, uint32_t nranks, const struct sim_host *host,
                   const double *cores, double *ret_ratio)
{
    double *speed = calloc(nranks, sizeof(*speed)), *competing = calloc(nranks, sizeof(*competing));
    int ret = speed && competing ? 0 : -ENOMEM;

    for (uint32_t i = 0; ret == 0 && i < nranks; i++) {
        double all = cores ? cores[i] : 1;

        speed[i] = all * sim_host_hardware(&host[i]);
        competing[i] = (double)elapsed_ns - sim_host_given(&host[i], elapsed_ns) / all;
    }
    if (ret == 0)
        *ret_ratio = lbp_efficiency(work_ns, (double)elapsed_ns, nranks, competing, speed);
    free(speed);
    free(competing);
    return ret;
}

static bool oscillates(const struct sim_host *h)
{
    return h->flip_ns > 0 && !h->flip_once && h->duty <= 0;
}

bool sim_oscillation_init(struct sim_oscillation *ret, uint32_t nranks, const struct sim_host *host)
{
    struct sim_oscillation o = {.nranks = nranks, .equal = 1};

    for (uint32_t i = 0; i < nranks; i++) {
        const struct sim_host *h = &host[i];

        if (h->cores != host[0].cores || sim_host_hardware(h) != sim_host_hardware(host) ||
            h->left || h->stop_from_ns < h->stop_to_ns || (h->flip_ns > 0 && !oscillates(h)))
            return false;
        if (!oscillates(h))
            continue;
        if (o.host)
            return false;
        o.host = h;
        o.rank = i;
    }
    if (nranks < 2 || !o.host || !(o.host->other_cores < o.host->cores))
        return false;
    *ret = o;
    return true;
}

static bool is_on(const struct sim_oscillation *o, int64_t at_ns)
{
    return sim_host_cores(o->host, at_ns) < o->host->cores;
}

/* Until to_ns nothing changed but the load. */
static void go_on(struct sim_oscillation *o, int64_t to_ns)
{
    const struct sim_host *h = o->host;

    while (o->since_ns < to_ns) {
        int64_t at = o->since_ns, flip = at + h->flip_ns - (at + h->flip_phase_ns) % h->flip_ns;
        double length;

        o->since_ns = flip < to_ns ? flip : to_ns;
        length = (double)(o->since_ns - at);
        if (is_on(o, at)) {
            o->on_ns += length;
            o->late_on_ns += length * o->equal;
        } else {
            o->off_ns += length;
            o->late_off_ns += length * (1 - o->equal);
        }
    }
}

static double share(const struct sim_oscillation *o)
{
    return o->host->other_cores / o->host->cores;
}

void sim_oscillation_laid(struct sim_oscillation *o, double part, int64_t at_ns, int64_t took_ns)
{
    double P = o->nranks, suits = share(o) / (P - 1 + share(o)), took = (double)took_ns;
    int64_t from = at_ns - took_ns;

    go_on(o, from);
    if (is_on(o, from)) {
        o->on_ns += took;
        o->moving_on_ns += took;
    } else {
        o->off_ns += took;
        o->moving_off_ns += took;
    }
    o->since_ns = at_ns;
    o->equal = fmin(1, fmax(0, (part - suits) / (1 / P - suits)));
}

void sim_oscillation_free(struct sim_oscillation *o, int64_t end_ns, int64_t moves, double cpu_ns)
{
    double all = (double)moves * cpu_ns / o->nranks / (double)end_ns;

    go_on(o, end_ns);
    o->moving_on_ns = all * o->on_ns;
    o->moving_off_ns = all * o->off_ns;
    if (moves > 0)
        o->late_on_ns = o->late_off_ns = 0;
}

void sim_oscillation_predict(struct sim_oscillation *o, int64_t end_ns, double dedicated,
                             double *ret_model, double *ret_unbalanced)
{
    double half = (double)o->host->flip_ns;
    struct lbp_oscillation model = {.nranks = o->nranks,
                                    .ta_ns = half,
                                    .tb_ns = half,
                                    .share = share(o),
                                    .dedicated = fmin(1, dedicated)};

    *ret_model = *ret_unbalanced = 0;
    go_on(o, end_ns);
    if (end_ns < 2 * o->host->flip_ns)
        return;
    model.tc_ns = o->late_on_ns / o->on_ns * half;
    model.td_ns = o->moving_on_ns / o->on_ns * half;
    model.tf_ns = o->late_off_ns / o->off_ns * half;
    model.tg_ns = o->moving_off_ns / o->off_ns * half;
    *ret_model = lbp_efficiency_oscillating(&model);
    *ret_unbalanced = lbp_efficiency_unbalanced(&model);
}
