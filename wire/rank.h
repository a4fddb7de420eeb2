/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between a rank (libclient) and its step's balancer (lbd/balancer), as msgpack arrays in the frames of
 * common/frame.h.  First element: protocol version; second: type; then the fields in the order given here.
 * A decoder refuses another version, a wrong type or count of fields, trailing bytes, and any size above its cap.
 *
 * What the words mean:
 *   pass       one run through all iterations of a loop, 0, 1, ...
 *   owned      a rank's iterations of the loop, done or not; all ranks' owned sets partition [0, n) at any moment, but for
 *              iterations that are travelling
 *   remaining  the owned iterations not handed to the program in this pass
 *   epoch      number of a move instruction, ascending within a loop; a rank obeys only one newer than its last;
 *              of a stepped loop: number of a layout
 */
#ifndef LBW_RANK_H
#define LBW_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/spanset.h"

#define LBW_RANK_VERSION 4                /* another one: tests/fuzz/seeds writes its corpus anew */
#define LBW_QUOTA_MAX 1e6                 /* cores */
#define LBW_NAME_MAX 64                   /* bytes with the NUL */
#define LBW_PERIOD_MAX_NS (INT64_MAX / 2) /* a clock's time and this are a time */
#define LBW_SPANS_MAX \
    64 /* remaining spans told in a report: the last ones; move_span picks from what is told */
#define LBW_SAMPLES_MAX 32 /* timed segments in a report */
#define LBW_SILENCE_NS \
    INT64_C(1000000000)                /* of a balancer that a rank waits for: then it is lost */
#define LBW_BEAT_NS INT64_C(450000000) /* between beats to a rank that waits: two in that time */
#define LBW_BUSY 3                     /* times as long for a rank that does not */
#define LBW_DONE_MAX 32                /* finished moves told in a report */
#define LBW_HOST_MAX 64
#define LBW_LAYOUT_RANKS_MAX \
    4096 /* ranks that are told all blocks of a layout, in one frame; of more, each is told its own alone */
#define LBW_SUMMARY_MAX 6000 /* bytes of the summary's text */

enum lbw_rank_type {
    /* rank -> balancer */
    LBW_JOIN = 1, /* once, first */
    LBW_OPEN,     /* lb_loop_open */
    LBW_REPORT,   /* at hooks */
    LBW_CLOSE,    /* lb_loop_close, with this rank's totals */
    LBW_LEAVE,    /* lb_finalize: the end of the stream is no fault */
    LBW_STEP,     /* between steps of a stepped loop, instead of REPORT */
    LBW_ASK = 16, /* rank 0, before it leaves: the summary, please */
    /* balancer -> rank */
    LBW_START = 32, /* once, when all ranks have joined */
    LBW_INSTRUCT,   /* when to report next */
    LBW_MOVE,       /* give iterations away */
    LBW_FINAL, /* no more moves in this pass of this loop: a rank that runs dry closes it with the others */
    LBW_BEAT,   /* nothing else was sent for a while: see LBW_BUSY */
    LBW_STOP,   /* balancing is over for this job (a rank was lost, or an error); go on alone */
    LBW_LAYOUT, /* new blocks of a stepped loop, for all ranks at the step that they agree on */
    LBW_ANSWER, /* what was to be said to a report that waits, or a STEP under sync=yes, was said */
    LBW_EXPECT, /* rows will come by a MOVE that another rank was told: look for them.  Without it they are found later */
    LBW_CLOSED, /* to all: a rank has closed a free-running loop that others go on with, so none of them comes to its end */
    LBW_SUMMARY = 48, /* answer to LBW_ASK, when all others have left */
};

struct lbw_join {
    uint32_t nranks; /* as the rank sees it; must be the balancer's */
    uint32_t pid;
    char host[LBW_HOST_MAX];
    double weight;   /* expected speed of this rank relative to others, > 0; 0 when unknown */
    double hardware; /* work of a CPU second on this host relative to others, > 0; 0 when unknown */
    int64_t
        stable_ns; /* the host's load is expected to stay as it is so long, >= 0; 0 when unknown */
};

