/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calling the controller: resolve, connect, prove by MUNGE, agree on keys.  Blocking and straight on, in the loop's work pool;
 * the loop gets a socket that is ready for frames.
 */
#ifndef LBD_NODE_DIAL_H
#define LBD_NODE_DIAL_H

#include <uv.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/frame.h"
#include "lbd/options.h"
#include "wire/node.h"

struct lbd_dial {
    uv_work_t work;
    struct lbd_address address;
    struct lbw_node_proof proof; /* host, boot and instance are the caller's */
    int fd;                      /* the result, -1 on failure */
    struct lbx_channel channel;
    struct lbx_buf in; /* bytes that came behind the proof */
    int rc;
    struct lbx_error err;
    void (*on_done)(struct lbd_dial *d, int rc);
    void *data; /* the owner's */
};

/* on_done comes on the loop's thread: with 0 the caller takes over fd and in; otherwise err says why. */
int lbd_dial_start(struct lbd_dial *d, uv_loop_t *loop, void (*on_done)(struct lbd_dial *d, int rc))
    __attribute__((warn_unused_result));

#endif
