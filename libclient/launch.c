/* SPDX-License-Identifier: BSD-3-Clause */
/* How rank 0 comes by the balancer's address and key. */
#include "config.h"
#include "libclient/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/frame.h"
#include "common/sock.h"
#include "wire/endpoint.h"

#define ANSWER_NS (2 * LBX_NS_PER_S)
#define END_NS (2 * LBX_NS_PER_S)
#define CHILD_FD 3
#define PATH_BYTES 512

extern char **environ;

/* Read the one plain frame.  Returns 0 or a negative errno. */
static int read_blob(int fd, int64_t deadline_ns, uint8_t *ret_blob, size_t size, size_t *ret_n)
{
    struct lbx_channel plain;
    struct lbx_buf in;
    const uint8_t *body = NULL;
    size_t n = 0;
    int rc;

    lbx_channel_init_plain(&plain);
    lbx_buf_init(&in, 4 * LBW_ENDPOINT_BYTES_MAX);
    for (;;) {
        ssize_t got;

        rc = lbx_frame_next(&plain, &in, &body, &n);
        if (rc != 0)
            break;
        rc = lbx_sock_wait(fd, POLLIN, deadline_ns);
        if (rc < 0)
            break;
        got = lbx_sock_fill(fd, &in);
        rc = (int)got;
        if (rc < 0)
            break;
    }
    if (rc == 1 && n > size)
        rc = -EMSGSIZE;
    if (rc == 1) {
        memcpy(ret_blob, body, n);
        *ret_n = n;
    }
    if (in.base)
        explicit_bzero(in.base, in.size);
    lbx_buf_fini(&in);
    return rc < 0 ? rc : 0;
}

static int take_from_step(const char *dir, uint8_t *ret_blob, size_t size, size_t *ret_n,
                          struct lbx_error *err)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + ANSWER_NS;
    char path[PATH_BYTES];
    int fd, rc;

    if (snprintf(path, sizeof(path), "%s/balancer.sock", dir) >= (int)sizeof(path))
        return lbx_error_set(err, -ENAMETOOLONG, "LB_BALANCER_DIR is too long");
    fd = lbx_sock_connect_unix(path, deadline_ns);
    rc = fd;
    if (fd >= 0) {
        rc = read_blob(fd, deadline_ns, ret_blob, size, ret_n);
        close(fd);
    }
    if (rc < 0)
        return lbx_error_set(err, rc, "the step's balancer does not answer: %s", strerror(-rc));
    return 0;
}

/* The child gets /dev/null, our stderr, and its end of the socket; default signals, none blocked.
 */
static int prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *attr, int fd)
{
    sigset_t none, all;
    int rc;

    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    rc = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(files, 0, 1);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(files, fd, CHILD_FD);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(files, CHILD_FD + 1);
    if (rc == 0)
        rc = posix_spawnattr_setsigmask(attr, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attr, &all);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return -rc;
}

static int spawn(struct lbc_launch *l, const char *path, const char *policy, uint32_t nranks,
                 int fd)
{
    char fd_text[16], nranks_text[16], policy_text[512];
    char *argv[] = {(char *)"lb-balancer", (char *)"--fd",     fd_text,     (char *)"--nranks",
                    nranks_text,           (char *)"--policy", policy_text, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int rc;

    snprintf(fd_text, sizeof(fd_text), "%d", CHILD_FD);
    snprintf(nranks_text, sizeof(nranks_text), "%u", nranks);
    if (snprintf(policy_text, sizeof(policy_text), "%s", policy) >= (int)sizeof(policy_text))
        return -ENAMETOOLONG;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -ENOMEM;
    if (posix_spawnattr_init(&attr) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -ENOMEM;
    }
    rc = prepare(&files, &attr, fd);
    if (rc == 0)
        rc = -posix_spawn(&l->pid, path, &files, &attr, argv, environ);
    if (rc < 0)
        l->pid = 0;
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static int start_our_own(struct lbc_launch *l, const char *policy, uint32_t nranks,
                         uint8_t *ret_blob, size_t size, size_t *ret_n, struct lbx_error *err)
{
    const char *path = getenv("LB_BALANCER");
    int pair[2], high, rc;

    if (!path || !*path)
        path = LB_LIBEXECDIR "/lb-balancer";
    if (access(path, X_OK) < 0)
        return lbx_error_set(err, -errno, "cannot run %s: %s", path, strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return lbx_error_set(err, -errno, "no socket: %s", strerror(errno));
    /* dup2 onto its own number would leave close-on-exec set: the source must not be CHILD_FD */
    high = fcntl(pair[1], F_DUPFD_CLOEXEC, CHILD_FD + 1);
    rc = high < 0 ? -errno : spawn(l, path, policy, nranks, high);
    if (high >= 0)
        close(high);
    close(pair[1]);
    l->fd = pair[0];
    if (rc == 0)
        rc = read_blob(l->fd, lbx_clock_mono_ns() + ANSWER_NS, ret_blob, size, ret_n);
    if (rc < 0) {
        lbc_launch_close(l);
        return lbx_error_set(err, rc, "%s does not start: %s", path, strerror(-rc));
    }
    return 0;
}

int lbc_launch_open(struct lbc_launch *l, enum lbc_launch_how how, bool srun, uint32_t nranks,
                    uint8_t *ret_blob, size_t size, size_t *ret_n, struct lbx_error *err)
{
    const char *policy = getenv("LB_POLICY"), *dir = getenv("LB_BALANCER_DIR");

    if (policy && strcmp(policy, "off") == 0)
        return -ENOENT;
    if (how == LBC_LAUNCH_STEP && dir && *dir)
        return take_from_step(dir, ret_blob, size, ret_n, err);
    if (srun && !policy)
        return -ENOENT;
    if (srun && how == LBC_LAUNCH_STEP)
        return lbx_error_set(err, -ENOTCONN, "the step was started without one");
    return start_our_own(l, policy ? policy : "auto", nranks, ret_blob, size, ret_n, err);
}

void lbc_launch_close(struct lbc_launch *l)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + END_NS;
    int sig = SIGTERM;

    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    while (l->pid > 0) {
        pid_t pid = waitpid(l->pid, NULL, WNOHANG);

        if (pid == l->pid || (pid < 0 && errno != EINTR)) {
            l->pid = 0;
        } else if (lbx_clock_mono_ns() > deadline_ns) {
            kill(l->pid, sig);
            deadline_ns = lbx_clock_mono_ns() + END_NS / 4;
            sig = SIGKILL;
        } else {
            lbx_clock_sleep_ns(LBX_NS_PER_MS);
        }
    }
}
