/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real lb-balancer with faults: its messages to the ranks are lost, late, repeated or followed
 * by old ones, and it is killed or stopped at a chosen moment.  What breaks on the wire is in relay.c.
 *
 * Lines of the file `plan` in the folder of the program:
 *   lose  TYPE N    each Nth message of that type is not sent
 *   late  TYPE N    each Nth is sent only after LATE others, so that it comes out of order
 *   twice TYPE N    each Nth is sent twice
 *   stale move N    after each Nth move an order of an epoch long past, to give all that is left away
 *   stale layout N  before each Nth layout one of another epoch, which gives all to the last rank
 *   stale applied N the same of the epoch in force, before each Nth message when a rank has told that it applied a layout
 *   own   layout N  of each Nth a rank is told its own block alone, as in jobs of many ranks; with 1 of all
 *   again TYPE N    on the wire, to rank 0: the bytes of the Nth come twice; `flip`: a bit of them is another; `cut`: the
 *                   connection breaks in the middle of them.  TYPE `heard`: the bytes of its Nth report come twice here
 *   kill  MOMENT N  SIGKILL to itself at the Nth such moment; `stop`: SIGSTOP
 * TYPE: move, final, instruct, layout, answer, closed.  MOMENT: TYPE (told, and on its way to at least one rank),
 * before-TYPE (decided, told nobody), sent, received, refused, dry, applied, close (a rank told it; applied: of a layout).
 * What was done is written to the file `done` there, a line each.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/frame.h"
#include "common/sock.h"
#include "lbd/balancer/loops.h"
#include "lbd/balancer/peer.h"
#include "tests/fault/planned.h"

#define HELD 64
#define LATE 7

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
int __real_lbx_frame_append(struct lbx_channel *c, struct lbx_buf *out, const void *body, size_t n);
int __real_lbx_frame_next(struct lbx_channel *c, struct lbx_buf *in, const uint8_t **ret_body,
                          size_t *ret_n);
int __wrap_lbd_peer_send(struct lbd_peer *p, const struct lbw_rank_msg *msg);
int __wrap_lbx_sock_flush(int fd, struct lbx_buf *out);
int __wrap_lbd_loops_message(struct lbd_loops *l, uint32_t rank, const struct lbw_rank_msg *msg,
                             int64_t now_ns, struct lbx_error *err);
void __wrap_lbd_peer_close(struct lbd_peer *p);
int __wrap_lbx_frame_append(struct lbx_channel *c, struct lbx_buf *out, const void *body, size_t n);
int __wrap_lbx_frame_next(struct lbx_channel *c, struct lbx_buf *in, const uint8_t **ret_body,
                          size_t *ret_n);

static int at_flush; /* a signal, when the next bytes have left */
static struct held held[HELD];
static enum wire { SOUND, AGAIN, FLIP, CUT } wire; /* what becomes of the next frame */
static const struct lbx_buf *cut;                  /* its connection breaks when it is flushed, */
static size_t cut_bytes;                           /* after so many */
static struct lbx_channel *last_heard,
    *heard_again;                /* whose last frame is there once more; NULL: none */
static struct lbw_rank_msg told; /* the last layout, */
static bool applied;             /* in force on a rank */

