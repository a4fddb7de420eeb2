/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on their way. */
#include "lbd/claims.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "lbd/node/steps.h"

#define SWEEP_NS (20 * LBX_NS_PER_MS) /* looking who still lives costs some us each */
#define STARTS_NS \
    (5 * LBX_NS_PER_S) /* a job that is to come has its CPUs by then, or waits for others */
#define LEAST_TASKS .01
#define DIRECTORY_SIZE (4 * LBW_LOCAL_HOSTS_MAX)
#define FAR_NS (60 * LBX_NS_PER_S) /* of another host: its end may have been lost */

struct lbd_claimant {
    char origin[LBW_LOCAL_HOST_MAX]; /* another host; "": this one */
    uint64_t number;                 /* the origin's */
    bool told;                       /* to others */
    uid_t uid;
    pid_t pid;        /* 0: of another host */
    uint64_t started; /* of the process, so that its number may be used again */
    uint32_t jobid;
    uint64_t generation;
    int64_t at_ns;
    size_t n;
    struct lbw_local_claim *claim; /* [n] */
};

void lbd_claims_fini(struct lbd_claims *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        free(c->claimant[i].claim);
    free(c->claimant);
    memset(c, 0, sizeof(*c));
}

static void forget(struct lbd_claims *c, size_t i)
{
    struct lbd_claimant gone = c->claimant[i];

    c->claimant[i] = c->claimant[--c->n];
    free(gone.claim);
    if (gone.told && c->tell)
        (void)c->tell(c->data, gone.uid, gone.generation, NULL);
}

static bool has_ended(const struct lbd_claimant *a, int64_t now_ns)
{
    return a->pid == 0 ? now_ns - a->at_ns > FAR_NS : lbd_steps_started(a->pid) != a->started;
}

/* Those that have ended, and the one who asks anew. */
static void sweep(struct lbd_claims *c, pid_t pid, int64_t now_ns)
{
    bool all = c->swept_ns == 0 || now_ns - c->swept_ns > SWEEP_NS;

    for (size_t i = c->n; i > 0; i--) {
        const struct lbd_claimant *a = &c->claimant[i - 1];

        if ((pid != 0 && a->pid == pid) || (all && has_ended(a, now_ns)))
            forget(c, i - 1);
    }
    if (all)
        c->swept_ns = now_ns;
}

/* Where a host is in a list, found by its name; lists are long, and there are many claims. */
struct directory {
    uint16_t place[DIRECTORY_SIZE]; /* 1 more than the index; 0: free */
};

