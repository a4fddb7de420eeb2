/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ranks do together: barriers, the least of values, and gathering, each in log2(P) rounds
 * in which rank r sends to r + 2^k and hears of r - 2^k (dissemination; Hensgen, Finkel and Manber,
 * 1988, and Bruck and others, 1997, for the gathering).  The least of values may be taken twice, so
 * it needs no more care than a barrier, which is the least of none.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/tcp/tcp.h"

#define WAIT_MS 100
#define HEED_NS LBX_NS_PER_S /* most messages come before: no connection is made for them */
#define MESSAGES_MAX 256     /* of rounds to come: no rank is more than an operation ahead */

int tcp_group_message(struct tcp_transport *t, const struct tcp_head *h, const uint8_t *bytes,
                      size_t n)
{
    struct tcp_message *m = malloc(sizeof(*m) + n), **end = &t->group.message;
    int count = 0;

    if (!m)
        return -ENOMEM;
    m->next = NULL;
    m->id = h->id;
    m->round = h->number;
    m->n = n;
    if (n > 0)
        memcpy(m->bytes, bytes, n);
    for (; *end; end = &(*end)->next)
        count++;
    if (count >= MESSAGES_MAX) {
        free(m);
        return -EPROTO;
    }
    *end = m;
    return 0;
}

void tcp_group_fini(struct tcp_transport *t)
{
    while (t->group.message) {
        struct tcp_message *m = t->group.message;

        t->group.message = m->next;
        free(m);
    }
}

/* The message of this round of the present operation, or NULL; to be freed. */
static struct tcp_message *take(struct tcp_group *g, uint64_t round)
{
    for (struct tcp_message **p = &g->message; *p; p = &(*p)->next) {
        struct tcp_message *m = *p;

        if (m->id == g->id && m->round == round) {
            *p = m->next;
            return m;
        }
    }
    return NULL;
}

static bool is_over(const struct tcp_transport *t, uint32_t round)
{
    return round >= 31 || (1 << round) >= t->base.size;
}

static int partner(const struct tcp_transport *t, uint32_t round)
{
    return (int)(((int64_t)t->base.rank + (INT64_C(1) << round)) % t->base.size);
}

/*
 * The message of the present round has not come: from whom it is to come may have died before it ever spoke to us, or have
 * gone.  Returns 0 or a negative errno.
 */
static int heed(struct tcp_transport *t)
{
    struct tcp_group *g = &t->group;
    int64_t now_ns = lbx_clock_mono_ns(), size = t->base.size;
    int source = (int)((t->base.rank + size - (INT64_C(1) << g->round) % size) % size);

    if (lbc_mesh_is_gone(t->mesh, source))
        return -EPIPE;
    if (g->since_ns == 0)
        g->since_ns = now_ns;
    return now_ns - g->since_ns < HEED_NS ? 0 : lbc_mesh_heed(t->mesh, source);
}

static int send_least(struct tcp_transport *t)
{
    struct tcp_group *g = &t->group;

    if (is_over(t, g->round))
        return 0;
    return tcp_tell(t, partner(t, g->round), TCP_GROUP, g->id, g->round, g->value,
                    (size_t)g->n * sizeof(*g->value));
}

int tcp_least_start(struct lbc_transport *base, int64_t *value, int n)
{
    struct tcp_transport *t = tcp_of(base);

    t->group.id++;
    t->group.round = 0;
    t->group.since_ns = 0;
    t->group.value = value;
    t->group.n = n;
    if (send_least(t) == 0)
        return 0;
    lbc_mesh_fail(t->mesh); /* those who wait for us hear of it */
    return -EIO;
}

int tcp_barrier_start(struct lbc_transport *base)
{
    return tcp_least_start(base, NULL, 0);
}

