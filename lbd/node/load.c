/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampling the host's load. */
#include "lbd/node/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utmpx.h>

#include "common/clock.h"
#include "lbd/node/procs.h"

#define USERS_MAX 256
#define PROBE_NS (6 * LBX_NS_PER_MS)        /* of CPU time: beyond a scheduling quantum */
#define PROBE_MOST_NS (100 * LBX_NS_PER_MS) /* of elapsed time */
#define PROBE_EACH 6                        /* samples: at 10 s a probe costs .01 % of a core */
#define PROBE_IDLE .95                      /* a larger share than this is noise */

void lbd_load_init(struct lbd_load_source *s, const char *proc)
{
    char self[LBX_CGROUP_PATH_MAX];

    memset(s, 0, sizeof(*s));
    s->proc = proc;
    snprintf(self, sizeof(self), "%s/self", proc);
    lbx_cgroup_find(self, &s->cgroup);
}

static FILE *open_proc(const char *proc, const char *name)
{
    char path[LBX_CGROUP_PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/%s", proc, name);
    return fopen(path, "re");
}

void lbd_load_fini(struct lbd_load_source *s)
{
    if (!s)
        return;
    lbd_procs_destroy(s->procs);
    s->procs = NULL;
}

double lbd_load_cpus(struct lbd_load_source *s)
{
    cpu_set_t set;
    double cpus;

    lbx_cgroup_refresh(&s->cgroup);
    cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                        : (double)sysconf(_SC_NPROCESSORS_ONLN);
    return fmin(fmax(cpus, 1), s->cgroup.quota_cpus);
}

/* /proc/stat: time of all processors in use, stolen time (not in it), and the run queue. */
static int read_machine(const char *proc, int64_t *ret_busy_ns, int64_t *ret_steal_ns,
                        uint32_t *ret_running)
{
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
    int64_t tick_ns = LBX_NS_PER_S / sysconf(_SC_CLK_TCK);
    char line[512];
    FILE *f = open_proc(proc, "stat");
    bool seen = false;

    if (!f)
        return -errno;
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, "cpu ", 4) == 0 && /* not those of single processors */
            sscanf(line,
                   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64,
                   &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) == 8) {
            *ret_busy_ns = (int64_t)(user + nice + system + irq + softirq) * tick_ns;
            *ret_steal_ns = (int64_t)steal * tick_ns;
            seen = true;
        } else if (sscanf(line, "procs_running %" SCNu32, ret_running) == 1) {
            break;
        }
    }
    fclose(f);
    return seen ? 0 : -EPROTO;
}

static double read_pressure(const struct lbd_load_source *s)
{
    const struct lbx_cgroup *g = &s->cgroup;
    double percent = 0;
    FILE *f;

    if (g->limited[0] && g->version != 2)
        return 0; /* the machine's says nothing about one host in it */
    f = g->limited[0] ? open_proc(g->limited, "cpu.pressure") : open_proc(s->proc, "pressure/cpu");
    if (!f)
        return 0;
    if (fscanf(f, "some avg10=%lf", &percent) != 1 || !(percent >= 0 && percent <= 100))
        percent = 0;
    fclose(f);
    return percent / 100;
}

/* Time in which somebody on the machine waited for a core, so far; -1 where the kernel does not tell. */
static int64_t read_waiting_us(const char *proc)
{
    FILE *f = open_proc(proc, "pressure/cpu");
    int64_t us = -1;

    if (!f)
        return -1;
    if (fscanf(f, "some avg10=%*f avg60=%*f avg300=%*f total=%" SCNd64, &us) != 1)
        us = -1;
    fclose(f);
    return us;
}

static void read_users(struct lbd_load *l)
{
    static const size_t name_bytes = sizeof(((struct utmpx *)0)->ut_user);
    char seen[USERS_MAX][sizeof(((struct utmpx *)0)->ut_user)];
    struct utmpx *u;

    l->users = l->terminals = 0;
    setutxent();
    while ((u = getutxent())) {
        uint32_t i = 0;

        if (u->ut_type != USER_PROCESS)
            continue;
        l->terminals++;
        while (i < l->users && strncmp(seen[i], u->ut_user, name_bytes) != 0)
            i++;
        if (i == l->users && i < USERS_MAX)
            memcpy(seen[l->users++], u->ut_user, name_bytes);
    }
    endutxent();
}

