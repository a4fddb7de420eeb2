/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of the node role share: its timers and benchmarks (node.c), and what it says of the host (node_report.c). */
#ifndef LBD_NODE_NODE_IMPL_H
#define LBD_NODE_NODE_IMPL_H

#include "lbd/node/node.h"
#include "lbd/node/runner.h"
#include "lbd/node/steps.h"

struct lbd_node {
    uv_loop_t *loop;
    uv_timer_t load_timer, bench_timer, notice_timer;
    struct lbd_runner runner;
    char host[LBW_LOCAL_HOST_MAX];
    struct lbd_node_settings settings;
    struct lbd_load_source source, bench_source;
    struct lbd_steps steps;
    struct lbd_node_stats stats;
    double hidden_ratio;   /* of the host, what a limit that cannot be seen leaves */
    int64_t retry_ns;      /* until a benchmark that could not run is tried again; 0: it could */
    int hidden_tries;      /* measurements of it in a row */
    int64_t bench_mono_ns; /* of the last benchmark */
    bool tasks_seen;       /* a step ran here since the last sample */
    bool external_known;
    struct lbd_health health;
    char health_path[1024];
    uint64_t others_samples; /* of the load of others alone */
    double others_cpus;      /* the newest */
    int slow_tries;          /* benchmarks in a row that were slower than usual */
    void (*on_report)(void *data, const struct lbw_node_report *report);
    void *data;
};

/* What is known of the host now; its seq is 0.  Only when it was measured. */
void lbd_node_report(const struct lbd_node *n, struct lbw_node_report *ret);

#endif
