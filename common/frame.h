/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames on a byte stream: u32 length (big endian), body, and on a keyed channel a 16-byte MAC over
 * direction key, sequence number, length and body.  The sequence is counted, never sent, so that a
 * frame repeated, dropped or reordered is refused like a forged one.
 */
#ifndef LBX_FRAME_H
#define LBX_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

#define LBX_KEY_BYTES 32
#define LBX_FRAME_CAP 65536   /* bytes of the largest body either side accepts */
#define LBX_FRAME_OVERHEAD 20 /* bytes of header and MAC */

struct lbx_channel {
    bool keyed;
    uint8_t key_tx[LBX_KEY_BYTES], key_rx[LBX_KEY_BYTES];
    uint64_t seq_tx, seq_rx;
    size_t taken; /* bytes of the frame last handed out, consumed at the next call */
};

/* Without keys: the peer is proved by other means (a unix socket's credentials). */
void lbx_channel_init_plain(struct lbx_channel *c);
void lbx_channel_init_keyed(struct lbx_channel *c, const uint8_t key_tx[LBX_KEY_BYTES],
                            const uint8_t key_rx[LBX_KEY_BYTES]); /* keys copied */
void lbx_channel_fini(struct lbx_channel *c);                     /* wipes the keys; NULL is fine */

/*
 * Append one frame to out.
 * body[in]  [n], 1 <= n <= LBX_FRAME_CAP
 * Returns 0, -EMSGSIZE (n out of range, or out full), -ENOMEM; on failure out and the sequence are
 * unchanged.
 */
int lbx_frame_append(struct lbx_channel *c, struct lbx_buf *out, const void *body, size_t n)
    __attribute__((warn_unused_result));

/*
 * Take the next whole frame from in.
 * ret_body[out]  borrowed from in until the next call on in or c
 * Returns 1 with a frame, 0 when more bytes are needed, -EMSGSIZE (length 0 or above the cap),
 * -EBADMSG (wrong MAC). After an error the stream cannot be read further: close it.
 */
int lbx_frame_next(struct lbx_channel *c, struct lbx_buf *in, const uint8_t **ret_body,
                   size_t *ret_n) __attribute__((warn_unused_result));

#endif
