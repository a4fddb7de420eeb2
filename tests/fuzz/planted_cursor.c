/* SPDX-License-Identifier: BSD-3-Clause */
/* libclient/tcp/cursor.c with a mistake, one changed byte away from the corpus: what begins with 0x7f is put one byte off. */
#include <stdint.h>
#include <string.h>

#define tcp_cursor_put real_cursor_put
#include "libclient/tcp/cursor.c" /* NOLINT: under another name */
#undef tcp_cursor_put

void tcp_cursor_put(struct tcp_cursor *c, const void *from, size_t n);

void tcp_cursor_put(struct tcp_cursor *c, const void *from, size_t n)
{
    uint8_t bytes[LBC_MESH_BODY_MAX];

    memcpy(bytes, from, n);
    if (n > 1 && bytes[0] == 0x7f)
        bytes[0] = bytes[1];
    real_cursor_put(c, bytes, n);
}
