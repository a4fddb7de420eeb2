/* SPDX-License-Identifier: BSD-3-Clause */
/* common/sock: real sockets on this machine; deadlines are honoured, descriptors do not leak. */
#include "common/sock.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

static char folder[64], path[96];
static int open_before;

static int count_open(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void setup(void)
{
    strcpy(folder, "/tmp/lbsockXXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/s", folder);
    open_before = count_open();
}

static void teardown(void)
{
    ck_assert_int_eq(count_open(), open_before);
    unlink(path);
    rmdir(folder);
}

static int64_t soon(void)
{
    return lbx_clock_mono_ns() + 30 * LBX_NS_PER_S;
}

static void check_flags(int fd)
{
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
}

/* Pass `bytes` bytes both ways with flush and fill, and end. */
static void exchange(int a, int b, size_t bytes)
{
    struct lbx_buf out, in;
    size_t got = 0, want = bytes;
    ssize_t n = 0;

    lbx_buf_init(&out, bytes);
    lbx_buf_init(&in, 50000);
    for (size_t i = 0; i < bytes; i++)
        ck_assert_int_eq(lbx_buf_append(&out, &(uint8_t){(uint8_t)(i * 31 >> 3)}, 1), 0);
    ck_assert_int_eq(lbx_sock_fill(b, &in), 0); /* nothing yet, and no waiting */
    while (got < want) {
        ck_assert_int_eq(lbx_sock_flush(a, &out), 0);
        ck_assert_int_eq(lbx_sock_wait(b, POLLIN, soon()) & POLLIN, POLLIN);
        n = lbx_sock_fill(b, &in);
        ck_assert_int_gt(n, 0);
        for (size_t i = 0; i < (size_t)n; i++, got++)
            ck_assert_uint_eq(lbx_buf_data(&in)[i], (uint8_t)(got * 31 >> 3));
        lbx_buf_consume(&in, (size_t)n);
    }
    ck_assert_uint_eq(lbx_buf_len(&out), 0);
    close(a);
    ck_assert_int_gt(lbx_sock_wait(b, POLLIN, soon()), 0);
    ck_assert_int_eq(lbx_sock_fill(b, &in), -EPIPE);
    close(b);
    lbx_buf_fini(&out);
    lbx_buf_fini(&in);
}

static int accept_one(int listener)
{
    int fd;

    ck_assert_int_gt(lbx_sock_wait(listener, POLLIN, soon()), 0);
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static const struct {
    const char *listen, *connect;
} tcp_pairs[] = {{"127.0.0.1", "127.0.0.1"}, {"", "127.0.0.1"}, {NULL, "127.0.0.1"},
                 {"0.0.0.0", "127.0.0.1"},   {"::1", "::1"},    {"", "::1"}};

START_TEST(tcp)
{
    uint16_t port = 0, same;
    int listener = lbx_sock_listen_tcp(tcp_pairs[_i].listen, &port), fd;

    if (listener == -EADDRNOTAVAIL || listener == -EAFNOSUPPORT) {
        printf("tcp %d: SKIP, no IPv6 here\n", _i);
        return;
    }
    check_flags(listener);
    ck_assert_uint_gt(port, 0);
    same = port;
    ck_assert_int_eq(lbx_sock_listen_tcp(tcp_pairs[_i].listen, &same), -EADDRINUSE);
    ck_assert_uint_eq(same, port);
    fd = lbx_sock_connect_tcp(tcp_pairs[_i].connect, port, soon());
    if (fd == -EADDRNOTAVAIL || (fd == -ECONNREFUSED && strchr(tcp_pairs[_i].connect, ':'))) {
        printf("tcp %d: SKIP, no IPv6 here\n", _i);
    } else {
        check_flags(fd);
        lbx_sock_tune_tcp(fd, 3000);
        exchange(fd, accept_one(listener), 3000000);
    }
    close(listener);
}
END_TEST

START_TEST(tune_is_seen)
{
    uint16_t port = 0;
    int listener = lbx_sock_listen_tcp("127.0.0.1", &port), fd, v;
    socklen_t len = sizeof(v);

    fd = lbx_sock_connect_tcp("127.0.0.1", port, soon());
    lbx_sock_tune_tcp(fd, 3000);
    ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &v, &len), 0);
    ck_assert_int_ne(v, 0);
    ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &v, &len), 0);
    ck_assert_int_eq(v, 3000);
    ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &v, &len), 0);
    ck_assert_int_ne(v, 0);
    ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &v, &len), 0);
    ck_assert_int_eq(v, 3);
    lbx_sock_tune_tcp(-1, 3000); /* of no consequence */
    close(fd);
    close(listener);
}
END_TEST

