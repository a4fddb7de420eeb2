/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real lb-balancer with faults: its messages to the ranks are lost, late, repeated or followed
 * by old ones, and it is killed or stopped at a chosen moment.
 *
 * Lines of the file `plan` in the folder of the program:
 *   lose  TYPE N    each Nth message of that type is not sent
 *   late  TYPE N    each Nth is sent only after LATE others, so that it comes out of order
 *   twice TYPE N    each Nth is sent twice
 *   stale MOVE N    after each Nth move an order of an epoch long past, to give all that is left away
 *   kill  MOMENT N  SIGKILL to itself at the Nth such moment; `stop`: SIGSTOP
 * TYPE: move, final, instruct, layout.  MOMENT: move, final (told, and on its way to at least one rank),
 * before-move, before-final (decided, told nobody), sent, received, refused, dry (a rank told it).
 * What was done is written to the file `done` there, a line each.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sock.h"
#include "lbd/balancer/loops.h"
#include "lbd/balancer/peer.h"

#define FAULTS 8
#define HELD 64
#define LATE 7

struct fault {
    char what[16], when[16];
    int n, seen;
};

struct held {
    struct lbd_peer *peer; /* NULL: none */
    struct lbw_rank_msg msg;
    int after; /* other messages */
};

int __real_lbd_peer_send(struct lbd_peer *p, const struct lbw_rank_msg *msg);
int __real_lbx_sock_flush(int fd, struct lbx_buf *out);
int __real_lbd_loops_message(struct lbd_loops *l, uint32_t rank, const struct lbw_rank_msg *msg,
                             int64_t now_ns, struct lbx_error *err);
void __real_lbd_peer_close(struct lbd_peer *p);
int __wrap_lbd_peer_send(struct lbd_peer *p, const struct lbw_rank_msg *msg);
int __wrap_lbx_sock_flush(int fd, struct lbx_buf *out);
int __wrap_lbd_loops_message(struct lbd_loops *l, uint32_t rank, const struct lbw_rank_msg *msg,
                             int64_t now_ns, struct lbx_error *err);
void __wrap_lbd_peer_close(struct lbd_peer *p);

static struct fault fault[FAULTS];
static int nfaults, at_flush; /* a signal, when the next bytes have left */
static struct held held[HELD];
static char folder[3072];

static void load(void)
{
    static bool loaded;
    char path[4096];
    ssize_t n;
    FILE *f;

    if (loaded)
        return;
    loaded = true;
    n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    if (n <= 0 || !strrchr(folder, '/'))
        abort();
    *strrchr(folder, '/') = '\0';
    snprintf(path, sizeof(path), "%s/plan", folder);
    f = fopen(path, "re");
    while (f && nfaults < FAULTS &&
           fscanf(f, "%15s %15s %d", fault[nfaults].what, fault[nfaults].when, &fault[nfaults].n) ==
               3)
        nfaults++;
    if (f)
        fclose(f);
}

/* A line in the file `done`; written before a signal, or nobody would know of it. */
static void note(const char *what, const char *when)
{
    char path[4096], line[64];
    int fd, n = snprintf(line, sizeof(line), "%s %s\n", what, when);

    snprintf(path, sizeof(path), "%s/done", folder);
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

/* Is it time for this fault?  every: at each nth moment, else at the nth alone. */
static bool due(const char *what, const char *when, bool every)
{
    for (int i = 0; i < nfaults; i++) {
        struct fault *f = &fault[i];

        if (strcmp(f->what, what) != 0 || strcmp(f->when, when) != 0)
            continue;
        f->seen++;
        if (every ? f->seen % f->n == 0 : f->seen == f->n) {
            note(what, when);
            return true;
        }
    }
    return false;
}

static void signal_at(const char *when)
{
    if (due("kill", when, false))
        raise(SIGKILL);
    if (due("stop", when, false))
        raise(SIGSTOP);
}

static int send_held(void)
{
    int rc = 0;

    for (int i = 0; i < HELD; i++) {
        struct lbd_peer *p = held[i].peer;

        if (!p || --held[i].after > 0)
            continue;
        held[i].peer = NULL;
        if (__real_lbd_peer_send(p, &held[i].msg) < 0)
            rc = -1;
    }
    return rc;
}

static bool hold(struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    for (int i = 0; i < HELD; i++) {
        if (!held[i].peer) {
            held[i] = (struct held){p, *msg, LATE};
            return true;
        }
    }
    return false;
}

void __wrap_lbd_peer_close(struct lbd_peer *p)
{
    for (int i = 0; i < HELD; i++)
        if (held[i].peer == p)
            held[i].peer = NULL;
    __real_lbd_peer_close(p);
}

int __wrap_lbd_peer_send(struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    const char *type = msg->type == LBW_MOVE       ? "move"
                       : msg->type == LBW_FINAL    ? "final"
                       : msg->type == LBW_INSTRUCT ? "instruct"
                       : msg->type == LBW_LAYOUT   ? "layout"
                                                   : NULL;
    char before[32];
    int rc;

    load();
    rc = send_held();
    if (!type)
        return rc < 0 ? rc : __real_lbd_peer_send(p, msg);
    snprintf(before, sizeof(before), "before-%s", type);
    signal_at(before);
    if (due("lose", type, true) || (due("late", type, true) && hold(p, msg)))
        return rc;
    rc = __real_lbd_peer_send(p, msg);
    if (rc == 0 && due("twice", type, true))
        rc = __real_lbd_peer_send(p, msg);
    if (rc == 0 && msg->type == LBW_MOVE && due("stale", "move", true)) {
        struct lbw_rank_msg old = *msg;

        old.u.move.epoch = 1;
        old.u.move.first = 0;
        old.u.move.last = INT64_MAX;
        rc = __real_lbd_peer_send(p, &old);
    }
    if (due("kill", type, false))
        at_flush = SIGKILL;
    else if (due("stop", type, false))
        at_flush = SIGSTOP;
    return rc;
}

int __wrap_lbx_sock_flush(int fd, struct lbx_buf *out)
{
    bool some = lbx_buf_len(out) > 0;
    int rc = __real_lbx_sock_flush(fd, out), signum = at_flush;

    if (some && signum) {
        at_flush = 0;
        raise(signum);
    }
    return rc;
}

int __wrap_lbd_loops_message(struct lbd_loops *l, uint32_t rank, const struct lbw_rank_msg *msg,
                             int64_t now_ns, struct lbx_error *err)
{
    static const char *const role[] = {"sent", "received", "refused"};

    load();
    if (msg->type == LBW_REPORT) {
        for (size_t i = 0; i < msg->u.report.ndone; i++)
            signal_at(role[msg->u.report.done[i].role % 3]);
        if (msg->u.report.flags & LBW_DRY)
            signal_at("dry");
    }
    return __real_lbd_loops_message(l, rank, msg, now_ns, err);
}
