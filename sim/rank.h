/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated rank.  Internal to sim/. */
#ifndef SIM_RANK_H
#define SIM_RANK_H

#include "common/spanset.h"
#include "policy/alert.h"
#include "sim/event.h"

struct sim_rank {
    uint32_t id;
    struct sim_host host;
    struct lbx_spanset owned, left;
    int64_t pass, final_pass;
    int64_t executed;
    int64_t period_ns, low_ns, chunk_ns;
    int64_t reported_ns, due_ns; /* the last report, INT64_MIN: none in this pass; the next one */
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
    int64_t asks;          /* it waits for the answer to this, see libclient/sync.h; 0: for none */
    struct lbx_span chunk; /* in progress */
    int64_t chunk_from_ns;
};

/* Begin a pass at that time. */
void sim_rank_begin(struct sim_world *w, struct sim_rank *r, int64_t at_ns);
void sim_rank_event(struct sim_world *w, struct sim_rank *r, struct sim_event *e);
void sim_rank_fini(struct sim_rank *r);

#endif
