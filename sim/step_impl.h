/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a simulated stepped or pipelined loop: what sim/step.c and sim/step_ranks.c share. */
#ifndef SIM_STEP_IMPL_H
#define SIM_STEP_IMPL_H

#include "policy/firsts.h"
#include "sim/step.h"

struct sim_mail {
    int64_t at_ns, order;
    struct lbp_stepped_report r;
    struct lbp_sample sample[SIM_STEP_PARTS];
};

struct sim_stepper {
    struct sim_host host;
    int64_t reported_ns;
    double quota_cpus; /* as it read it last */
    int64_t quota_read_ns;
    struct lbp_stepped_report r; /* grows until it is sent */
    double wall, cpu;
};

struct sim_steps {
    const struct sim_step_config *c;
    struct lbp_stepped *policy; /* NULL: the bare loop */
    struct lbp_firsts *firsts;
    bool told; /* bounds come from config->bounds */
    struct sim_stepper *rank;
    double *before;               /* [n + 1] work of [0, i) */
    double longest;               /* time that one iteration takes on the slowest host */
    int64_t *bound, *next, *undo; /* [nranks + 1]; undo: before the last plan */
    int64_t *ready, *start;       /* [nranks] */
    int64_t *blocks;              /* [m] when the rank before ended each block */
    struct sim_mail *mail;        /* heap */
    size_t nmail, size;
    int64_t order, now_ns, period_ns,
        plan_ns; /* plan_ns: all have heard of next; INT64_MAX: no plan */
    uint64_t epoch, planned;
    int64_t block, planned_block; /* as the balancer tells it */
    int64_t legs, step;           /* of a pass; a leg is a step */
    double step_ns;               /* that one takes, smoothed */
    int64_t answer_ns;            /* when the ranks that wait for an answer go on */
    bool sync;                    /* key sync */
    bool published;               /* policy siegell */
    bool asked, voted;            /* a vote is under way; all had the layout when they entered it */
    int64_t asked_step, interval, later, proposed_interval,
        proposed_later; /* as in libclient/step.h */
    unsigned seed;
    struct sim_step_result result;
};

/* The simulation is at its end: why; the first one counts. */
void sim_step_fail(struct sim_steps *w, const char *why);

/* The soonest report on its way; there must be one. */
struct sim_mail sim_step_mail(struct sim_steps *w);

/* A pipelined loop whose ranks wait for their neighbours alone. */
bool sim_step_is_flowing(const struct sim_steps *w);

/* Elements of a row that this step goes through, and of a block of them. */
int64_t sim_step_elements(const struct sim_steps *w);
int64_t sim_step_block(const struct sim_steps *w);

/* Ranks that hold something. */
uint32_t sim_step_holders(const struct sim_steps *w);

/* All ranks compute; returns when the last has ended. */
int64_t sim_step_barrier(struct sim_steps *w);
int64_t sim_step_pipeline(struct sim_steps *w);

/* A step ended: whoever is due reports.  Returns whether anybody was. */
bool sim_step_report(struct sim_steps *w, int64_t end);

/* Between two steps: rows travel from their old owners to the new ones, all at once; all wait. */
void sim_step_apply(struct sim_steps *w);

#endif
