/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the balancer knows: the ranks' remaining and owned iterations as reported, moves that are
 * under way, speeds, and what iterations cost.  From a move's instruction until both ends have told
 * how it ended, its iterations count as the destination's, and no second plan touches them.
 * Internal to policy/.
 */
#ifndef LBP_MODEL_H
#define LBP_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/spanset.h"
#include "policy/balance.h"
#include "policy/filter.h"
#include "policy/pair_cost.h"
#include "policy/profile.h"
#include "policy/profit.h"

/* A move under way; in two lists: the source's until it told, the destination's until it told. */
struct lbp_flight {
    uint64_t epoch;
    uint32_t source, dest;
    int64_t first, last; /* told to give what remains of this */
    int64_t iterations;  /* that really go, once one end told; else asked for */
    bool source_told, dest_told;
    int64_t start_ns, arrive_ns; /* arrive: expected */
    struct lbp_flight *next_out, *next_in;
};

struct lbp_rank {
    bool joined, reported, dry;
    int64_t pass;
    int64_t executed, remaining; /* as reported */
    int64_t told_ns;             /* when; or when the pass began for it */
    struct lbx_spanset left;     /* told remaining spans less what is promised to others */
    int64_t untold;              /* remaining iterations beyond the told spans */
    struct lbx_spanset owned;
    struct lbp_filter speed;
    double hardware;                      /* work of a CPU ns, relative */
    double weight;                        /* expected speed, relative; 0 unknown */
    int64_t first, last;                  /* first block */
    double raw;                           /* work per elapsed ns, last report, unfiltered */
    double work_sum, wall_sum;            /* of all reports */
    double rate;                          /* iterations per ns, last report, unfiltered */
    double compute_ns, compute_before_ns; /* elapsed, this pass and the one before */
    int64_t period_ns, low_ns, chunk_ns;  /* as last instructed; 0: not yet */
    int64_t due_ns;                       /* a hook after this time reports */
    struct lbp_flight *out, *in;
};

struct lbp_model {
    uint32_t nranks, njoined;
    int64_t n, row_bytes;
    int64_t pass;          /* being balanced: the one after the last FINAL */
    int64_t begun_ns;      /* of the pass: first report of it; INT64_MIN before */
    struct lbp_rank *rank; /* [nranks] */
    struct lbp_profile profile;
    struct lbp_profit profit;
    struct lbp_pair_cost pair_cost;
    int64_t flights;   /* moves of which an end has not told */
    int64_t oldest_ns; /* none of them of which no end has told began before */
    int64_t moved_iterations, moved_bytes;
    double message_ns; /* one way, rank - balancer */
};

int lbp_model_init(struct lbp_model *m, const struct lbp_balance_config *config, int64_t now_ns)
    __attribute__((warn_unused_result));
void lbp_model_fini(struct lbp_model *m);

int lbp_model_join(struct lbp_model *m, uint32_t rank, int64_t first, int64_t last, int64_t now_ns)
    __attribute__((warn_unused_result));

/*
 * Take in a report.  ret_done[out]: some move ended with it.
 * Returns 0, -EINVAL (cannot be; nothing changed), -EALREADY (of an older pass; nothing changed),
 * -ENOMEM (nothing changed).
 */
int lbp_model_report(struct lbp_model *m, const struct lbp_report *r, int64_t now_ns,
                     bool *ret_done) __attribute__((warn_unused_result));

/* A move was decided: [first, last), all of it in the source's left, belongs to dest from now on.
 * 0 or -ENOMEM. */
int lbp_model_move(struct lbp_model *m, uint64_t epoch, uint32_t source, uint32_t dest,
                   int64_t first, int64_t last, int64_t now_ns, int64_t arrive_ns)
    __attribute__((warn_unused_result));

/* FINAL was sent for the pass. */
void lbp_model_final(struct lbp_model *m);

/* Moves of which no end is told, though the source has spoken lost_ns after it was to make them, count as lost on their way
 * to it.  Returns whether there were any; should one be told of after all, that counts for nothing.  O(1) while the oldest of
 * them began less than lost_ns before now_ns, else O(ranks + moves). */
bool lbp_model_forget(struct lbp_model *m, int64_t now_ns, int64_t lost_ns);

/* Does the rank take part in the pass that is being balanced? */
bool lbp_model_present(const struct lbp_model *m, const struct lbp_rank *r);
bool lbp_model_all_present(const struct lbp_model *m);

/* Mean / max of the ranks' compute time in the pass before, or in this one while there is none
 * before; 1 when unknown. */
double lbp_model_load_balance(const struct lbp_model *m);

#endif
