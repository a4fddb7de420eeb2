/* SPDX-License-Identifier: BSD-3-Clause */
/* lbd's unix socket: answers from memory, never blocks, knows its peers by the kernel's credentials. */
#ifndef LBD_LOCAL_SERVER_H
#define LBD_LOCAL_SERVER_H

#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/error.h"
#include "lbd/node/node.h"
#include "lbd/ranking.h"
#include "lbd/spread.h"
#include "lbd/vacant.h"

struct lbd_peer {
    uid_t uid;
    gid_t gid;
    pid_t pid;
};

/* What the answers come from. */
struct lbd_local_sources {
    struct lbd_node *node; /* NULL without the role */
    const struct lbd_ranking *ranking;
    struct lbd_spread *spread; /* NULL: no claims are taken */
    struct lbd_vacant *vacant; /* NULL: Slurm's idle hosts are not known */
    /* Whether the uid may give commands (root and our own may always). */
    bool (*may_command)(void *data, uid_t uid);
    /*
     * A command of lbctl: returns JSON to be freed, or NULL with err.  -EINPROGRESS in err: lbd_local_server_answer follows,
     * with the same number of the request.
     */
    char *(*command)(void *data, uint64_t request, const char *text, struct lbx_error *err);
    /* Between two samples of the load: a placement shows in it by then. */
    int64_t (*load_interval_ns)(void *data);
    /* What is decided for a step. */
    void (*rule)(void *data, const struct lbw_local_scope *scope, struct lbw_local_rule *ret_rule);
    /* A balancer's figures.  Returns 0 or a negative errno with err. */
    int (*job)(void *data, const struct lbd_peer *peer, const char *json, struct lbx_error *err);
    /* Its decisions, likewise. */
    int (*decisions)(void *data, const struct lbd_peer *peer, const char *json,
                     struct lbx_error *err);
    /* What is kept of them for this peer (all: of every user): JSON to be freed, or NULL with err. */
    char *(*explain)(void *data, uid_t uid, bool all, const char *text, struct lbx_error *err);
    void *data;
};

#define LBD_PLACE_BUCKETS 8 /* bounds of the catalogue's "seconds", the last one without bound */

struct lbd_local_stats {
    uint64_t accepted, refused; /* connections; refused: over a cap */
    uint64_t requests;
    uint64_t bad; /* connections closed for garbage, a size, a rate, or not reading */
    uint32_t connections;
    uint64_t
        place_counts[LBD_PLACE_BUCKETS]; /* questions for a placement by the time they took, not
                                                 cumulative */
    double place_sum_s;
};

struct lbd_local_server;

/* sources: borrowed fields, copied struct.  Listens at path (mode 0666; its folder is made, 0755). */
int lbd_local_server_create(uv_loop_t *loop, const char *path,
                            const struct lbd_local_sources *sources, struct lbx_error *err,
                            struct lbd_local_server **ret_server)
    __attribute__((warn_unused_result));

/* Stop listening and close the connections; the loop must run until they are closed. */
void lbd_local_server_stop(struct lbd_local_server *s);
void lbd_local_server_destroy(struct lbd_local_server *s); /* NULL is fine */

/* The answer to a command that took longer: json, or NULL and err's text.  Nothing happens when the client is gone. */
void lbd_local_server_answer(struct lbd_local_server *s, uint64_t request, const char *json,
                             const struct lbx_error *err);

/* The sources' vacant has an answer of Slurm's. */
void lbd_local_server_vacant(struct lbd_local_server *s);

void lbd_local_server_stats(const struct lbd_local_server *s, struct lbd_local_stats *ret);

#endif
