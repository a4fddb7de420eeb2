/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream sockets with deadlines. */
#include "common/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"

#define BACKLOG 128
#define FILL_BYTES 16384

static int close_with(int fd, int error)
{
    close(fd);
    return -error;
}

static int new_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? -errno : fd;
}

static int make_tcp_address(const char *text, uint16_t port, struct sockaddr_storage *ret_sa,
                            socklen_t *ret_len)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret_sa;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret_sa;

    memset(ret_sa, 0, sizeof(*ret_sa));
    if (!text)
        return -EINVAL;
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        *ret_len = sizeof(*v4);
        return 0;
    }
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        *ret_len = sizeof(*v6);
        return 0;
    }
    return -EINVAL;
}

static int listen_at(const char *address, uint16_t *port)
{
    struct sockaddr_storage sa;
    socklen_t len;
    int fd, one = 1, zero = 0, rc;

    rc = make_tcp_address(address, *port, &sa, &len);
    if (rc < 0)
        return rc;
    fd = new_socket(sa.ss_family);
    if (fd < 0)
        return fd;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (sa.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
    if (bind(fd, (struct sockaddr *)&sa, len) < 0 || listen(fd, BACKLOG) < 0)
        return close_with(fd, errno);
    if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
        return close_with(fd, errno);
    *port = ntohs(sa.ss_family == AF_INET ? ((struct sockaddr_in *)&sa)->sin_port
                                          : ((struct sockaddr_in6 *)&sa)->sin6_port);
    return fd;
}

int lbx_sock_listen_tcp(const char *address, uint16_t *port)
{
    int fd;

    if (address && *address)
        return listen_at(address, port);
    fd = listen_at("::", port);
    if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL) /* a machine without IPv6 */
        fd = listen_at("0.0.0.0", port);
    return fd;
}

static int make_unix_address(const char *path, struct sockaddr_un *ret_sa)
{
    memset(ret_sa, 0, sizeof(*ret_sa));
    ret_sa->sun_family = AF_UNIX;
    if (!path || !*path || strlen(path) >= sizeof(ret_sa->sun_path))
        return -EINVAL;
    memcpy(ret_sa->sun_path, path, strlen(path) + 1);
    return 0;
}

/* Whether somebody may listen there; a refused connection means a dead process's socket. */
static bool is_served(const struct sockaddr_un *sa)
{
    int fd = new_socket(AF_UNIX);
    bool served;

    if (fd < 0)
        return true;
    served = connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0 ||
             (errno != ECONNREFUSED && errno != ENOENT);
    close(fd);
    return served;
}

int lbx_sock_listen_unix(const char *path, mode_t mode)
{
    struct sockaddr_un sa;
    struct stat st;
    int fd, rc;

    rc = make_unix_address(path, &sa);
    if (rc < 0)
        return rc;
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
        if (is_served(&sa))
            return -EADDRINUSE;
        unlink(path);
    }
    fd = new_socket(AF_UNIX);
    if (fd < 0)
        return fd;
    /* bound socket files take their mode from the descriptor: nobody slips in between bind and
     * chmod */
    if (fchmod(fd, mode) < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
        return close_with(fd, errno);
    if (chmod(path, mode) < 0 || listen(fd, BACKLOG) < 0) {
        rc = errno;
        unlink(path);
        return close_with(fd, rc);
    }
    return fd;
}

/* What is left until the deadline, rounded up, a minute at most: whoever waits looks again. */
static int poll_timeout_ms(int64_t deadline_ns)
{
    int64_t now_ns = lbx_clock_mono_ns();

    if (deadline_ns <= now_ns)
        return 0;
    if (deadline_ns - now_ns > 60 * LBX_NS_PER_S)
        return 60000;
    return (int)((deadline_ns - now_ns + LBX_NS_PER_MS - 1) / LBX_NS_PER_MS);
}

int lbx_sock_wait(int fd, short events, int64_t deadline_ns)
{
    struct pollfd p = {.fd = fd, .events = events};

    if (fd < 0)
        return -EBADF;
    for (;;) {
        int timeout_ms = poll_timeout_ms(deadline_ns);
        int n = poll(&p, 1, timeout_ms);

        if (n > 0)
            return p.revents;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (timeout_ms == 0)
            return -ETIMEDOUT;
    }
}

static int finish_connect(int fd, int64_t deadline_ns)
{
    int error = 0, rc = lbx_sock_wait(fd, POLLOUT, deadline_ns);
    socklen_t len = sizeof(error);

    if (rc < 0)
        return close_with(fd, -rc);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return close_with(fd, errno);
    return error ? close_with(fd, error) : fd;
}

int lbx_sock_connect_tcp(const char *address, uint16_t port, int64_t deadline_ns)
{
    struct sockaddr_storage sa;
    socklen_t len;
    int fd, rc;

    rc = make_tcp_address(address, port, &sa, &len);
    if (rc < 0)
        return rc;
    fd = new_socket(sa.ss_family);
    if (fd < 0)
        return fd;
    if (connect(fd, (struct sockaddr *)&sa, len) == 0)
        return fd;
    return errno == EINPROGRESS ? finish_connect(fd, deadline_ns) : close_with(fd, errno);
}

int lbx_sock_connect_unix(const char *path, int64_t deadline_ns)
{
    struct sockaddr_un sa;
    int fd, rc;

    rc = make_unix_address(path, &sa);
    if (rc < 0)
        return rc;
    fd = new_socket(AF_UNIX);
    if (fd < 0)
        return fd;
    /* a full backlog says EAGAIN at once and nothing wakes us when it empties: try again until the
     * deadline */
    while (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
        if (errno == EINPROGRESS)
            return finish_connect(fd, deadline_ns);
        if (errno != EAGAIN && errno != EINTR)
            return close_with(fd, errno);
        if (lbx_clock_mono_ns() >= deadline_ns)
            return close_with(fd, ETIMEDOUT);
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
    }
    return fd;
}

void lbx_sock_tune_tcp(int fd, unsigned timeout_ms)
{
    int one = 1, idle_s = timeout_ms < 1000      ? 1
                          : timeout_ms < 1000000 ? (int)(timeout_ms / 1000)
                                                 : 1000;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    /* the system's keepalive begins after two hours, long after the job */
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
}

int lbx_sock_flush(int fd, struct lbx_buf *out)
{
    while (lbx_buf_len(out) > 0) {
        ssize_t n = send(fd, lbx_buf_data(out), lbx_buf_len(out), MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n > 0)
            lbx_buf_consume(out, (size_t)n);
        else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        else if (n < 0 && errno != EINTR)
            return errno == ECONNRESET ? -EPIPE : -errno;
    }
    return 0;
}

ssize_t lbx_sock_fill(int fd, struct lbx_buf *in)
{
    size_t want = FILL_BYTES, len = lbx_buf_len(in);
    uint8_t *room;
    ssize_t n;
    int rc;

    if (len >= in->limit)
        return -EMSGSIZE;
    if (want > in->limit - len)
        want = in->limit - len;
    rc = lbx_buf_room(in, want, &room);
    if (rc < 0)
        return rc;
    do
        n = recv(fd, room, want, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        lbx_buf_wrote(in, (size_t)n);
        return n;
    }
    if (n == 0)
        return -EPIPE;
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return 0;
    return errno == ECONNRESET ? -EPIPE : -errno;
}
