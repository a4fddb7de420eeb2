/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of bytes: frames without and with keys, and the proof of the keys.  First byte: which, and the size of pieces. */
#include <errno.h>

#include "common/auth.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "frame";

#define STREAM_BYTES (4 * LBX_FRAME_CAP)

static const uint8_t key_a[LBX_KEY_BYTES] = {1}, key_b[LBX_KEY_BYTES] = {2};

/* One byte of a stream that somebody changes on the way. */
struct change {
    size_t at;
    uint8_t with; /* exclusive or; 0: nobody does */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void must(int rc)
{
    if (rc != 0)
        fuzz_fail("no room, or no memory");
}

/* Frames taken from any bytes, put together again, are the same bytes. */
static void try_plain(const uint8_t *data, size_t n, size_t piece)
{
    struct lbx_channel rx, tx;
    struct lbx_buf in, again;
    const uint8_t *body;
    size_t body_n;
    int rc = 0;

    lbx_channel_init_plain(&rx);
    lbx_channel_init_plain(&tx);
    lbx_buf_init(&in, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD + piece);
    lbx_buf_init(&again, STREAM_BYTES);
    for (size_t at = 0; at < n && rc >= 0; at += piece) {
        must(lbx_buf_append(&in, data + at, least(piece, n - at)));
        while ((rc = lbx_frame_next(&rx, &in, &body, &body_n)) > 0)
            must(lbx_frame_append(&tx, &again, body, body_n));
    }
    if (lbx_buf_len(&again) > 0) {
        fuzz_accepted++;
        if (lbx_buf_len(&again) > n || memcmp(lbx_buf_data(&again), data, lbx_buf_len(&again)) != 0)
            fuzz_fail("frames that were not in the stream");
    }
    lbx_buf_fini(&in);
    lbx_buf_fini(&again);
}

/* Bodies of the lengths that their first bytes say; with one byte changed, its frame and all behind it are refused. */
static void try_keyed(const uint8_t *data, size_t n, size_t piece, struct change c)
{
    size_t sent = 0, taken = 0, hurt = SIZE_MAX, at, len, body_n;
    struct lbx_channel tx, rx;
    struct lbx_buf stream, in;
    const uint8_t *body;
    uint8_t b;
    int rc = 0;

    lbx_channel_init_keyed(&tx, key_a, key_b);
    lbx_channel_init_keyed(&rx, key_b, key_a);
    lbx_buf_init(&stream, STREAM_BYTES);
    lbx_buf_init(&in, STREAM_BYTES);
    for (at = 0; at < n; at += len, sent++) {
        size_t before = lbx_buf_len(&stream);

        len = least(1 + (size_t)data[at], n - at);
        must(lbx_frame_append(&tx, &stream, data + at, len));
        if (c.with && c.at >= before && c.at < lbx_buf_len(&stream))
            hurt = sent;
    }
    for (size_t i = 0; i < lbx_buf_len(&stream) && rc >= 0; i++) {
        b = lbx_buf_data(&stream)[i] ^ (i == c.at ? c.with : 0);
        must(lbx_buf_append(&in, &b, 1));
        if (i % piece != 0 && i + 1 < lbx_buf_len(&stream))
            continue;
        while ((rc = lbx_frame_next(&rx, &in, &body, &body_n)) > 0) {
            if (taken >= least(hurt, sent))
                fuzz_fail("a frame was taken that nobody has sent");
            taken++;
        }
    }
    if (hurt == SIZE_MAX && taken != sent)
        fuzz_fail("a frame was lost");
    fuzz_accepted += hurt == SIZE_MAX && sent > 0;
    lbx_buf_fini(&stream);
    lbx_buf_fini(&in);
}

/* Somebody without the key proves nothing, and is not heard again. */
static void try_stranger(const uint8_t *data, size_t n, size_t piece, bool as_server)
{
    struct lbx_buf in, out;
    struct lbx_auth a;
    int rc;

    if (as_server)
        lbx_auth_init_client(&a, key_a, "c", 1, 7);
    else
        lbx_auth_init_server(&a, key_a, "c", 1);
    lbx_buf_init(&in, STREAM_BYTES);
    lbx_buf_init(&out, 1024);
    rc = lbx_auth_step(&a, &in, &out);
    for (size_t at = 0; at < n && rc == 0; at += piece) {
        must(lbx_buf_append(&in, data + at, least(piece, n - at)));
        rc = lbx_auth_step(&a, &in, &out);
    }
    if (rc != 0 && (rc != -EACCES || lbx_auth_step(&a, &in, &out) != -EACCES))
        fuzz_fail("a stranger was heard");
    lbx_auth_fini(&a);
    lbx_buf_fini(&in);
    lbx_buf_fini(&out);
}

/* What one side has said reaches the other, in pieces, and perhaps changed. */
static int carry(struct lbx_buf *from, struct lbx_auth *to, struct lbx_buf *in, struct lbx_buf *out,
                 size_t piece, struct change *c)
{
    int rc = 0;

    while (rc == 0 && lbx_buf_len(from) > 0) {
        size_t k = least(piece, lbx_buf_len(from));

        for (size_t i = 0; i < k; i++, c->at--) {
            uint8_t b = lbx_buf_data(from)[i] ^ (c->at == 0 ? c->with : 0);

            must(lbx_buf_append(in, &b, 1));
        }
        lbx_buf_consume(from, k);
        rc = lbx_auth_step(to, in, out);
    }
    return rc;
}

/* Two that have the key; one byte changed, and they do not both believe it. */
static void try_proof(uint32_t id, size_t piece, struct change c)
{
    struct lbx_buf up_out, up_in, down_out, down_in;
    struct lbx_auth server, client;
    int rs, rc;
    bool hurt = c.with && c.at < 40 + 76 + 32;

    lbx_auth_init_server(&server, key_a, "c", 1);
    lbx_auth_init_client(&client, key_a, "c", 1, id);
    lbx_buf_init(&up_out, 1024);
    lbx_buf_init(&up_in, 1024);
    lbx_buf_init(&down_out, 1024);
    lbx_buf_init(&down_in, 1024);
    must(lbx_auth_step(&server, &up_in, &down_out));
    rc = carry(&down_out, &client, &down_in, &up_out, piece, &c);
    rs = rc < 0 ? rc : carry(&up_out, &server, &up_in, &down_out, piece, &c);
    if (rs == 1)
        rc = carry(&down_out, &client, &down_in, &up_out, piece, &c);
    if (hurt ? rs == 1 && rc == 1 : rs != 1 || rc != 1 || server.peer_id != id)
        fuzz_fail(hurt ? "a changed proof was believed" : "a proof was not believed");
    fuzz_accepted += !hurt;
    lbx_auth_fini(&server);
    lbx_auth_fini(&client);
    lbx_buf_fini(&up_out);
    lbx_buf_fini(&up_in);
    lbx_buf_fini(&down_out);
    lbx_buf_fini(&down_in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct change c;
    size_t piece;

    if (n < 5 || n > LBX_FRAME_CAP || lbx_auth_setup() != 0)
        return 0;
    piece = 1 + (data[0] >> 2);
    c.at = data[1] | (size_t)data[2] << 8;
    c.with = data[3];
    switch (data[0] & 3) {
    case 0:
        try_plain(data + 1, n - 1, piece);
        break;
    case 1:
        try_keyed(data + 4, n - 4, piece, c);
        break;
    case 2:
        try_stranger(data + 2, n - 2, piece, data[1] & 1);
        break;
    default:
        try_proof(data[4], piece, c);
    }
    return 0;
}
