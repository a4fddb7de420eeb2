/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What any user may send to lbd's unix socket, and any machine to the controller's port: the frames, then the messages of both
 * protocols.  First byte: which of them the rest is given to.
 */
#include "common/frame.h"
#include "tests/fuzz/fuzz.h"
#include "wire/local.h"
#include "wire/node.h"

const char fuzz_name[] = "local";

FUZZ_CODEC(try_local, struct lbw_local_msg, lbw_local_decode, lbw_local_encode)
FUZZ_CODEC(try_node, struct lbw_node_msg, lbw_node_decode, lbw_node_encode)
FUZZ_CODEC(try_proof, struct lbw_node_proof, lbw_node_proof_decode, lbw_node_proof_encode)

/* A stream that comes in pieces of the given size. */
static void try_stream(const uint8_t *data, size_t n, size_t piece)
{
    struct lbx_channel c;
    struct lbx_buf in;
    const uint8_t *body;
    size_t body_n;
    int rc = 0;

    lbx_channel_init_plain(&c);
    lbx_buf_init(&in, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD);
    for (size_t at = 0; at < n && rc >= 0; at += piece) {
        rc = lbx_buf_append(&in, data + at, n - at < piece ? n - at : piece);
        while (rc >= 0 && (rc = lbx_frame_next(&c, &in, &body, &body_n)) > 0)
            try_local(body, body_n);
    }
    lbx_buf_fini(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    switch (data[0] & 3) {
    case 0:
        try_local(data + 1, n - 1);
        break;
    case 1:
        try_node(data + 1, n - 1);
        break;
    case 2:
        try_proof(data + 1, n - 1);
        break;
    default:
        try_stream(data + 1, n - 1, 1 + (data[0] >> 2));
    }
    return 0;
}
