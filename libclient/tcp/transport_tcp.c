/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows over TCP, for ranks that have no MPI: transfers, and the table of the transport. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libclient/tcp/tcp.h"

#define ARRIVED_MAX 65536 /* headers that nobody has taken */

struct lbc_send {
    struct lbc_send *next;
    int dest;
    uint32_t id;
    bool taken, go;
    struct tcp_cursor rows;
};

struct lbc_recv {
    struct lbc_recv *next;
    int source;
    uint32_t id;
    uint64_t bytes; /* of rows, as the source says */
    struct tcp_cursor rows;
    size_t header_bytes;
    char header[]; /* [header_bytes] */
};

static int pump(struct tcp_transport *t)
{
    int rc = tcp_parts_pump(t);

    for (struct lbc_send *s = t->abandoned ? NULL : t->send; s && rc == 0; s = s->next) {
        uint64_t sent;

        if (s->go && s->rows.left > 0)
            rc = tcp_send_some(t, s->dest, TCP_ROWS, s->id, &s->rows, s->rows.left, &sent);
    }
    return rc;
}

static int take_header(struct tcp_transport *t, int source, const struct tcp_head *h,
                       const uint8_t *bytes, size_t n)
{
    struct lbc_recv *r, **end = &t->arrived;

    if (n > LBC_HEADER_MAX || t->narrived >= ARRIVED_MAX)
        return -EPROTO;
    r = calloc(1, sizeof(*r) + n);
    if (!r)
        return -ENOMEM;
    r->source = source;
    r->id = h->id;
    r->bytes = h->number;
    r->header_bytes = n;
    memcpy(r->header, bytes, n);
    while (*end)
        end = &(*end)->next;
    *end = r;
    t->narrived++;
    return 0;
}

/* The destination of one of our transfers says how far it is. */
static int take_answer(struct tcp_transport *t, int source, const struct tcp_head *h)
{
    struct lbc_send *s = t->send;

    while (s && (s->id != h->id || s->dest != source))
        s = s->next;
    if (!s)
        return -EPROTO;
    s->taken = true;
    if (h->type == TCP_GO)
        s->go = true;
    if (h->type == TCP_DROP)
        s->rows.left = 0;
    return 0;
}

static int take_rows(struct tcp_transport *t, int source, const struct tcp_head *h,
                     const uint8_t *bytes, size_t n)
{
    struct lbc_recv *r = t->receiving;

    if (t->abandoned)
        return 0;
    while (r && (r->id != h->id || r->source != source))
        r = r->next;
    if (!r || n > r->rows.left)
        return -EPROTO;
    tcp_cursor_put(&r->rows, bytes, n);
    return 0;
}

static int deliver(void *arg, int source, const uint8_t *body, size_t n)
{
    struct tcp_transport *t = arg;
    struct tcp_head h;

    if (n < sizeof(h))
        return -EPROTO;
    memcpy(&h, body, sizeof(h));
    body += sizeof(h);
    n -= sizeof(h);
    switch (h.type) {
    case TCP_HEADER:
        return take_header(t, source, &h, body, n);
    case TCP_TAKEN:
    case TCP_GO:
    case TCP_DROP:
        return take_answer(t, source, &h);
    case TCP_ROWS:
        return take_rows(t, source, &h, body, n);
    case TCP_WANT:
    case TCP_PART:
        return tcp_part_message(t, source, &h, body, n);
    case TCP_GROUP:
        return tcp_group_message(t, &h, body, n);
    default:
        return -EPROTO;
    }
}

static bool tcp_usable(struct lbc_transport *base)
{
    return !lbc_mesh_has_failed(tcp_of(base)->mesh);
}

