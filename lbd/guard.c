/* SPDX-License-Identifier: BSD-3-Clause */
/* How many connections and messages each peer may have. */
#include "lbd/guard.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

void lbd_guard_init(struct lbd_guard *g, uint32_t connections_max, uint32_t connections_each,
                    double rate_hz, double burst)
{
    memset(g, 0, sizeof(*g));
    g->connections_max = connections_max;
    g->connections_each = connections_each;
    g->rate_hz = rate_hz;
    g->burst = burst;
}

static struct lbd_guard_peer *find(struct lbd_guard *g, uint64_t key)
{
    for (int i = 0; i < LBD_GUARD_PEERS; i++)
        if (g->peer[i].at_ns && g->peer[i].key == key)
            return &g->peer[i];
    return NULL;
}

/* A free place, or that of the peer without connections that was here longest ago. */
static struct lbd_guard_peer *find_place(struct lbd_guard *g)
{
    struct lbd_guard_peer *best = NULL;

    for (int i = 0; i < LBD_GUARD_PEERS; i++)
        if (g->peer[i].connections == 0 && (!best || g->peer[i].at_ns < best->at_ns))
            best = &g->peer[i];
    return best;
}

bool lbd_guard_enter(struct lbd_guard *g, uint64_t key, int64_t now_ns)
{
    struct lbd_guard_peer *p = find(g, key);

    if (g->connections >= g->connections_max || (p && p->connections >= g->connections_each))
        return false;
    if (!p) {
        p = find_place(g);
        if (!p)
            return false;
        *p = (struct lbd_guard_peer){.key = key, .tokens = g->burst, .at_ns = now_ns};
    }
    p->connections++;
    g->connections++;
    return true;
}

void lbd_guard_leave(struct lbd_guard *g, uint64_t key)
{
    struct lbd_guard_peer *p = find(g, key);

    if (!p || p->connections == 0)
        return;
    p->connections--;
    g->connections--;
}

bool lbd_guard_message(struct lbd_guard *g, uint64_t key, int64_t now_ns)
{
    struct lbd_guard_peer *p = find(g, key);

    if (!p)
        return false;
    p->tokens = fmin(g->burst, p->tokens + (double)(now_ns - p->at_ns) / 1e9 * g->rate_hz);
    p->at_ns = now_ns;
    if (p->tokens < 1)
        return false;
    p->tokens -= 1;
    return true;
}