static void signal_at(const char *when)
{
    if (planned_due("kill", when, false))
        raise(SIGKILL);
    if (planned_due("stop", when, false))
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

/* What becomes of this message's bytes. */
static enum wire on_wire(const struct lbd_peer *p, const char *type)
{
    if (lbd_peer_rank(p) != 0)
        return SOUND;
    return planned_due("again", type, false)  ? AGAIN
           : planned_due("flip", type, false) ? FLIP
           : planned_due("cut", type, false)  ? CUT
                                              : SOUND;
}

int __wrap_lbx_frame_append(struct lbx_channel *c, struct lbx_buf *out, const void *body, size_t n)
{
    size_t before = lbx_buf_len(out), bytes;
    enum wire what = wire;
    uint8_t *room;
    int rc = __real_lbx_frame_append(c, out, body, n);

    wire = SOUND;
    bytes = lbx_buf_len(out) - before;
    if (rc < 0 || what == SOUND)
        return rc;
    if (what == FLIP) {
        lbx_buf_data(out)[before + bytes / 2] ^= 1;
    } else if (what == CUT) {
        cut = out;
        cut_bytes = before + bytes / 2;
    } else {
        if (lbx_buf_room(out, bytes, &room) < 0)
            abort();
        memcpy(room, lbx_buf_data(out) + before, bytes);
        lbx_buf_wrote(out, bytes);
    }
    return 0;
}

int __wrap_lbx_frame_next(struct lbx_channel *c, struct lbx_buf *in, const uint8_t **ret_body,
                          size_t *ret_n)
{
    if (c == heard_again) {
        c->taken = 0;
        heard_again = NULL;
    }
    last_heard = c;
    return __real_lbx_frame_next(c, in, ret_body, ret_n);
}

static const char *name_of(enum lbw_rank_type type)
{
    return type == LBW_MOVE       ? "move"
           : type == LBW_FINAL    ? "final"
           : type == LBW_INSTRUCT ? "instruct"
           : type == LBW_LAYOUT   ? "layout"
           : type == LBW_ANSWER   ? "answer"
           : type == LBW_CLOSED   ? "closed"
                                  : NULL;
}

/* The layout that gives all to the last rank. */
static int send_wrong(struct lbd_peer *p, const struct lbw_rank_msg *msg, uint64_t epoch)
{
    static struct lbw_rank_msg wrong; /* large */
    struct lbw_layout *y = &wrong.u.layout;

    wrong = *msg;
    y->epoch = epoch;
    for (uint32_t r = 0; r + 1 < y->nranks; r++) {
        y->count[y->nranks - 1] += y->count[r];
        y->count[r] = 0;
    }
    return __real_lbd_peer_send(p, &wrong);
}

/* As it is told to one of many ranks. */
static const struct lbw_rank_msg *make_own(const struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    static struct lbw_rank_msg own; /* large */
    struct lbw_layout *y = &own.u.layout;

    own = *msg;
    y->first = 0;
    for (uint32_t r = 0; r < lbd_peer_rank(p); r++)
        y->first += y->count[r];
    return &own;
}

/* What is sent before a message. */
static int send_before(struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    uint64_t epoch = msg->u.layout.epoch;

    if (applied && planned_due("stale", "applied", true) &&
        send_wrong(p, &told, told.u.layout.epoch) < 0)
        return -1;
    if (msg->type != LBW_LAYOUT)
        return 0;
    applied = applied && told.u.layout.epoch == epoch;
    told = *msg;
    if (!planned_due("stale", "layout", true))
        return 0;
    return send_wrong(p, msg, epoch > 1 ? epoch - 1 : epoch + 2);
}

/* An order to give away all that is left, of an epoch long past. */
static int send_old_move(struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    struct lbw_rank_msg old = *msg;

    old.u.move.epoch = 1;
    old.u.move.first = 0;
    old.u.move.last = INT64_MAX;
    return __real_lbd_peer_send(p, &old);
}

int __wrap_lbd_peer_send(struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    const char *type = name_of(msg->type);
    char before[32];
    int rc;

    if (msg->type == LBW_LAYOUT && planned_due("own", "layout", true))
        msg = make_own(p, msg);
    rc = send_held();
    if (send_before(p, msg) < 0)
        rc = -1;
    if (!type)
        return rc < 0 ? rc : __real_lbd_peer_send(p, msg);
    snprintf(before, sizeof(before), "before-%s", type);
    signal_at(before);
    if (planned_due("lose", type, true) || (planned_due("late", type, true) && hold(p, msg)))
        return rc;
    wire = on_wire(p, type);
    rc = __real_lbd_peer_send(p, msg);
    if (rc == 0 && planned_due("twice", type, true))
        rc = __real_lbd_peer_send(p, msg);
    if (rc == 0 && msg->type == LBW_MOVE && planned_due("stale", "move", true))
        rc = send_old_move(p, msg);
    if (planned_due("kill", type, false))
        at_flush = SIGKILL;
    else if (planned_due("stop", type, false))
        at_flush = SIGSTOP;
    return rc;
}

int __wrap_lbx_sock_flush(int fd, struct lbx_buf *out)
{
    bool some = lbx_buf_len(out) > 0, cuts = out == cut;
    int rc, signum = at_flush;

    if (cuts) {
        cut = NULL;
        out->tail = out->head + cut_bytes;
    }
    rc = __real_lbx_sock_flush(fd, out);
    if (cuts)
        shutdown(fd, SHUT_RDWR);
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

    if (msg->type == LBW_REPORT) {
        for (size_t i = 0; i < msg->u.report.ndone; i++)
            signal_at(role[msg->u.report.done[i].role % 3]);
        if (msg->u.report.flags & LBW_DRY)
            signal_at("dry");
    }
    if (msg->type == LBW_CLOSE)
        signal_at("close");
    if (msg->type == LBW_STEP && msg->u.step.move_wall_ns > 0) {
        applied = msg->u.step.epoch == told.u.layout.epoch;
        signal_at("applied");
    }
    if (rank == 0 && (msg->type == LBW_REPORT || msg->type == LBW_STEP) &&
        planned_due("again", "heard", false))
        heard_again = last_heard;
    return __real_lbd_loops_message(l, rank, msg, now_ns, err);
}
