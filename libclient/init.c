/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_init: find the other ranks, the transport and the balancer, and agree with all ranks on them.
 */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/ctx.h"
#include "libclient/meet.h"
#include "libclient/mpi_find.h"
#include "policy/alike.h"
#include "policy/registry.h"
#include "wire/endpoint.h"

#define CONNECT_NS (2 * LBX_NS_PER_S)
#define KEY_BYTES 64

/* What each rank tells all others, as numbers. */
enum {
    TELL_WEIGHT,
    TELL_PMIX,
    TELL_PMIX_RANK,
    TELL_SERIAL,
    TELL_FLAGS,
    TELL_GRAIN,
    TELL_HARDWARE,
    TELLS
};
enum {
    FLAG_BALANCER = 1,
    FLAG_REPORT = 2,
    FLAG_OWN = 4,
    FLAG_EVEN = 8,
    FLAG_PUBLISHED = 16,
    FLAG_ROOT = 32
};

/* What LB_POLICY asks for; all automatic where it asks for nothing that we know. */
static struct lbp_params find_params(void)
{
    const char *text = getenv("LB_POLICY");
    struct lbp_params p;

    lbp_params_init(&p);
    if (text && strcmp(text, "off") != 0 && lbp_params_parse(&p, text, NULL) < 0)
        lbp_params_init(&p);
    return p;
}

/* What LB_HOST_SPEED tells of this rank and its host; 0 where it does not. */
static struct lbc_worth find_worth(uint32_t tasks_here)
{
    const char *text = getenv("LB_HOST_SPEED");
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the program's may write 0,5 */
    double value[4] = {0}; /* core_speed, capacity, hardware, stable_s */
    struct lbc_worth w = {0};
    char *end = NULL;

    for (int i = 0; i < 4 && text && c && (i == 0 || *end == ':'); i++) {
        const char *from = i == 0 ? text : end + 1;

        value[i] = strtod_l(from, &end, c);
        if (end == from || !isfinite(value[i]) || value[i] < 0)
            value[i] = 0;
    }
    if (c)
        freelocale(c);
    w.hardware = value[2] <= 1e12 ? value[2] : 0;
    w.stable_ns = value[3] < 1e9 ? (int64_t)(value[3] * 1e9) : 0;
    if (value[0] > 0 && value[1] > 0)
        w.weight = fmin(value[0], value[1] / (tasks_here > 0 ? tasks_here : 1));
    return w;
}

static int64_t test_number(const char *name)
{
    const char *text = getenv(name);
    long long n = text ? atoll(text) : 0;

    return n > 0 ? n : 0;
}

static void key_name(char key[KEY_BYTES], uint32_t rank, uint32_t serial)
{
    snprintf(key, KEY_BYTES, "slurm-lb.%u.%u", rank, serial);
}

static void say_static(const char *why)
{
    fprintf(stderr, "lb: no balancer (%s), loops stay as they are\n", why);
}

/* Get the balancer's endpoint and publish it: one rank does so.  Returns the flags to be told. */
static int publish(struct lb_ctx *ctx, bool whole_job, uint32_t serial,
                   const struct lbp_params *params)
{
    static bool taken; /* the step's balancer serves one context */
    const char *policy = getenv("LB_POLICY");
    bool of_step = whole_job && !__atomic_load_n(&taken, __ATOMIC_RELAXED);
    uint8_t blob[LBW_ENDPOINT_BYTES_MAX];
    struct lbx_error err = {0};
    char key[KEY_BYTES];
    size_t n = 0;
    int rc, flags = FLAG_ROOT;

    if (params->report)
        flags |= FLAG_REPORT;
    if (params->policy == LBP_NONE)
        flags |= FLAG_EVEN;
    if (lbp_policy_is_published(params->policy))
        flags |= FLAG_PUBLISHED;
    if (!ctx->pmix.there) {
        if (policy && strcmp(policy, "off") != 0)
            say_static("the launcher does not speak PMIx");
        return flags;
    }
    rc = lbc_launch_open(&ctx->launch, of_step ? LBC_LAUNCH_STEP : LBC_LAUNCH_PART, ctx->pmix.slurm,
                         (uint32_t)ctx->size, blob, sizeof(blob), &n, &err);
    if (rc == 0) {
        if (of_step)
            __atomic_store_n(&taken, true, __ATOMIC_RELAXED);
        key_name(key, ctx->pmix.rank, serial);
        rc = lbc_pmix_put(&ctx->pmix, key, blob, n);
        if (rc < 0)
            lbx_error_set(&err, rc, "PMIx does not pass its address on");
    }
    explicit_bzero(blob, sizeof(blob));
    if (rc == 0)
        flags |= FLAG_BALANCER | (ctx->launch.pid > 0 ? FLAG_OWN : 0);
    else if (rc != -ENOENT || err.code)
        say_static(err.text);
    return flags;
}

