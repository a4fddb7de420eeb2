/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a stepped loop's balancer, for policy/stepped*.c only. */
#ifndef LBP_STEPPED_IMPL_H
#define LBP_STEPPED_IMPL_H

#include "policy/adjacent.h"
#include "policy/caps.h"
#include "policy/filter.h"
#include "policy/grain.h"
#include "policy/layout_cost.h"
#include "policy/profile.h"
#include "policy/profit.h"
#include "policy/stepped.h"
#include "policy/threshold.h"

#define STEPPED_KINDS 5
/* Ratio of the step time: for less the very first bounds do not come back. */
#define STEPPED_HOME_GAIN 0.01
/* After so many decisions one after another that found too small a gain reports are less often under quotas. */
#define STEPPED_QUIET 2

struct stepped_rank {
    bool reported, fresh; /* fresh: reported steps since the last decision */
    bool asks;            /* waits for the answer; under sync=yes only */
    int64_t step;
    uint64_t epoch;
    double weight, hardware;
    struct lbp_filter filter;
    double work, wall, wait; /* since the last decision */
    int64_t steps;           /* the same */
    double moved_ns;         /* that it says of the last layout */
    double filtering_ns;     /* elapsed in the filter's window that is not full */
    double now_work, prev_work,
        first_work;             /* of a step, with the bounds now, before, and at first */
    double now_wall, prev_wall; /* that it took */
    double
        first_wall; /* that the first bounds' work took, for a while, when the rank had about as much last */
    /*
     * Its part of the work of all, ratio, as measured in each decision with the very first bounds: the mean, of so many; the squares
     * of the deviations from it, ratio, summed up; the last of these, how many of them were off to the same side running, and how often
     * the side has changed.
     */
    double part, parts, deviation2, deviation, run, runs;
    double usual_work, usual_wall; /* of some time; what is long ago counts less */
    double step_wall_ns;           /* computing in a step, last report */
    double best;                   /* greatest speed that it was known to have; */
    int64_t best_ns;               /* about so fast it was last, of what was measured */
    double speed[STEPPED_KINDS];   /* kinds of speed, see stepped_regret.c; */
    double was[STEPPED_KINDS];     /* at the decision before */
    double held[STEPPED_KINDS];    /* when who plans by it alone last moved */
    double mean_ns;                /* that the last kind is a mean of */
    int64_t idle_ns;               /* since when it holds nothing; INT64_MIN: it does */
    int tries;                     /* times that it was given work again, in vain */
};

