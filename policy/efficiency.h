/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How well a program used what the hosts had to give, and what dynamic balancing can reach under an oscillating load.
 * Source: Siegell & Steenkiste 1997, eq. 1 and 2, and the model of figure 31.
 */
#ifndef LBP_EFFICIENCY_H
#define LBP_EFFICIENCY_H

#include <stdint.h>

/*
 * t_sequential / (sum of speed_i (t_elapsed - competing_i)): 1 when nothing was lost.
 * t_sequential_ns[in]  of the program alone on a host of speed 1, >= 0
 * elapsed_ns[in]       > 0
 * competing_ns[in]     [nranks] CPU time that others used on each host meanwhile, >= 0; NULL: none
 * speed[in]            [nranks] of the hosts' hardware, > 0; NULL: all 1
 * Returns 0 when nothing was available, or on numbers that cannot be.  Pure, O(P).
 */
double lbp_efficiency(double t_sequential_ns, double elapsed_ns, uint32_t nranks,
                      const double *competing_ns, const double *speed);

/*
 * One host of P has a competing load that is off for ta and on for tb, again and again.  After it goes on, the balancer
 * answers tc later and moves for td; after it goes off, tf later, moving for tg.  In between all that is there is used, as
 * well as the program does on idle hosts.
 *
 *       off: ta                    on: tb
 *   |-- tf --|-- tg --|-- th --|-- tc --|-- td --|-- te --|
 *    too little moving  balanced too much moving  balanced
 */
struct lbp_oscillation {
    uint32_t nranks;     /* >= 1 */
    double ta_ns, tb_ns; /* > 0 */
    double share; /* of the host's CPU that the program gets while the load is on, > 0 to 1 */
    double tc_ns, td_ns; /* >= 0; together cut to tb */
    double tf_ns, tg_ns; /* >= 0; together cut to ta */
    double dedicated;    /* efficiency on idle hosts, 0 to 1 */
};

/*
 * The efficiency that the model predicts.  In tc the loaded host has an equal share of work, so that all wait for it: each
 * of P uses `share`.  In tf it has too little: it uses `share` of what it has, the others all.
 * Numbers that cannot be give 0.  Pure, O(1).
 */
double lbp_efficiency_oscillating(const struct lbp_oscillation *o);

/* The same without balancing: equal work, all wait for the loaded host while the load is on. */
double lbp_efficiency_unbalanced(const struct lbp_oscillation *o);

#endif
