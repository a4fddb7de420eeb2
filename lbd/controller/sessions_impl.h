/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of the controller's connections share: coming in (sessions.c), and being there (session_ready.c). */
#ifndef LBD_CONTROLLER_SESSIONS_IMPL_H
#define LBD_CONTROLLER_SESSIONS_IMPL_H

#include <sys/socket.h>

#include "common/auth.h"
#include "lbd/conn.h"
#include "lbd/controller/prove.h"
#include "lbd/controller/sessions.h"
#include "lbd/guard.h"
#include "lbd/listener.h"
#include "wire/node.h"

#define SILENT_NS (180 * LBX_NS_PER_S) /* a node reports more often than this */

enum state { WAIT_HELLO, PROVING, KEYING, READY };

struct waiting {
    uint64_t seq, ticket;
};

struct session {
    struct lbd_conn conn;
    struct lbd_sessions *all;
    struct session *next, **link;
    enum state state;
    struct sockaddr_storage peer;
    uint64_t guard_key;
    uint8_t nonce[LBW_NODE_NONCE_BYTES];
    struct lbd_prove *prove; /* the work in the pool; NULL before it and when READY */
    bool pooled, gone;       /* the work is under way; the connection is closed */
    struct lbx_auth auth;

    /* when READY */
    char name[LBW_LOCAL_HOST_MAX];
    uint32_t host;           /* its number */
    bool rank_due;           /* a ranking is to be sent */
    bool places;             /* sruns there have claimed something */
    struct waiting *waiting; /* [nwaiting], of waiting_size; oldest first */
    unsigned nwaiting, waiting_size;
};

struct lbd_sessions {
    uv_loop_t *loop;
    struct lbd_sessions_config config;
    struct lbd_listener listener;
    uv_timer_t sweep;
    struct lbd_guard guard;
    struct session *list;
    struct lbw_node_msg msg; /* one for all: it is large */
    struct lbx_buf body;
    struct lbd_sessions_refused refused;

    uv_timer_t spread;                 /* sends the ranking to some at a time */
    const struct lbd_ranking *ranking; /* borrowed; NULL: none yet */
    unsigned spread_batch;
    struct lbx_buf *part; /* [nparts] of the ranking, encoded */
    size_t nparts;
};

/* Send all->msg. */
int lbd_session_send(struct session *s);

/* Take all->msg from a session that is READY.  Returns as on_frame. */
int lbd_session_take(struct session *s);

/* It has just come and knows no ranking. */
void lbd_session_rank_later(struct session *s);

#endif