/* Read what the root published, connect and join.  Without success the balancer counts as lost. */
static void join(struct lb_ctx *ctx, bool fence, const double *root, const struct lbc_worth *worth)
{
    uint8_t blob[LBW_ENDPOINT_BYTES_MAX];
    struct lbw_endpoint endpoint;
    struct lbp_params params;
    char key[KEY_BYTES];
    size_t n = 0;
    int rc = 0;

    /* Who asks for one value of another rank waits for it; where all ranks are here, a fence
     * brings it to all at once. */
    if (fence)
        rc = lbc_pmix_fence(&ctx->pmix);
    key_name(key, (uint32_t)root[TELL_PMIX_RANK], (uint32_t)root[TELL_SERIAL]);
    if (rc == 0)
        rc = lbc_pmix_get(&ctx->pmix, (uint32_t)root[TELL_PMIX_RANK], key, blob, sizeof(blob), &n);
    if (rc == 0)
        rc = lbw_endpoint_decode(blob, n, &endpoint);
    if (rc == 0) {
        if (lbp_params_parse(&params, endpoint.policy, NULL) == 0 && params.sync)
            ctx->sync_ns = LBW_SILENCE_NS;
        rc = lbc_link_connect(&ctx->link, &endpoint, (uint32_t)ctx->rank,
                              lbx_clock_mono_ns() + CONNECT_NS);
        explicit_bzero(&endpoint, sizeof(endpoint));
    }
    explicit_bzero(blob, sizeof(blob));
    if (rc == 0)
        lbc_ctx_join(ctx, worth);
    lbc_ctx_check_link(ctx);
}

/*
 * The ranks' weights, and what this rank tells the balancer of its own; hosts that are alike but for the noise of their
 * benchmarks count as alike.  The same on all ranks.
 */
static void weigh(struct lb_ctx *ctx, double *tell, bool even, struct lbc_worth *worth)
{
    bool known = true;

    for (int r = 0; r < ctx->size; r++) {
        even = even || tell[r * TELLS + TELL_WEIGHT] <= 0;
        known = known && tell[r * TELLS + TELL_HARDWARE] > 0;
    }
    if (even)
        return;
    for (int r = 0; r < ctx->size; r++)
        ctx->weight[r] = tell[r * TELLS + TELL_WEIGHT];
    if (known) { /* of weights, too, the part that is the hardware's is made alike */
        for (int r = 0; r < ctx->size; r++)
            ctx->weight[r] /= tell[r * TELLS + TELL_HARDWARE];
        lbp_alike(tell + TELL_HARDWARE, (size_t)ctx->size, TELLS, LBP_ALIKE_HARDWARE);
        for (int r = 0; r < ctx->size; r++)
            ctx->weight[r] *= tell[r * TELLS + TELL_HARDWARE];
        worth->hardware = tell[ctx->rank * TELLS + TELL_HARDWARE];
    }
    lbp_alike(ctx->weight, (size_t)ctx->size, 1, LBP_ALIKE_WEIGHT);
    worth->weight = ctx->weight[ctx->rank];
}

/*
 * Who gets the balancer's endpoint: rank 0, but of a whole step the one on whose host the plugin has started the balancer, which
 * is another one where the communicator has the ranks in an order of its own.
 */
static bool is_root(const struct lb_ctx *ctx, bool whole_job)
{
    return whole_job && ctx->pmix.slurm ? ctx->pmix.rank == 0 : ctx->rank == 0;
}

/* What the root tells; where there is none, what rank 0 does. */
static const double *root_of(const struct lb_ctx *ctx, const double *tell)
{
    for (int r = 0; r < ctx->size; r++)
        if ((int)tell[r * TELLS + TELL_FLAGS] & FLAG_ROOT)
            return tell + r * TELLS;
    return tell;
}

