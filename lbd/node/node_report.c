/* SPDX-License-Identifier: BSD-3-Clause */
/* What the node role says of its host: reports, what the host is worth, figures. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "lbd/node/node_impl.h"

/* What our tasks use, as far as it is seen; nothing from the moment when the last one has ended. */
static double placed_cpus(const struct lbd_node *n)
{
    return fmin(n->stats.placed_cpus, (double)lbd_steps_tasks(&n->steps));
}

static double fresh_tasks(const struct lbd_node *n)
{
    struct lbp_placed placed[LBD_STEPS_MAX];
    int64_t now_ns = lbx_clock_mono_ns();

    for (size_t i = 0; i < n->steps.n; i++)
        placed[i] = (struct lbp_placed){n->steps.step[i].ntasks,
                                        (double)(now_ns - n->steps.step[i].begun_ns)};
    return lbp_index_fresh_tasks(placed, n->steps.n, placed_cpus(n), n->stats.load.cpus,
                                 (double)n->settings.load_interval_ns);
}

static void fill_kernels(const struct lbd_node *n, struct lbw_node_report *r)
{
    const struct lbd_node_stats *s = &n->stats;

    for (int i = 0; i < LBD_KERNELS; i++) {
        r->kernel_ops_hz[i] = s->bench.kernel[i].ops_hz;
        r->kernel_all_hz[i] = s->bench.kernel[i].all_ops_hz;
        r->kernel_dispersion[i] = s->bench.kernel[i].dispersion_ratio;
    }
    r->slow_ratio = s->health.slow ? s->health.ratio : 1;
    r->slow_kernel = (uint32_t)s->health.kernel;
    r->packages = s->bench.topology.packages;
    r->cores = s->bench.topology.cores;
    r->numa_nodes = s->bench.topology.numa_nodes;
}

void lbd_node_report(const struct lbd_node *n, struct lbw_node_report *r)
{
    const struct lbd_node_stats *s = &n->stats;
    double used = s->external_cpus + placed_cpus(n);
    double share = lbp_index_task_share(s->load.cpus, used) * n->hidden_ratio;

    memset(r, 0, sizeof(*r));
    r->cpus = s->load.cpus;
    r->hardware = s->bench.hardware;
    r->hardware_s = s->bench.hardware_s;
    r->core_speed = s->bench.hardware * share;
    r->capacity = s->bench.hardware * n->hidden_ratio * s->bench.scaling_ratio *
                  lbp_index_job_cpus(s->load.cpus, used);
    r->workload_ratio = fmax(1, 1 / share);
    r->share_ratio = s->bench.share;
    r->bench_age_ns = lbx_clock_mono_ns() - n->bench_mono_ns;
    fill_kernels(n, r);
    r->external_cpus = s->external_cpus;
    r->busy_cpus = s->load.busy_cpus;
    r->steal_cpus = s->load.steal_cpus;
    r->pressure_ratio = s->load.pressure_ratio;
    r->throttled_ratio = s->load.throttled_ratio;
    r->running = s->load.running;
    r->users = s->load.users;
    r->terminals = s->load.terminals;
    r->tasks = lbd_steps_tasks(&n->steps);
    r->fresh_tasks = fresh_tasks(n);
    r->placed_cpus = placed_cpus(n);
    r->samples = n->others_samples;
    r->others_cpus = n->others_cpus;
    memcpy(r->model, s->model, sizeof(r->model));
}

int lbd_node_self(const struct lbd_node *n, struct lbw_local_host *ret)
{
    struct lbw_node_report r;

    if (!n->stats.measured)
        return -EAGAIN;
    lbd_node_report(n, &r);
    memset(ret, 0, sizeof(*ret));
    snprintf(ret->host, sizeof(ret->host), "%s", n->host);
    ret->core_speed = r.core_speed;
    ret->capacity = r.capacity;
    ret->hardware = r.hardware;
    ret->index = lbp_index(&n->settings.weights, r.hardware_s, r.workload_ratio, r.users,
                           r.terminals, r.fresh_tasks);
    ret->age_ns = lbx_clock_mono_ns() - n->source.at_ns;
    return 0;
}

void lbd_node_stats(const struct lbd_node *n, struct lbd_node_stats *ret)
{
    *ret = n->stats;
    ret->placed_cpus = placed_cpus(n);
    ret->fresh_tasks = fresh_tasks(n);
    ret->tasks = lbd_steps_tasks(&n->steps);
}
