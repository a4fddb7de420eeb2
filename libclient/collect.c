/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_loop_collect: the rows of one array together on one rank, by the transfers that move
 * iterations. */
#include <errno.h>

#include "common/clock.h"
#include "libclient/apart.h"
#include "libclient/exchange.h"
#include "libclient/loop.h"
#include "libclient/outgoing.h"

static size_t find_array(const struct lb_loop *l, const void *base)
{
    size_t i = 0;

    while (i < l->nrows && l->rows[i].base != base)
        i++;
    return i;
}

/* One turn of waiting; false when the transport has failed. */
static bool turn(struct lb_loop *l, int64_t since_ns)
{
    int64_t now_ns = lbx_clock_mono_ns();
    struct lb_ctx *ctx = l->ctx;

    lbc_exchange_poll(ctx, now_ns);
    lbc_apart_wait_collect(l, now_ns - since_ns);
    if (ctx->failed)
        return false;
    lbc_ctx_pause(ctx, now_ns - since_ns);
    return true;
}

static int receive_all(struct lb_loop *l, int64_t since_ns)
{
    bool works = true;

    l->collected = 0;
    l->collecting = true;
    while (works && l->collected + 1 < (uint32_t)l->ctx->size)
        works = turn(l, since_ns);
    l->collecting = false;
    return works ? 0 : -EIO;
}

static int send_all(struct lb_loop *l, size_t array, int root, int64_t since_ns)
{
    size_t which = 0;
    int n;

    do { /* where nothing is owned an empty last one */
        n = lbc_outgoing_collect(l, array, root, which);
        if (n >= 0)
            which += (size_t)n;
        else if (n != -ENOMEM || !turn(l, since_ns))
            return -EIO;
    } while (n < 0 || which < l->owned.n);
    while (lbc_outgoing_active(l))
        if (!turn(l, since_ns))
            return -EIO;
    return 0;
}

int lb_loop_collect(lb_loop *l, void *base, int root)
{
    int64_t since_ns = lbx_clock_mono_ns();
    size_t array;

    if (!l || root < 0 || root >= (l->ctx ? l->ctx->size : 1))
        return -EINVAL;
    array = find_array(l, base);
    if (array == l->nrows)
        return -EINVAL;
    if (l->state != LBC_IDLE)
        return -EBUSY;
    if (!l->ctx || l->ctx->size == 1)
        return 0;
    if (!l->ctx->transport || l->ctx->failed)
        return -EIO;
    l->collects++;
    l->ctx->collects++;
    return l->ctx->rank == root ? receive_all(l, since_ns) : send_all(l, array, root, since_ns);
}
