/* SPDX-License-Identifier: BSD-3-Clause */
/* lbsim: a balanced job in virtual time. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "policy/legs.h"
#include "policy/registry.h"
#include "sim/efficiency.h"
#include "sim/groups.h"
#include "sim/load.h"
#include "sim/options.h"
#include "sim/quoted.h"
#include "sim/replay.h"
#include "sim/step.h"
#include "sim/world.h"

#define ELEMENTS 1000 /* of a row of a doacross loop */
#define MOVE_FIXED_NS 300000
#define HOOK_CPU_NS 20000
#define MOVE_CPU_NS 100000

struct outcome {
    double seconds, ideal_s, static_s, messages_per_s;
    double busy, late_s, apart_s; /* of the busiest balancer; see sim_groups_run */
    double efficiency;
    double model_efficiency, model_unbalanced; /* 0: the model is not of such a case */
    int64_t end_ns, moves, missing, repeated;
    bool ended;
    const char *why;
};

static double uniform(unsigned *seed)
{
    return (double)rand_r(seed) / RAND_MAX;
}

struct hosts {
    struct sim_host *host; /* [ranks] owned */
    double *left;          /* of a recorded load; owned */
    double *speed;         /* [ranks] cores without loads; owned */
    double cores;          /* their sum */
    double work_ns;        /* of the whole run, on a whole core */
};

/* What the recorded load leaves, sample by sample; all loaded hosts share it, each from another moment on. */
static int read_left(const struct sim_options *o, struct hosts *h, struct sim_load *load)
{
    int ret = sim_load_read(o->load_file, 0, load);

    if (ret < 0) {
        fprintf(stderr, "lbsim: --load=trace:%s: %s\n", o->load_file,
                ret == -ENODATA ? "no sample in it" : strerror(-ret));
        return -EIO;
    }
    h->left = calloc(load->n, sizeof(*h->left));
    for (size_t i = 0; h->left && i < load->n; i++) /* a host has one core here */
        h->left[i] = sim_load_left(load->cpus[i] / load->cores * o->load_scale);
    return h->left ? 0 : -ENOMEM;
}

static void load_host(const struct sim_options *o, const struct hosts *hosts,
                      const struct sim_load *load, unsigned *seed, struct sim_host *h)
{
    if (hosts->left) {
        h->left = hosts->left;
        h->nleft = load->n;
        h->left_ns =
            (int64_t)(1e9 * (o->load_interval_s > 0 ? o->load_interval_s : load->interval_s));
        h->left_phase_ns = (int64_t)(uniform(seed) * (double)load->n * (double)h->left_ns);
    } else if (o->load_period_ns > 0) {
        h->other_cores = h->cores * o->load_share;
        h->flip_ns = o->load_period_ns / 2;
        h->flip_phase_ns = (int64_t)(uniform(seed) * (double)o->load_period_ns);
    } else {
        h->cores *= o->load_share;
    }
}

static int make_hosts(const struct sim_options *o, struct hosts *ret)
{
    unsigned seed = o->seed;
    uint32_t loaded = (uint32_t)ceil(o->loaded * o->ranks);
    bool any = o->load_share < 1 || o->load_file[0];
    struct sim_load load = {0};
    int rc;

    ret->host = calloc(o->ranks, sizeof(*ret->host));
    ret->speed = calloc(o->ranks, sizeof(*ret->speed));
    rc = ret->host && ret->speed ? 0 : -ENOMEM;
    if (rc == 0 && o->load_file[0])
        rc = read_left(o, ret, &load);
    if (any && loaded == 0)
        loaded = 1;
    for (uint32_t i = 0; rc == 0 && i < o->ranks; i++) {
        struct sim_host *h = &ret->host[i];

        h->cores = o->nspeeds > 0 ? o->speed[i % o->nspeeds]
                                  : o->speed_from + (1 - o->speed_from) * uniform(&seed);
        ret->speed[i] = h->cores;
        ret->cores += h->cores;
        h->quota = o->quota_ns > 0;
        h->quota_ns = o->quota_ns;
        h->quota_cores = h->cores;
        if (h->quota)
            h->phase_ns = (int64_t)(uniform(&seed) * (double)o->quota_ns);
        /* spread over the hosts: with 25 %, every fourth */
        if (any && (uint64_t)(i + 1) * loaded / o->ranks != (uint64_t)i * loaded / o->ranks)
            load_host(o, ret, &load, &seed, h);
    }
    if (rc == 0)
        ret->host[0].link = o->link;
    sim_load_fini(&load);
    return rc;
}

