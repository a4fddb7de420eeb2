/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbsim is asked for. */
#include "sim/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/nearest.h"

/* Of less there is nothing left of a period when it is counted in ns. */
#define QUOTA_MIN_S 1e-6

const char sim_options_help[] =
    "usage: lbsim [--KEY=VALUE...]\n"
    "Simulate a balanced job in virtual time, round the balancer's own decisions.\n\n"
    "  --ranks=4          hosts, one rank on each, 1 to 100000\n"
    "  --speeds=1,0.4     cores of the hosts, repeated; or --speeds=0.3.. : drawn from 0.3 to 1\n"
    "  --load=0.5         part of a loaded host's CPU that is left to the program; 1: no load\n"
    "  --load=trace:FILE[,scale=1][,interval=2]\n"
    "                     a recorded load (bench/traces): of each loaded host another stretch of "
    "it,\n"
    "                     so many times as heavy; seconds that a sample lasts (as recorded)\n"
    "  --loaded=0.25      part of the hosts that are loaded, at least one when --load is given\n"
    "  --period=60        seconds of a load that is on half of the time; 0: it is always on\n"
    "  --latency=0.0001   seconds of a message, one way\n"
    "  --bandwidth=1e9    bytes a second between two ranks\n"
    "  --link=1           so many times as long a move takes that goes from or to the first host\n"
    "                     (doall)\n"
    "  --row=8000         bytes that travel with an iteration\n"
    "  --kind=doall       doall, stepped or doacross\n"
    "  --n=4000           iterations; default 1000 a rank\n"
    "  --steps=100        of stepped and doacross loops; passes of doall ones (default 1)\n"
    "  --legs=1           parts of a pass of a doacross loop between which rows may change hands; "
    "auto: as\n"
    "                     the library chooses where a program calls lb_loop_joints\n"
    "  --grain=N          elements in a block of a doacross loop (of 1000); default: chosen\n"
    "  --seconds=10       that the job takes at best on the unloaded hosts\n"
    "  --shape=even       cost of iterations: even, front, rise or random\n"
    "  --quota=0.1        seconds: the hosts' cores are quotas of periods so long, a whole core "
    "until\n"
    "                     one is used up; a load is in it, too; 0: they are slower throughout\n"
    "  --untold           ranks do not tell the balancer of their quotas\n"
    "  --weights          the hosts' speeds are known when the job begins\n"
    "  --message=0        seconds of the balancer's CPU that a message costs, heard or said "
    "(doall)\n"
    "  --beat=0           and a beat, one to each rank each 1.35 s, or 0.45 when it waits\n"
    "  --balancers=1      each has its part of the ranks, and moves nothing to another's (doall)\n"
    "  --policy=auto      as --lb=...; may be given up to 8 times, to compare\n"
    "  --seed=1           of all that is drawn: the same seed gives the same output\n"
    "  --csv, --json      instead of text\n"
    "  --replay=TRACE     rebuild hosts and costs from a real run's --lb=...,trace=FILE, run it "
    "here\n"
    "                     by its own policy or those given, and compare with what happened\n\n"
    "efficiency: the work over what the hosts had to give, without what loads took; beside it, "
    "when one of\n"
    "hosts that are alike has a load that comes and goes, what a model says of it. See lbsim(1).\n";

static const char *const keys[] = {
    "ranks", "speeds",  "load",  "loaded",    "period", "latency", "bandwidth", "row",
    "kind",  "n",       "steps", "seconds",   "grain",  "shape",   "weights",   "policy",
    "seed",  "csv",     "quota", "untold",    "json",   "replay",  "help",      "version",
    "link",  "message", "beat",  "balancers", "legs"};
#define NKEYS (sizeof(keys) / sizeof(keys[0]))

void sim_options_init(struct sim_options *o)
{
    *o = (struct sim_options){.ranks = 4,
                              .speed_from = 1,
                              .load_share = 1,
                              .load_scale = 1,
                              .latency_ns = 100000,
                              .bytes_per_s = 1e9,
                              .link = 1,
                              .balancers = 1,
                              .legs = 1,
                              .row_bytes = 8000,
                              .n = -1,
                              .steps = -1,
                              .seconds = 10,
                              .seed = 1};
}

static int number(const char *key, const char *text, double least, double most, double *ret,
                  struct lbx_error *err)
{
    char *end;
    double x = strtod(text, &end);

    if (end == text || *end || !(x >= least && x <= most))
        return lbx_error_set(err, -EINVAL, "--%s=%s: a number from %g to %g is needed", key, text,
                             least, most);
    *ret = x;
    return 0;
}

static int choice(const char *key, const char *text, const char *const *name, int n, int *ret,
                  struct lbx_error *err)
{
    for (int i = 0; i < n; i++)
        if (strcmp(text, name[i]) == 0) {
            *ret = i;
            return 0;
        }
    return lbx_error_set(err, -EINVAL, "--%s=%s: unknown; the nearest is %s", key, text,
                         name[lbp_nearest(text, name, (size_t)n)]);
}

