/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The controller's connections with nodes: proof by MUNGE (in the loop's work pool: it may block), then keyed frames.  Reports
 * go to the hosts, and are acknowledged when they are on disk.
 */
#ifndef LBD_CONTROLLER_SESSIONS_H
#define LBD_CONTROLLER_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/error.h"
#include "lbd/controller/hosts.h"
#include "lbd/ranking.h"
#include "wire/node.h"

struct lbd_sessions;

struct lbd_sessions_config {
    struct lbd_hosts *hosts; /* told what the nodes report; borrowed */
    /* Of a node: */
    void (*on_decisions)(void *data, const struct lbw_node_decisions *decisions);
    void (*on_claims)(void *data, const struct lbw_node_claims *claims);
    void *data;
    const char *address; /* to listen at; borrowed during the call */
    uint16_t port;
    bool verify_address;
};

/* Connections that were refused, by reason. */
struct lbd_sessions_refused {
    uint64_t cap, credential, address, proof, garbage, timeout;
};

int lbd_sessions_create(uv_loop_t *loop, const struct lbd_sessions_config *config,
                        struct lbx_error *err, struct lbd_sessions **ret_sessions)
    __attribute__((warn_unused_result));
void lbd_sessions_stop(struct lbd_sessions *s);
void lbd_sessions_destroy(struct lbd_sessions *s); /* NULL is fine */

void lbd_sessions_set(struct lbd_sessions *s, bool verify_address);

/* Hand the ranking to all, within within_ns, as it is when each is sent it; to those that come later, too.  Borrowed for good. */
void lbd_sessions_send_ranking(struct lbd_sessions *s, const struct lbd_ranking *ranking,
                               int64_t within_ns);

/*
 * Tell claims to the other nodes at once: to all while they are few, then to those where sruns may be.  Who does not read is passed
 * over.
 */
void lbd_sessions_pass_on(struct lbd_sessions *s, const struct lbw_node_claims *claims);

/* Acknowledge what is on disk up to this ticket. */
void lbd_sessions_acknowledge(struct lbd_sessions *s, uint64_t committed);

/* Rows were lost: let the nodes connect again, and send again what was not acknowledged. */
void lbd_sessions_restart(struct lbd_sessions *s);

const struct lbd_sessions_refused *lbd_sessions_refused(const struct lbd_sessions *s);

#endif
