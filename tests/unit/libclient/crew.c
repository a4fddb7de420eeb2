/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a job as threads. */
#include "tests/unit/libclient/crew.h"

#include <pthread.h>
#include <stdlib.h>

#include "libclient/ctx.h"
#include "tests/unit/libclient/world.h"

#define SILENCE_NS 60000000 /* of a balancer that has fallen silent: tests do not wait for long */
#define PATIENCE_NS \
    INT64_C(60000000000) /* with one that lives: its thread may get no CPU for a second */

struct crew {
    const struct crew_config *config;
    struct world *world;
    pthread_barrier_t together;
    double weight[WORLD_RANKS_MAX];
    int64_t asked, answered; /* by atomic additions */
};

struct member {
    struct crew *crew;
    int rank, fd;
    pthread_t thread;
};

static void *run_member(void *arg)
{
    struct member *m = arg;
    const struct crew_config *c = m->crew->config;
    struct lbx_channel plain;
    struct lbc_link link;
    lb_ctx *ctx;

    lbc_link_init(&link);
    if (c->mind.end == MIND_SILENT)
        link.silence_ns = SILENCE_NS;
    else if (c->mind.end == MIND_LIVES)
        link.silence_ns = PATIENCE_NS;
    if (c->balanced) {
        lbx_channel_init_plain(&plain);
        lbc_link_attach(&link, m->fd, &plain);
    }
    ctx = lbc_ctx_create(m->rank, c->size, world_transport(m->crew->world, m->rank), c->balanced,
                         &link, c->uneven_first ? m->crew->weight : NULL);
    ctx->told_lost = true; /* the tests' output stays clean */
    ctx->sync_ns = c->sync_ns;
    if (c->balanced)
        lbc_ctx_join(ctx, &(struct lbc_worth){0});
    c->run(ctx, m->rank, c->data);
    __atomic_fetch_add(&m->crew->asked, ctx->asked, __ATOMIC_RELAXED);
    __atomic_fetch_add(&m->crew->answered, ctx->answered, __ATOMIC_RELAXED);
    if (!c->apart)
        pthread_barrier_wait(&m->crew->together); /* what is in flight now would be lost */
    lb_finalize(ctx);
    return NULL;
}

struct crew_result crew_run(const struct crew_config *config)
{
    struct crew crew = {.config = config, .world = world_create(config->size, config->seed)};
    struct member member[WORLD_RANKS_MAX];
    struct mind_config mc = config->mind;
    struct crew_result result = {0};
    uint64_t random = config->seed;
    struct mind *mind = NULL;
    int fd[WORLD_RANKS_MAX];

    world_fail_sends(crew.world, config->fail_sends);
    mc.size = config->size;
    mc.seed = config->seed;
    mc.sync = config->sync_ns > 0;
    if (config->balanced)
        mind = mind_start(&mc, fd);
    pthread_barrier_init(&crew.together, NULL, (unsigned)config->size);
    for (int r = 0; r < config->size; r++)
        crew.weight[r] = 1 + (double)world_random(&random, 100);
    for (int r = 0; r < config->size; r++) {
        member[r] = (struct member){&crew, r, config->balanced ? fd[r] : -1, 0};
        if (pthread_create(&member[r].thread, NULL, run_member, &member[r]) != 0)
            abort();
    }
    for (int r = 0; r < config->size; r++)
        pthread_join(member[r].thread, NULL);
    if (mind)
        result.mind = mind_join(mind);
    result.asked = crew.asked;
    result.answered = crew.answered;
    result.leftovers = world_leftovers(crew.world);
    pthread_barrier_destroy(&crew.together);
    world_destroy(crew.world);
    return result;
}
