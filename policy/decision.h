/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One decision in full, also the ones not to move: what was projected, what was asked for, and what came of it.  For traces
 * and explanations; nothing decides by it.
 */
#ifndef LBP_DECISION_H
#define LBP_DECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LBP_DECISIONS_MAX 8 /* kept of one call */

/* Why something was moved, or was not: for metrics and explanations. */
enum lbp_reason {
    LBP_REASON_PROPORTIONAL, /* moved: shares by rate */
    LBP_REASON_DRY,          /* moved: a rank is about to run dry */
    LBP_REASON_BELOW_THRESHOLD,
    LBP_REASON_UNPROFITABLE,
    LBP_REASON_FILTERED,
    LBP_REASON_UNSTABLE,
    LBP_REASONS
};

/* What a reason alone does not say, of stepped loops. */
enum lbp_detail {
    LBP_DETAIL_NONE,
    LBP_DETAIL_STAKE,  /* unprofitable: there and back could cost more than may be lost */
    LBP_DETAIL_UNDONE, /* unstable: the last plan was undone, and another is not tried yet */
    LBP_DETAIL_PART,   /* moved: only so far as may be staked */
    LBP_DETAIL_AMENDS, /* moved: the plan that came into force was made of a part of a change of speed */
    LBP_DETAIL_BACK, /* these are bounds of before, which were faster */
    LBP_DETAILS
};

enum lbp_decided {
    LBP_DECIDED_PLAN,  /* shares for all ranks */
    LBP_DECIDED_PAIR,  /* one rank is (about to be) dry: iterations from another */
    LBP_DECIDED_FINAL, /* no more moves in this pass */
    LBP_DECIDED_STEPS, /* new bounds for a stepped loop; times are of a step, pass is the step */
};

struct lbp_decision {
    enum lbp_decided kind;
    bool done; /* moves were told, or FINAL */
    enum lbp_reason reason;
    enum lbp_detail detail;
    int64_t pass;
    /* PLAN: remaining time with things as they are and as planned; PAIR: until the later of both ends; ns */
    double before_ns, after_ns;
    double gain_ratio;   /* 1 - after / before; needed_ratio: what it had to reach */
    double needed_ratio; /* the greater of the next two */
    double threshold_ratio, noise_ratio; /* PLAN: in force now; errors of the speeds */
    double cost_ns; /* PLAN: of the moves, and the next; PAIR: the least gain worth a move */
    double
        unmeasured_ns; /* STEPS: of the cost, what may be lost on ranks that nobody has measured */
    double benefit_ns; /* PLAN: over the time that it is expected to last; PAIR: the gain */
    double stable_ns;  /* PLAN: speeds are expected to stay so long */
    double account_ns; /* STEPS: what all plans have won less their cost, as in stepped.h */
    int64_t period_ns; /* between decisions */
    uint32_t from, to; /* PAIR; else UINT32_MAX */
    int64_t moves, iterations; /* that were told */
};

/* Those of one call. */
struct lbp_decisions {
    struct lbp_decision list[LBP_DECISIONS_MAX];
    size_t n;
    int64_t left_out; /* did not find room */
};

/* What a rank looked like at that moment. */
struct lbp_seen {
    double raw_hz;      /* iterations of mean cost a second: its last report by itself */
    double filtered_hz; /* the same as believed */
    double share_ratio; /* of the loop's iterations, owned */
};

#endif
