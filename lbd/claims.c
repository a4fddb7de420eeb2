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

struct lbd_claimant {
    uid_t uid;
    pid_t pid;
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
    free(c->claimant[i].claim);
    c->claimant[i] = c->claimant[--c->n];
}

/* Those that have ended, and the one who asks anew. */
static void sweep(struct lbd_claims *c, pid_t pid, int64_t now_ns)
{
    bool all = c->swept_ns == 0 || now_ns - c->swept_ns > SWEEP_NS;

    for (size_t i = c->n; i > 0; i--) {
        const struct lbd_claimant *a = &c->claimant[i - 1];

        if (a->pid == pid || (all && lbd_steps_started(a->pid) != a->started))
            forget(c, i - 1);
    }
    if (all)
        c->swept_ns = now_ns;
}

static const struct lbw_local_claim *find(const struct lbw_local_claim *claim, size_t n,
                                          const char *host)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(claim[i].host, host) == 0)
            return &claim[i];
    return NULL;
}

static bool is_new_to(const struct lbd_claimant *a, const struct lbw_local_claims *want)
{
    if (a->generation <= want->generation)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (find(want->claim, want->n, a->claim[i].host))
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

static void add(struct lbw_local_claims *sum, const struct lbw_local_claim *claim, double tasks,
                uint32_t cpus)
{
    struct lbw_local_claim *s = (void *)find(sum->claim, sum->n, claim->host);

    if (tasks < LEAST_TASKS && cpus == 0)
        return;
    if (!s && sum->n == LBW_LOCAL_HOSTS_MAX)
        return;
    if (!s) {
        s = &sum->claim[sum->n++];
        memset(s, 0, sizeof(*s));
        memcpy(s->host, claim->host, sizeof(s->host));
    }
    s->tasks = fmin(s->tasks + tasks, LBW_LOCAL_CLAIM_MOST);
    s->cpus = s->cpus + cpus < LBW_LOCAL_CLAIM_MOST ? s->cpus + cpus : LBW_LOCAL_CLAIM_MOST;
}

static void sum_up(const struct lbd_claims *c, uid_t uid, uint32_t jobid, int64_t half_life_ns,
                   int64_t now_ns, struct lbw_local_claims *ret)
{
    ret->generation = c->generation;
    ret->jobid = jobid;
    ret->n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct lbd_claimant *a = &c->claimant[i];
        double young = exp2(-(double)(now_ns - a->at_ns) / (double)half_life_ns);
        bool held = holds_cpus(a, uid, jobid, now_ns);

        for (size_t k = 0; k < a->n; k++)
            add(ret, &a->claim[k], a->claim[k].tasks * young, held ? a->claim[k].cpus : 0);
    }
}

static int reserve(struct lbd_claims *c, uid_t uid, size_t nclaim)
{
    size_t own = 0, size = c->size ? 2 * c->size : 8;
    struct lbd_claimant *claimant;

    for (size_t i = 0; i < c->n; i++) {
        own += c->claimant[i].uid == uid;
        nclaim += c->claimant[i].n;
    }
    if (c->n == LBD_CLAIMS_MAX || own == LBD_CLAIMS_EACH_MAX || nclaim > LBD_CLAIMS_HOSTS_MAX)
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

int lbd_claims_take(struct lbd_claims *c, uid_t uid, pid_t pid, const struct lbw_local_claims *want,
                    int64_t half_life_ns, int64_t now_ns, struct lbw_local_claims *ret)
{
    uint64_t started = lbd_steps_started(pid);
    struct lbw_local_claim *claim;
    int rc;

    sweep(c, pid, now_ns);
    for (size_t i = 0; i < c->n; i++)
        if (is_new_to(&c->claimant[i], want)) {
            sum_up(c, uid, want->jobid, half_life_ns, now_ns, ret);
            return 1;
        }
    if (want->n == 0 || started == 0) /* it has ended already, or its end could not be seen */
        return 0;
    rc = reserve(c, uid, want->n);
    if (rc < 0)
        return rc;
    claim = malloc(want->n * sizeof(*claim));
    if (!claim)
        return -ENOMEM;
    memcpy(claim, want->claim, want->n * sizeof(*claim));
    c->claimant[c->n++] = (struct lbd_claimant){.uid = uid,
                                                .pid = pid,
                                                .started = started,
                                                .jobid = want->jobid,
                                                .generation = ++c->generation,
                                                .at_ns = now_ns,
                                                .n = want->n,
                                                .claim = claim};
    return 0;
}
