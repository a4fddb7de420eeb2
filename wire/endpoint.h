/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a step's balancer listens and the key that proves its ranks: goes from the balancer to rank
 * 0 over a local socket, and from rank 0 to the other ranks through PMIx.  Secret: never logged,
 * never in an environment or argument.
 */
#ifndef LBW_ENDPOINT_H
#define LBW_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/frame.h"

#define LBW_ENDPOINT_VERSION 1
#define LBW_ENDPOINT_ADDRESSES_MAX 8
#define LBW_ENDPOINT_ADDRESS_MAX 48  /* bytes of a numeric IPv4 or IPv6 address with its NUL */
#define LBW_ENDPOINT_CONTEXT_MAX 128 /* bytes with the NUL */
#define LBW_ENDPOINT_BYTES_MAX 1024

struct lbw_endpoint {
    uint16_t port;
    size_t naddresses;
    char address[LBW_ENDPOINT_ADDRESSES_MAX]
                [LBW_ENDPOINT_ADDRESS_MAX]; /* to be tried in this order */
    uint8_t key[LBX_KEY_BYTES];
    char context[LBW_ENDPOINT_CONTEXT_MAX]; /* cluster, job, step, restart, nonce: bound into the
                                               proofs */
    char policy[256]; /* canonical text of the job's policy, see policy/registry.h */
};

/* As lbw_rank_encode and lbw_rank_decode: a body, no frame. */
int lbw_endpoint_encode(const struct lbw_endpoint *e, struct lbx_buf *out)
    __attribute__((warn_unused_result));
int lbw_endpoint_decode(const uint8_t *body, size_t n, struct lbw_endpoint *ret_endpoint)
    __attribute__((warn_unused_result));

#endif
