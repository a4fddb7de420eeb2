/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a simulated job, and its events in the order of virtual time.  Internal to sim/. */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "common/spanset.h"
#include "policy/balance.h"
#include "sim/server.h"
#include "sim/setup.h"

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
    SIM_HOOK,     /* a rank's chunk is done, or a dry rank is woken */
    SIM_ACTION,   /* the balancer's message is there */
    SIM_ROWS,     /* moved iterations are there */
    SIM_REPORT,   /* a rank's report is at the balancer */
    SIM_HEARD,    /* and its turn has come */
    SIM_PATIENCE, /* a rank has waited for an answer as long as one waits */
    SIM_TICK,
};

struct sim_event {
    enum sim_event_type type;
    int64_t at_ns, order;
    uint32_t rank;
    struct lbp_action action;  /* SIM_ACTION; SIM_ROWS: epoch, first, last */
    struct sim_report *report; /* owned */
    int64_t wall_ns;           /* SIM_ROWS: of the transfer */
    int64_t asks;              /* SIM_PATIENCE: for the answer to this */
};

struct sim_rank;

struct sim_world {
    const struct sim_config *config;
    struct lbp_balance *balance;
    struct lbp_actions actions;
    struct sim_server server; /* the balancer's time */
    struct sim_rank *rank;    /* [nranks] */
    int *count;               /* [n], executions of each iteration */
    struct sim_event *event;  /* heap */
    size_t nevents, size;
    int64_t order, now_ns, tick_ns;
    int64_t final_pass;
    int pass;
    uint32_t waiting; /* ranks in the barrier */
    int64_t moves, messages, reports, ticks;
    bool sync; /* key sync: ranks wait for answers */
    bool ended;
    const char *why;
};

/* The simulation is at its end: why; the first one counts. */
void sim_fail(struct sim_world *w, const char *why);

/* event: what it owns is transferred. */
void sim_post(struct sim_world *w, struct sim_event event);

/* The soonest, of those posted at one time the first; there must be one. */
struct sim_event sim_next(struct sim_world *w);

#endif
