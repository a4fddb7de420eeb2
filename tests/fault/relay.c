/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of its own between the ranks and the balancer with faults (plan.c), when the plan has faults of the wire: the ranks
 * are told its port.  It knows no key, and does to what passes what a wire, or who sits on it, can do.
 *
 * Lines of the plan, where WAY is `up` (from the rank) or `down` (to it), then the rank, `:` and a message's type, `any`, or
 * `proof` (what proves the key, before all messages):
 *   flip  WAY N    a bit of the Nth is another
 *   twice WAY N    the bytes of the Nth come twice
 *   lose  WAY N    the Nth does not come
 *   torn  WAY N    from the Nth on all comes in small pieces, one a millisecond
 *   late  WAY N    from the Nth on all comes LATE_MS later, in heaps; `stuck`: STUCK_MS, longer than anybody waits
 *   half  WAY N    from the Nth on nothing goes that way any more, and nobody is told, until both sides' TCP gives it up: no wire
 *                  acknowledges what it does not deliver
 *   mute  WAY N    from the Nth on nothing goes that way any more, and all of it is acknowledged
 *   end   WAY N    after the Nth that way is closed, the other is not
 *   cut   WAY N    in the middle of the Nth both connections are reset
 *   blind mac 1    planted: the balancer believes what it hears, whatever the MAC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/frame.h"
#include "common/sock.h"
#include "tests/fault/planned.h"
#include "wire/rank.h"

#define HELLO_BYTES 40 /* the messages of common/auth.h */
#define ANSWER_BYTES 76
#define ANSWER_RANK 40 /* where the rank's number is in it */
#define CONFIRM_BYTES 32
#define HEADER_BYTES 4
#define PIECE 10 /* bytes */
#define LATE_MS 100
#define STUCK_MS 1700
#define CONNECT_NS (2 * LBX_NS_PER_S)
#define TCP_TIMEOUT_MS 3000

struct link {
    int fd[2]; /* the rank's, the balancer's */
    _Atomic uint32_t rank;
};

struct way {
    struct link *link;
    bool up, torn;
    int from, to, late_ms;
    uint8_t buf[LBX_FRAME_CAP + LBX_FRAME_OVERHEAD];
};

int __real_lbx_sock_listen_tcp(const char *address, uint16_t *port);
int __wrap_lbx_sock_listen_tcp(const char *address, uint16_t *port);
int __real_sodium_memcmp(const void *a, const void *b, size_t n);
int __wrap_sodium_memcmp(const void *a, const void *b, size_t n);

static bool take(const struct way *w, uint8_t *buf, size_t n)
{
    while (n > 0) {
        ssize_t got = recv(w->from, buf, n, 0);

        if (got <= 0)
            return false;
        buf += got;
        n -= (size_t)got;
    }
    return true;
}

static bool give(const struct way *w, const uint8_t *buf, size_t n)
{
    if (w->late_ms > 0)
        lbx_clock_sleep_ns(w->late_ms * LBX_NS_PER_MS);
    while (n > 0) {
        ssize_t sent = send(w->to, buf, w->torn && n > PIECE ? PIECE : n, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        buf += sent;
        n -= (size_t)sent;
        if (w->torn)
            lbx_clock_sleep_ns(LBX_NS_PER_MS);
    }
    return true;
}

static bool is_due(const struct way *w, const char *what, const char *type)
{
    char when[32];
    bool due;

    snprintf(when, sizeof(when), "%s%u:%s", w->up ? "up" : "down", w->link->rank, type);
    due = planned_due(what, when, false);
    snprintf(when, sizeof(when), "%s%u:any", w->up ? "up" : "down", w->link->rank);
    return planned_due(what, when, false) || due;
}

/* Not the end of the stream: an error on both sides, and what is on its way is lost. */
static void reset(const struct link *l)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};

    for (int i = 0; i < 2; i++)
        (void)!connect(l->fd[i], &none, sizeof(none));
}

/* What was there for so long that it is late goes on together. */
static void pass_late(struct way *w)
{
    ssize_t n;

    while ((n = recv(w->from, w->buf, sizeof(w->buf), 0)) > 0)
        if (!give(w, w->buf, (size_t)n))
            return;
}

static void swallow(struct way *w)
{
    while (recv(w->from, w->buf, sizeof(w->buf), 0) > 0)
        ;
}

/* Pass these bytes on, or do to them what is planned.  Returns whether the way is still there. */
static bool pass(struct way *w, const char *type, size_t n)
{
    if (is_due(w, "lose", type))
        return true;
    if (is_due(w, "flip", type))
        w->buf[n / 2] ^= 1;
    if (is_due(w, "half", type)) {
        lbx_clock_sleep_ns(TCP_TIMEOUT_MS * LBX_NS_PER_MS);
        reset(w->link);
        return false;
    }
    if (is_due(w, "mute", type)) {
        swallow(w);
        return false;
    }
    if (is_due(w, "cut", type)) {
        (void)!give(w, w->buf, n / 2);
        reset(w->link);
        return false;
    }
    w->torn = w->torn || is_due(w, "torn", type);
    w->late_ms = is_due(w, "late", type) ? LATE_MS : is_due(w, "stuck", type) ? STUCK_MS : 0;
    if (!give(w, w->buf, n) || (is_due(w, "twice", type) && !give(w, w->buf, n)))
        return false;
    if (is_due(w, "end", type)) {
        shutdown(w->to, SHUT_WR);
        swallow(w);
        return false;
    }
    if (w->late_ms > 0)
        pass_late(w);
    return w->late_ms == 0;
}

