/* SPDX-License-Identifier: BSD-3-Clause */
/* Which hosts a step of srun uses, and how many of its tasks each of them gets. */
#include "slurm_plugin/place.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

#define GAIN 1.05        /* of the slowest task: less is within the noise of what was measured */
#define WORK_MAX 4000000 /* steps of the layout: some ms */
#define LEAST_WAIT_NS (10 * LBX_NS_PER_MS)
#define FRESH_NS (10 * LBX_NS_PER_MS)
#define PAUSE_NS (5 * LBX_NS_PER_MS)
#define ENDING_NS (30 * LBX_NS_PER_MS) /* jobs that end are waited for so long */
#define LINE_MAX_BYTES (LBS_HOST_MAX + 1)
#define CLAIM_TRIES 16 /* of a burst the last ones find that many others before them */

static struct lbw_local_claims claims;
static char names[LBW_LOCAL_TEXT_MAX]; /* too large for a stack */

unsigned lbs_place_cpus(const char *text, size_t n)
{
    for (;;) {
        char *end;
        unsigned long cpus = strtoul(text, &end, 10), times = 1;

        if (end == text || *text < '0' || *text > '9')
            return 0;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtoul(end + 2, &end, 10);
            if (times == 0 || *end++ != ')')
                return 0;
        }
        if (n < times)
            return cpus > 1000000 ? 0 : (unsigned)cpus;
        n -= times;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
}

/* Append a name to names; false when there is no room. */
static bool add_name(size_t *used, const char *host)
{
    int len = snprintf(names + *used, sizeof(names) - *used, "%s%s", *used ? "," : "", host);

    *used += (size_t)len;
    return *used < sizeof(names);
}

static bool set_slot(struct lbs_slot *s, const char *host, unsigned cpus,
                     const struct lbs_command *c)
{
    memset(s, 0, sizeof(*s));
    s->room = s->most = cpus / (c->cpus ? c->cpus : 1);
    return snprintf(s->host, sizeof(s->host), "%s", host) < (int)sizeof(s->host) && s->room > 0;
}

static const struct lbw_local_host *find_host(const struct lbw_local_hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (strcmp(hosts->host[i].host, name) == 0)
            return &hosts->host[i];
    return NULL;
}

/* Keep the slots that lbd knows. */
static size_t rate(const struct lbw_local_hosts *hosts, struct lbs_slot *slot, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        const struct lbw_local_host *h = find_host(hosts, slot[i].host);

        if (!h)
            continue;
        slot[kept] = slot[i];
        slot[kept].core_speed = h->core_speed;
        slot[kept++].capacity = h->capacity;
    }
    return kept;
}

/* The job's hosts; 0 when there are too many or something is not understood. */
static size_t job_slots(const struct lbs_place *p, struct lbs_slot *slot)
{
    hostlist_t list = p->job_cpus ? slurm_hostlist_create(p->job_hosts) : NULL;
    size_t n = 0, used = 0;
    bool good = list != NULL;
    char *host;

    while (good && (host = slurm_hostlist_shift(list))) {
        good = n < LBS_SLOTS_MAX && add_name(&used, host) &&
               set_slot(&slot[n], host, lbs_place_cpus(p->job_cpus, n), p->command);
        free(host);
        n++;
    }
    if (list)
        slurm_hostlist_destroy(list);
    return good ? n : 0;
}

/* There is no layout of ours: 0, and why. */
static size_t leave(enum lbw_placement what, const char *why, enum lbw_placement *ret_what,
                    const char **ret_why)
{
    *ret_what = what;
    *ret_why = why;
    return 0;
}

/* CPUs of the host that no other step of the job, and no other new job, can have then. */
static uint32_t cpus_taken(const struct lbs_place *p, uint32_t tasks)
{
    uint32_t cpus = p->command->cpus ? p->command->cpus : 1;

    if (p->jobid == 0 || !p->command->exact || tasks > LBW_LOCAL_CLAIM_MOST / cpus)
        return LBW_LOCAL_CLAIM_MOST; /* a new job's host is no idle one any more */
    return tasks * cpus;
}

