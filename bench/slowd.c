/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slowd.c - in the place of lbd: takes every connection, reads what comes and answers nothing but
 * silence, or after a while passes both ways to the real one.  To see that a launch does not wait.
 *
 *     slowd SOCKET DELAY_MS [REAL_SOCKET]        without REAL_SOCKET it never answers
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int address(const char *path, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof ret->sun_path)
        return -1;
    strcpy(ret->sun_path, path);
    return 0;
}

static int dial(const char *path)
{
    struct sockaddr_un to;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || address(path, &to) != 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* Pass on what is there.  Returns 0 at the end of from. */
static int pass(int from, int to, int delay_ms)
{
    char bytes[65536];
    ssize_t got = read(from, bytes, sizeof bytes);

    if (got <= 0)
        return 0;
    if (delay_ms > 0)
        nanosleep(&(struct timespec){delay_ms / 1000, (long)(delay_ms % 1000) * 1000000}, NULL);
    for (ssize_t put = 0, n; put < got; put += n) {
        n = write(to, bytes + put, (size_t)(got - put));
        if (n <= 0)
            return 0;
    }
    return 1;
}

/* In a child of its own: one connection. */
static void serve(int client, const char *real, int delay_ms)
{
    struct pollfd fds[2] = {{.fd = client, .events = POLLIN},
                            {.fd = real ? dial(real) : -1, .events = POLLIN}};
    char dropped[4096];

    while (poll(fds, 2, -1) > 0) {
        if (fds[0].revents && fds[1].fd < 0 && read(client, dropped, sizeof dropped) <= 0)
            return;
        if (fds[0].revents && fds[1].fd >= 0 && !pass(client, fds[1].fd, 0))
            return;
        if (fds[1].fd >= 0 && fds[1].revents && !pass(fds[1].fd, client, delay_ms))
            return;
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_un at;
    int fd, delay_ms;

    if (argc < 3 || argc > 4 || address(argv[1], &at) != 0) {
        fprintf(stderr, "slowd SOCKET DELAY_MS [REAL_SOCKET]\n");
        return 2;
    }
    delay_ms = atoi(argv[2]);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    unlink(argv[1]);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || chmod(argv[1], 0666) != 0 ||
        listen(fd, 64) != 0) {
        fprintf(stderr, "slowd: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    for (;;) {
        int client = accept(fd, NULL, NULL);

        if (client < 0)
            continue;
        if (fork() == 0) {
            close(fd);
            serve(client, argc > 3 ? argv[3] : NULL, delay_ms);
            _exit(0);
        }
        close(client);
    }
}
