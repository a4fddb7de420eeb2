/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The balancer's mind for one STEPPED or DOACROSS loop, as balance.h is for a DOALL loop: told what the ranks report, it
 * answers with new bounds of the block distribution when they are worth it.  No clock, I/O, log or globals.
 *
 *   step    one run through all iterations, 0, 1, ...: between two barriers or exchanges (STEPPED), or one sweep of the
 *           pipeline (DOACROSS).  Each rank executes all of its block in each.
 *   bounds  rank r owns [bound[r], bound[r + 1])
 *   epoch   number of a plan, ascending.  A plan is applied by all ranks between the same two steps, which the ranks settle
 *           among themselves (the plan's at_step says by when each should have heard of it); each report says which epoch
 *           its rank has applied.  No newer plan comes before all ranks have told that they applied the last: ranks that do
 *           not apply one just go on as they are.  Under policy siegell what is decided may be told as several plans, one after
 *           another, in each of which rows go to neighbours only.
 *
 * How it decides: speeds by the filter; costs by the profile; then, once a period and when all have applied the last plan,
 * new bounds (policy/adjacent.h), taken if the projected fall of the step time passes the threshold, exceeds the errors of
 * the speeds, and pays for the moves, for which all ranks wait.
 * Source: Siegell & Steenkiste 1997, sections 4 to 6; the account of what moves have really brought is ours.
 */
#ifndef LBP_STEPPED_H
#define LBP_STEPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "policy/balance.h"
#include "policy/registry.h"

struct lbp_stepped; /* opaque */

enum lbp_stepped_kind { LBP_STEPPED, LBP_DOACROSS };

struct lbp_stepped_config {
    enum lbp_stepped_kind kind;
    uint32_t nranks;
    int64_t n;         /* iterations */
    int64_t row_bytes; /* that travel with one */
    int64_t
        min_iterations; /* a rank owns none or at least so many: the width of the halo; 0 and 1: no limit */
    int64_t
        pipelined; /* DOACROSS: iterations of the loop that is cut into blocks, m; 0: no block size is chosen */
    int64_t steps;        /* expected in all; 0 unknown */
    int64_t stable_ns;    /* speeds are expected to stay so long; 0: judge by what the job sees */
    const double *weight; /* [nranks] expected speed, relative, >= 0; NULL unknown.  Copied */
    const double
        *hardware; /* [nranks] speed of a CPU second, relative, > 0; NULL: all 1.  Copied */
    struct lbp_params params;
    int64_t t_interact_ns; /* measured round trip rank - balancer, >= 0; 0 unknown */
    uint64_t first_epoch;  /* >= 1; epochs are given out from here */
};

/* What a rank did since its last report. */
struct lbp_stepped_report {
    uint32_t rank;
    int64_t step; /* steps completed in all */
    int64_t
        steps; /* of them since the last report, all with the block of `epoch`: a rank reports before it applies a plan */
    uint64_t epoch;      /* last plan applied; 0: none.  A report without steps says so at once */
    int64_t first, last; /* block owned now */
    int64_t wall_ns;     /* computing in these steps, elapsed */
    int64_t cpu_ns;      /* the same, CPU time */
    int64_t wait_ns;     /* waiting for others in these steps, less move_wall_ns */
    const struct lbp_sample
        *sample; /* [nsamples] parts of the block that were timed apart; none: spread evenly */
    size_t nsamples;
    /* what applying `epoch` took, in the first report after it; else 0 */
    int64_t move_bytes, move_wall_ns, move_cpu_ns;
    /* DOACROSS: messages of the pipeline timed since the last report: what one that carried `shift_iterations`
     * took of a rank's CPU; < 0: none */
    int64_t shift_iterations, shift_ns;
    /* of the control group with the tightest quota that the rank is in: cores, 0: none; its period; a number that ranks in
     * the same group have in common */
    double quota_cpus;
    int64_t quota_period_ns;
    uint64_t quota_group;
};

enum lbp_stepped_type {
    LBP_STEPPED_INSTRUCT, /* all ranks: report at the first end of a step after period_ns */
    LBP_STEPPED_PLAN,     /* all ranks: bounds and block as `epoch` */
    LBP_STEPPED_ANSWER,   /* all ranks, which wait for it: go on (sync=yes) */
};

struct lbp_stepped_action {
    enum lbp_stepped_type type;
    int64_t period_ns;
    uint64_t epoch;
    int64_t at_step;      /* by the end of this step all should have heard of it */
    const int64_t *bound; /* [nranks + 1] borrowed until the next call */
    int64_t block;        /* DOACROSS: of the pipelined loop, 1 to m; 0 none */
};

#define LBP_STEPPED_ACTIONS 3 /* of one call, at most */

/* Why it decided as it did, the last time that it did. */
struct lbp_stepped_decision {
    int64_t at_ns; /* INT64_MIN: none yet */
    enum lbp_reason reason;
    enum lbp_detail detail;
    double before_ns, after_ns; /* projected time of a step */
    double least;               /* gain that was asked for, ratio: the greater of the next two */
    double threshold,
        noise;      /* in force then; errors of the speeds, and of plans that broke their word */
    double cost_ns; /* of the moves, and the next; */
    double unmeasured_ns; /* what may be lost on ranks that nobody has measured */
    double benefit_ns;    /* over the time that it is expected to last */
};

struct lbp_stepped_stats {
    uint64_t epoch; /* last planned */
    int64_t decisions[LBP_REASONS];
    int64_t moved_iterations, moved_bytes;
    double load_balance_ratio; /* mean / max of the time of a step's computing, as last reported */
    double
        account_ns; /* what the plans have brought, less what they cost, against the first bounds; estimate */
    int64_t period_ns, block;
    struct lbp_stepped_decision last;
};

/*
 * bound[in] [nranks + 1] the first distribution, ascending from 0 to n; copied.
 * Returns 0, -EINVAL, -ENOMEM.  *ret owned by the caller.
 */
int lbp_stepped_create(const struct lbp_stepped_config *config, const int64_t *bound,
                       int64_t now_ns, struct lbp_stepped **ret, struct lbx_error *err)
    __attribute__((warn_unused_result));
void lbp_stepped_destroy(struct lbp_stepped *s); /* NULL is fine */

/*
 * First bounds for a loop: n in proportion to weight (NULL: even), each rank none or at least min_iterations.
 * ret_bound[out] [nranks + 1]; untouched on failure.  Returns 0, -EINVAL, -ENOMEM.  Pure, O(P log P).
 */
int lbp_stepped_first(int64_t n, uint32_t nranks, const double *weight, int64_t min_iterations,
                      int64_t *ret_bound) __attribute__((warn_unused_result));

/* The block of the pipelined loop that is in force, as in the stats; 0: there is none.  O(1), as a report is. */
int64_t lbp_stepped_block(const struct lbp_stepped *s);

/*
 * A rank reports.  Reports of fewer steps than its last are ignored.
 * ret_action[out]  room for LBP_STEPPED_ACTIONS, to be carried out in order;  ret_n[out] how many
 * Returns 0, -EINVAL (cannot be: nothing changed), -ENOMEM (nothing changed but what was learned).
 * O(1), and O(P + bins) when a decision is due.
 */
int lbp_stepped_report(struct lbp_stepped *s, const struct lbp_stepped_report *r, int64_t now_ns,
                       struct lbp_stepped_action *ret_action, size_t *ret_n)
    __attribute__((warn_unused_result));

/* How many steps the rank has told of. */
int64_t lbp_stepped_step(const struct lbp_stepped *s, uint32_t rank);

void lbp_stepped_stats(const struct lbp_stepped *s, struct lbp_stepped_stats *ret);
/* ret_speed[out] [nranks] filtered work per elapsed time;  ret_share[out] [nranks]; either may be NULL */
void lbp_stepped_ranks(const struct lbp_stepped *s, double *ret_speed, double *ret_share);

/* The last decision in full; false when there was none since the call before. */
bool lbp_stepped_decided(struct lbp_stepped *s, struct lbp_decision *ret);
/* ret[out] [nranks] as they were seen then.  O(P + bins). */
void lbp_stepped_seen(struct lbp_stepped *s, struct lbp_seen *ret);

#endif