static void make_claims(const struct lbs_place *p, const struct lbs_slot *slot, size_t n)
{
    claims.jobid = p->jobid;
    claims.n = 0;
    for (size_t i = 0; i < n; i++) {
        struct lbw_local_claim *c = &claims.claim[claims.n];

        if (slot[i].tasks == 0)
            continue;
        memcpy(c->host, slot[i].host, sizeof(c->host));
        c->tasks = slot[i].tasks;
        c->cpus = cpus_taken(p, slot[i].tasks);
        claims.n++;
    }
}

/* Tasks that fit beside the CPUs that others hold. */
static uint32_t room_beside(const struct lbs_place *p, uint32_t room, uint32_t held)
{
    uint32_t cpus = p->command->cpus ? p->command->cpus : 1;
    uint32_t taken = (held + cpus - 1) / cpus;

    if (held > 0 && !p->command->exact)
        return 0; /* it would wait for the whole of the host */
    return taken < room ? room - taken : 0;
}

static void regard_claims(const struct lbs_place *p, struct lbs_slot *slot, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        slot[i].claimed = 0;
        slot[i].most = slot[i].room;
        for (size_t k = 0; k < claims.n; k++)
            if (strcmp(claims.claim[k].host, slot[i].host) == 0) {
                slot[i].claimed = claims.claim[k].tasks;
                slot[i].most = room_beside(p, slot[i].room, claims.claim[k].cpus);
            }
    }
}

/* Whether nobody else was on the way to the idle hosts some ms ago: then nobody will be met there. */
static bool is_alone(const struct lbs_place *p, const struct lbs_slot *slot, size_t n)
{
    if (p->job_hosts)
        return false; /* lbd has not told */
    for (size_t i = 0; i < n; i++)
        if (slot[i].claimed > 0 || slot[i].most < slot[i].room)
            return false;
    return true;
}

/*
 * Lay out, and tell lbd; where others have claimed the same hosts meanwhile do it again beside theirs.
 * want     so many hosts; 0: as many as it turns out
 * plain    hosts that Slurm would use: only what is better than its layout is taken; 0: anything
 * claims.generation  of the newest claim that slot regards
 */
static size_t lay_out(const struct lbs_place *p, struct lbs_lbd *lbd, struct lbs_slot *slot,
                      size_t n, uint32_t want, size_t plain, enum lbw_placement *ret_what,
                      const char **ret_why)
{
    uint32_t ntasks = p->command->ntasks;
    int rc;

    for (int i = 0;; i++) {
        if (lbs_layout(slot, n, ntasks, want) < 0)
            return leave(LBW_PLACE_NO_ROOM, "the tasks do not fit", ret_what, ret_why);
        if (plain > 0 &&
            lbs_layout_pace(slot, n) <= GAIN * lbs_layout_plain_pace(slot, plain, ntasks))
            return leave(LBW_PLACE_AS_GOOD, "Slurm's layout is as good", ret_what, ret_why);
        make_claims(p, slot, n);
        if (i == CLAIM_TRIES)
            claims.generation = LBW_LOCAL_CLAIM_ANYHOW;
        rc = lbs_ask_claim(lbd, p->deadline_ns, &claims);
        if (rc == 0)
            return n;
        if (rc < 0 && lbd->why == LBW_PLACE_DEADLINE && is_alone(p, slot, n)) {
            claims.generation = LBW_LOCAL_CLAIM_ANYHOW;
            lbs_tell_claim(lbd, &claims);
            return n;
        }
        if (rc < 0) /* what nobody knows of may meet others there, and wait */
            return leave(lbd->why, "lbd took no note of it in time", ret_what, ret_why);
        regard_claims(p, slot, n);
    }
}

static size_t lay_out_in_job(const struct lbs_place *p, struct lbs_lbd *lbd, struct lbs_slot *slot,
                             enum lbw_placement *ret_what, const char **ret_why)
{
    const struct lbs_command *c = p->command;
    const struct lbw_local_hosts *hosts;
    size_t n = job_slots(p, slot), plain = n;
    uint32_t want = (uint32_t)n;

