/* SPDX-License-Identifier: BSD-3-Clause */
/* A context: made, asked, ended. */
#include "config.h"
#include "libclient/ctx.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

#define PATIENCE_NS (30 * LBX_NS_PER_S)
#define SPIN_NS (20 * LBX_NS_PER_US)
#define NAP_BUSY_NS (50 * LBX_NS_PER_US)
#define NAP_NS (100 * LBX_NS_PER_US)
#define NAP_LONG_NS (200 * LBX_NS_PER_US)
#define LONG_NS (5 * LBX_NS_PER_MS)

struct lb_ctx *lbc_ctx_create(int rank, int size, struct lbc_transport *transport, bool balanced,
                              const struct lbc_link *link, const double *weight)
{
    struct lb_ctx *ctx = calloc(1, sizeof(*ctx));

    if (!ctx)
        return NULL;
    ctx->msg = calloc(1, sizeof(*ctx->msg));
    if (weight)
        ctx->weight = calloc((size_t)size, sizeof(*weight));
    if (!ctx->msg || (weight && !ctx->weight)) {
        free(ctx->msg);
        free(ctx->weight);
        free(ctx);
        return NULL;
    }
    if (weight)
        memcpy(ctx->weight, weight, (size_t)size * sizeof(*weight));
    ctx->rank = rank;
    ctx->size = size;
    ctx->transport = transport;
    ctx->balanced = balanced;
    ctx->patience_ns = PATIENCE_NS;
    ctx->gone_votes = ctx->gone_collects = UINT32_MAX;
    ctx->launch = (struct lbc_launch)LBC_LAUNCH_NONE;
    if (link)
        ctx->link = *link;
    else
        lbc_link_init(&ctx->link);
    return ctx;
}

void lbc_ctx_join(struct lb_ctx *ctx, const struct lbc_worth *worth)
{
    struct lbw_join *join = &ctx->msg->u.join;

    ctx->msg->type = LBW_JOIN;
    memset(join, 0, sizeof(*join));
    join->nranks = (uint32_t)ctx->size;
    join->pid = (uint32_t)getpid();
    join->weight = worth->weight;
    join->hardware = worth->hardware;
    join->stable_ns = worth->stable_ns;
    if (gethostname(join->host, sizeof(join->host) - 1) < 0)
        join->host[0] = '\0';
    lbc_link_send(&ctx->link, ctx->msg);
    lbc_ctx_check_link(ctx);
}

void lbc_ctx_check_link(struct lb_ctx *ctx)
{
    if (!ctx->balanced || lbc_link_is_open(&ctx->link) || ctx->told_lost)
        return;
    ctx->told_lost = true;
    if (ctx->rank == 0)
        fputs("lb: balancer lost, loops stay as they are\n", stderr);
}

void lbc_ctx_fail(struct lb_ctx *ctx)
{
    if (ctx->failed)
        return;
    ctx->failed = true;
    if (ctx->in || ctx->out || ctx->moving) /* not silently: iterations on their way are lost */
        fprintf(stderr, "lb: rank %d: %s failed while rows were moving, results are incomplete\n",
                ctx->rank, ctx->transport->ops->wait_fd ? "a connection" : "MPI");
}

bool lbc_ctx_is_sync(const struct lb_ctx *ctx)
{
    return ctx->sync_ns > 0 && lbc_link_is_open(&ctx->link);
}

void lbc_ctx_pause(const struct lb_ctx *ctx, int64_t waited_ns)
{
    struct timespec nap = {0, waited_ns > LONG_NS ? NAP_LONG_NS : NAP_NS};
    struct lbc_transport *t = ctx->transport;
    struct pollfd p[] = {{ctx->link.fd, POLLIN, 0}, /* a descriptor of -1 is passed over */
                         {t && t->ops->wait_fd ? t->ops->wait_fd(t) : -1, POLLIN, 0}};

    if (waited_ns < SPIN_NS)
        return;
    if (ctx->out || ctx->receiving)
        nap.tv_nsec = NAP_BUSY_NS;
    ppoll(p, 2, &nap, NULL);
}

int lbc_ctx_barrier(struct lb_ctx *ctx)
{
    int64_t since_ns = lbx_clock_mono_ns();
    int rc = ctx->transport->ops->barrier_start(ctx->transport);

    while (rc == 0) {
        rc = ctx->transport->ops->barrier_test(ctx->transport);
        if (rc == 0)
            lbc_ctx_pause(ctx, lbx_clock_mono_ns() - since_ns);
    }
    return rc < 0 ? -EIO : 0;
}

int lb_rank(const lb_ctx *ctx)
{
    return ctx ? ctx->rank : 0;
}

int lb_size(const lb_ctx *ctx)
{
    return ctx ? ctx->size : 1;
}

int lb_balanced(const lb_ctx *ctx)
{
    return ctx && ctx->balanced && lbc_link_is_open(&ctx->link);
}

int lb_error(const lb_ctx *ctx)
{
    return ctx && ctx->failed ? -EIO : 0;
}

const char *lb_version(void)
{
    return PACKAGE_VERSION;
}
