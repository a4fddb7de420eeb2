/* SPDX-License-Identifier: BSD-3-Clause */
/* lb-balancer: balances the loops of one job step, as the job's user.  Options, set-up, and the end. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/log.h"
#include "common/sock.h"
#include "lbd/balancer/explain.h"
#include "lbd/balancer/figures.h"
#include "lbd/balancer/handover.h"
#include "lbd/balancer/job.h"
#include "lbd/balancer/tell.h"
#include "lbd/balancer/trace.h"
#include "policy/registry.h"
#include "wire/addresses.h"

#define EXIT_NOBODY 3 /* no rank ever joined: the program knows nothing of us */
#define EXIT_USAGE 2
#define RANKS_MOST (1 << 20)
#define OTHER_DESCRIPTORS 32 /* than ranks' */

struct options {
    const char *dir;
    int fd;
    uint32_t nranks;
    const char *policy;
};

struct balancer {
    uv_loop_t loop;
    uv_signal_t term, intr;
    uv_timer_t parent_watch;
    uv_poll_t listener;
    int listen_fd;
    pid_t parent;
    struct lbw_endpoint endpoint;
    struct lbd_handover *handover;
    struct lbd_job *job;
    struct lbd_trace *trace;
    struct lbd_explain *explain;
    struct lbd_figures *figures; /* NULL: nobody to tell */
    struct lbd_tell *tell;       /* likewise */
    bool closing;
};

static const char usage[] =
    "usage: lb-balancer (--dir DIR | --fd N) --nranks N [--policy TEXT]\n"
    "Balances the loops of one job step.  Started by the Slurm plugin, or by rank 0 of a program\n"
    "under another launcher; not by hand.\n"
    "  --dir DIR      make this folder (0700) and give the endpoint at DIR/balancer.sock\n"
    "  --fd N         give the endpoint on this socket, and end when its other end closes\n"
    "  --nranks N     the most ranks the job may have\n"
    "  --policy TEXT  as of --lb=TEXT; otherwise the environment's LB_POLICY, otherwise auto\n"
    "  --help, --version\n"
    "Exit status: 0 ranks joined, 3 nobody ever joined, 2 wrong arguments, 1 other errors.\n";

static int parse_number(const char *text, long least, long most, long *ret)
{
    char *end;
    long v;

    errno = 0;
    v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < least || v > most)
        return -EINVAL;
    *ret = v;
    return 0;
}

/* Returns -1 to go on, else the exit status. */
static int parse_options(int argc, char **argv, struct options *o)
{
    static const struct option known[] = {
        {"dir", required_argument, NULL, 'd'},
        {"fd", required_argument, NULL, 'f'},
        {"nranks", required_argument, NULL, 'n'},
        {"policy", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    long v;
    int c;

    *o = (struct options){.fd = -1, .policy = getenv("LB_POLICY")};
    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (c == 'd') {
            o->dir = optarg;
        } else if (c == 'f' && parse_number(optarg, 3, 1 << 20, &v) == 0) {
            o->fd = (int)v;
        } else if (c == 'n' && parse_number(optarg, 1, RANKS_MOST, &v) == 0) {
            o->nranks = (uint32_t)v;
        } else if (c == 'p') {
            o->policy = optarg;
        } else if (c == 'h') {
            fputs(usage, stdout);
            return EXIT_SUCCESS;
        } else if (c == 'V') {
            puts("lb-balancer " PACKAGE_VERSION);
            return EXIT_SUCCESS;
        } else {
            fputs(usage, stderr);
            return EXIT_USAGE;
        }
    }
    if (optind < argc || (o->dir != NULL) == (o->fd >= 0) || o->nranks == 0) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return -1;
}

static void close_all(struct balancer *b)
{
    if (b->closing)
        return;
    b->closing = true;
    lbd_figures_finish(b->figures);
    lbd_tell_finish(b->tell);
    lbd_job_stop(b->job, NULL);
    lbd_trace_flush(b->trace); /* who waits for lbd may be killed meanwhile */
    lbd_handover_close(b->handover);
    uv_close((uv_handle_t *)&b->term, NULL);
    uv_close((uv_handle_t *)&b->intr, NULL);
    uv_close((uv_handle_t *)&b->parent_watch, NULL);
    uv_close((uv_handle_t *)&b->listener, NULL);
}

static void on_over(void *arg)
{
    close_all(arg);
}

static void on_signal(uv_signal_t *h, int signum)
{
    (void)signum;
    close_all(h->data);
}

/* slurmstepd killed: nobody sends a signal then. */
static void on_parent_watch(uv_timer_t *h)
{
    struct balancer *b = h->data;

    if (getppid() != b->parent)
        close_all(b);
}

static void on_connection(uv_poll_t *h, int status, int events)
{
    struct balancer *b = h->data;
    int fd;

    (void)events;
    if (status < 0)
        return;
    while ((fd = accept4(b->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        lbd_job_accept(b->job, fd);
}

/* What the session keys are bound to: a proof of this step, this start of it, is good nowhere else. */
static void make_context(struct lbw_endpoint *e)
{
    static const char *const name[] = {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                       "SLURM_RESTART_COUNT"};
    uint8_t nonce[16];
    char hex[2 * sizeof(nonce) + 1];
    size_t used = 0;

    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
        const char *value = getenv(name[i]);

        used += (size_t)snprintf(e->context + used, sizeof(e->context) - used, "%.16s/",
                                 value ? value : "-");
    }
    lbx_auth_random(nonce, sizeof(nonce));
    sodium_bin2hex(hex, sizeof(hex), nonce, sizeof(nonce));
    snprintf(e->context + used, sizeof(e->context) - used, "%s", hex);
}

static int make_endpoint(struct balancer *b, const struct lbp_params *params, struct lbx_error *err)
{
    struct lbw_endpoint *e = &b->endpoint;

    b->listen_fd = lbx_sock_listen_tcp(NULL, &e->port);
    if (b->listen_fd < 0)
        return lbx_error_set(err, b->listen_fd, "cannot listen: %s", strerror(-b->listen_fd));
    lbx_auth_random(e->key, sizeof(e->key));
    make_context(e);
    lbw_addresses_find(e);
    lbp_params_print(params, e->policy, sizeof(e->policy));
    return 0;
}

/* A trace that cannot be had is told and done without. */
static void begin_trace(struct balancer *b, const struct lbp_params *params)
{
    struct lbx_error err;

    if (params->trace[0] && lbd_trace_open(params->trace, lbx_clock_mono_ns(), &b->trace, &err) < 0)
        lbx_log(LBX_LOG_WARNING, "%s", err.text);
}

/* Under Slurm the lbd of this host hears of the job; elsewhere there is none. */
static void begin_figures(struct balancer *b, const struct lbp_params *params)
{
    const char *socket = getenv("LBD_SOCKET"), *policy;
    size_t n;

    policy = lbp_policy_table(&n)[params->policy].name;
    if (socket && lbd_figures_create(&b->loop, b->job, socket, policy, &b->figures) < 0)
        lbx_log(LBX_LOG_WARNING, "no memory for the job's figures");
    if (socket && b->explain &&
        lbd_tell_create(&b->loop, b->explain, b->job, socket, policy, &b->tell) < 0)
        lbx_log(LBX_LOG_WARNING, "no memory to tell decisions");
}

/* Each rank is a descriptor: as many as this host lets a process have, not as few as a shell does. */
static void allow_descriptors(uint32_t nranks)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) < 0)
        return;
    if (most.rlim_max < nranks + OTHER_DESCRIPTORS)
        lbx_log(LBX_LOG_WARNING,
                "%" PRIu32 " ranks are more than the %ju descriptors that a process may have here",
                nranks, (uintmax_t)most.rlim_max);
    most.rlim_cur = most.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &most) < 0)
        lbx_log(LBX_LOG_WARNING, "descriptors: %s", strerror(errno));
}

