/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated rank, and the world's events.  Internal to sim/. */
#ifndef SIM_RANK_H
#define SIM_RANK_H

#include "common/spanset.h"
#include "policy/alert.h"
#include "sim/world.h"

#define SIM_SPANS 64
#define SIM_SAMPLES 32
#define SIM_DONES 32

struct sim_report { /* owns what lbp_report borrows */
    struct lbp_report r;
    struct lbx_span span[SIM_SPANS];
    struct lbp_sample sample[SIM_SAMPLES];
    struct lbp_done done[SIM_DONES];
};

enum sim_event_type {
    SIM_HOOK,   /* a rank's chunk is done, or a dry rank is woken */
    SIM_ACTION, /* the balancer's message is there */
    SIM_ROWS,   /* moved iterations are there */
    SIM_REPORT, /* a rank's report is at the balancer */
    SIM_TICK,
};

struct sim_event {
    enum sim_event_type type;
    int64_t at_ns, order;
    uint32_t rank;
    struct lbp_action action;  /* SIM_ACTION; SIM_ROWS: epoch, first, last */
    struct sim_report *report; /* owned */
    int64_t wall_ns;           /* SIM_ROWS: of the transfer */
};

struct sim_rank {
    uint32_t id;
    struct sim_host host;
    struct lbx_spanset owned, left;
    int64_t pass, final_pass;
    int64_t executed;
    int64_t period_ns, low_ns, chunk_ns;
    int64_t begun_ns, reported_ns; /* reported: INT64_MIN: not yet in this pass */
    bool low_told, dry_told, busy, waiting;
    struct sim_event *inbox; /* messages and rows that wait for a hook */
    size_t ninbox, inbox_size;
    struct lbp_sample sample[SIM_SAMPLES];
    size_t nsamples;
    struct lbp_done done[SIM_DONES];
    size_t ndone;
    double seen_cpu_ns, seen_iterations; /* for the size of chunks */
    double seen_wall_ns;
    struct lbp_alert alert;
    struct lbx_span chunk; /* in progress */
    int64_t chunk_from_ns;
};

struct sim_world {
    const struct sim_config *config;
    struct lbp_balance *balance;
    struct lbp_actions actions;
    struct sim_rank *rank;   /* [nranks] */
    int *count;              /* [n], executions of each iteration */
    struct sim_event *event; /* heap */
    size_t nevents, size;
    int64_t order, now_ns, tick_ns;
    int64_t final_pass;
    int pass;
    uint32_t waiting; /* ranks in the barrier */
    int64_t moves, messages, reports, ticks;
    bool ended;
    const char *why;
};

void sim_fail(struct sim_world *w, const char *why);
void sim_post(struct sim_world *w, struct sim_event event);

/* Begin a pass at that time. */
void sim_rank_begin(struct sim_world *w, struct sim_rank *r, int64_t at_ns);
void sim_rank_event(struct sim_world *w, struct sim_rank *r, struct sim_event *e);
void sim_rank_fini(struct sim_rank *r);

#endif