    if (n == 0)
        return leave(LBW_PLACE_NOT_UNDERSTOOD, "the job's hosts or CPUs are not understood",
                     ret_what, ret_why);
    if ((uint64_t)n * c->ntasks > WORK_MAX)
        return leave(LBW_PLACE_TOO_LARGE, "the step is too large", ret_what, ret_why);
    if (c->nodes_by_option && c->nodes < n)
        plain = c->nodes;
    if (!p->choose_hosts && (plain < n || c->ntasks <= n)) /* each host that Slurm would use keeps
                                                              a task: a balanced loop can use all */
        return leave(LBW_PLACE_AS_GOOD, "Slurm's layout is as good", ret_what, ret_why);
    if (p->choose_hosts) {
        want = c->nodes_by_option ? c->nodes : 0;
        plain = n ==
                1; /* where they are as good as each other steps that begin at once must not meet */
    }
    hosts = lbs_ask_hosts(lbd, names, p->deadline_ns);
    if (!hosts)
        return leave(lbd->why, "lbd gives no ranking", ret_what, ret_why);
    if (rate(hosts, slot, n) != n)
        return leave(LBW_PLACE_UNKNOWN_HOSTS, "lbd does not know all hosts of the job", ret_what,
                     ret_why);
    claims.generation = 0;
    return lay_out(p, lbd, slot, n, want, plain, ret_what, ret_why);
}

static size_t idle_slots(const struct lbs_place *p, const struct lbw_local_idle *idle,
                         struct lbs_slot *slot)
{
    size_t n = 0;

    for (size_t i = 0; i < idle->n; i++) {
        const struct lbw_local_idle_host *h = &idle->host[i];

        if (!set_slot(&slot[n], h->host, h->cpus, p->command))
            continue;
        slot[n].core_speed = h->core_speed;
        slot[n].capacity = h->capacity;
        slot[n].claimed = h->claimed;
        slot[n].most = room_beside(p, slot[n].room, h->held_cpus);
        n++;
    }
    return n;
}

/* wait_ns: so long lbd may wait for Slurm. */
static int ask_idle(const struct lbs_place *p, struct lbs_lbd *lbd, int64_t wait_ns)
{
    return lbs_ask_idle_begin(lbd, p->command->partition, wait_ns > 0 ? wait_ns : 0,
                              p->deadline_ns);
}

int lbs_place_begin(const struct lbs_place *p, struct lbs_lbd *lbd)
{
    if (p->job_hosts || !p->choose_hosts || p->command->conflict || p->command->fresh_conflict)
        return -1;
    return ask_idle(p, lbd, (p->deadline_ns - lbx_clock_mono_ns()) / 2);
}

/* Whether the tasks fit on what is known to be idle. */
static bool fits(const struct lbs_place *p, struct lbs_slot *slot, size_t n)
{
    uint32_t want = p->command->nodes_by_option ? p->command->nodes : 0;

    return n > 0 && (uint64_t)n * p->command->ntasks <= WORK_MAX &&
           lbs_layout(slot, n, p->command->ntasks, want) == 0;
}

/*
 * The idle hosts as slots.  Where they are not enough it is asked again: what was known before Slurm answers may be old, and hosts
 * where a job has just ended are idle some ms later.  Returns their number, 0 with lbd->why.
 */