static int speeds(struct sim_options *o, const char *text, struct lbx_error *err)
{
    char *end;

    o->nspeeds = 0;
    for (;; text = end + 1) {
        double x = strtod(text, &end);

        if (end == text || !(x > 0.001 && x <= 1))
            return lbx_error_set(err, -EINVAL,
                                 "--speeds: cores above 0.001 up to 1, such as 1,0.4 or 0.3..");
        if (strcmp(end, "..") == 0 || strcmp(end, ".") == 0) {
            o->speed_from = x;
            return 0;
        }
        if (o->nspeeds == SIM_SPEEDS_MAX)
            return lbx_error_set(err, -EINVAL, "--speeds: at most %d", SIM_SPEEDS_MAX);
        o->speed[o->nspeeds++] = x;
        if (!*end)
            return 0;
        if (*end != ',')
            return lbx_error_set(err, -EINVAL, "--speeds: a comma is needed before \"%s\"", end);
    }
}

/* The number of the last ",KEY=NUMBER" of text, which is cut off; text[*ret_n] is what remains. */
static int cut_number(const char *text, size_t *ret_n, const char *key, double *ret,
                      struct lbx_error *err)
{
    size_t n = *ret_n, k = strlen(key);
    char value[32];
    const char *at = NULL;

    for (size_t i = 0; i + k <= n; i++)
        if (strncmp(text + i, key, k) == 0)
            at = text + i;
    if (!at)
        return 0;
    n -= (size_t)(at - text) + k;
    if (n >= sizeof(value))
        n = sizeof(value) - 1;
    memcpy(value, at + k, n);
    value[n] = 0;
    *ret_n = (size_t)(at - text);
    return number("load=trace:FILE", value, 1e-6, 1e6, ret, err);
}

/* trace:FILE[,scale=K][,interval=S], the two in any order. */
static int recorded(struct sim_options *o, const char *text, struct lbx_error *err)
{
    static const char *const key[] = {",scale=", ",interval="};
    double *const ret[] = {&o->load_scale, &o->load_interval_s};
    size_t n = strlen(text);

    for (int i = 0; i < 2; i++) { /* the one that is last */
        const char *a = strstr(text, key[0]), *b = strstr(text, key[1]);
        int which = a && a < text + n && (!b || b >= text + n || a > b) ? 0 : 1, rc;

        rc = cut_number(text, &n, key[which], ret[which], err);
        if (rc < 0)
            return rc;
    }
    if (n == 0 || n >= sizeof(o->load_file))
        return lbx_error_set(err, -EINVAL,
                             "--load=trace:FILE: a file of less than %d bytes is needed",
                             SIM_PATH_BYTES);
    memcpy(o->load_file, text, n);
    o->load_file[n] = 0;
    o->load_share = 1;
    return 0;
}

/* Keys whose values are plain numbers. */
static int take_number(struct sim_options *o, const char *key, const char *value,
                       struct lbx_error *err)
{
    static const struct {
        const char *key;
        double least, most;
    } table[] = {{"grain", 1, 1000},       {"ranks", 1, 100000},    {"load", 0.01, 1},
                 {"loaded", 0, 1},         {"period", 0, 1e6},      {"latency", 1e-7, 10},
                 {"bandwidth", 1e3, 1e12}, {"row", 0, 1e9},         {"n", 0, 1e8},
                 {"steps", 1, 1e6},        {"seconds", 0.001, 1e6}, {"quota", 0, 1},
                 {"link", 1, 1e3},         {"message", 0, 1},       {"beat", 0, 1},
                 {"balancers", 1, 100000}, {"legs", 1, 1000},       {"seed", 0, 4e9}};
    double x = 0;
    int ret = -ENOENT;
    size_t i;

    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(key, table[i].key) == 0) {
            ret = number(key, value, table[i].least, table[i].most, &x, err);
            break;
        }
    if (ret < 0)
        return ret;
    switch (i) {
    case 0:
        o->grain = (int64_t)x;
        break;
    case 1:
        o->ranks = (uint32_t)x;
        break;
    case 2:
        o->load_share = x;
        break;
    case 3:
        o->loaded = x;
        break;
    case 4:
        o->load_period_ns = (int64_t)(x * 1e9);
        break;
    case 5:
        o->latency_ns = (int64_t)(x * 1e9);
        break;
    case 6:
        o->bytes_per_s = x;
        break;
    case 7:
        o->row_bytes = (int64_t)x;
        break;
    case 8:
        o->n = (int64_t)x;
        break;
    case 9:
        o->steps = (int64_t)x;
        break;
    case 10:
        o->seconds = x;
        break;
    case 11:
        if (x > 0 && x < QUOTA_MIN_S)
            return lbx_error_set(err, -EINVAL, "--quota=%s: 0, or at least %g, is needed", value,
                                 QUOTA_MIN_S);
        o->quota_ns = (int64_t)(x * 1e9);
        break;
    case 12:
        o->link = x;
        break;
    case 13:
        o->balancer_ns = (int64_t)(x * 1e9);
        break;
    case 14:
        o->beat_ns = (int64_t)(x * 1e9);
        break;
    case 15:
        o->balancers = (uint32_t)x;
        break;
    case 16:
        o->legs = (int64_t)x;
        break;
    default:
        o->seed = (unsigned)x;
        break;
    }
    return 0;
}

