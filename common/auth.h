/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutual proof of a shared 256-bit key over a byte stream, before anything else is read.
 *   server -> client: magic, nonce_s                         40 bytes
 *   client -> server: magic, nonce_c, peer id, proof         76 bytes
 *   server -> client: proof                                  32 bytes
 * Each proof is BLAKE2b keyed with the secret over role label, context, both nonces and the peer
 * id, so that neither a message of one side nor one of another job, step or connection can be
 * played back.  All messages have one length; nothing is parsed before the proof holds.  Both sides
 * derive the two direction keys of the frames from it.
 */
#ifndef LBX_AUTH_H
#define LBX_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/frame.h"

#define LBX_NONCE_BYTES 32

struct lbx_auth {
    bool server;
    int state; /* private: which message comes next */
    uint8_t key[LBX_KEY_BYTES];
    uint8_t context[LBX_KEY_BYTES]; /* hash of what the session is bound to */
    uint8_t nonce_s[LBX_NONCE_BYTES], nonce_c[LBX_NONCE_BYTES];
    uint32_t peer_id; /* the client's rank; on the server valid when done */
};

/* Call once per process before anything of this header or frame.h.  Returns 0 or -EIO. */
int lbx_auth_setup(void) __attribute__((warn_unused_result));

/* n bytes of randomness fit for keys. */
void lbx_auth_random(void *ret_bytes, size_t n);

/* context[in] [n]: what both sides know the session to be (cluster, job, step, restart ...); copied
 * as a hash. */
void lbx_auth_init_server(struct lbx_auth *a, const uint8_t key[LBX_KEY_BYTES], const void *context,
                          size_t n);
void lbx_auth_init_client(struct lbx_auth *a, const uint8_t key[LBX_KEY_BYTES], const void *context,
                          size_t n, uint32_t peer_id);
void lbx_auth_fini(struct lbx_auth *a); /* wipes it; NULL is fine */

/*
 * Go as far as the bytes in `in` allow, appending what is to be sent to `out`.  Call once at the
 * start (the server's first message needs no input) and whenever bytes have come.
 * Returns 1 when both sides are proved (bytes left in `in` belong to the frames), 0 when more bytes
 * are needed, -EACCES when the peer's proof or magic is wrong (and for ever after), -ENOMEM or
 * -EMSGSIZE from out (nothing is consumed; it may be called again).  After -EACCES: close.
 */
int lbx_auth_step(struct lbx_auth *a, struct lbx_buf *in, struct lbx_buf *out)
    __attribute__((warn_unused_result));

/* Only after lbx_auth_step returned 1: the keyed channel of this side. */
void lbx_auth_channel(const struct lbx_auth *a, struct lbx_channel *ret_channel);

#endif
