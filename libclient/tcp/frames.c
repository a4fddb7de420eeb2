/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames to and from the other ranks, below all that is made of them. */
#include <errno.h>

#include "libclient/tcp/tcp.h"

int tcp_tell(struct tcp_transport *t, int dest, enum tcp_type type, uint32_t id, uint64_t number,
             const void *bytes, size_t n)
{
    struct tcp_head h = {.type = type, .id = id, .number = number};

    return lbc_mesh_send(t->mesh, dest, &h, sizeof(h), bytes, n);
}

int tcp_send_some(struct tcp_transport *t, int dest, enum tcp_type type, uint32_t id,
                  struct tcp_cursor *from, uint64_t most, uint64_t *ret_sent)
{
    int rc = 0;

    *ret_sent = 0;
    if (most > from->left)
        most = from->left;
    if (most > 0)
        rc = lbc_mesh_connect(t->mesh, dest);
    while (rc == 0 && *ret_sent < most && lbc_mesh_has_room(t->mesh, dest)) {
        uint64_t n = most - *ret_sent < LBC_MESH_BODY_MAX ? most - *ret_sent : LBC_MESH_BODY_MAX;

        tcp_cursor_take(from, t->scratch, (size_t)n);
        rc = tcp_tell(t, dest, type, id, 0, t->scratch, (size_t)n);
        *ret_sent += n;
    }
    return rc;
}

int tcp_progress(struct tcp_transport *t)
{
    if (lbc_mesh_progress(t->mesh) < 0 || t->pump(t) < 0 || lbc_mesh_progress(t->mesh) < 0)
        return -EIO;
    return 0;
}