static int tcp_send(struct lbc_transport *base, int dest, const void *header, size_t header_bytes,
                    const struct lbc_segment *segment, size_t n, struct lbc_send **ret_send)
{
    struct tcp_transport *t = tcp_of(base);
    struct lbc_send *s, **end = &t->send;
    int rc;

    if (header_bytes > LBC_HEADER_MAX)
        return -EMSGSIZE;
    rc = lbc_mesh_connect(t->mesh, dest);
    if (rc < 0)
        return rc;
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->dest = dest;
    s->id = t->next_id;
    rc = tcp_cursor_init(&s->rows, segment, n);
    if (rc == 0)
        rc = tcp_tell(t, dest, TCP_HEADER, s->id, s->rows.left, header, header_bytes);
    if (rc < 0) {
        tcp_cursor_fini(&s->rows);
        free(s);
        return rc;
    }
    t->next_id++;
    while (*end)
        end = &(*end)->next;
    *end = s;
    *ret_send = s;
    return 0;
}

static void free_send(struct tcp_transport *t, struct lbc_send *s)
{
    struct lbc_send **p = &t->send;

    while (*p && *p != s)
        p = &(*p)->next;
    if (*p)
        *p = s->next;
    tcp_cursor_fini(&s->rows);
    free(s);
}

static int tcp_send_test(struct lbc_transport *base, struct lbc_send *s)
{
    struct tcp_transport *t = tcp_of(base);
    int rc = tcp_progress(t);

    if (rc == 0 && (!s->taken || s->rows.left > 0) && lbc_mesh_is_gone(t->mesh, s->dest))
        rc = -EIO;
    if (rc == 0 && !(s->taken && s->rows.left == 0 && lbc_mesh_is_flushed(t->mesh, s->dest)))
        return 0;
    free_send(t, s);
    return rc < 0 ? rc : 1;
}

static bool tcp_is_under_way(struct lbc_transport *base, int dest)
{
    return lbc_mesh_is_flushed(tcp_of(base)->mesh, dest);
}

static int tcp_probe(struct lbc_transport *base, void *header, size_t *ret_header_bytes,
                     int *ret_source, struct lbc_recv **ret_recv)
{
    struct tcp_transport *t = tcp_of(base);
    struct lbc_recv *r;
    int rc = tcp_progress(t);

    r = t->arrived;
    if (rc < 0 || !r)
        return rc;
    rc = tcp_tell(t, r->source, TCP_TAKEN, r->id, 0, NULL, 0);
    if (rc < 0)
        return rc == -ENOMEM ? 0 : -EIO;
    t->arrived = r->next;
    t->narrived--;
    r->next = t->receiving;
    t->receiving = r;
    memcpy(header, r->header, r->header_bytes);
    *ret_header_bytes = r->header_bytes;
    *ret_source = r->source;
    *ret_recv = r;
    return 1;
}

static int tcp_recv(struct lbc_transport *base, struct lbc_recv *r,
                    const struct lbc_segment *segment, size_t n)
{
    struct tcp_transport *t = tcp_of(base);
    int rc;

    tcp_cursor_fini(&r->rows);
    rc = tcp_cursor_init(&r->rows, segment, n);
    if (rc == 0 && r->rows.left != r->bytes) {
        tcp_cursor_fini(&r->rows);
        rc = -EMSGSIZE;
    }
    if (rc == 0 && r->rows.left > 0)
        rc = tcp_tell(t, r->source, TCP_GO, r->id, 0, NULL, 0);
    return rc == 0 || rc == -ENOMEM ? rc : -EIO;
}

static void free_recv(struct tcp_transport *t, struct lbc_recv *r)
{
    struct lbc_recv **p = &t->receiving;

    while (*p && *p != r)
        p = &(*p)->next;
    if (*p)
        *p = r->next;
    tcp_cursor_fini(&r->rows);
    free(r);
}

static void tcp_recv_drop(struct lbc_transport *base, struct lbc_recv *r)
{
    struct tcp_transport *t = tcp_of(base);

    if (!r)
        return;
    /* a source that cannot be told has other troubles */
    if (r->bytes > 0 && tcp_tell(t, r->source, TCP_DROP, r->id, 0, NULL, 0) < 0)
        r->bytes = 0;
    free_recv(t, r);
}

