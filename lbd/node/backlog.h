/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a node has to tell the controller, in order, kept until it is acknowledged: a ring, whose oldest is dropped and counted when
 * it is full.
 */
#ifndef LBD_NODE_BACKLOG_H
#define LBD_NODE_BACKLOG_H

#include <stdint.h>

#include "wire/node.h"

#define LBD_BACKLOG_MAX 360 /* reports and jobs: an hour at 10 s */

struct lbd_kept {
    uint64_t seq; /* 1, 2, ... */
    int64_t at_ns;
    struct lbw_job *job; /* owned; NULL: it is a report */
    struct lbw_node_report report;
};

/* All zero is an empty one. */
struct lbd_backlog {
    struct lbd_kept *ring; /* [LBD_BACKLOG_MAX], made with the first */
    unsigned first, n;
    uint64_t last_seq;
    uint64_t dropped, acknowledged;
};

void lbd_backlog_fini(struct lbd_backlog *b); /* NULL is fine */

/*
 * Add a report, or (copied) a job; numbered and stamped here.
 * Returns 0, or -ENOMEM: then it is counted as dropped.
 */
int lbd_backlog_report(struct lbd_backlog *b, const struct lbw_node_report *report, int64_t now_ns)
    __attribute__((warn_unused_result));
int lbd_backlog_job(struct lbd_backlog *b, const struct lbw_job *job, int64_t now_ns)
    __attribute__((warn_unused_result));

/* All up to this one are on disk. */
void lbd_backlog_acknowledge(struct lbd_backlog *b, uint64_t seq);

/* The i-th of n, oldest first; borrowed until the backlog changes. */
const struct lbd_kept *lbd_backlog_at(const struct lbd_backlog *b, unsigned i);

/* The message for it, its ages brought up to now_ns. */
void lbd_backlog_message(const struct lbd_kept *k, int64_t now_ns, struct lbw_node_msg *ret_msg);

#endif
