/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job's figures for the lbd of this host: every few seconds and once at the end, as the JSON of wire/local.h's LBW_L_JOB
 * (lbd/balancer/ask.h).
 *   {"policy":"..","account":"..","partition":"..","begun_s":..,"final":false,"ranks":..,
 *    "load_balance":..,"balance_before":.. (once there is one),"efficiency":..,"period_s":..,"block":..,"loops":..,
 *    "moved":{"proportional":..,"dry":..},"skipped":{"below_threshold":..,"unprofitable":..,"filtered":..,"unstable":..},
 *    "moved_bytes":..,"moved_iterations":..,"moving_s":..,"balancer_cpu_s":..,"saved_s":..,"placement":"ours","placed_s":..,
 *    "hosts":[{"host":"..","share":..,"rate":..,"iterations":..,"compute_s":..,"wait_s":..},..]}
 * efficiency: elapsed time of computing over that and waiting, summed over ranks.  It is not lbp_efficiency: what other programs
 * took of the hosts is not known here, and counts as computing.
 * Which job it is and whose is not in it: lbd finds that out by itself.
 */
#ifndef LBD_FIGURES_H
#define LBD_FIGURES_H

#include <uv.h>

#include "lbd/balancer/job.h"

struct lbd_figures;

/*
 * socket[in]  of lbd, borrowed;  policy[in]  name, borrowed
 * Returns 0 or -ENOMEM; without figures a job is balanced all the same.
 */
int lbd_figures_create(uv_loop_t *loop, const struct lbd_job *job, const char *socket,
                       const char *policy, struct lbd_figures **ret)
    __attribute__((warn_unused_result));

/* Send the last ones and stop; the loop ends when they are sent or given up (40 ms).  NULL is fine. */
void lbd_figures_finish(struct lbd_figures *f);

void lbd_figures_destroy(struct lbd_figures *f); /* after the loop has run out; NULL is fine */

#endif