struct lbp_stepped {
    struct lbp_stepped_config config; /* weight and hardware not kept here */
    struct stepped_rank *rank;        /* [nranks] */
    int64_t *bound, *prev, *first; /* [nranks + 1] as last planned; before that; the very first */
    /*
     * [nranks + 1] as last told.  Policy siegell, as published, moves rows between neighbours only: where a plan goes farther it is
     * told as several layouts, each when all have applied the one before, and nothing is decided until told is bound.
     */
    int64_t *told;
    bool on_the_way;               /* told is not bound yet */
    bool turned;                   /* a speed has changed since the last decision */
    int64_t *next;                 /* [nranks + 1] scratch */
    int64_t *whole;                /* [nranks + 1] scratch */
    double *speed;                 /* [nranks] scratch */
    struct lbp_grain_stage *stage; /* [nranks] scratch */
    struct lbp_caps caps;
    struct lbp_profile profile;
    struct lbp_profit profit;
    struct lbp_threshold threshold;
    struct lbp_grain grain;
    bool moves_nothing;
    uint64_t epoch;
    uint32_t nfresh, napplied; /* ranks; applied: the last plan */
    uint32_t nasks;            /* the same */
    int64_t step;              /* greatest that was reported */
    double step_ns, message_ns;
    int64_t begun_ns, planned_ns, period_ns, told_period_ns; /* planned: the plan was told last */
    double workscale;
    int64_t since_moves;
    int64_t decisions[LBP_REASONS];
    int64_t moved_iterations, moved_bytes;
    double cost_ns;                     /* that the last plan's layouts held all ranks up */
    double passed_ns;                   /* of it, by those before the one told last */
    struct lbp_layout_cost layout_cost; /* of this one */
    int64_t cost_bytes, cost_cpu_ns;
    double our_steps,
        first_steps; /* that were made; that the very first bounds would have made in that time */
    double
        plan_steps; /* these less those, when the present bounds were decided, before their moves */
    double
        account_ns; /* what plans have won, at so long as a step with the very first bounds takes on the average, or with ours */
    double promised_ns, brought_ns; /* by the last plan, against the bounds before */
    double charged_ns;              /* of cost_ns, in the account already */
    double without_ns;              /* a step with the first bounds, at the present speeds */
    double measured_ns;           /* a step with the present bounds, the longest rank's computing */
    double real_ns, prev_real_ns; /* a step as it really took, now; with the bounds before */
    bool home;                    /* look_back filled next with the very first bounds */
    double behind_ns; /* lost with the present bounds, against the very first; not by their moves */
    bool undoing;     /* the last plan undid another */
    int undone;       /* plans, one after another but for some that kept their word */
    double undone_gain;   /* ratio, that the last of them promised */
    double wait_until_ns; /* no new plan before, but for a much greater gain */
    double tried_ns;      /* real, as it compares with what is projected for other bounds; */
    double usual_ns;      /* the same, by all steps with these bounds, not just now's */
    bool worse;           /* the last plan made steps longer, where it gave work to */
    bool judged;          /* it was judged whether it did */
    double chance;        /* ratio by which quotas may lengthen steps in that time */
    double won_ns;        /* in it, against the bounds before; an estimate */
    /*
     * Steps took so much longer than their slowest rank's mean computing, as ranks are slow in turn: all steps with the present
     * bounds; one with the bounds before, and with the very first; ratio of it that can be relied on.
     */
    double over_ns, over_steps, prev_over_ns, first_over_ns, over_sure;
    double held_ns, held_steps; /* with the present bounds; what is long ago counts less */
    double stretch;             /* of a pipeline: least of real / measured */
    double prev_expected_ns;    /* with the bounds before, at the present speeds; < 0: none yet */
    double prev_again_ns, first_again_ns; /* a step, if those bounds came back */
    int broken;                           /* words one after another */
    double doubt; /* >= 1: so many times the gain is asked for; plans broke their word */
    double last_before_ns, last_after_ns; /* step times that it was adopted for */
    double regret_ns[STEPPED_KINDS];      /* lost by shares of each kind of speed, faded */
    /* Squares of what a kind lost more than another in single periods, summed up and faded, ns^2. */
    double differ2[STEPPED_KINDS][STEPPED_KINDS];
    /*
     * So much sooner than we would he be where we are who plans by that kind alone, but for his first move; elapsed since he
     * may be, which is since a plan was not followed, or he was last behind; >= 0.
     */
    double ahead_ns[STEPPED_KINDS], away_ns[STEPPED_KINDS];
    /*
     * Steps by which he who plans by that kind alone, from the beginning, would be ahead of the very first bounds; the most that
     * this ever was; the most by which it ever fell from that.
     */
    double lead_steps[STEPPED_KINDS], top_steps[STEPPED_KINDS], fall_steps[STEPPED_KINDS];
    bool refused;       /* a plan was not followed since the bounds are in force */
    int kind;           /* that plans are by */
    int64_t settled_ns; /* when the account was made up last */
    struct lbp_stepped_decision last;
    int quiet;              /* decisions one after another that found too small a gain */
    int64_t told_decisions; /* by lbp_stepped_decided */
    int64_t last_moved;     /* iterations, by the last plan */
};

/* Policy siegell: without most of what is ours (docs/internals/balancing.md). */
static inline bool lbp_stepped_published(const struct lbp_stepped *s)
{
    return s->config.params.policy == LBP_SIEGELL;
}

/* DOACROSS: ranks wait for their neighbours alone. */
static inline bool lbp_stepped_flows(const struct lbp_stepped *s)
{
    return s->config.pipelined > 0 && !s->config.params.sync;
}

/*
 * stepped_tell.c; each appends to action.
 *   tell_period  another period than was told, if that is worth a message
 *   tell_plan    bound, as a layout that all are to apply; under siegell as far on the way to it as passes no neighbour
 *   tell_rest    the way's next layout, when all have applied the one told last; returns whether a plan is on the way yet, during
 *                which nothing is decided
 *   tell_again   the same layout, when ranks have gone on for so long that one may not have heard of it: then none applies it
 */
void lbp_stepped_tell_period(struct lbp_stepped *s, int64_t now_ns,
                             struct lbp_stepped_action *action, size_t *n);
void lbp_stepped_tell_plan(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *action,
                           size_t *n);
bool lbp_stepped_tell_rest(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *action,
                           size_t *n);
void lbp_stepped_tell_again(struct lbp_stepped *s, int64_t now_ns,
                            struct lbp_stepped_action *action, size_t *n);

/*
 * stepped_account.c: what the bounds have brought since the last decision, by the speeds that were really there, and by the
 * work that each rank had with these bounds and others: no guess of what iterations cost is in it.  Then all begins anew.
 */
void lbp_stepped_settle(struct lbp_stepped *s, int64_t now_ns);

/*
 * stepped_amend.c
 *   is_stale  the last plan has just come into force, no step was seen with it, and speeds have changed since it was made
 *   amend     tells the plan that is right now, if it goes on where that one went, and is worth it; else all stays as it was, as the
 *             next decision is by steps that were seen with the bounds.  Appends to ret_action.  0 or -ENOMEM.
 */
