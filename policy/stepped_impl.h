/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a stepped loop's balancer, for stepped.c and stepped_decide.c only. */
#ifndef LBP_STEPPED_IMPL_H
#define LBP_STEPPED_IMPL_H

#include "policy/adjacent.h"
#include "policy/filter.h"
#include "policy/grain.h"
#include "policy/profile.h"
#include "policy/profit.h"
#include "policy/stepped.h"
#include "policy/threshold.h"

struct stepped_rank {
    bool reported, fresh; /* fresh: reported steps since the last decision */
    int64_t step;
    uint64_t epoch;
    double weight, hardware;
    struct lbp_filter filter;
    double work, wall; /* since the last decision */
    int64_t steps;     /* the same */
    double now_work, prev_work,
        first_work; /* of a step, with the bounds now, before, and at first */
    double now_wall, prev_wall, first_wall; /* that it took */
    double step_wall_ns;                    /* computing in a step, last report */
};

struct lbp_stepped {
    struct lbp_stepped_config config; /* weight and hardware not kept here */
    struct stepped_rank *rank;        /* [nranks] */
    int64_t *bound, *prev, *first;  /* [nranks + 1] as last planned; before that; the very first */
    int64_t *next;                  /* [nranks + 1] scratch */
    double *speed;                  /* [nranks] scratch */
    struct lbp_adjacent_move *move; /* [nranks] scratch */
    struct lbp_profile profile;
    struct lbp_profit profit;
    struct lbp_threshold threshold;
    struct lbp_grain grain;
    bool moves_nothing;
    uint64_t epoch;
    uint32_t nfresh, napplied; /* ranks; applied: the last plan */
    int64_t step;              /* greatest that was reported */
    double step_ns, message_ns;
    int64_t begun_ns, planned_ns, period_ns, told_period_ns;
    double workscale;
    int64_t since_moves;
    int64_t decisions[LBP_REASONS];
    int64_t moved_iterations, moved_bytes;
    double cost_ns;                 /* of applying the last plan, the longest rank's */
    double account_ns;              /* brought less cost, against the first bounds */
    double promised_ns, brought_ns; /* by the last plan, against the bounds before */
    double charged_ns;              /* of cost_ns, in the account already */
    double without_ns;              /* a step with the first bounds, at the present speeds */
    double measured_ns;             /* a step with the present bounds */
    double prev_expected_ns; /* with the bounds before, at the present speeds; < 0: none yet */
    int broken;              /* words one after another */
    double doubt;            /* >= 1: so many times the gain is asked for; plans broke their word */
    double last_before_ns, last_after_ns; /* step times that it was adopted for */
    struct lbp_stepped_decision last;
    int64_t told_decisions; /* by lbp_stepped_decided */
    int64_t last_moved;     /* iterations, by the last plan */
};

/* Decide, if it is time.  Appends to ret_action.  0 or -ENOMEM. */
int lbp_stepped_decide(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *ret_action,
                       size_t *ret_n) __attribute__((warn_unused_result));

#endif