static uint16_t *look_up(struct directory *d, const struct lbw_local_claim *claim, const char *host)
{
    uint32_t hash = 2166136261U; /* FNV-1a */

    for (const char *c = host; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619U;
    for (hash %= DIRECTORY_SIZE;; hash = (hash + 1) % DIRECTORY_SIZE)
        if (d->place[hash] == 0 || strcmp(claim[d->place[hash] - 1].host, host) == 0)
            return &d->place[hash];
}

static void fill_directory(struct directory *d, const struct lbw_local_claim *claim, size_t n)
{
    memset(d, 0, sizeof(*d));
    for (size_t i = 0; i < n; i++)
        *look_up(d, claim, claim[i].host) = (uint16_t)(i + 1);
}

static bool is_new_to(const struct lbd_claimant *a, const struct lbw_local_claims *want,
                      struct directory *wanted)
{
    if (a->generation <= want->generation)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (*look_up(wanted, want->claim, a->claim[i].host) != 0)
            return true;
    return false;
}

/* Whether a step of the one cannot have the CPUs of the other. */
static bool holds_cpus(const struct lbd_claimant *a, uid_t uid, uint32_t jobid, int64_t now_ns)
{
    if (a->jobid != jobid)
        return false;
    return jobid == 0 ? now_ns - a->at_ns < STARTS_NS : a->uid == uid;
}

static void add(struct lbw_local_claims *sum, struct directory *d,
                const struct lbw_local_claim *claim, double tasks, uint32_t cpus)
{
    uint16_t *place = look_up(d, sum->claim, claim->host);
    struct lbw_local_claim *s;

    if (tasks < LEAST_TASKS && cpus == 0)
        return;
    if (*place == 0 && sum->n == LBW_LOCAL_HOSTS_MAX)
        return;
    if (*place == 0) {
        s = &sum->claim[sum->n++];
        memset(s, 0, sizeof(*s));
        memcpy(s->host, claim->host, sizeof(s->host));
        *place = (uint16_t)sum->n;
    }
    s = &sum->claim[*place - 1];
    s->tasks = fmin(s->tasks + tasks, LBW_LOCAL_CLAIM_MOST);
    s->cpus = s->cpus + cpus < LBW_LOCAL_CLAIM_MOST ? s->cpus + cpus : LBW_LOCAL_CLAIM_MOST;
}

/* ret: begins with the hosts that must be there; then those where CPUs are held, and others while there is room. */
static void sum_up(const struct lbd_claims *c, uid_t uid, int64_t half_life_ns, int64_t now_ns,
                   struct lbw_local_claims *ret)
{
    struct directory d;

    fill_directory(&d, ret->claim, ret->n);
    ret->generation = c->generation;
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < c->n; i++) {
            const struct lbd_claimant *a = &c->claimant[i];
            double young = exp2(-(double)(now_ns - a->at_ns) / (double)half_life_ns);
            bool held = holds_cpus(a, uid, ret->jobid, now_ns);

            for (size_t k = 0; held != (others == 1) && k < a->n; k++)
                add(ret, &d, &a->claim[k], a->claim[k].tasks * young, held ? a->claim[k].cpus : 0);
        }
}

static void begin_sum(struct lbw_local_claims *sum, const char *host)
{
    struct lbw_local_claim *s = &sum->claim[sum->n++];

    memset(s, 0, sizeof(*s));
    memcpy(s->host, host, sizeof(s->host));
}

/* The hosts of want first. */
static void tell_others(const struct lbd_claims *c, uid_t uid, const struct lbw_local_claims *want,
                        int64_t half_life_ns, int64_t now_ns, struct lbw_local_claims *ret)
{
    size_t n = 0;

    ret->jobid = want->jobid;
    ret->n = 0;
    for (size_t i = 0; i < want->n; i++)
        begin_sum(ret, want->claim[i].host);
    sum_up(c, uid, half_life_ns, now_ns, ret);
    for (size_t i = 0; i < ret->n; i++)
        if (ret->claim[i].tasks > 0 || ret->claim[i].cpus > 0)
            ret->claim[n++] = ret->claim[i];
    ret->n = n;
}

void lbd_claims_look(struct lbd_claims *c, uid_t uid, int64_t half_life_ns, int64_t now_ns,
                     struct lbw_local_idle *idle)
{
    struct lbw_local_claims *sum = &c->sum;

    sweep(c, 0, now_ns);
    sum->jobid = 0;
    sum->n = 0;
    for (size_t i = 0; i < idle->n; i++)
        begin_sum(sum, idle->host[i].host);
    sum_up(c, uid, half_life_ns, now_ns, sum);
    for (size_t i = 0; i < idle->n; i++) {
        idle->host[i].claimed = sum->claim[i].tasks;
        idle->host[i].held_cpus = sum->claim[i].cpus;
    }
    idle->generation = sum->generation;
}

/* A place for one more, of a user of this host or (far) of another host. */
static int reserve(struct lbd_claims *c, bool far, uid_t uid, size_t nclaim)
{
    size_t own = 0, most = far ? LBD_CLAIMS_FAR_MAX : LBD_CLAIMS_EACH_MAX,
           size = c->size ? 2 * c->size : 8;
    struct lbd_claimant *claimant;

    for (size_t i = 0; i < c->n; i++) {
        own += (c->claimant[i].pid == 0) == far && (far || c->claimant[i].uid == uid);
        nclaim += c->claimant[i].n;
    }
    if (c->n == LBD_CLAIMS_MAX || own >= most || nclaim > LBD_CLAIMS_HOSTS_MAX)
        return -ENOSPC;
    if (c->n < c->size)
        return 0;
    claimant = realloc(c->claimant, size * sizeof(*claimant));
    if (!claimant)
        return -ENOMEM;
    c->claimant = claimant;
    c->size = size;
    return 0;
}

