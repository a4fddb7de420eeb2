/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time of the processes in a control group. */
#include "lbd/node/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

#define PROCS_MAX 512
#define CPUTIME_BYTES 1024

struct process {
    int pid;
    uint64_t started; /* tells a process from a later one with its number */
    int64_t used_ns;
};

struct lbd_procs {
    struct process was[PROCS_MAX], now[PROCS_MAX];
    size_t nwas;
    int64_t sum_ns;
};

struct lbd_procs *lbd_procs_create(void)
{
    return calloc(1, sizeof(struct lbd_procs));
}

void lbd_procs_destroy(struct lbd_procs *p)
{
    free(p);
}

static int read_process(const char *proc, int pid, struct process *ret)
{
    int64_t tick_ns = LBX_NS_PER_S / sysconf(_SC_CLK_TCK);
    char path[1100], text[CPUTIME_BYTES], *p;
    uint64_t user, system;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%s/%d/stat", proc, pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    p = strrchr(text, ')'); /* the name before may hold anything */
    if (!p || sscanf(p,
                     ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                     " %*d %*d %*d %*d %*d %*d %" SCNu64,
                     &user, &system, &ret->started) != 3)
        return -EPROTO;
    ret->pid = pid;
    ret->used_ns = (int64_t)(user + system) * tick_ns;
    return 0;
}

/* What this process used when seen last, 0 for a new one. */
static int64_t find_before(const struct lbd_procs *p, const struct process *now)
{
    for (size_t i = 0; i < p->nwas; i++)
        if (p->was[i].pid == now->pid && p->was[i].started == now->started)
            return p->was[i].used_ns;
    return 0;
}

int lbd_procs_usage(struct lbd_procs *p, const char *proc, const char *folder, int64_t *ret_ns)
{
    char path[1100];
    size_t n = 0;
    FILE *f;
    int pid;

    snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
    f = fopen(path, "re");
    if (!f)
        return -errno;
    while (n < PROCS_MAX && fscanf(f, "%d", &pid) == 1) {
        if (read_process(proc, pid, &p->now[n]) < 0)
            continue; /* gone already */
        p->sum_ns += p->now[n].used_ns - find_before(p, &p->now[n]);
        n++;
    }
    fclose(f);
    memcpy(p->was, p->now, n * sizeof(p->was[0]));
    p->nwas = n;
    *ret_ns = p->sum_ns;
    return 0;
}
