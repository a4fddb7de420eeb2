/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts that a new job can have at once, asked of slurmctld. */
#include "slurm_plugin/idle.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sock.h"

#define RANGES_MAX 8192 /* bytes: some 500 of them */

static const partition_info_t *find_partition(const partition_info_msg_t *all, const char *name)
{
    for (uint32_t i = 0; i < all->record_count; i++) {
        const partition_info_t *p = &all->partition_array[i];

        if (name ? p->name && strcmp(p->name, name) == 0 : (p->flags & PART_FLAG_DEFAULT) != 0)
            return p->state_up == PARTITION_UP ? p : NULL;
    }
    return NULL;
}

/* As many tasks as it has cores: hardware threads hold none of their own on many sites. */
static unsigned places_of(const node_info_t *n)
{
    unsigned cores = (unsigned)n->sockets * n->cores;

    return cores > 0 && cores < n->cpus ? cores : n->cpus;
}

/* Both questions are asked in a child each, and answered by lines: FIRST LAST, nodes of the partition by number. */
static void ask_partition(int fd, const char *partition)
{
    partition_info_msg_t *parts = NULL;
    const partition_info_t *p = NULL;

    if (slurm_load_partitions(0, &parts, SHOW_ALL) == SLURM_SUCCESS)
        p = find_partition(parts, partition);
    for (const int32_t *range = p ? p->node_inx : NULL; range && range[0] >= 0; range += 2)
        if (dprintf(fd, "%d %d\n", range[0], range[1]) < 0)
            return;
}

/* NUMBER NAME CPUS, those that are idle. */
static void ask_nodes(int fd, const char *partition)
{
    node_info_msg_t *nodes = NULL;
    char line[128];

    (void)partition;
    if (slurm_load_node(0, &nodes, SHOW_ALL) != SLURM_SUCCESS)
        return;
    for (uint32_t i = 0; i < nodes->record_count; i++) {
        const node_info_t *n = &nodes->node_array[i];
        int len;

        if (!n->name || (n->node_state & NODE_STATE_BASE) != NODE_STATE_IDLE ||
            (n->node_state & NODE_STATE_FLAGS) != 0)
            continue;
        len = snprintf(line, sizeof(line), "%u %s %u\n", i, n->name, places_of(n));
        if (len < (int)sizeof(line) && write(fd, line, (size_t)len) != len)
            return;
    }
}

/* In the child; what the library has to say about a slurmctld that does not answer is not for the user. */
static void look(void (*ask)(int fd, const char *partition), int fd, const char *partition,
                 pid_t parent)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) {
        if (null >= 0)
            dup2(null, STDERR_FILENO);
        ask(fd, partition);
    }
    _exit(0);
}

static bool start(struct lbs_idle_child *child, void (*ask)(int fd, const char *partition),
                  const char *partition)
{
    pid_t parent = getpid();
    int fd[2];

    if (pipe2(fd, O_CLOEXEC) < 0)
        return false;
    child->pid = fork();
    if (child->pid == 0)
        look(ask, fd[1], partition, parent);
    close(fd[1]);
    child->fd = fd[0];
    return child->pid > 0;
}

static void end(struct lbs_idle_child *child)
{
    if (child->fd >= 0)
        close(child->fd);
    if (child->pid > 0) {
        kill(child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    *child = (struct lbs_idle_child){-1, -1};
}

static int read_all(int fd, int64_t deadline_ns, char *text, size_t size)
{
    size_t n = 0;

    for (;;) {
        ssize_t got;
        int rc = lbx_sock_wait(fd, POLLIN, deadline_ns);

        if (rc < 0)
            return rc;
        if (n + 1 >= size)
            return -ENOSPC;
        got = read(fd, text + n, size - 1 - n);
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    text[n] = '\0';
    return n > 0 ? 0 : -ENODATA;
}

static bool is_within(const char *ranges, unsigned number)
{
    unsigned first, last;

    for (const char *at = ranges; sscanf(at, "%u %u", &first, &last) == 2;) {
        if (number >= first && number <= last)
            return true;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return false;
}

/* Keep the lines of nodes within the ranges, without their numbers. */
static void keep_within(const char *ranges, char *text)
{
    char *out = text, *at = text;

    while (*at) {
        size_t n = strcspn(at, "\n");
        char *rest;
        unsigned number = (unsigned)strtoul(at, &rest, 10);
        char *next = at + n + (at[n] == '\n');

        if (rest > at && rest < at + n && is_within(ranges, number)) {
            rest++;
            memmove(out, rest, (size_t)(next - rest));
            out += next - rest;
        }
        at = next;
    }
    *out = '\0';
}

void lbs_idle_ask(struct lbs_idle *idle, const char *partition)
{
    *idle = LBS_IDLE_NONE;
    if (!start(&idle->nodes, ask_nodes, partition) ||
        !start(&idle->parts, ask_partition, partition))
        lbs_idle_end(idle);
}

int lbs_idle_hosts(struct lbs_idle *idle, int64_t deadline_ns, char *text, size_t size)
{
    char ranges[RANGES_MAX];
    int rc = idle->parts.pid > 0 ? 0 : -EAGAIN;

    if (rc == 0)
        rc = read_all(idle->parts.fd, deadline_ns, ranges, sizeof(ranges));
    if (rc == 0)
        rc = read_all(idle->nodes.fd, deadline_ns, text, size);
    if (rc < 0)
        return rc;
    keep_within(ranges, text);
    return text[0] ? 0 : -ENODATA;
}

void lbs_idle_end(struct lbs_idle *idle)
{
    end(&idle->nodes);
    end(&idle->parts);
}
