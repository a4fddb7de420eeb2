/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a running lbd, for what reads from all of them: commands and metrics.  All borrowed; NULL without the role. */
#ifndef LBD_VIEW_H
#define LBD_VIEW_H

#include <stdint.h>

#include "common/policyconf.h"
#include "lbd/controller/controller.h"
#include "lbd/controller/weights.h"
#include "lbd/jobs.h"
#include "lbd/local_server.h"
#include "lbd/node/foreseen.h"
#include "lbd/node/node.h"
#include "lbd/node/uplink.h"
#include "lbd/options.h"
#include "lbd/ranking.h"
#include "lbd/spread.h"

/* What commands may have done to the whole. */
struct lbd_hands {
    void (*probe)(void *data, int64_t interval_ns); /* 0: the interval stays */
    void (*set_weights)(void *data, const struct lbp_index_weights *w);
    void *data;
};

struct lbd_view {
    const struct lbd_options *options;
    const struct lbx_policyconf *conf;
    const struct lbd_node *node;
    const struct lbd_uplink *uplink;
    struct lbd_controller *controller;
    struct lbd_weights *weights; /* of Slurm's nodes */
    const struct lbd_slurmnodes *slurm;
    const struct lbd_ranking *ranking;
    struct lbd_local_server *server;
    const struct lbd_spread *spread;
    int64_t started_wall_ns;
    uint64_t reload_failures;
    const struct lbd_jobs *jobs;
    const struct lbd_foreseen *foreseen;
    const struct lbd_hands *hands;
};

#endif