START_TEST(names_are_not_resolved)
{
    static const char *const names[] = {"localhost", "",    "127.1",    "127.0.0.1 ",
                                        "1.2.3.4.5", "::g", "256.0.0.1"};
    uint16_t port = 7;

    ck_assert_int_eq(lbx_sock_connect_tcp(names[_i], 1, soon()), -EINVAL);
    if (*names[_i])
        ck_assert_int_eq(lbx_sock_listen_tcp(names[_i], &port), -EINVAL);
    ck_assert_int_eq(lbx_sock_connect_tcp(NULL, 1, soon()), -EINVAL);
    ck_assert_uint_eq(port, 7);
}
END_TEST

START_TEST(nobody_there)
{
    uint16_t port = 0;
    int listener = lbx_sock_listen_tcp("127.0.0.1", &port);

    ck_assert_int_ge(listener, 0);
    close(listener);
    ck_assert_int_eq(lbx_sock_connect_tcp("127.0.0.1", port, soon()), -ECONNREFUSED);
    ck_assert_int_eq(lbx_sock_connect_unix(path, soon()), -ENOENT);
    ck_assert_int_eq(lbx_sock_connect_unix("", soon()), -EINVAL);
    ck_assert_int_eq(lbx_sock_connect_unix(NULL, soon()), -EINVAL);
    ck_assert_int_eq(lbx_sock_listen_unix(NULL, 0600), -EINVAL);
}
END_TEST

START_TEST(path_lengths)
{
    char text[200];
    int fd;

    memset(text, 'x', sizeof(text));
    memcpy(text, folder, strlen(folder));
    text[strlen(folder)] = '/';
    text[108] = '\0'; /* sun_path has 108 bytes, with the NUL */
    ck_assert_int_eq(lbx_sock_listen_unix(text, 0600), -EINVAL);
    ck_assert_int_eq(lbx_sock_connect_unix(text, soon()), -EINVAL);
    text[107] = '\0';
    fd = lbx_sock_listen_unix(text, 0600);
    check_flags(fd);
    ck_assert_int_eq(unlink(text), 0);
    close(fd);
}
END_TEST

START_TEST(unix_modes)
{
    static const mode_t modes[] = {0600, 0660, 0666, 0700};
    static const mode_t umasks[] = {0, 022, 077, 0777};

    for (size_t i = 0; i < 4; i++)
        for (size_t u = 0; u < 4; u++) {
            mode_t old = umask(umasks[u]);
            int fd = lbx_sock_listen_unix(path, modes[i]);
            struct stat st;

            umask(old);
            check_flags(fd);
            ck_assert_int_eq(stat(path, &st), 0);
            ck_assert_uint_eq(st.st_mode & 07777, modes[i]);
            close(fd);
        }
}
END_TEST

START_TEST(unix_exchange)
{
    int listener = lbx_sock_listen_unix(path, 0600), fd = lbx_sock_connect_unix(path, soon());

    check_flags(listener);
    check_flags(fd);
    exchange(fd, accept_one(listener), 1000000);
    close(listener);
}
END_TEST