static double *make_costs(const struct sim_options *o, double total)
{
    double *cost = calloc((size_t)o->n + 1, sizeof(*cost)), sum = 0;
    unsigned seed = o->seed + 1;

    for (int64_t i = 0; cost && i < o->n; i++) {
        double x = (double)i / (double)o->n;

        sum += cost[i] = o->shape == SIM_EVEN    ? 1
                         : o->shape == SIM_FRONT ? (x < 0.25 ? 9 : 1)
                         : o->shape == SIM_RISE  ? 0.1 + x
                                                 : 0.1 + 1.9 * uniform(&seed);
    }
    for (int64_t i = 0; cost && i < o->n; i++)
        cost[i] *= total / (double)o->steps / sum;
    return cost;
}

/* What is seen of the one load that comes and goes. */
struct seen {
    struct sim_oscillation oscillation;
    const double *cost; /* [n] */
    double sum;
};

static int run_doall(const struct sim_options *o, const struct sim_host *host, const double *cost,
                     const char *policy, struct seen *seen, struct outcome *ret)
{
    struct sim_config c = {.nranks = o->ranks,
                           .host = host,
                           .n = o->n,
                           .cost_ns = cost,
                           .weights = o->weights,
                           .policy = policy,
                           .latency_ns = o->latency_ns,
                           .move_fixed_ns = MOVE_FIXED_NS,
                           .row_bytes = o->row_bytes,
                           .row_ns = (int64_t)((double)o->row_bytes / o->bytes_per_s * 1e9),
                           .hook_cpu_ns = HOOK_CPU_NS,
                           .move_cpu_ns = MOVE_CPU_NS,
                           .balancer_ns = o->balancer_ns,
                           .beat_ns = o->beat_ns,
                           .passes = (int)o->steps,
                           .measured = true};
    struct sim_result r;
    int64_t apart_ns = 0;
    int rc = sim_groups_run(&c, o->balancers, &r, &apart_ns);

    if (rc < 0)
        return rc;
    *ret =
        (struct outcome){.seconds = (double)r.end_ns / 1e9,
                         .ideal_s = (double)r.ideal_ns / 1e9,
                         .static_s = (double)r.static_ns / 1e9,
                         .messages_per_s = (double)r.messages / fmax(1e-9, (double)r.end_ns / 1e9),
                         .busy = (double)r.busy_ns / fmax(1, (double)r.end_ns),
                         .late_s = (double)r.late_ns / 1e9,
                         .apart_s = (double)apart_ns / 1e9,
                         .end_ns = r.end_ns,
                         .moves = r.moves,
                         .missing = r.missing,
                         .repeated = r.repeated,
                         .ended = r.ended,
                         .why = r.why};
    if (seen)
        sim_oscillation_free(&seen->oscillation, r.end_ns, r.moves, 2.0 * MOVE_CPU_NS);
    return 0;
}

static void laid(void *arg, const int64_t *bound, int64_t at_ns, int64_t took_ns)
{
    struct seen *seen = arg;
    uint32_t r = seen->oscillation.rank;
    double part = 0;

    for (int64_t i = bound[r]; i < bound[r + 1]; i++)
        part += seen->cost[i];
    sim_oscillation_laid(&seen->oscillation, seen->sum > 0 ? part / seen->sum : 0, at_ns, took_ns);
}

/* As a pass's first rank finds it out of its first block, by its share of the rows (libclient/size.c); with blocks as chosen at first. */
static int64_t legs(const struct sim_options *o, const struct sim_host *host, const double *cost)
{
    int64_t block = o->grain > 0 ? o->grain : ELEMENTS / (8 * (int64_t)o->ranks) + 1;
    double pass_ns = 0;

    if (o->legs > 0)
        return o->legs;
    for (int64_t i = 0; i < o->n / o->ranks; i++)
        pass_ns += cost[i] / sim_host_cores(&host[0], 0);
    return lbp_legs(pass_ns, host[0].quota ? (double)sim_host_period(&host[0]) : 0,
                    ELEMENTS / block + 1);
}