bool lbp_stepped_is_stale(const struct lbp_stepped *s);
int lbp_stepped_amend(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *ret_action,
                      size_t *ret_n) __attribute__((warn_unused_result));

/* stepped_account.c: the last plan's moves are in the account, before any step with its bounds is. */
void lbp_stepped_charge(struct lbp_stepped *s, int64_t now_ns);

/*
 * stepped_speeds.c: fills speed.  Ranks not measured get what the others do, by weight, and without weights what the slowest does: one that
 * has too little makes nobody wait.  Returns the worst relative error; < 0: no rank was measured.
 */
double lbp_stepped_plan_speeds(struct lbp_stepped *s, int64_t now_ns);

/* Every rank that holds something has been measured long enough to say what it does, or has too little to do for that. */
bool lbp_stepped_all_known(const struct lbp_stepped *s);

/* All have applied what was told last: what that took is learned from, and the plan's next layout adds to it. */
void lbp_stepped_passed(struct lbp_stepped *s);

/* New bounds come into force: keeps how much longer than their slowest rank steps with those of now took. */
void lbp_stepped_keep_over(struct lbp_stepped *s);

/* stepped_regret.c: which kind of speed it is best to plan by; before the sums since the last decision are cleared. */
void lbp_stepped_compare(struct lbp_stepped *s, int64_t steps, int64_t now_ns);

/*
 * Bounds that were in force are known by what they did, whatever costs are thought to be: fills next with those before, when
 * these are slower, or the very first, when all plans together have lost more than may be; home says which.  Returns the time of
 * a step with them; 0: neither is better.
 */
double lbp_stepped_look_back(struct lbp_stepped *s, int64_t now_ns);

/*
 * Who plans by a kind of speed alone is not ahead of us any more: after a move of ours, by so much that the rest is less than it
 * cost, ns; INFINITY: at all.
 */
void lbp_stepped_catch_up(struct lbp_stepped *s, double ns);

/* A step with the very first bounds took so long on the average of all time, or ours if that is less, ns; 0: nobody knows. */
double lbp_stepped_first_step_ns(const struct lbp_stepped *s, int64_t now_ns);

/* stepped_stake.c: plans have lost more than may be, when the way back to the very first bounds is counted. */
bool lbp_stepped_has_lost(struct lbp_stepped *s, int64_t now_ns);

/* A step with shares that need not be whole iterations, at the speeds to plan by, ns. */
double lbp_stepped_ideal_ns(struct lbp_stepped *s);

/* The moves of the next bounds hold all ranks up so long. */
double lbp_stepped_move_cost(const struct lbp_stepped *s);

/*
 * What is put at stake is the way there, the way from there to the very first bounds, and what the kind of speed that plans are by
 * is known to lose for a while.  When that is more than may be lost, next is made to go as far as may be: what it wins is
 * staked next.  What leads back costs no stake.
 * gain: of the step time, ratio, when all of the way is gone.  Returns false when nothing is left; next is as it was then.
 */
bool lbp_stepped_within_means(struct lbp_stepped *s, double gain, int64_t now_ns);

/*
 * What the plan of `last` is expected to bring: by how long speeds have stayed, less what passes until it is in force; or by what
 * following has won, and for how long.
 * gain: of this plan, ratio; lasts: ns that the loop goes on.
 */
double lbp_stepped_benefit_ns(struct lbp_stepped *s, double gain, double lasts, int64_t now_ns);

/* How far what ranks have to do may be other than was measured, as it varies: ratio, the root of the mean square of all ranks. */
double lbp_stepped_work_error(const struct lbp_stepped *s);

/* Work per elapsed time that the rank can go on doing, as its quota allows; INFINITY: no limit. */
double lbp_stepped_limit(struct lbp_stepped *s, uint32_t rank);

/* How long the loop is expected to go on when what is decided now is in force, with steps of that length. */
double lbp_stepped_horizon(const struct lbp_stepped *s, double step_ns, int64_t now_ns);

/* Gain of the step time that the decision was about, ratio. */
double lbp_stepped_gain(const struct lbp_stepped_decision *d);

/*
 * Fills next with the bounds that are best at the speeds to plan by, whose relative error is given, and last with what speaks for them.
 * ret_reason[out] LBP_REASON_PROPORTIONAL: they are worth it.  Returns 0 or -ENOMEM.
 */
int lbp_stepped_weigh_new(struct lbp_stepped *s, double error, int64_t now_ns,
                          enum lbp_reason *ret_reason) __attribute__((warn_unused_result));

/* The next bounds are the plan of `last`; those before it stay what they were. */
void lbp_stepped_take_next(struct lbp_stepped *s, int64_t now_ns);

/* Decide, if it is time.  Appends to ret_action.  0 or -ENOMEM. */
int lbp_stepped_decide(struct lbp_stepped *s, int64_t now_ns, struct lbp_stepped_action *ret_action,
                       size_t *ret_n) __attribute__((warn_unused_result));

#endif
