/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a balancer, for the files that make up balance.h's functions only. */
#ifndef LBP_BALANCE_IMPL_H
#define LBP_BALANCE_IMPL_H

#include "policy/balance.h"
#include "policy/model.h"
#include "policy/plan.h"
#include "policy/threshold.h"
#include "policy/view.h"

struct lbp_balance {
    struct lbp_params params;
    struct lbp_model model;
    struct lbp_threshold threshold;
    struct lbp_view *view;        /* [nranks] */
    struct lbp_plan_share *share; /* [nranks] */
    struct lbp_plan plan;
    bool *asked;    /* [nranks] liu: this dry rank was answered */
    uint64_t epoch; /* next */
    int64_t decisions[LBP_REASONS];
    int64_t period_ns;      /* between decisions, and between reports in the middle of a pass */
    int64_t planned_ns;     /* last proportional decision */
    int64_t decided_ns;     /* last decision of any kind */
    uint32_t planned_known; /* ranks whose speed was known then */
    double workscale;       /* decisions between two moves, mean */
    int64_t since_moves;    /* decisions since the last */
    int64_t wake_ns;
    struct lbp_decisions said; /* by the present call */
    int64_t refused_pass;      /* a pair not worth a move is told once a pass and taker */
    bool *refused;             /* [nranks] */
    int64_t final_ns;          /* when FINAL was last said */
    int64_t *asks;             /* [nranks] as they reported; 0: the rank does not wait */
    uint32_t nasks; /* ranks with any: nobody is looked through for those that never wait */
};

enum lbp_event { LBP_EVENT_REPORT, LBP_EVENT_URGENT, LBP_EVENT_TICK };

/* Policies: decide, append actions, set wake_ns.  0 or -ENOMEM. */
int lbp_auto_decide(struct lbp_balance *b, int64_t now_ns, enum lbp_event event,
                    struct lbp_actions *out) __attribute__((warn_unused_result));
int lbp_liu_decide(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
    __attribute__((warn_unused_result));

/* Note a decision for explanations. */
void lbp_act_say(struct lbp_balance *b, const struct lbp_decision *d);
/* Count what was told by actions out->action[begin, out->n) into d, and note it. */
void lbp_act_say_moves(struct lbp_balance *b, struct lbp_decision *d, const struct lbp_actions *out,
                       size_t begin);
/* A pair was looked at and is not worth a move: said once a pass and taker. */
void lbp_act_refuse(struct lbp_balance *b, const struct lbp_decision *d);

/* Action writers of act.c; each 0 or -ENOMEM. */
int lbp_act_final(struct lbp_balance *b, struct lbp_actions *out)
    __attribute__((warn_unused_result));
/* Say it once more, of a pass that was final before: a rank waits as if it had not heard. */
int lbp_act_final_again(int64_t pass, struct lbp_actions *out) __attribute__((warn_unused_result));
/* The rank goes on. */
int lbp_act_answer(uint32_t rank, int64_t asks, struct lbp_actions *out)
    __attribute__((warn_unused_result));
/* Tell the rank if it differs enough from what it was told. */
int lbp_act_instruct(struct lbp_balance *b, uint32_t rank, int64_t period_ns, int64_t low_ns,
                     int64_t chunk_ns, int64_t now_ns, struct lbp_actions *out)
    __attribute__((warn_unused_result));
/* Move iterations worth t->work (or `iterations`, when > 0) from the end of what the source has left. */
int lbp_act_move(struct lbp_balance *b, const struct lbp_transfer *t, int64_t iterations,
                 enum lbp_reason reason, int64_t now_ns, struct lbp_actions *out)
    __attribute__((warn_unused_result));

#endif