static int take(struct sim_options *o, const char *key, const char *value, struct lbx_error *err)
{
    static const char *const kind[] = {"doall", "stepped", "doacross"};
    static const char *const shape[] = {"even", "front", "rise", "random"};
    int which = 0, ret;

    if (strcmp(key, "speeds") == 0)
        return speeds(o, value, err);
    if (strcmp(key, "load") == 0 && strncmp(value, "trace:", 6) == 0)
        return recorded(o, value + 6, err);
    if (strcmp(key, "kind") == 0) {
        ret = choice(key, value, kind, 3, &which, err);
        if (ret == 0)
            o->kind = (enum sim_kind)which;
        return ret;
    }
    if (strcmp(key, "shape") == 0) {
        ret = choice(key, value, shape, 4, &which, err);
        if (ret == 0)
            o->shape = (enum sim_shape)which;
        return ret;
    }
    if (strcmp(key, "policy") == 0) {
        if (o->npolicies == SIM_POLICIES_MAX)
            return lbx_error_set(err, -EINVAL, "--policy: at most %d", SIM_POLICIES_MAX);
        o->policy[o->npolicies++] = value;
        return 0;
    }
    if (strcmp(key, "replay") == 0) {
        o->replay = value;
        return 0;
    }
    if (strcmp(key, "legs") == 0 && strcmp(value, "auto") == 0) {
        o->legs = 0;
        return 0;
    }
    ret = take_number(o, key, value, err);
    if (ret == -ENOENT)
        return lbx_error_set(err, -EINVAL, "--%s: unknown; the nearest is --%s", key,
                             keys[lbp_nearest(key, keys, NKEYS)]);
    return ret;
}

static bool flag(struct sim_options *o, const char *key)
{
    if (strcmp(key, "weights") == 0)
        o->weights = true;
    else if (strcmp(key, "untold") == 0)
        o->untold = true;
    else if (strcmp(key, "csv") == 0)
        o->output = SIM_CSV;
    else if (strcmp(key, "json") == 0)
        o->output = SIM_JSON;
    else if (strcmp(key, "help") == 0)
        o->help = true;
    else if (strcmp(key, "version") == 0)
        o->version = true;
    else
        return false;
    return true;
}

static bool is_key(const char *word)
{
    for (size_t i = 0; i < NKEYS; i++)
        if (strcmp(word, keys[i]) == 0)
            return true;
    return false;
}

int sim_options_parse(struct sim_options *o, int argc, char **argv, struct lbx_error *err)
{
    struct sim_options ignored = *o;

    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        char key[32];
        int ret;

        if (strncmp(argv[i], "--", 2) != 0)
            return lbx_error_set(err, -EINVAL, "%s: options are --KEY=VALUE; see --help", argv[i]);
        if (!equals && flag(o, argv[i] + 2))
            continue;
        if (!equals || (size_t)(equals - argv[i]) - 2 >= sizeof(key))
            return is_key(argv[i] + 2)
                       ? lbx_error_set(err, -EINVAL, "%s: a value is missing: write %s=...",
                                       argv[i], argv[i])
                       : lbx_error_set(err, -EINVAL, "%s: unknown; the nearest is --%s", argv[i],
                                       keys[lbp_nearest(argv[i] + 2, keys, NKEYS)]);
        memcpy(key, argv[i] + 2, (size_t)(equals - argv[i]) - 2);
        key[equals - argv[i] - 2] = 0;
        if (flag(&ignored, key))
            return lbx_error_set(err, -EINVAL, "--%s takes no value: write it alone", key);
        ret = take(o, key, equals + 1, err);
        if (ret < 0)
            return ret;
    }
    if (o->grain > 0 && o->kind != SIM_DOACROSS)
        return lbx_error_set(err, -EINVAL, "--grain: only a loop of --kind=doacross has blocks");
    if (o->legs != 1 && (o->kind != SIM_DOACROSS || o->replay))
        return lbx_error_set(err, -EINVAL,
                             "--legs: only a pass of a simulated --kind=doacross has legs");
    if (o->link > 1 && (o->kind != SIM_DOALL || o->replay))
        return lbx_error_set(err, -EINVAL,
                             "--link: only moves of a simulated --kind=doall know links");
    if ((o->balancer_ns > 0 || o->beat_ns > 0 || o->balancers > 1) &&
        (o->kind != SIM_DOALL || o->replay))
        return lbx_error_set(err, -EINVAL,
                             "--message, --beat and --balancers: only of a simulated --kind=doall");
    if (o->balancers > o->ranks || (o->balancers > 1 && o->steps > 1))
        return lbx_error_set(err, -EINVAL,
                             "--balancers: at most one a rank, and with a single pass");
    if (o->n < 0)
        o->n = 1000 * (int64_t)o->ranks;
    if (o->n > 100000000)
        o->n = 100000000;
    if (o->steps < 0)
        o->steps = o->kind == SIM_DOALL ? 1 : 100;
    if (o->npolicies == 0 && !o->replay)
        o->policy[o->npolicies++] = "auto";
    return 0;
}