/* What the host's processes have used so far. */
static int read_busy(struct lbd_load_source *s, int64_t machine_ns, int64_t *ret_ns)
{
    if (!s->cgroup.limited[0]) {
        *ret_ns = machine_ns;
        return 0;
    }
    if (lbx_cgroup_usage(&s->cgroup, ret_ns) == 0)
        return 0;
    if (!s->procs)
        s->procs = lbd_procs_create();
    return s->procs ? lbd_procs_usage(s->procs, s->proc, s->cgroup.limited, ret_ns) : -ENOMEM;
}

/* Counters at one moment; -1: the kernel does not tell. */
struct counters {
    int64_t machine_ns, steal_ns, busy_ns, own_ns, waiting_us, throttled_ns, now_ns;
};

static void read_counters(struct lbd_load_source *s, struct counters *c, struct lbd_load *l)
{
    c->machine_ns = c->busy_ns = c->throttled_ns = -1;
    c->steal_ns = 0;
    c->waiting_us = read_waiting_us(s->proc);
    if (read_machine(s->proc, &c->machine_ns, &c->steal_ns, &l->running) < 0)
        c->machine_ns = -1;
    if ((s->cgroup.limited[0] || c->machine_ns >= 0) &&
        read_busy(s, c->machine_ns, &c->busy_ns) < 0)
        c->busy_ns = -1;
    if (lbx_cgroup_throttled(&s->cgroup, &c->throttled_ns) < 0)
        c->throttled_ns = -1;
    c->own_ns = lbx_clock_process_cpu_ns();
    c->now_ns = lbx_clock_mono_ns();
}

/* What has happened between the sample before and now. */
static void compare_counters(const struct lbd_load_source *s, const struct counters *c,
                             struct lbd_load *l)
{
    double span_ns = (double)(c->now_ns - s->at_ns);

    if (l->first || span_ns <= 0)
        return;
    if (c->busy_ns >= 0 && s->busy_ns >= 0)
        l->busy_cpus =
            fmax(0, (double)(c->busy_ns - s->busy_ns - (c->own_ns - s->own_ns)) / span_ns);
    l->steal_cpus = fmax(0, (double)(c->steal_ns - s->steal_ns) / span_ns);
    if (c->waiting_us >= 0 && s->waiting_us >= 0)
        l->waiting_ratio = (double)(c->waiting_us - s->waiting_us) * 1e3 / span_ns;
    if (c->throttled_ns >= 0 && s->throttled_ns >= 0)
        l->throttled_ratio =
            fmin(1, fmax(0, (double)(c->throttled_ns - s->throttled_ns) / span_ns));
}

double lbd_load_probe(double cpus)
{
    int64_t cpu_ns = lbx_clock_thread_cpu_ns(), wall_ns = lbx_clock_mono_ns(), used_ns, took_ns;
    double share;

    do {
        used_ns = lbx_clock_thread_cpu_ns() - cpu_ns;
        took_ns = lbx_clock_mono_ns() - wall_ns;
    } while (used_ns < PROBE_NS && took_ns < PROBE_MOST_NS);
    share = fmin(fmin(1, cpus), fmax((double)used_ns / (double)took_ns, 1e-3));
    /* k others that each use what they get leave cpus / (k + 1) to one more */
    return share > PROBE_IDLE * fmin(1, cpus) ? 0 : fmin(cpus, cpus / share - 1);
}

int lbd_load_sample(struct lbd_load_source *s, struct lbd_load *ret)
{
    struct lbd_load l = {.first = s->at_ns == 0, .waiting_ratio = -1};
    struct counters c;

    l.cpus = lbd_load_cpus(s);
    read_counters(s, &c, &l);
    compare_counters(s, &c, &l);
    if (c.busy_ns < 0) {
        if (s->unprobed++ % PROBE_EACH == 0)
            s->probed_cpus = lbd_load_probe(l.cpus);
        l.busy_cpus = s->probed_cpus;
        l.probed = true;
    }
    l.pressure_ratio = read_pressure(s);
    read_users(&l);
    s->at_ns = c.now_ns;
    s->busy_ns = c.busy_ns;
    s->steal_ns = c.steal_ns;
    s->own_ns = c.own_ns;
    s->waiting_us = c.waiting_us;
    s->throttled_ns = c.throttled_ns;
    *ret = l;
    return 0;
}