static int start(struct balancer *b, const struct options *o, const struct lbp_params *params,
                 struct lbx_error *err)
{
    struct lbd_job_config config = {.nranks_most = o->nranks,
                                    .params = *params,
                                    .endpoint = &b->endpoint,
                                    .over = on_over,
                                    .arg = b};
    int rc = make_endpoint(b, params, err);

    if (rc < 0)
        return rc;
    begin_trace(b, params);
    config.trace = b->trace;
    if (lbd_explain_create(lbx_clock_mono_ns(), &b->explain) < 0)
        lbx_log(LBX_LOG_WARNING, "no memory to keep decisions");
    config.explain = b->explain;
    uv_loop_init(&b->loop);
    rc = lbd_job_create(&b->loop, &config, &b->job);
    if (rc < 0)
        return lbx_error_set(err, rc, "no memory for %" PRIu32 " ranks", o->nranks);
    uv_signal_init(&b->loop, &b->term);
    uv_signal_init(&b->loop, &b->intr);
    uv_timer_init(&b->loop, &b->parent_watch);
    uv_poll_init(&b->loop, &b->listener, b->listen_fd);
    b->term.data = b->intr.data = b->parent_watch.data = b->listener.data = b;
    uv_signal_start(&b->term, on_signal, SIGTERM);
    uv_signal_start(&b->intr, on_signal, SIGINT);
    uv_timer_start(&b->parent_watch, on_parent_watch, LBD_JOB_BEAT_MS, LBD_JOB_BEAT_MS);
    uv_poll_start(&b->listener, UV_READABLE, on_connection);
    begin_figures(b, params);
    if (o->dir)
        return lbd_handover_serve(&b->loop, o->dir, &b->endpoint, &b->handover, err);
    return lbd_handover_write(&b->loop, o->fd, &b->endpoint, on_over, b, &b->handover, err);
}

int main(int argc, char **argv)
{
    static struct balancer b; /* zero; handles must not move */
    struct lbp_params params;
    struct lbx_error err = {0};
    struct options o;
    bool joined;
    int rc = parse_options(argc, argv, &o);

    if (rc >= 0)
        return rc;
    lbx_log_open("lb-balancer", LBX_LOG_WARNING);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_DUMPABLE,
          0); /* the key is in our memory: no core file, no debugger of another job of the user's */
    b.parent = getppid();
    allow_descriptors(o.nranks);
    lbp_params_init(&params);
    if (lbx_auth_setup() < 0 || lbp_params_parse(&params, o.policy ? o.policy : "", &err) < 0) {
        lbx_log(LBX_LOG_ERROR, "policy: %s", err.text);
        return EXIT_USAGE;
    }
    if (start(&b, &o, &params, &err) < 0) {
        lbx_log(LBX_LOG_ERROR, "%s", err.text);
        return EXIT_FAILURE;
    }
    uv_run(&b.loop, UV_RUN_DEFAULT);
    joined = lbd_job_joined(b.job);
    lbd_figures_destroy(b.figures);
    lbd_tell_destroy(b.tell);
    lbd_job_destroy(b.job);
    lbd_trace_close(b.trace);
    lbd_explain_destroy(b.explain);
    close(b.listen_fd);
    uv_loop_close(&b.loop);
    sodium_memzero(b.endpoint.key, sizeof(b.endpoint.key));
    return joined ? EXIT_SUCCESS : EXIT_NOBODY;
}