/* The ranks tell each other what they know.  tell[out] [size * TELLS] */
static int agree(struct lb_ctx *ctx, double *tell)
{
    static uint32_t serials; /* of this process's contexts */
    uint32_t serial = __atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
    bool whole_job = ctx->pmix.there && (uint32_t)ctx->size == ctx->pmix.size;
    struct lbc_worth worth = find_worth(ctx->pmix.local_size);
    struct lbp_params params = find_params();
    double mine[TELLS] = {0};
    const double *root;
    bool met = !ctx->transport;
    int flags, rc;

    mine[TELL_WEIGHT] = worth.weight;
    mine[TELL_HARDWARE] = worth.hardware;
    mine[TELL_PMIX] = ctx->pmix.there;
    mine[TELL_PMIX_RANK] = ctx->pmix.rank;
    mine[TELL_SERIAL] = serial;
    if (is_root(ctx, whole_job)) {
        mine[TELL_FLAGS] = publish(ctx, whole_job, serial, &params);
        mine[TELL_GRAIN] = params.grain > 0 ? (double)params.grain : 0;
    }
    rc = met ? lbc_meet(&ctx->pmix, serial, mine, TELLS, tell, &ctx->transport)
             : ctx->transport->ops->allgather(ctx->transport, mine, TELLS, tell);
    if (rc < 0 && rc != -ENOTCONN)
        return -EIO;
    root = root_of(ctx, tell);
    flags = (int)root[TELL_FLAGS];
    ctx->report = flags & FLAG_REPORT;
    ctx->grain = (int64_t)root[TELL_GRAIN];
    ctx->published = flags & FLAG_PUBLISHED;
    ctx->own_balancer = flags & FLAG_OWN;
    ctx->balanced = flags & FLAG_BALANCER && ctx->transport;
    if (flags & FLAG_BALANCER && !ctx->transport && ctx->rank == 0)
        say_static("not every rank can be reached by TCP");
    for (int r = 0; r < ctx->size; r++)
        ctx->balanced = ctx->balanced && tell[r * TELLS + TELL_PMIX] > 0;
    weigh(ctx, tell, flags & FLAG_EVEN, &worth);
    if (ctx->balanced)
        join(ctx, whole_job && !met, root, &worth);
    return 0;
}

static struct lb_ctx *init(const void *mpi_comm)
{
    struct lbc_transport *transport = NULL;
    struct lbx_error no_mpi;
    struct lbc_pmix pmix;
    int rank = 0, size = 1, rc;
    struct lb_ctx *ctx;
    double *tell, *weight;
    bool meets;

    (void)mpi_comm;
    rc = lbc_pmix_open(&pmix);
    if (lbc_mpi_find(mpi_comm, &rank, &size, &transport, &no_mpi) < 0 && rc == 0) {
        rank = (int)pmix.rank;
        size = (int)pmix.size;
    }
    weight = calloc((size_t)size, sizeof(*weight));
    tell = calloc((size_t)size * TELLS, sizeof(*tell));
    for (int r = 0; weight && r < size; r++)
        weight[r] = 1;
    ctx = weight && tell ? lbc_ctx_create(rank, size, transport, false, NULL, weight) : NULL;
    free(weight);
    if (!ctx) {
        free(tell);
        if (transport)
            transport->ops->destroy(transport);
        lbc_pmix_close(&pmix);
        return NULL;
    }
    /* Ranks without MPI, or with one that liblb_mpi does not know, meet by PMIx where they are all of the job's. */
    meets =
        !transport && !mpi_comm && pmix.there && size == (int)pmix.size && rank == (int)pmix.rank;
    ctx->pmix = pmix;
    ctx->test_chunk = test_number("LB_TEST_CHUNK");
    ctx->test_block = test_number("LB_TEST_BLOCK");
    ctx->test_legs = test_number("LB_TEST_LEGS");
    ctx->test_delay_ns = test_number("LB_TEST_DELAY");
    ctx->test_unvoted = test_number("LB_TEST_UNVOTED") > 0;
    if (size == 1) {
        struct lbp_params params = find_params();

        ctx->report = params.report;
        ctx->grain = params.grain > 0 ? params.grain : 0;
    } else if (!transport && !meets) {
        const char *policy = getenv("LB_POLICY");

        if (rank == 0 && (policy ? strcmp(policy, "off") != 0 : pmix.there && !pmix.slurm))
            say_static(no_mpi.code ? no_mpi.text : "rows cannot move without MPI");
    } else if (agree(ctx, tell) < 0) {
        ctx->failed = true;
    } else if (no_mpi.code && ctx->balanced && rank == 0) {
        fprintf(stderr, "lb: rows go over TCP, not by MPI (%s)\n", no_mpi.text);
    }
    free(tell);
    return ctx;
}

lb_ctx *lb_init(void)
{
    return init(NULL);
}

lb_ctx *lb_init_comm(const void *mpi_comm)
{
    return init(mpi_comm);
}

lb_ctx *lb_init_fcomm(int mpi_comm)
{
    union lbc_mpi_comm comm = lbc_mpi_from_fortran(mpi_comm);

    return init(&comm);
}
