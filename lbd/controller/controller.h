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
#include "lbd/controller/finished.h"
#include "lbd/controller/running.h"
#include "lbd/controller/outlook.h"
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

/* A host as the controller knows it. */
struct lbd_host {
    char name[LBW_LOCAL_HOST_MAX];
    char boot[LBW_NODE_BOOT_MAX];
    uint64_t instance;    /* of its lbd; 0: not heard since our start */
    uint64_t last_seq;    /* of its newest report */
    uint64_t last_ticket; /* the store's for it */
    bool reported;        /* report is valid */
    bool connected;
    enum lbd_slurm_state slurm; /* drained, down and absent ones are not ranked */
    struct lbw_node_report report;
    int64_t at_ns; /* when the report was taken, our monotonic clock */
    int64_t at_s;  /* the same since 1970, no two reports alike */
    double index;
    struct lbd_outlook *outlook;  /* owned; NULL before the first report */
    struct lbd_prospect prospect; /* what it was ranked by */
};

struct lbd_controller_stats {
    uint32_t hosts_fresh, connected;
    uint64_t reports;
    uint64_t refused_cap, refused_credential, refused_address, refused_proof, refused_garbage,
        refused_timeout;
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

/* Slurm's nodes are asked from here; borrowed, may be NULL.  Call it again when the list is new. */
void lbd_controller_slurm(struct lbd_controller *c, const struct lbd_slurmnodes *nodes);

/* The number of a host that has proved its name, made when it is new; UINT32_MAX: out of memory, or too many. */
uint32_t lbd_controller_join(struct lbd_controller *c, const char *name, const char *boot,
                             uint64_t instance);
void lbd_controller_leave(struct lbd_controller *c, uint32_t index, const char *why);

/* A report of a joined host.  Returns the store's ticket; for one that was had already that of the newest. */
uint64_t lbd_controller_report(struct lbd_controller *c, uint32_t index,
                               const struct lbw_node_report *report);

/* Likewise the figures of a job step whose balancer is there. */
uint64_t lbd_controller_job(struct lbd_controller *c, uint32_t index, const struct lbw_job *job);

/* Where decisions go that nodes tell, borrowed; NULL: nowhere. */
void lbd_controller_keep(struct lbd_controller *c, struct lbd_decisions *decisions);
void lbd_controller_decisions(struct lbd_controller *c, const struct lbw_node_decisions *m);

/*
 * Claims: of other hosts, where they go to (hear); and of an origin, to be passed on to the other nodes.
 */
void lbd_controller_on_claims(struct lbd_controller *c,
                              void (*hear)(void *data, const struct lbw_node_claims *claims),
                              void *data);
void lbd_controller_claims(struct lbd_controller *c, const struct lbw_node_claims *claims);

/* A node has told some: both. */
void lbd_controller_heard(struct lbd_controller *c, const struct lbw_node_claims *claims);

/* The jobs that run, and what has become of the others; borrowed. */
const struct lbd_running *lbd_controller_running(struct lbd_controller *c);
const struct lbd_finished *lbd_controller_finished(const struct lbd_controller *c);

/* Borrowed until the next call of join. */
const struct lbd_host *lbd_controller_hosts(const struct lbd_controller *c, size_t *ret_n);
void lbd_controller_stats(const struct lbd_controller *c, struct lbd_controller_stats *ret);
struct lbd_store *lbd_controller_store(const struct lbd_controller *c);

#endif