/* Of a message: a msgpack array that begins with version and type. */
static const char *name_of(const uint8_t *body)
{
    switch (body[body[0] == 0xdc ? 4 : 2]) {
    case LBW_JOIN:
        return "join";
    case LBW_OPEN:
        return "open";
    case LBW_REPORT:
        return "report";
    case LBW_CLOSE:
        return "close";
    case LBW_STEP:
        return "step";
    case LBW_START:
        return "start";
    case LBW_INSTRUCT:
        return "instruct";
    case LBW_MOVE:
        return "move";
    case LBW_FINAL:
        return "final";
    case LBW_BEAT:
        return "beat";
    case LBW_LAYOUT:
        return "layout";
    default:
        return "other";
    }
}

static bool pass_proof(struct way *w)
{
    if (!w->up)
        return take(w, w->buf, HELLO_BYTES) && give(w, w->buf, HELLO_BYTES) &&
               take(w, w->buf, CONFIRM_BYTES) && pass(w, "proof", CONFIRM_BYTES);
    if (!take(w, w->buf, ANSWER_BYTES))
        return false;
    w->link->rank = w->buf[ANSWER_RANK + 3];
    return pass(w, "proof", ANSWER_BYTES);
}

static bool pass_frame(struct way *w)
{
    size_t n;

    if (!take(w, w->buf, HEADER_BYTES))
        return false;
    n = (size_t)w->buf[2] << 8 | w->buf[3] | (size_t)w->buf[1] << 16;
    n += LBX_FRAME_OVERHEAD;
    return n <= sizeof(w->buf) && take(w, w->buf + HEADER_BYTES, n - HEADER_BYTES) &&
           pass(w, name_of(w->buf + HEADER_BYTES), n);
}

static void *go(void *arg)
{
    struct way *w = arg;
    bool there = pass_proof(w);

    while (there)
        there = pass_frame(w);
    shutdown(w->to, SHUT_WR); /* the descriptors stay: the other way has them, too */
    shutdown(w->from, SHUT_RD);
    return NULL;
}

static void serve(int rank_fd, uint16_t port)
{
    int fd = lbx_sock_connect_tcp("127.0.0.1", port, lbx_clock_mono_ns() + CONNECT_NS);
    struct link *l = calloc(1, sizeof(*l));

    if (fd < 0 || !l || fcntl(fd, F_SETFL, 0) < 0)
        abort();
    l->fd[0] = rank_fd;
    l->fd[1] = fd;
    for (int up = 0; up < 2; up++) {
        struct way *w = calloc(1, sizeof(*w));
        pthread_t thread;

        if (!w)
            abort();
        *w = (struct way){.link = l, .up = up, .from = l->fd[!up], .to = l->fd[up]};
        lbx_sock_tune_tcp(w->from, TCP_TIMEOUT_MS);
        if (pthread_create(&thread, NULL, go, w) != 0)
            abort();
    }
}

static void relay(int listen_fd, uint16_t port, pid_t balancer)
{
    struct pollfd p = {.fd = listen_fd, .events = POLLIN};
    int fd;

    while (getppid() == balancer) {
        if (poll(&p, 1, 100) <= 0)
            continue;
        fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            serve(fd, port);
    }
    lbx_clock_sleep_ns(LATE_MS * LBX_NS_PER_MS); /* its last words */
    _exit(0);
}

/* The balancer listens: the port that the ranks are told is the relay's. */
int __wrap_lbx_sock_listen_tcp(const char *address, uint16_t *port)
{
    int fd = __real_lbx_sock_listen_tcp(address, port), relay_fd;
    pid_t balancer = getpid();
    uint16_t own = 0;

    if (fd < 0 || (!planned_any("up") && !planned_any("down")))
        return fd;
    relay_fd = __real_lbx_sock_listen_tcp(NULL, &own);
    if (relay_fd < 0 || fcntl(relay_fd, F_SETFL, O_NONBLOCK) < 0)
        abort();
    switch (fork()) {
    case -1:
        abort();
    case 0:
        close(fd);
        relay(relay_fd, *port, balancer);
        break;
    default:
        close(relay_fd);
        *port = own;
    }
    return fd;
}

int __wrap_sodium_memcmp(const void *a, const void *b, size_t n)
{
    static bool blind;

    blind = blind || planned_due("blind", "mac", false);
    return blind ? 0 : __real_sodium_memcmp(a, b, n);
}
