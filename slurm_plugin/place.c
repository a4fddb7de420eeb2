/* SPDX-License-Identifier: BSD-3-Clause */
/* Which hosts a step of srun uses, and how many of its tasks each of them gets. */
#include "slurm_plugin/place.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurm_plugin/idle.h"

#define GAIN 1.05        /* of the slowest task: less is within the noise of what was measured */
#define WORK_MAX 4000000 /* steps of the layout: some ms */

static char names[LBW_LOCAL_TEXT_MAX], idle[2 * LBW_LOCAL_TEXT_MAX]; /* too large for a stack */

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
    s->most = cpus / (c->cpus ? c->cpus : 1);
    return snprintf(s->host, sizeof(s->host), "%s", host) < (int)sizeof(s->host) && s->most > 0;
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
    if (p->choose_hosts)
        want = c->nodes_by_option ? c->nodes : 0;
    hosts = lbs_ask_hosts(lbd, names, p->deadline_ns);
    if (!hosts)
        return leave(lbd->why, "lbd gives no ranking", ret_what, ret_why);
    if (rate(hosts, slot, n) != n)
        return leave(LBW_PLACE_UNKNOWN_HOSTS, "lbd does not know all hosts of the job", ret_what,
                     ret_why);
    if (lbs_layout(slot, n, c->ntasks, want) < 0)
        return leave(LBW_PLACE_NO_ROOM, "the tasks do not fit", ret_what, ret_why);
    if (lbs_layout_pace(slot, n) <= GAIN * lbs_layout_plain_pace(slot, plain, c->ntasks))
        return leave(LBW_PLACE_AS_GOOD, "Slurm's layout is as good", ret_what, ret_why);
    return n;
}

/* Names of the idle hosts into names; false when there are too many. */
static bool name_idle(void)
{
    size_t used = 0;

    for (const char *line = idle; *line; line += strcspn(line, "\n") + 1) {
        char host[LBS_HOST_MAX];

        if (sscanf(line, "%63s", host) == 1 && !add_name(&used, host))
            return false;
        if (line[strcspn(line, "\n")] == '\0')
            break;
    }
    return used > 0;
}

/* In Slurm's own order, those that lbd knows. */
static size_t idle_slots(const struct lbs_command *c, const struct lbw_local_hosts *hosts,
                         struct lbs_slot *slot)
{
    size_t n = 0;

    for (const char *line = idle; *line && n < LBS_SLOTS_MAX; line += strcspn(line, "\n") + 1) {
        char host[LBS_HOST_MAX];
        unsigned cpus;

        if (sscanf(line, "%63s %u", host, &cpus) == 2 && find_host(hosts, host) &&
            set_slot(&slot[n], host, cpus, c))
            n++;
        if (line[strcspn(line, "\n")] == '\0')
            break;
    }
    return rate(hosts, slot, n);
}

static size_t lay_out_new(const struct lbs_place *p, struct lbs_lbd *lbd, struct lbs_slot *slot,
                          enum lbw_placement *ret_what, const char **ret_why)
{
    const struct lbs_command *c = p->command;
    const struct lbw_local_hosts *hosts;
    size_t n;

    if (c->fresh_conflict)
        return leave(LBW_PLACE_NOT_ASKED, c->fresh_conflict, ret_what, ret_why);
    if (lbs_idle_hosts(c->partition, p->deadline_ns, idle, sizeof(idle)) < 0 || !name_idle())
        return leave(LBW_PLACE_NO_IDLE_HOSTS, "slurmctld names no idle hosts in time", ret_what,
                     ret_why);
    hosts = lbs_ask_hosts(lbd, names, p->deadline_ns);
    if (!hosts)
        return leave(lbd->why, "lbd gives no ranking", ret_what, ret_why);
    n = idle_slots(c, hosts, slot);
    if (n == 0)
        return leave(LBW_PLACE_UNKNOWN_HOSTS, "lbd knows none of the idle hosts", ret_what,
                     ret_why);
    if ((uint64_t)n * c->ntasks > WORK_MAX)
        return leave(LBW_PLACE_TOO_LARGE, "the step is too large", ret_what, ret_why);
    if (lbs_layout(slot, n, c->ntasks, c->nodes_by_option ? c->nodes : 0) < 0)
        return leave(LBW_PLACE_NO_ROOM, "the tasks do not fit on the idle hosts", ret_what,
                     ret_why);
    return n;
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