static int run_stepped(const struct sim_options *o, const struct sim_host *host, const double *cost,
                       const char *policy, struct seen *seen, struct outcome *ret)
{
    struct sim_step_config c = {.kind = o->kind == SIM_DOACROSS ? LBP_DOACROSS : LBP_STEPPED,
                                .nranks = o->ranks,
                                .host = host,
                                .n = o->n,
                                .cost_ns = cost,
                                .steps = o->steps,
                                .weights = o->weights,
                                .quotas_untold = o->untold,
                                .policy = policy,
                                .latency_ns = o->latency_ns,
                                .move_fixed_ns = MOVE_FIXED_NS,
                                .row_bytes = o->row_bytes,
                                .row_ns = (int64_t)((double)o->row_bytes / o->bytes_per_s * 1e9),
                                .hook_cpu_ns = HOOK_CPU_NS,
                                .move_cpu_ns = MOVE_CPU_NS,
                                .pipelined = o->kind == SIM_DOACROSS ? ELEMENTS : 0,
                                .legs = o->kind == SIM_DOACROSS ? legs(o, host, cost) : 1,
                                .block = o->grain,
                                .shift_fixed_ns = o->latency_ns,
                                .shift_incr_ns = 8.0 / o->bytes_per_s * 1e9,
                                .cpu_noise = 0.01,
                                .parts = 4,
                                .seed = o->seed,
                                .trace = getenv("SIM_TRACE") != NULL,
                                .laid = seen ? laid : NULL,
                                .arg = seen};
    struct sim_step_result r;
    int rc = sim_step_run(&c, &r);

    if (rc < 0)
        return rc;
    *ret =
        (struct outcome){.seconds = (double)r.end_ns / 1e9,
                         .ideal_s = (double)r.ideal_ns / 1e9,
                         .static_s = (double)r.static_ns / 1e9,
                         .messages_per_s = (double)r.reports / fmax(1e-9, (double)r.end_ns / 1e9),
                         .end_ns = r.end_ns,
                         .moves = r.plans,
                         .ended = r.ended,
                         .why = r.why};
    return 0;
}

/* One run; returns -EIO, with a message, when it did not end as it must. */
static int run(const struct sim_options *o, const struct hosts *hosts, const struct sim_host *host,
               const double *cost, const char *policy, struct seen *seen, struct outcome *ret)
{
    int rc = o->kind == SIM_DOALL ? run_doall(o, host, cost, policy, seen, ret)
                                  : run_stepped(o, host, cost, policy, seen, ret);

    if (rc < 0)
        return rc;
    if (!ret->ended || ret->missing > 0 || ret->repeated > 0) {
        fprintf(stderr, "lbsim: %s: %s; %" PRId64 " iterations missing, %" PRId64 " repeated\n",
                policy, ret->why ? ret->why : "did not end", ret->missing, ret->repeated);
        return -EIO;
    }
    return sim_efficiency(hosts->work_ns, ret->end_ns, o->ranks, host, hosts->speed,
                          &ret->efficiency);
}

/* The run, and the same on idle hosts, whose efficiency the model begins with. */
static int run_modelled(const struct sim_options *o, const struct hosts *hosts, const double *cost,
                        const char *policy, struct outcome *ret)
{
    struct seen seen = {.cost = cost, .sum = hosts->work_ns / (double)o->steps};
    struct sim_host *idle;
    struct outcome alone = {0};
    int rc;

    if (!sim_oscillation_init(&seen.oscillation, o->ranks, hosts->host))
        return run(o, hosts, hosts->host, cost, policy, NULL, ret);
    rc = run(o, hosts, hosts->host, cost, policy, &seen, ret);
    if (rc < 0)
        return rc;
    idle = calloc(o->ranks, sizeof(*idle));
    if (!idle)
        return -ENOMEM;
    memcpy(idle, hosts->host, o->ranks * sizeof(*idle));
    idle[seen.oscillation.rank].flip_ns = 0;
    rc = run(o, hosts, idle, cost, policy, NULL, &alone);
    if (rc == 0)
        sim_oscillation_predict(&seen.oscillation, ret->end_ns, alone.efficiency,
                                &ret->model_efficiency, &ret->model_unbalanced);
    free(idle);
    return rc;
}

/* The model's efficiency, when it has one; else empty fields of CSV. */
static void print_model(enum sim_output output, const struct outcome *r)
{
    bool any = r->model_unbalanced > 0;

    if (output == SIM_CSV && any)
        printf(",%.4f,%.4f", r->model_efficiency, r->model_unbalanced);
    else if (output == SIM_CSV)
        printf(",,");
    else if (output == SIM_JSON && any)
        printf(",\"model_efficiency\":%.4f,\"model_unbalanced\":%.4f", r->model_efficiency,
               r->model_unbalanced);
    else if (any)
        printf(" model_efficiency=%.4f model_unbalanced=%.4f", r->model_efficiency,
               r->model_unbalanced);
}

/* Whether the balancers' time counts, or there are several. */
static bool has_balancers(const struct sim_options *o)
{
    return o->balancer_ns > 0 || o->beat_ns > 0 || o->balancers > 1;
}

