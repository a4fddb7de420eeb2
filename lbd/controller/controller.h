/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The controller role: takes the nodes' reports, ranks the hosts, has them recorded, and hands the ranking to the nodes.  All
 * calls on the loop's thread.
 */
#ifndef LBD_CONTROLLER_CONTROLLER_H
#define LBD_CONTROLLER_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/error.h"
#include "lbd/controller/hosts.h"
#include "lbd/controller/sessions.h"
#include "lbd/controller/slurmnodes.h"
#include "lbd/controller/store.h"
#include "lbd/decisions.h"
#include "lbd/ranking.h"
#include "policy/index.h"

struct lbd_controller_settings {
    const char *state; /* folder of the database; borrowed during the call */
    const char *listen_address;
    uint16_t listen_port;
    struct lbp_index_weights weights;
    int64_t max_bytes;
    struct lbd_keep_settings keep;
    bool verify_address;
    int64_t load_interval_ns; /* between the nodes' samples, as configured */
};

struct lbd_controller_stats {
    uint32_t hosts_fresh, connected;
    uint64_t reports;
    struct lbd_sessions_refused refused;
};

struct lbd_controller;

/* ranking: kept up to date; borrowed until lbd_controller_destroy. */
int lbd_controller_create(uv_loop_t *loop, const struct lbd_controller_settings *settings,
                          struct lbd_ranking *ranking, struct lbx_error *err,
                          struct lbd_controller **ret_controller)
    __attribute__((warn_unused_result));
void lbd_controller_stop(struct lbd_controller *c);
void lbd_controller_destroy(struct lbd_controller *c); /* NULL is fine */

/* New weights, retention, check of addresses; the rest is fixed from the start. */
void lbd_controller_set(struct lbd_controller *c, const struct lbd_controller_settings *settings);

/* Where decisions go that nodes tell, borrowed; NULL: nowhere. */
void lbd_controller_keep(struct lbd_controller *c, struct lbd_decisions *decisions);

/*
 * Claims: of other hosts, where they go to (hear); and of an origin, to be passed on to the other nodes.
 */
void lbd_controller_on_claims(struct lbd_controller *c,
                              void (*hear)(void *data, const struct lbw_node_claims *claims),
                              void *data);
void lbd_controller_claims(struct lbd_controller *c, const struct lbw_node_claims *claims);

/* What the nodes have told; borrowed. */
struct lbd_hosts *lbd_controller_hosts(struct lbd_controller *c);

/* The jobs that run; borrowed. */
const struct lbd_running *lbd_controller_running(struct lbd_controller *c);
void lbd_controller_stats(const struct lbd_controller *c, struct lbd_controller_stats *ret);
/* Borrowed. */
struct lbd_store *lbd_controller_store(const struct lbd_controller *c);

#endif