enum lbw_loop_kind {
    LBW_DOALL = 0,   /* iterations move at any time within a pass: REPORT, MOVE, FINAL */
    LBW_STEPPED = 1, /* one block a rank, moved between passes: STEP, LAYOUT; no pass has a FINAL */
    LBW_DOACROSS = 2, /* as STEPPED; in a pass values flow from rank to rank, block by block */
};

struct lbw_open {
    uint32_t loop; /* 0, 1, ... in order of opening, the same on all ranks */
    char name[LBW_NAME_MAX];
    int64_t n;
    int64_t
        row_bytes; /* of all arrays together: bytes that travel with one iteration (sent again when arrays are added) */
    int64_t owned_first, owned_last; /* first block of this rank */
    uint32_t kind;                   /* enum lbw_loop_kind */
    int64_t pipelined; /* DOACROSS: elements of a row, which the blocks divide, >= 1; else 0 */
};

/* Iterations executed one after another with nothing else in between, and what they took. */
struct lbw_sample {
    int64_t first, last;
    int64_t wall_ns; /* elapsed */
    int64_t cpu_ns;  /* CPU time of the process */
};

enum lbw_done_role { LBW_SENT = 0, LBW_RECEIVED = 1, LBW_REFUSED = 2 };

/* How an epoch ended on this rank.  REFUSED: the source had nothing left of the span, or the pass was over. */
struct lbw_done {
    uint64_t epoch;
    uint32_t role;      /* enum lbw_done_role */
    int64_t iterations; /* really moved; may be fewer than asked for */
    int64_t bytes;
    int64_t
        wall_ns; /* SENT: from obeying to completion; RECEIVED: from the header to the last byte */
    int64_t cpu_ns; /* spent in the library for it */
};

enum lbw_report_flag {
    LBW_DRY = 1,   /* nothing remains and the rank waits */
    LBW_LOW = 2,   /* what remains will last less than low_ns: told once a pass */
    LBW_WAITS = 4, /* the rank goes on when it has the ANSWER; only under the policy's key sync */
};

struct lbw_report {
    uint32_t loop;
    int64_t pass;
    uint32_t flags;    /* of enum lbw_report_flag */
    int64_t now_ns;    /* this rank's monotonic clock, for durations only */
    int64_t executed;  /* iterations of this pass executed here, in all */
    int64_t remaining; /* iterations of this pass remaining here, in all */
    size_t nspans;     /* of the remaining: the LBW_SPANS_MAX last ones */
    struct lbx_span span[LBW_SPANS_MAX];
    size_t nsamples; /* what was executed since the last report */
    struct lbw_sample sample[LBW_SAMPLES_MAX];
    size_t ndone;
    struct lbw_done done[LBW_DONE_MAX];
    int64_t wait_ns; /* of this pass so far: waiting with nothing to do */
};

/* What a rank did in a stepped loop since its last STEP, all of it with one block. */
struct lbw_step {
    uint32_t loop;
    int64_t step;   /* steps completed in all */
    int64_t steps;  /* of them since the last STEP; <= step; 0: it says that `epoch` was applied */
    uint64_t epoch; /* layout in force; 0: the first */
    int64_t first, last; /* block */
    int64_t wall_ns;     /* computing in these steps, elapsed */
    int64_t cpu_ns;      /* the same, CPU time of the process */
    int64_t wait_ns;     /* in the library between these steps, less move_wall_ns */
    int64_t move_bytes, move_wall_ns,
        move_cpu_ns; /* to apply `epoch`: in the first STEP after it */
    /* DOACROSS: CPU time to receive and send what flows, in blocks of so many elements; -1: it was not measured */
    int64_t shift_elements, shift_ns;
    /* Of the control group with the tightest quota that the rank is in: cores, <= LBW_QUOTA_MAX, 0: no quota; its period; a
     * number that ranks in the same group have in common */
    double quota_cpus;
    int64_t quota_period_ns;
    uint64_t quota_group;
    size_t nsamples; /* parts of the block, each with what it took in a step, in the mean */
    struct lbw_sample sample[LBW_SAMPLES_MAX];
};

