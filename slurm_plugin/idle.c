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
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sock.h"

static const partition_info_t *find_partition(const partition_info_msg_t *all, const char *name)
{
    for (uint32_t i = 0; i < all->record_count; i++) {
        const partition_info_t *p = &all->partition_array[i];

        if (name ? p->name && strcmp(p->name, name) == 0 : (p->flags & PART_FLAG_DEFAULT) != 0)
            return p->state_up & PARTITION_UP ? p : NULL;
    }
    return NULL;
}

/* As many tasks as it has cores: hardware threads hold none of their own on many sites. */
static unsigned places_of(const node_info_t *n)
{
    unsigned cores = (unsigned)n->sockets * n->cores;

    return cores > 0 && cores < n->cpus ? cores : n->cpus;
}

static void write_idle(int fd, const partition_info_t *p, const node_info_msg_t *nodes)
{
    char line[128];

    for (const int32_t *range = p->node_inx; range && range[0] >= 0; range += 2)
        for (int32_t i = range[0]; i <= range[1] && (uint32_t)i < nodes->record_count; i++) {
            const node_info_t *n = &nodes->node_array[i];
            int len;

            if (!n->name || (n->node_state & NODE_STATE_BASE) != NODE_STATE_IDLE ||
                (n->node_state & NODE_STATE_FLAGS) != 0)
                continue;
            len = snprintf(line, sizeof(line), "%s %u\n", n->name, places_of(n));
            if (len < (int)sizeof(line) && write(fd, line, (size_t)len) != len)
                return;
        }
}

/* In the child; what the library has to say about a slurmctld that does not answer is not for the user. */
static void look(int fd, const char *partition)
{
    partition_info_msg_t *parts = NULL;
    node_info_msg_t *nodes = NULL;
    const partition_info_t *p = NULL;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null >= 0)
        dup2(null, STDERR_FILENO);
    if (slurm_load_partitions(0, &parts, SHOW_ALL) == 0)
        p = find_partition(parts, partition);
    if (p && slurm_load_node(0, &nodes, SHOW_ALL) == 0)
        write_idle(fd, p, nodes);
    _exit(0);
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

int lbs_idle_hosts(const char *partition, int64_t deadline_ns, char *text, size_t size)
{
    int fd[2], rc;
    pid_t pid;

    if (pipe2(fd, O_CLOEXEC) < 0)
        return -errno;
    pid = fork();
    if (pid == 0)
        look(fd[1], partition);
    close(fd[1]);
    rc = pid < 0 ? -EAGAIN : read_all(fd[0], deadline_ns, text, size);
    close(fd[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return rc;
}