START_TEST(stale_socket_is_replaced)
{
    int first = lbx_sock_listen_unix(path, 0600), second, fd;

    ck_assert_int_ge(first, 0);
    ck_assert_int_eq(lbx_sock_listen_unix(path, 0600), -EADDRINUSE); /* one that lives is not */
    fd = lbx_sock_connect_unix(path, soon());
    ck_assert_int_ge(fd, 0);
    close(fd);
    close(first); /* as a death would */
    ck_assert_int_eq(lbx_sock_connect_unix(path, soon()), -ECONNREFUSED);
    second = lbx_sock_listen_unix(path, 0600);
    ck_assert_int_ge(second, 0);
    fd = lbx_sock_connect_unix(path, soon());
    ck_assert_int_ge(fd, 0);
    close(fd);
    close(second);
}
END_TEST

START_TEST(what_is_no_socket_is_left_alone)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    struct stat st;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "data", 4), 4);
    close(fd);
    ck_assert_int_eq(lbx_sock_listen_unix(path, 0600), -EADDRINUSE);
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert_int_eq(st.st_size, 4);
    unlink(path);
    ck_assert_int_eq(symlink("/tmp/lb-nowhere", path), 0);
    ck_assert_int_eq(lbx_sock_listen_unix(path, 0600), -EADDRINUSE);
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

/* A backlog of one that is full: connecting says so at the deadline, not before and not never. */
START_TEST(full_backlog_honours_the_deadline)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fds[16], n = 0, fd;
    int64_t deadline_ns;

    strcpy(sa.sun_path, path);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    for (;;) { /* until it is full; a deadline that is past still tries once */
        ck_assert_int_lt(n, 16);
        fds[n] = lbx_sock_connect_unix(path, 0);
        if (fds[n] < 0)
            break;
        n++;
    }
    ck_assert_int_gt(n, 0);
    ck_assert_int_eq(fds[n], -ETIMEDOUT);
    deadline_ns = lbx_clock_mono_ns() + 30 * LBX_NS_PER_MS;
    ck_assert_int_eq(lbx_sock_connect_unix(path, deadline_ns), -ETIMEDOUT);
    ck_assert_int_ge(lbx_clock_mono_ns(), deadline_ns);
    ck_assert_int_eq(lbx_sock_connect_unix(path, INT64_MIN), -ETIMEDOUT);
    close(accept_one(listener)); /* a place is free again */
    fd = lbx_sock_connect_unix(path, soon());
    ck_assert_int_ge(fd, 0);
    close(fd);
    while (n-- > 0)
        close(fds[n]);
    close(listener);
}
END_TEST

/* Without an answer from a full TCP backlog the connection is given up at the deadline. */
START_TEST(tcp_without_answer_honours_the_deadline)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fds[16], n = 0;
    socklen_t len = sizeof(sa);
    int64_t deadline_ns;

    ck_assert_int_eq(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
    ck_assert_int_eq(listen(listener, 0), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&sa, &len), 0);
    do {
        ck_assert_int_lt(n, 16);
        deadline_ns = lbx_clock_mono_ns() + 100 * LBX_NS_PER_MS;
        fds[n] = lbx_sock_connect_tcp("127.0.0.1", ntohs(sa.sin_port), deadline_ns);
    } while (fds[n] >= 0 && ++n > 0);
    ck_assert_int_eq(fds[n], -ETIMEDOUT);
    ck_assert_int_ge(lbx_clock_mono_ns(), deadline_ns);
    while (n-- > 0)
        close(fds[n]);
    close(listener);
}
END_TEST