static void print_balancers(const struct sim_options *o, const struct outcome *r)
{
    if (!has_balancers(o))
        return;
    if (o->output == SIM_CSV)
        printf(",%.4f,%.4f,%.4f", r->busy, r->late_s, r->apart_s);
    else if (o->output == SIM_JSON)
        printf(",\"balancer_busy\":%.4f,\"late_s\":%.4f,\"apart_s\":%.4f", r->busy, r->late_s,
               r->apart_s);
    else
        printf(" balancer_busy=%.4f late_s=%.4f apart_s=%.4f", r->busy, r->late_s, r->apart_s);
}

static void print(const struct sim_options *o, const char *policy, const struct outcome *r)
{
    double ratio = r->ideal_s > 0 ? r->seconds / r->ideal_s : 1;
    double to_static = r->static_s > 0 ? r->seconds / r->static_s : 1;

    if (o->output == SIM_JSON)
        fputs("{\"policy\":", stdout);
    if (o->output != SIM_TEXT)
        sim_print_quoted(stdout, o->output, policy);
    if (o->output == SIM_CSV)
        printf(",%" PRIu32 ",%" PRId64 ",%.6f,%.6f,%.6f,%.4f,%.4f,%" PRId64 ",%.1f,%.4f", o->ranks,
               o->n, r->seconds, r->ideal_s, r->static_s, ratio, to_static, r->moves,
               r->messages_per_s, r->efficiency);
    else if (o->output == SIM_JSON)
        printf(",\"ranks\":%" PRIu32 ",\"n\":%" PRId64
               ",\"seconds\":%.6f,\"ideal_s\":%.6f,\"static_s\":%.6f,\"ratio\":%.4f,"
               "\"to_static\":%.4f,\"moves\":%" PRId64
               ",\"messages_per_s\":%.1f,\"efficiency\":%.4f",
               o->ranks, o->n, r->seconds, r->ideal_s, r->static_s, ratio, to_static, r->moves,
               r->messages_per_s, r->efficiency);
    else
        printf("%-16s %10.3f s   ideal %10.3f s   ratio %6.3f   without balancing %10.3f s "
               "(%.3f of it)   %" PRId64 " moves, %.0f messages/s   efficiency=%.4f",
               policy, r->seconds, r->ideal_s, ratio, r->static_s, to_static, r->moves,
               r->messages_per_s, r->efficiency);
    print_model(o->output, r);
    print_balancers(o, r);
    puts(o->output == SIM_JSON ? "}" : "");
}

static int simulate(const struct sim_options *o)
{
    struct hosts hosts = {0};
    double *cost = NULL;
    int ret = make_hosts(o, &hosts);

    if (ret == 0) {
        hosts.work_ns = o->n > 0 ? o->seconds * 1e9 * hosts.cores : 0;
        ret = (cost = make_costs(o, hosts.work_ns)) ? 0 : -ENOMEM;
    }
    if (ret == 0 && o->output == SIM_CSV)
        printf("policy,ranks,n,seconds,ideal_s,static_s,ratio,to_static,moves,messages_per_s,"
               "efficiency,model_efficiency,model_unbalanced%s\n",
               has_balancers(o) ? ",balancer_busy,late_s,apart_s" : "");
    for (int i = 0; ret == 0 && i < o->npolicies; i++) {
        struct outcome r = {0};

        ret = run_modelled(o, &hosts, cost, o->policy[i], &r);
        if (ret == 0)
            print(o, o->policy[i], &r);
    }
    if (ret < 0 && ret != -EIO)
        fprintf(stderr, "lbsim: %s\n", strerror(-ret));
    free(hosts.host);
    free(hosts.speed);
    free(hosts.left);
    free(cost);
    return ret;
}

int main(int argc, char **argv)
{
    struct sim_options o;
    struct lbx_error err = {0};
    struct lbp_params params;
    int ret;

    sim_options_init(&o);
    if (sim_options_parse(&o, argc, argv, &err) < 0) {
        fprintf(stderr, "lbsim: %s\n", err.text);
        return 2;
    }
    if (o.help) {
        fputs(sim_options_help, stdout);
        return 0;
    }
    if (o.version) {
        puts("lbsim " PACKAGE_VERSION);
        return 0;
    }
    for (int i = 0; i < o.npolicies; i++)
        if (lbp_params_parse(&params, o.policy[i], &err) < 0) {
            fprintf(stderr, "lbsim: --policy=%s: %s\n", o.policy[i], err.text);
            return 2;
        }
    if (o.replay) {
        ret = sim_replay(&o, stdout, &err);
        if (ret < 0)
            fprintf(stderr, "lbsim: %s\n", err.text);
    } else {
        ret = simulate(&o);
    }
    return ret < 0 || fflush(stdout) != 0 ? 1 : 0;
}