struct lbw_close {
    uint32_t loop;
    int64_t passes, iterations, iterations_in, moves_in, bytes_in;
    int64_t compute_ns, cpu_ns, wait_ns, library_ns;
    int64_t
        library_cpu_ns; /* a quota stops a rank mostly in the library: elapsed time there is no measure of it */
};

struct lbw_start {
    uint32_t nranks;
    char policy[LBW_NAME_MAX];
};

struct lbw_instruct {
    uint32_t loop;
    int64_t period_ns; /* report again after so long; > 0, <= LBW_PERIOD_MAX_NS */
    int64_t low_ns;    /* say LBW_LOW when what remains will last less; >= 0 */
    int64_t chunk_ns;  /* hand out chunks of about so much time; > 0 */
};

struct lbw_move {
    uint32_t loop;
    int64_t pass;
    uint64_t epoch;
    uint32_t dest;
    int64_t first, last; /* give away what remains of this span, and nothing else */
};

struct lbw_final {
    uint32_t loop;
    int64_t pass;
};

/*
 * Ranks take a layout only when its epoch is one more than that of the layout in force, and only one: the next is told when
 * all have said in a STEP that they have applied the last.
 *
 * All blocks for each of P ranks are P * P counts, for 65,536 ranks 4 to 13 GB.  Ranks that are more than
 * LBW_LAYOUT_RANKS_MAX are told where their own block begins, and tell each other when they apply it (libclient/bounds.h).
 */
struct lbw_layout {
    uint32_t loop;
    uint64_t epoch; /* 1 to INT64_MAX */
    int64_t block;  /* DOACROSS: elements of a row in a block, >= 1; else 0 */
    int64_t
        first; /* >= 0: where the rank's own block begins, and no counts; -1: the counts of all */
    uint32_t nranks; /* with counts <= LBW_LAYOUT_RANKS_MAX */
    int64_t count
        [LBW_LAYOUT_RANKS_MAX]; /* [nranks] iterations of each rank's block, in order of ranks; sum <= INT64_MAX */
};

/* All that waited have been heard, and what was decided by it has been told before this. */
struct lbw_answer {
    uint32_t loop;
    int64_t to; /* now_ns of the REPORT, step of the STEP */
};

struct lbw_closed {
    uint32_t loop;
    int64_t passes; /* after which it was closed; others have begun one more */
};

struct lbw_summary {
    char text[LBW_SUMMARY_MAX + 1]; /* lines for the user */
};

struct lbw_rank_msg {
    enum lbw_rank_type type;
    union {
        struct lbw_join join;
        struct lbw_open open;
        struct lbw_report report;
        struct lbw_close close;
        struct lbw_start start;
        struct lbw_instruct instruct;
        struct lbw_move move;
        struct lbw_final final;
        struct lbw_step step;
        struct lbw_layout layout;
        struct lbw_answer answer;
        struct lbw_closed closed;
        struct lbw_summary summary;
    } u;
};

/*
 * A rank that has said so waits for the balancer; any other message of a rank says that it does not.  Who waits hears a beat so
 * often that it can tell within LBW_SILENCE_NS that the balancer is lost; who computes needs to know LBW_BUSY times as late, and
 * hears beats as seldom.  LBW_WAITS, and a STEP under sync=yes, do not count: who waits for an ANSWER goes on without it.
 */
static inline bool lbw_rank_waits(const struct lbw_rank_msg *msg)
{
    return msg->type == LBW_REPORT && (msg->u.report.flags & LBW_DRY);
}

/*
 * Append the body of a message (no frame) to out.
 * Returns 0, -EINVAL when a count is above its cap, -EMSGSIZE, -ENOMEM; out is unchanged on failure.
 */
int lbw_rank_encode(const struct lbw_rank_msg *msg, struct lbx_buf *out)
    __attribute__((warn_unused_result));

/*
 * Decode one body.
 * ret_msg[out]  filled, nothing borrowed; undefined on failure
 * Returns 0 or -EPROTO.  Every number is checked for what its comment says (counts <= caps, spans ascending and disjoint,
 * times >= 0, doubles finite).
 */
int lbw_rank_decode(const uint8_t *body, size_t n, struct lbw_rank_msg *ret_msg)
    __attribute__((warn_unused_result));

#endif