int tcp_least_test(struct lbc_transport *base)
{
    struct tcp_transport *t = tcp_of(base);
    struct tcp_group *g = &t->group;
    struct tcp_message *m;
    int rc = tcp_progress(t);

    while (rc == 0 && !is_over(t, g->round) && (m = take(g, g->round))) {
        if (m->n != (size_t)g->n * sizeof(*g->value))
            rc = -EPROTO;
        for (int i = 0; rc == 0 && i < g->n; i++) {
            int64_t v;

            memcpy(&v, m->bytes + (size_t)i * sizeof(v), sizeof(v));
            if (v < g->value[i])
                g->value[i] = v;
        }
        free(m);
        g->round++;
        g->since_ns = 0;
        if (rc == 0)
            rc = send_least(t);
    }
    if (rc == 0 && !is_over(t, g->round))
        rc = heed(t);
    if (rc < 0)
        lbc_mesh_fail(t->mesh);
    if (rc == 0 && is_over(t, g->round)) {
        /* The others need what we said last, and the program may not call us again for long. */
        rc = tcp_progress(t);
        for (uint32_t k = 0; rc == 0 && !is_over(t, k); k++)
            if (!lbc_mesh_is_flushed(t->mesh, partner(t, k)))
                return 0;
        return rc < 0 ? -EIO : 1;
    }
    return rc < 0 ? -EIO : 0;
}

/* Send blocks [0, n) in pieces; each has the offset in front. */
static int send_blocks(struct tcp_transport *t, const double *block, size_t bytes)
{
    const char *p = (const char *)block;
    size_t most = LBC_MESH_BODY_MAX / 2;
    int rc = 0;

    for (size_t at = 0; rc == 0 && at < bytes; at += most)
        rc = tcp_tell(t, partner(t, t->group.round), TCP_GROUP, t->group.id,
                      (uint64_t)at << 8 | t->group.round, p + at,
                      bytes - at < most ? bytes - at : most);
    return rc;
}

/* Wait for the blocks of this round. */
static int take_blocks(struct tcp_transport *t, double *block, size_t bytes)
{
    size_t most = LBC_MESH_BODY_MAX / 2, at = 0;

    while (at < bytes) {
        struct pollfd p = {lbc_mesh_fd(t->mesh), POLLIN, 0};
        struct tcp_message *m;

        if (tcp_progress(t) < 0)
            return -EIO;
        m = take(&t->group, (uint64_t)at << 8 | t->group.round);
        if (!m) {
            if (heed(t) < 0) {
                lbc_mesh_fail(t->mesh);
                return -EIO;
            }
            poll(&p, 1, WAIT_MS);
            continue;
        }
        if (m->n != (bytes - at < most ? bytes - at : most)) {
            free(m);
            return -EPROTO;
        }
        memcpy((char *)block + at, m->bytes, m->n);
        at += m->n;
        free(m);
    }
    return 0;
}

int tcp_allgather(struct lbc_transport *base, const double *values, int n, double *ret_values)
{
    struct tcp_transport *t = tcp_of(base);
    size_t size = (size_t)base->size, bytes = (size_t)n * sizeof(double);
    double *block = calloc(size * (size_t)n + 1, sizeof(*block)); /* those of rank, rank - 1, ... */
    int rc = 0;

    t->group.id++;
    if (!block)
        return -ENOMEM;
    memcpy(block, values, bytes);
    for (t->group.round = 0; rc == 0 && !is_over(t, t->group.round); t->group.round++) {
        size_t have = (size_t)1 << t->group.round, k = have < size - have ? have : size - have;

        t->group.since_ns = 0;
        rc = send_blocks(t, block, k * bytes);
        if (rc == 0)
            rc = take_blocks(t, block + have * (size_t)n, k * bytes);
    }
    while (rc == 0) { /* what was said last must leave */
        struct pollfd p = {lbc_mesh_fd(t->mesh), POLLIN, 0};
        bool flushed = true;

        rc = tcp_progress(t);
        for (uint32_t k = 0; !is_over(t, k); k++)
            flushed = flushed && lbc_mesh_is_flushed(t->mesh, partner(t, k));
        if (flushed)
            break;
        poll(&p, 1, WAIT_MS);
    }
    for (size_t i = 0; rc == 0 && i < size; i++)
        memcpy(ret_values + ((size_t)base->rank + size - i) % size * (size_t)n,
               block + i * (size_t)n, bytes);
    free(block);
    return rc < 0 ? -EIO : 0;
}
