/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges: transfers that both sides know of.  What a rank has to receive it asks for, by the
 * number of bytes; what it has to send waits to be asked for.  Between two ranks the bytes come in
 * the order of the parts, so they need no names.
 */
#include <errno.h>
#include <stdlib.h>

#include "libclient/tcp/tcp.h"

struct part {
    int peer;
    bool out;
    struct lbc_segment segment;
    struct tcp_cursor cursor; /* of the exchange that is under way */
};

struct lbc_exchange {
    struct lbc_exchange *next; /* of those under way */
    size_t n;
    struct part part[]; /* [n] */
};

/* It is under way no more. */
static void unlink_exchange(struct tcp_transport *t, const struct lbc_exchange *e)
{
    for (struct lbc_exchange **p = &t->exchange; *p; p = &(*p)->next) {
        if (*p == e) {
            *p = e->next;
            return;
        }
    }
}

bool tcp_exchange_destroy(struct lbc_transport *base, struct lbc_exchange *e)
{
    struct tcp_transport *t = tcp_of(base);

    if (!e)
        return true;
    unlink_exchange(t, e);
    for (size_t i = 0; i < e->n; i++)
        tcp_cursor_fini(&e->part[i].cursor);
    free(e);
    return true;
}

int tcp_exchange_create(struct lbc_transport *base, const struct lbc_part *part, size_t n,
                        struct lbc_exchange **ret)
{
    struct lbc_exchange *e = calloc(1, sizeof(*e) + n * sizeof(e->part[0]));

    if (!e)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (part[i].peer < 0 || part[i].peer >= base->size || part[i].peer == base->rank) {
            free(e);
            return -EINVAL;
        }
        e->part[i].peer = part[i].peer;
        e->part[i].out = part[i].out;
        e->part[i].segment = part[i].segment;
    }
    e->n = n;
    *ret = e;
    return 0;
}

int tcp_exchange_start(struct lbc_transport *base, struct lbc_exchange *e)
{
    struct tcp_transport *t = tcp_of(base);
    struct lbc_exchange **end = &t->exchange;
    int rc = 0;

    for (size_t i = 0; i < e->n && rc == 0; i++) {
        struct part *p = &e->part[i];

        tcp_cursor_fini(&p->cursor);
        rc = tcp_cursor_init(&p->cursor, &p->segment, 1);
        if (rc == 0 && !p->out)
            rc = tcp_tell(t, p->peer, TCP_WANT, 0, p->segment.bytes, NULL, 0);
    }
    while (*end)
        end = &(*end)->next;
    *end = e;
    e->next = NULL;
    if (rc < 0)
        lbc_mesh_fail(t->mesh);
    return rc < 0 ? -EIO : 0;
}

int tcp_part_message(struct tcp_transport *t, int source, const struct tcp_head *h,
                     const uint8_t *bytes, size_t n)
{
    if (h->type == TCP_WANT) {
        if (__builtin_add_overflow(t->asked[source], h->number, &t->asked[source]))
            return -EPROTO;
        return 0;
    }
    for (struct lbc_exchange *e = t->exchange; e; e = e->next) {
        for (size_t i = 0; n > 0 && i < e->n; i++) {
            struct part *p = &e->part[i];
            size_t k = p->cursor.left < n ? (size_t)p->cursor.left : n;

            if (p->out || p->peer != source || k == 0)
                continue;
            tcp_cursor_put(&p->cursor, bytes, k);
            bytes += k;
            n -= k;
        }
    }
    return n > 0 ? -EPROTO : 0;
}

/* What is left after this was not asked for, or has no room: then nothing behind it to the same rank can go either. */
static int pump(struct tcp_transport *t, struct part *p)
{
    uint64_t sent = 0;
    int rc = tcp_send_some(t, p->peer, TCP_PART, 0, &p->cursor, t->asked[p->peer], &sent);

    t->asked[p->peer] -= sent;
    return rc;
}

int tcp_parts_pump(struct tcp_transport *t)
{
    int rc = 0;

    for (struct lbc_exchange *e = t->exchange; e; e = e->next)
        for (size_t i = 0; i < e->n && rc == 0; i++)
            if (e->part[i].out && e->part[i].cursor.left > 0)
                rc = pump(t, &e->part[i]);
    return rc;
}

int tcp_exchange_test(struct lbc_transport *base, struct lbc_exchange *e)
{
    struct tcp_transport *t = tcp_of(base);

    if (tcp_progress(t) < 0)
        return -EIO;
    for (size_t i = 0; i < e->n; i++)
        if (e->part[i].cursor.left > 0 && lbc_mesh_is_gone(t->mesh, e->part[i].peer)) {
            lbc_mesh_fail(t->mesh);
            return -EIO;
        }
    for (size_t i = 0; i < e->n; i++)
        if (e->part[i].cursor.left > 0 ||
            (e->part[i].out && !lbc_mesh_is_flushed(t->mesh, e->part[i].peer)))
            return 0;
    unlink_exchange(t, e);
    return 1;
}