static int tcp_recv_test(struct lbc_transport *base, struct lbc_recv *r)
{
    struct tcp_transport *t = tcp_of(base);
    int rc = tcp_progress(t);

    /* The source waits for our answers, and the program may not call us again for long. */
    if (rc == 0 && r->rows.left > 0 && lbc_mesh_is_gone(t->mesh, r->source))
        rc = -EIO;
    if (rc == 0 && (r->rows.left > 0 || !lbc_mesh_is_flushed(t->mesh, r->source)))
        return 0;
    free_recv(t, r);
    return rc < 0 ? rc : 1;
}

static void tcp_abandon(struct lbc_transport *base)
{
    struct tcp_transport *t = tcp_of(base);
    int r = 0;

    t->abandoned = true;
    while (r < base->size && lbc_mesh_is_flushed(t->mesh, r))
        r++;
    if (r < base->size)
        lbc_mesh_fail(t->mesh);
}

static int tcp_wait_fd(struct lbc_transport *base)
{
    return lbc_mesh_fd(tcp_of(base)->mesh);
}

static void tcp_destroy(struct lbc_transport *base)
{
    struct tcp_transport *t = tcp_of(base);

    if (!base)
        return;
    lbc_mesh_destroy(t->mesh);
    while (t->send)
        free_send(t, t->send);
    while (t->receiving)
        free_recv(t, t->receiving);
    t->receiving = t->arrived;
    while (t->receiving)
        free_recv(t, t->receiving);
    tcp_group_fini(t);
    free(t->asked);
    free(t->scratch);
    free(t->find_arg);
    free(t);
}

static const struct lbc_transport_ops tcp_ops = {
    .usable = tcp_usable,
    .send = tcp_send,
    .send_test = tcp_send_test,
    .is_under_way = tcp_is_under_way,
    .probe = tcp_probe,
    .recv = tcp_recv,
    .recv_test = tcp_recv_test,
    .recv_drop = tcp_recv_drop,
    .abandon = tcp_abandon,
    .barrier_start = tcp_barrier_start,
    .barrier_test = tcp_least_test,
    .exchange_create = tcp_exchange_create,
    .exchange_start = tcp_exchange_start,
    .exchange_test = tcp_exchange_test,
    .exchange_destroy = tcp_exchange_destroy,
    .least_start = tcp_least_start,
    .least_test = tcp_least_test,
    .allgather = tcp_allgather,
    .wait_fd = tcp_wait_fd,
    .destroy = tcp_destroy,
};

static int find(void *arg, int rank, struct lbw_endpoint *ret_endpoint)
{
    struct tcp_transport *t = arg;

    return t->find(t->find_arg, rank, ret_endpoint);
}

int lbc_tcp_create(const struct lbc_mesh_config *config, void *find_arg, struct lbc_transport **ret)
{
    struct tcp_transport *t = calloc(1, sizeof(*t));
    struct lbc_mesh_config c = *config;
    int rc = -ENOMEM;

    if (t) {
        t->asked = calloc((size_t)config->size, sizeof(*t->asked));
        t->scratch = malloc(LBC_MESH_BODY_MAX);
    }
    if (!t || !t->asked || !t->scratch) {
        close(config->listen_fd);
        goto out;
    }
    t->base.ops = &tcp_ops;
    t->pump = pump;
    t->base.rank = config->rank;
    t->base.size = config->size;
    t->find = config->find;
    t->find_arg = find_arg;
    c.find = find;
    c.deliver = deliver;
    c.arg = t;
    rc = lbc_mesh_create(&c, &t->mesh);
    if (rc == 0) {
        *ret = &t->base;
        return 0;
    }
out:
    if (t) {
        free(t->asked);
        free(t->scratch);
    }
    free(t);
    return rc;
}
