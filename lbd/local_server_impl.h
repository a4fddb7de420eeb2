/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the server of lbd's unix socket: its clients, and who answers what. */
#ifndef LBD_LOCAL_SERVER_IMPL_H
#define LBD_LOCAL_SERVER_IMPL_H

#include "lbd/conn.h"
#include "lbd/guard.h"
#include "lbd/listener.h"
#include "lbd/local_server.h"
#include "wire/local.h"

#define LBD_LOCAL_IDLE_NS (10 * LBX_NS_PER_S) /* without a request, or without reading the answer */

struct lbd_local_client {
    struct lbd_conn conn;
    struct lbd_local_server *server;
    struct lbd_peer peer;
    struct lbd_local_client *next, **link;
    uint64_t request; /* whose answer is awaited; 0: none */
    struct {
        char partition[LBW_LOCAL_NAME_MAX];
        int64_t since_ns, until_ns; /* of Slurm's answer; 0: none is awaited */
        int64_t asked_ns;
    } idle;
};

struct lbd_local_server {
    uv_loop_t *loop;
    struct lbd_listener listener;
    uv_timer_t sweep, idle_wait;
    struct lbd_local_sources sources;
    struct lbd_guard guard;
    struct lbd_local_stats stats;
    struct lbd_local_client *clients;
    struct lbw_local_msg msg; /* one for all: it is large */
    struct lbx_buf body;
    uint64_t next_request;
    char path[108];
};

/* local_server.c: all return 0 or what the connection is closed for. */
int lbd_local_send(struct lbd_local_client *c); /* the server's msg */
int lbd_local_send_text(struct lbd_local_client *c, enum lbw_local_type type, const char *text);

/* local_answer.c: the server's msg is a request of c. */
int lbd_local_answer(struct lbd_local_client *c);
int lbd_local_refuse_ranking(struct lbd_local_client *c, int64_t now_ns);
void lbd_local_count_placement(struct lbd_local_server *s, int64_t asked_ns);

/* local_idle.c: likewise, of type IDLE; and when Slurm has answered, or somebody has waited long enough. */
int lbd_local_answer_idle(struct lbd_local_client *c);
void lbd_local_answer_waiting(struct lbd_local_server *s);

#endif
