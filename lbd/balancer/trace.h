/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace of a job's balancing (--lb=...,trace=FILE): what was seen and what was decided, a JSON object a line, for
 * `lbctl explain` and for replay in lbsim.  Times are ns since the trace began.
 *   {"t":..,"event":"start","nranks":..,"policy":"..","weight":[..]}
 *   {"t":..,"event":"open","loop":..,"name":"..","kind":"doall"|"stepped"|"doacross","n":..,"row_bytes":..,
 *    "pipelined":..,"rank":..,"owned":[first,last]}
 *   {"t":..,"event":"report","loop":..,"rank":..,"pass":..,"executed":..,"remaining":..,"dry":..,"low":..,"wait_ns":..,
 *    "samples":[[first,last,wall_ns,cpu_ns],..],"done":[[epoch,role,iterations,bytes,wall_ns,cpu_ns],..]}
 *   {"t":..,"event":"move","loop":..,"pass":..,"epoch":..,"source":..,"dest":..,"span":[first,last],"reason":".."}
 *   {"t":..,"event":"instruct","loop":..,"rank":..,"period_ns":..,"low_ns":..,"chunk_ns":..}
 *   {"t":..,"event":"decision", as in lbd/balancer/explain.h: also those not to move}
 *   {"t":..,"event":"final","loop":..,"pass":..}
 *   {"t":..,"event":"step","loop":..,"rank":..,"step":..,"steps":..,"epoch":..,"owned":[first,last],"wall_ns":..,"cpu_ns":..,
 *    "wait_ns":..,"move":[bytes,wall_ns,cpu_ns],"shift":[elements,ns],"samples":[[first,last,wall_ns,cpu_ns],..]}       (of a stepped loop)
 *   {"t":..,"event":"layout","loop":..,"epoch":..,"block":..,"counts":[..]}                          (likewise)
 *   {"t":..,"event":"close","loop":..,"rank":.., totals}
 */
#ifndef LBD_TRACE_H
#define LBD_TRACE_H

#include <jansson.h>
#include <stdint.h>

#include "common/error.h"
#include "policy/balance.h"
#include "policy/stepped.h"
#include "wire/rank.h"

struct lbd_trace;

/* Begin a trace; an old file of that name is replaced.  Returns 0 or a negative errno with a text. */
int lbd_trace_open(const char *path, int64_t now_ns, struct lbd_trace **ret, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* All of these take NULL and do nothing then.  A full disk ends the trace, not the balancing. */
void lbd_trace_close(struct lbd_trace *t);
void lbd_trace_flush(struct lbd_trace *t);
void lbd_trace_start(struct lbd_trace *t, int64_t now_ns, uint32_t nranks, const char *policy,
                     const double *weight);
void lbd_trace_message(struct lbd_trace *t, int64_t now_ns, uint32_t rank,
                       const struct lbw_rank_msg *msg);
void lbd_trace_action(struct lbd_trace *t, int64_t now_ns, uint32_t loop,
                      const struct lbp_action *a);
/* plan: of type LBP_STEPPED_PLAN, with the bounds of nranks. */
void lbd_trace_layout(struct lbd_trace *t, int64_t now_ns, uint32_t loop,
                      const struct lbp_stepped_action *plan, uint32_t nranks);
/* line: transferred; NULL is fine. */
void lbd_trace_decision(struct lbd_trace *t, int64_t now_ns, json_t *line);

/* The reason's name, as in metrics. */
const char *lbd_trace_reason(enum lbp_reason reason);

#endif
