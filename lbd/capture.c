/* SPDX-License-Identifier: BSD-3-Clause */
/* What another program says. */
#include "lbd/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sock.h"

/* Signals as a program expects them, nothing on its input and error, our pipe on its output. */
static int start(char *const argv[], int out, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    int rc;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawnp(ret_pid, argv[0], &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return -rc;
}

static int read_all(int fd, int64_t deadline_ns, char **ret_text)
{
    char *text = NULL, *more;
    size_t n = 0, size = 0;
    ssize_t got;
    int rc;

    for (;;) {
        if (n + 1 >= size) {
            size = size ? 2 * size : 16384;
            more = size > LBD_CAPTURE_MOST ? NULL : realloc(text, size);
            if (!more) {
                free(text);
                return size > LBD_CAPTURE_MOST ? -EFBIG : -ENOMEM;
            }
            text = more;
        }
        rc = lbx_sock_wait(fd, POLLIN, deadline_ns);
        got = rc < 0 ? rc : read(fd, text + n, size - n - 1);
        if (got < 0 && rc >= 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    if (got < 0) {
        rc = rc < 0 ? rc : -errno;
        free(text);
        return rc;
    }
    text[n] = '\0';
    *ret_text = text;
    return 0;
}

int lbd_capture(char *const argv[], int64_t deadline_ns, char **ret_text, struct lbx_error *err)
{
    char *text = NULL;
    int fd[2], rc, status = 0;
    pid_t pid;

    if (pipe2(fd, O_CLOEXEC) < 0)
        return lbx_error_set(err, -errno, "%s: %s", argv[0], strerror(errno));
    rc = start(argv, fd[1], &pid);
    close(fd[1]);
    if (rc < 0) {
        close(fd[0]);
        return lbx_error_set(err, rc, "%s: %s", argv[0], strerror(-rc));
    }
    rc = read_all(fd[0], deadline_ns, &text);
    close(fd[0]);
    if (rc < 0)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (rc == 0 && status != 0)
        rc = -EIO;
    if (rc < 0) {
        free(text);
        return lbx_error_set(err, rc, "%s: %s", argv[0],
                             rc == -EIO ? "it failed: does slurmctld answer?" : strerror(-rc));
    }
    *ret_text = text;
    return 0;
}
