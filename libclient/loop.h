/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a loop: what the files of liblb share of it. */
#ifndef LBC_LOOP_H
#define LBC_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spanset.h"
#include "libclient/ctx.h"
#include "libclient/lb.h"
#include "policy/alert.h"
#include "wire/rank.h"

struct lbc_step;

/* An array whose rows travel. */
struct lbc_rows {
    char *base; /* borrowed */
    size_t row_bytes;
    size_t
        page_bytes; /* pages of rows that moved away are given back to the system; 0: they are not */
    bool flows;     /* in a pipelined loop */
};

enum lbc_state {
    LBC_IDLE,    /* between passes */
    LBC_RUNNING, /* in a pass */
    LBC_WAITING, /* in a pass and in the reduction at its end; may still get iterations */
};

struct lb_loop {
    /* The fast path: [cur, window_last) was granted at the last hook and is handed out by strips.
     */
    int64_t cur, window_last, strip;

    struct lb_ctx *ctx; /* NULL: a single rank without a context */
    struct lb_loop *next;
    uint32_t number;
    char name[LBW_NAME_MAX];
    int64_t n;

    /*
     * What is owned, and of that what was not granted in this pass.  The room of both is such that
     * taking iterations away and beginning a pass need no memory, see lbc_loop_reserve.
     */
    struct lbx_spanset owned, remaining;
    int64_t remaining_count, window_first;
    int64_t granted; /* the last window; 0: none yet */

    struct lbc_rows *rows; /* [nrows], owned */
    size_t nrows;
    int64_t row_bytes; /* of all arrays together */

    struct lb_pack pack; /* pack.pack is NULL: there is nothing to pack */

    /* Of a stepped loop. */
    struct lbc_step *step; /* owned; NULL: a DOALL loop */
    int64_t halo;
    int64_t elements;  /* of a row of a pipelined loop; 0: not pipelined */
    bool joins;        /* its rows may change hands within a pass */
    bool told_waiting; /* that it has waited for another rank for very long; once a loop */
    void (*told)(struct lb_loop *l, const struct lbw_layout *m); /* what it does with a layout */
    bool (*vain)(struct lb_loop *l, bool votes); /* lbc_leave_is_vain; NULL: is not asked */
    void (*idle)(struct lb_loop *l); /* lbc_memory_ahead, whenever it waits; NULL: nothing to do */
    void (*owed)(struct lb_loop *l); /* lbc_step_ask_owed, when another opens; NULL: of no use */
    /* The fewest after which another rank has closed it; of any loop. */
    int64_t gone_exchanges, gone_passes;
    bool told_gone; /* by that rank itself, not by the balancer or by one that goes on */
    bool leaving;   /* this rank is in lb_loop_close */
    bool given_up;  /* by another rank, which waited for one that has closed it */

    enum lbc_state state;
    bool started; /* lb_loop_next was called */
    bool agreed;  /* all ranks are at the end of this pass: its reduction is over, see apart.h */
    int64_t pass; /* -1 before the first */
    int64_t final_pass; /* no more moves in passes up to this one; -1: none yet */
    uint64_t epoch;     /* the last one obeyed */
    uint32_t collects;  /* lb_loop_collect calls so far, this one included */
    bool collecting;    /* the root of one that is under way */
    uint32_t collected; /* ranks that have sent all for it */

    /* Measuring. */
    bool executing;                 /* the program has a chunk */
    int64_t begun_ns, begun_cpu_ns; /* when the program got its chunk */
    int64_t left_cpu_ns;            /* when it came back with it; 0: it had none */
    int64_t since_ns;    /* from when on the elapsed time counts for the speed of the rank */
    double iteration_ns; /* estimate for sizing chunks; 0: none yet */
    double iteration_wall_ns;
    int64_t chunk_ns, period_ns, low_ns;
    int64_t report_ns, reported_ns;    /* the period's next report is due; the last one was sent */
    struct lbp_alert alert;            /* whether one is due before */
    bool reported, told_low, told_dry; /* in this pass */
    int64_t executed;                  /* in this pass */
    int64_t asks;                      /* the answer to this is waited for, see sync.h; 0: none */
    int64_t pass_wait_ns;
    int64_t piece_cpu_ns; /* of pieces that have come, of moves that are not told of yet */
    size_t nsamples;
    struct lbw_sample sample[LBW_SAMPLES_MAX];
    size_t ndone;
    struct lbw_done done[LBW_DONE_MAX];

    struct lbw_close total;
    int64_t iterations_out, moves_out, bytes_out, hooks;
};

/*
 * Make room, so that `extra` spans can be added to, or cut out of, what is owned and what remains
 * without memory.  Returns 0 or -ENOMEM.
 */
int lbc_loop_reserve(struct lb_loop *l, size_t extra) __attribute__((warn_unused_result));

/* The loop with this number, or NULL. */
struct lb_loop *lbc_loop_find(const struct lb_ctx *ctx, uint32_t number);

/* First block of a rank, and where the first blocks of all begin: by weight where known.  Pure. */
void lbc_loop_block(int64_t n, int rank, int size, const double *weight, int64_t *ret_first,
                    int64_t *ret_last);
void lbc_loop_bounds(int64_t n, int size, const double *weight, int64_t *ret_bound);

#endif