static size_t find_idle(const struct lbs_place *p, struct lbs_lbd *lbd, struct lbs_slot *slot)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int64_t begin_ns = lbx_clock_mono_ns(), half_ns = begin_ns + (p->deadline_ns - begin_ns) / 2;
    const struct lbw_local_idle *idle;
    int fd = *p->idle;
    size_t n = 0;

    *p->idle = -1;
    if (fd < 0)
        fd = lbs_place_begin(p, lbd);
    while (fd >= 0) {
        int64_t now_ns;

        idle = lbs_ask_idle_end(lbd, fd, p->deadline_ns);
        if (idle) {
            claims.generation = idle->generation;
            n = idle_slots(p, idle, slot);
            lbd->why = LBW_PLACE_NO_IDLE_HOSTS;
        }
        now_ns = lbx_clock_mono_ns();
        if (lbd->why != LBW_PLACE_NO_IDLE_HOSTS || now_ns > p->deadline_ns - LEAST_WAIT_NS ||
            fits(p, slot, n))
            break;
        if (idle && idle->age_ns < FRESH_NS && (now_ns > half_ns || now_ns > begin_ns + ENDING_NS))
            break;
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); /* lbd may answer at once, too */
        fd = ask_idle(p, lbd, p->deadline_ns - LEAST_WAIT_NS / 2 - now_ns);
    }
    return n;
}

static size_t lay_out_new(const struct lbs_place *p, struct lbs_lbd *lbd, struct lbs_slot *slot,
                          enum lbw_placement *ret_what, const char **ret_why)
{
    const struct lbs_command *c = p->command;
    size_t n;

    if (c->fresh_conflict)
        return leave(LBW_PLACE_NOT_ASKED, c->fresh_conflict, ret_what, ret_why);
    n = find_idle(p, lbd, slot);
    if (n == 0)
        return leave(lbd->why,
                     lbd->why == LBW_PLACE_NO_IDLE_HOSTS ? "no idle host is known in time"
                                                         : "lbd names no idle hosts",
                     ret_what, ret_why);
    if ((uint64_t)n * c->ntasks > WORK_MAX)
        return leave(LBW_PLACE_TOO_LARGE, "the step is too large", ret_what, ret_why);
    return lay_out(p, lbd, slot, n, c->nodes_by_option ? c->nodes : 0, 0, ret_what, ret_why);
}

size_t lbs_place(const struct lbs_place *p, struct lbs_lbd *lbd, struct lbs_slot *slot,
                 enum lbw_placement *ret_what, const char **ret_why)
{
    struct lbs_command c = *p->command;
    struct lbs_place q = *p;
    size_t n;

    q.command = &c;
    if (c.conflict)
        return leave(LBW_PLACE_NOT_ASKED, c.conflict, ret_what, ret_why);
    if (c.ntasks == 0 && c.nodes_by_option)
        c.ntasks = c.nodes;
    if (c.ntasks == 0)
        return leave(LBW_PLACE_NOT_ASKED, "the number of tasks is not given", ret_what, ret_why);
    if (!q.job_hosts && !q.choose_hosts)
        return leave(LBW_PLACE_NOT_ASKED, "the hosts are Slurm's choice", ret_what, ret_why);
    n = q.job_hosts ? lay_out_in_job(&q, lbd, slot, ret_what, ret_why)
                    : lay_out_new(&q, lbd, slot, ret_what, ret_why);
    if (n > 0)
        *ret_what = LBW_PLACE_OURS;
    return n;
}

/* Write what is in names; good: nothing has failed so far.  Returns whether nothing has. */
static bool flush(int fd, size_t *used, bool good)
{
    good = good && write(fd, names, *used) == (ssize_t)*used;
    *used = 0;
    return good;
}

int lbs_place_hostfile(const struct lbs_slot *slot, size_t n)
{
    int fd = memfd_create("lb.hosts", MFD_CLOEXEC);
    bool good = fd >= 0;
    size_t used = 0;

    for (size_t i = 0; good && i < n; i++) {
        char line[LINE_MAX_BYTES + 1];
        size_t len = (size_t)snprintf(line, sizeof(line), "%s\n", slot[i].host);

        for (uint32_t k = 0; good && k < slot[i].tasks; k++) {
            if (used + len > sizeof(names))
                good = flush(fd, &used, good);
            memcpy(names + used, line, len);
            used += len;
        }
    }
    good = flush(fd, &used, good);
    if (fd >= 0 && !good) {
        close(fd);
        fd = -1;
    }
    return fd;
}