START_TEST(wait_at_the_ends_of_time)
{
    int sv[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    ck_assert_int_eq(lbx_sock_wait(sv[0], POLLIN, 0), -ETIMEDOUT);
    ck_assert_int_eq(lbx_sock_wait(sv[0], POLLIN, INT64_MIN), -ETIMEDOUT);
    ck_assert_int_eq(lbx_sock_wait(sv[0], POLLOUT, INT64_MAX), POLLOUT);
    ck_assert_int_eq(lbx_sock_wait(sv[0], POLLOUT, INT64_MIN), POLLOUT); /* past, but it is ready */
    ck_assert_int_eq(lbx_sock_wait(-1, POLLIN, INT64_MAX), -EBADF);
    close(sv[1]);
    ck_assert_int_ne(lbx_sock_wait(sv[0], POLLIN, INT64_MAX) & POLLHUP, 0);
    close(sv[0]);
}
END_TEST

static void on_alarm(int sig)
{
    (void)sig;
}

START_TEST(wait_goes_on_after_signals)
{
    struct sigaction sa = {.sa_handler = on_alarm};
    int64_t deadline_ns = lbx_clock_mono_ns() + 20 * LBX_NS_PER_MS;
    pid_t us = getpid(); /* not who is the parent then: it may be another, were we gone */
    int sv[2];

    ck_assert_int_eq(sigaction(SIGUSR1, &sa, NULL), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            lbx_clock_sleep_ns((2 + i) * LBX_NS_PER_MS);
            kill(us, SIGUSR1);
            _exit(0);
        }
    ck_assert_int_eq(lbx_sock_wait(sv[0], POLLIN, deadline_ns), -ETIMEDOUT);
    ck_assert_int_ge(lbx_clock_mono_ns(), deadline_ns);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    close(sv[0]);
    close(sv[1]);
}
END_TEST

START_TEST(fill_and_flush_at_their_limits)
{
    struct lbx_buf in, out;
    uint8_t bytes[64] = {0};
    int sv[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    lbx_buf_init(&in, 10);
    lbx_buf_init(&out, 64);
    ck_assert_int_eq(lbx_sock_flush(sv[0], &out), 0); /* nothing to send */
    ck_assert_int_eq(lbx_buf_append(&out, bytes, 64), 0);
    ck_assert_int_eq(lbx_sock_flush(sv[0], &out), 0);
    ck_assert_int_eq(lbx_sock_fill(sv[1], &in), 10);
    ck_assert_int_eq(lbx_sock_fill(sv[1], &in), -EMSGSIZE);
    ck_assert_uint_eq(lbx_buf_len(&in), 10);
    in.limit = 4; /* below what is in it */
    ck_assert_int_eq(lbx_sock_fill(sv[1], &in), -EMSGSIZE);
    lbx_buf_consume(&in, 10);
    ck_assert_int_eq(lbx_sock_fill(sv[1], &in), 4);
    ck_assert_int_eq(lbx_sock_fill(-1, &out), -EBADF);
    close(sv[1]); /* with bytes unread: a reset for the other side */
    ck_assert_int_eq(lbx_buf_append(&out, bytes, 64), 0);
    ck_assert_int_eq(lbx_sock_flush(sv[0], &out), -EPIPE); /* and no SIGPIPE */
    ck_assert_uint_eq(lbx_buf_len(&out), 64);
    close(sv[0]);
    lbx_buf_fini(&in);
    lbx_buf_fini(&out);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("sock");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, tcp, 0, sizeof(tcp_pairs) / sizeof(tcp_pairs[0]));
    tcase_add_test(tc, tune_is_seen);
    tcase_add_loop_test(tc, names_are_not_resolved, 0, 7);
    tcase_add_test(tc, nobody_there);
    tcase_add_test(tc, path_lengths);
    tcase_add_test(tc, unix_modes);
    tcase_add_test(tc, unix_exchange);
    tcase_add_test(tc, stale_socket_is_replaced);
    tcase_add_test(tc, what_is_no_socket_is_left_alone);
    tcase_add_test(tc, full_backlog_honours_the_deadline);
    tcase_add_test(tc, tcp_without_answer_honours_the_deadline);
    tcase_add_test(tc, wait_at_the_ends_of_time);
    tcase_add_test(tc, wait_goes_on_after_signals);
    tcase_add_test(tc, fill_and_flush_at_their_limits);
    return suite_run("common/sock", tc);
}
