/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node role: measures the host when it is idle, samples its load, and knows the tasks that run on it.  All calls on the
 * loop's thread; the benchmark has a thread of its own.
 */
#ifndef LBD_NODE_NODE_H
#define LBD_NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lbd/node/bench.h"
#include "lbd/node/health.h"
#include "lbd/node/load.h"
#include "policy/index.h"
#include "wire/node.h"

struct lbd_node_settings {
    int64_t load_interval_ns;      /* between samples of the load */
    int64_t benchmark_interval_ns; /* between benchmarks on an idle host */
    double jitter;                 /* up to so much is added to each interval, ratio */
    struct lbp_index_weights weights;
};

struct lbd_node_stats {
    bool measured;
    struct lbd_bench_result bench;
    int64_t bench_wall_ns; /* time of day of the last benchmark */
    struct lbd_load load;
    double external_cpus;
    double placed_cpus;               /* what our tasks were seen to use, while they run */
    double fresh_tasks;               /* of tasks: those that do not show in it yet */
    struct lbd_health_verdict health; /* slow: two benchmarks in a row were */
    uint32_t tasks;
    uint64_t samples, sample_failures;
    uint64_t bench_runs, bench_cancelled, bench_failures;
    char model[LBW_NODE_MODEL_MAX];
};

struct lbd_node;
struct lbd_step;

/*
 * host: name, copied.  state: folder where the last benchmark is saved, borrowed during the call.
 * on_report: a new report, borrowed; its seq is 0.
 * Returns 0 or a negative errno.
 */
int lbd_node_create(uv_loop_t *loop, const char *host, const char *state,
                    const struct lbd_node_settings *settings,
                    void (*on_report)(void *data, const struct lbw_node_report *report), void *data,
                    struct lbd_node **ret_node) __attribute__((warn_unused_result));

/* Close the handles; the loop must run once more before lbd_node_destroy. */
void lbd_node_stop(struct lbd_node *node);
void lbd_node_destroy(struct lbd_node *node); /* NULL is fine */

void lbd_node_set(struct lbd_node *node, const struct lbd_node_settings *settings);

/* Sample the load now, and measure if the host is idle; interval_ns > 0: the load's from now on, until the next lbd_node_set. */
void lbd_node_probe(struct lbd_node *node, int64_t interval_ns);

/* What the host is worth now.  Returns 0, or -EAGAIN: not measured yet. */
int lbd_node_self(const struct lbd_node *node, struct lbw_local_host *ret)
    __attribute__((warn_unused_result));

/* Tasks of a step begin or end; pid: who told.  Returns 0, -ENOSPC, -ENOMEM. */
int lbd_node_notice(struct lbd_node *node, const struct lbw_local_notice *notice, pid_t pid)
    __attribute__((warn_unused_result));

/* The step that a process of this host belongs to: whose slurmstepd started it.  NULL when none.  Borrowed until the loop turns. */
const struct lbd_step *lbd_node_step_of(const struct lbd_node *node, pid_t pid);

void lbd_node_stats(const struct lbd_node *node, struct lbd_node_stats *ret);

#endif