/* Copies the claims; there must be a place. */
static struct lbd_claimant *add_claimant(struct lbd_claims *c,
                                         const struct lbw_local_claims *claims, int64_t now_ns)
{
    struct lbw_local_claim *claim = malloc(claims->n * sizeof(*claim));

    if (!claim)
        return NULL;
    memcpy(claim, claims->claim, claims->n * sizeof(*claim));
    c->claimant[c->n] = (struct lbd_claimant){.jobid = claims->jobid,
                                              .generation = ++c->generation,
                                              .at_ns = now_ns,
                                              .n = claims->n,
                                              .claim = claim};
    return &c->claimant[c->n++];
}

int lbd_claims_take(struct lbd_claims *c, uid_t uid, pid_t pid, const struct lbw_local_claims *want,
                    int64_t half_life_ns, int64_t now_ns, struct lbw_local_claims *ret)
{
    uint64_t started = lbd_steps_started(pid);
    struct directory wanted;
    struct lbd_claimant *a;
    int rc;

    sweep(c, pid, now_ns);
    fill_directory(&wanted, want->claim, want->n);
    for (size_t i = 0; i < c->n; i++)
        if (is_new_to(&c->claimant[i], want, &wanted)) {
            tell_others(c, uid, want, half_life_ns, now_ns, ret);
            return 1;
        }
    if (want->n == 0 || started == 0) /* it has ended already, or its end could not be seen */
        return 0;
    rc = reserve(c, false, uid, want->n);
    if (rc < 0)
        return rc;
    a = add_claimant(c, want, now_ns);
    if (!a)
        return -ENOMEM;
    a->uid = uid;
    a->pid = pid;
    a->started = started;
    a->told = c->tell && c->tell(c->data, uid, a->generation, want);
    return 0;
}

static bool is_of(const struct lbd_claimant *a, const struct lbw_node_claims *far)
{
    return a->number == far->claims.generation && strcmp(a->origin, far->origin) == 0;
}

void lbd_claims_hear(struct lbd_claims *c, const struct lbw_node_claims *far, int64_t now_ns)
{
    struct lbd_claimant *a;

    for (size_t i = c->n; i > 0; i--)
        if (c->claimant[i - 1].pid == 0 &&
            (has_ended(&c->claimant[i - 1], now_ns) || is_of(&c->claimant[i - 1], far)))
            forget(c, i - 1);
    if (far->claims.n == 0)
        return;
    if (reserve(c, true, far->uid, far->claims.n) < 0)
        return;
    a = add_claimant(c, &far->claims, now_ns);
    if (!a)
        return;
    memcpy(a->origin, far->origin, sizeof(a->origin));
    a->number = far->claims.generation;
    a->uid = far->uid;
}

int64_t lbd_claims_sweep(struct lbd_claims *c, int64_t now_ns)
{
    int64_t youngest_ns = INT64_MAX;

    sweep(c, 0, now_ns);
    for (size_t i = 0; i < c->n; i++)
        if (c->claimant[i].told && now_ns - c->claimant[i].at_ns < youngest_ns)
            youngest_ns = now_ns - c->claimant[i].at_ns;
    return youngest_ns;
}

void lbd_claims_count(const struct lbd_claims *c, size_t *ret_here, size_t *ret_far)
{
    *ret_far = 0;
    for (size_t i = 0; i < c->n; i++)
        *ret_far += c->claimant[i].pid == 0;
    *ret_here = c->n - *ret_far;
}
