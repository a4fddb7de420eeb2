/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks as a planner sees them at one moment: extrapolated from the last reports to now.  Times in ns from now, work in
 * reference ns.  Internal to policy/.
 */
#ifndef LBP_VIEW_H
#define LBP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/model.h"

struct lbp_view {
    bool measured;      /* its speed is not a guess */
    bool present;       /* takes part; all others are neither asked nor counted */
    double speed;       /* work per elapsed ns, > 0 */
    double own;         /* work remaining here, with what was handed out and is not done */
    double incoming;    /* work of moves on their way here */
    double incoming_at; /* when the last of them is expected */
    double hook;        /* when a MOVE sent now would be obeyed */
    double movable;     /* work that will not have been handed out by then */
    double unit;        /* work of one iteration at the end of what remains; 0 when nothing does */
    double error;       /* of the speed, ratio */
    double jitter;      /* by which its progress runs ahead of or behind its mean speed, ns */
};

/*
 * view[out] [m->nranks].  Returns whether speeds are known at all; without any there is nothing to plan by.
 * O(spans told + moves under way).
 */
bool lbp_view_make(struct lbp_model *m, int64_t now_ns, struct lbp_view *view);

/* When a rank will have nothing to do, ns from now. */
double lbp_view_end(const struct lbp_view *v);

/* Account for work that goes from one to another and arrives at `arrive`. */
void lbp_view_give(struct lbp_view *from, struct lbp_view *to, double work, double arrive);

#endif
