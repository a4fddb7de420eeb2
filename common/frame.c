/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on a byte stream, with a MAC per frame on keyed channels. */
#include "common/frame.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#define HEADER_BYTES 4
#define MAC_BYTES 16

static void put_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The MAC over sequence number, then header and body as they stand on the wire. */
static void compute_mac(const uint8_t key[LBX_KEY_BYTES], uint64_t seq, const uint8_t *wire,
                        size_t n, uint8_t ret_mac[MAC_BYTES])
{
    crypto_generichash_state st;
    uint8_t s[8];

    put_u32(s, (uint32_t)(seq >> 32));
    put_u32(s + 4, (uint32_t)seq);
    crypto_generichash_init(&st, key, LBX_KEY_BYTES, MAC_BYTES);
    crypto_generichash_update(&st, s, sizeof(s));
    crypto_generichash_update(&st, wire, n);
    crypto_generichash_final(&st, ret_mac, MAC_BYTES);
}

void lbx_channel_init_plain(struct lbx_channel *c)
{
    memset(c, 0, sizeof(*c));
}

void lbx_channel_init_keyed(struct lbx_channel *c, const uint8_t key_tx[LBX_KEY_BYTES],
                            const uint8_t key_rx[LBX_KEY_BYTES])
{
    memset(c, 0, sizeof(*c));
    c->keyed = true;
    memcpy(c->key_tx, key_tx, LBX_KEY_BYTES);
    memcpy(c->key_rx, key_rx, LBX_KEY_BYTES);
}

void lbx_channel_fini(struct lbx_channel *c)
{
    if (c)
        sodium_memzero(c, sizeof(*c));
}

int lbx_frame_append(struct lbx_channel *c, struct lbx_buf *out, const void *body, size_t n)
{
    size_t wire_bytes = HEADER_BYTES + n + (c->keyed ? MAC_BYTES : 0);
    uint8_t *p;
    int rc;

    if (n == 0 || n > LBX_FRAME_CAP)
        return -EMSGSIZE;
    rc = lbx_buf_room(out, wire_bytes, &p);
    if (rc < 0)
        return rc;
    put_u32(p, (uint32_t)n);
    memcpy(p + HEADER_BYTES, body, n);
    if (c->keyed)
        compute_mac(c->key_tx, c->seq_tx++, p, HEADER_BYTES + n, p + HEADER_BYTES + n);
    lbx_buf_wrote(out, wire_bytes);
    return 0;
}

int lbx_frame_next(struct lbx_channel *c, struct lbx_buf *in, const uint8_t **ret_body,
                   size_t *ret_n)
{
    uint8_t mac[MAC_BYTES];
    const uint8_t *p;
    size_t n, wire_bytes;

    if (c->taken > 0) {
        lbx_buf_consume(in, c->taken);
        c->taken = 0;
    }
    if (lbx_buf_len(in) < HEADER_BYTES)
        return 0;
    p = lbx_buf_data(in);
    n = get_u32(p);
    if (n == 0 || n > LBX_FRAME_CAP)
        return -EMSGSIZE;
    wire_bytes = HEADER_BYTES + n + (c->keyed ? MAC_BYTES : 0);
    if (lbx_buf_len(in) < wire_bytes)
        return 0;
    if (c->keyed) {
        compute_mac(c->key_rx, c->seq_rx, p, HEADER_BYTES + n, mac);
        if (sodium_memcmp(mac, p + HEADER_BYTES + n, MAC_BYTES) != 0)
            return -EBADMSG;
        c->seq_rx++;
    }
    c->taken = wire_bytes;
    *ret_body = p + HEADER_BYTES;
    *ret_n = n;
    return 1;
}
