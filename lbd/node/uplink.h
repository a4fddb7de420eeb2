/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node's connection to the controller: reports up, kept until they are acknowledged; the ranking down.  Calls again after
 * 1 to 60 s with jitter when it is lost.  All calls on the loop's thread.
 */
#ifndef LBD_NODE_UPLINK_H
#define LBD_NODE_UPLINK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lbd/options.h"
#include "lbd/ranking.h"
#include "wire/node.h"

struct lbd_uplink_stats {
    bool connected;
    uint64_t failures, dropped, acknowledged; /* the latter two: reports */
    uint32_t pending;
    char reason[LBX_ERROR_TEXT_MAX]; /* why the last attempt failed */
};

struct lbd_uplink;

/* ranking: filled by what comes; borrowed.  host: copied.  Returns 0 or a negative errno. */
int lbd_uplink_create(uv_loop_t *loop, const struct lbd_address *controller, const char *host,
                      struct lbd_ranking *ranking, struct lbd_uplink **ret_uplink)
    __attribute__((warn_unused_result));
void lbd_uplink_stop(struct lbd_uplink *u);
void lbd_uplink_destroy(struct lbd_uplink *u); /* after the loop has ended; NULL is fine */

/* A report, or a step that has ended, to be sent; numbered here, copied. */
void lbd_uplink_report(struct lbd_uplink *u, const struct lbw_node_report *report);
void lbd_uplink_job(struct lbd_uplink *u, const struct lbw_job *job);

/* Decisions of a step to be passed on, borrowed; what cannot go at once is left out: they are kept here, too. */
void lbd_uplink_decisions(struct lbd_uplink *u, uint32_t jobid, uint32_t stepid, uint32_t uid,
                          const char *text);

/* What this host's sruns claim: to be passed on at once, or not at all (false). */
bool lbd_uplink_claims(struct lbd_uplink *u, const struct lbw_node_claims *claims);

/* Where the claims of other hosts go. */
void lbd_uplink_on_claims(struct lbd_uplink *u,
                          void (*hear)(void *data, const struct lbw_node_claims *claims),
                          void *data);

void lbd_uplink_stats(const struct lbd_uplink *u, struct lbd_uplink_stats *ret);

/* This machine's boot id. */
void lbd_uplink_boot_id(char ret_boot[LBW_NODE_BOOT_MAX]);

#endif
