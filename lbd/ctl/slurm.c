/* SPDX-License-Identifier: BSD-3-Clause */
/* What Slurm says of its nodes. */
#include "lbd/ctl/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

#define WAIT_NS (2 * LBX_NS_PER_S)
#define TEXT_MAX ((size_t)16 << 20)

extern char **environ;

json_t *lbd_slurm_parse(char *text)
{
    json_t *all = json_object();
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *state = strchr(line, '|'), *reason = state ? strchr(state + 1, '|') : NULL;
        json_t *o;

        if (!reason || state == line)
            continue;
        *state++ = *reason++ = '\0';
        if (strcmp(reason, "none") == 0)
            *reason = '\0';
        o = json_pack("{ss ss}", "state", state, "reason", reason);
        if (o) /* else it is no UTF-8 */
            json_object_set_new(all, line, o);
    }
    return all;
}

/* Up to the end, or until the time is up.  Returns a text to be freed, or NULL. */
static char *read_all(int fd, int64_t deadline_ns)
{
    char *text = NULL, *grown;
    size_t n = 0, size = 0;

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left_ns = deadline_ns - lbx_clock_mono_ns();
        ssize_t got;

        if (n + 1 >= size) {
            size = size ? 2 * size : 4096;
            grown = size <= TEXT_MAX ? realloc(text, size) : NULL;
            if (!grown)
                break;
            text = grown;
        }
        if (left_ns <= 0 || poll(&p, 1, (int)(left_ns / LBX_NS_PER_MS) + 1) <= 0)
            break;
        got = read(fd, text + n, size - n - 1);
        if (got < 0)
            break;
        n += (size_t)got;
        if (got == 0) {
            text[n] = '\0';
            return text;
        }
    }
    free(text);
    return NULL;
}

static int start(int *ret_fd, pid_t *ret_pid)
{
    char *argv[] = {"sinfo", "-h", "-N", "-o", "%N|%T|%E", NULL};
    posix_spawn_file_actions_t actions;
    int fd[2], rc;

    if (pipe2(fd, O_CLOEXEC) < 0)
        return -errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    rc = -posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fd[1]);
    if (rc < 0)
        close(fd[0]);
    else
        *ret_fd = fd[0];
    return rc;
}

json_t *lbd_slurm_states(void)
{
    json_t *states = NULL;
    char *text;
    pid_t pid;
    int fd = -1, status = 0;

    if (start(&fd, &pid) < 0)
        return NULL;
    text = read_all(fd, lbx_clock_mono_ns() + WAIT_NS);
    close(fd);
    if (!text)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (text && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        states = lbd_slurm_parse(text);
    free(text);
    return states;
}

void lbd_slurm_add(json_t *hosts, const json_t *states)
{
    json_t *h;
    size_t i;

    json_array_foreach(hosts, i, h)
    {
        const char *name = json_string_value(json_object_get(h, "host"));
        const json_t *s = name && states ? json_object_get(states, name) : NULL;

        if (!s)
            continue;
        json_object_set(h, "slurm_state", json_object_get(s, "state"));
        json_object_set(h, "slurm_reason", json_object_get(s, "reason"));
    }
}
