/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking at a node's credential and address, in the loop's work pool: both may block. */
#ifndef LBD_CONTROLLER_PROVE_H
#define LBD_CONTROLLER_PROVE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/error.h"
#include "wire/node.h"

struct lbd_prove {
    uv_work_t work;
    char credential[LBW_NODE_CREDENTIAL_MAX];
    uint8_t nonce[LBW_NODE_NONCE_BYTES]; /* what it must carry */
    struct sockaddr_storage peer;
    bool verify_address;
    struct lbw_node_proof proof; /* the result */
    int rc;
    struct lbx_error err;
    void (*on_done)(struct lbd_prove *p, int rc);
    void *data; /* the owner's */
};

/*
 * Fill the inputs first.  on_done comes on the loop's thread, with 0, -EACCES (credential), -EADDRNOTAVAIL (not an address of
 * that name), or another negative errno and a text in err.
 */
int lbd_prove_start(struct lbd_prove *p, uv_loop_t *loop,
                    void (*on_done)(struct lbd_prove *p, int rc))
    __attribute__((warn_unused_result));

#endif
