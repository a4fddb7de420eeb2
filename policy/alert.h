/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a rank reports: each period, and sooner when what it told last is no longer true.  So the period can be long while
 * nothing changes, which spares the balancer's CPU time, and a change is still told after LBP_ALERT_NS.
 * Source: ours.
 */
#ifndef LBP_ALERT_H
#define LBP_ALERT_H

#include <stdbool.h>
#include <stdint.h>

#define LBP_ALERT_NS \
    INT64_C(         \
        100000000) /* of elapsed time to judge a change by: less is noise where CPU quotas are */

struct lbp_alert {
    double told_speed, told_cost;       /* of the window before the last report; 0: none yet */
    double told_ns;                     /* how long that window was */
    double wall_ns, cpu_ns, iterations; /* since the last report */
    int quick; /* so many reports more come each LBP_ALERT_NS: the change may go on */
};

/* Iterations were run; since the last report or before it does not matter to the caller. */
void lbp_alert_sample(struct lbp_alert *a, double iterations, double wall_ns, double cpu_ns);

/* since_ns[in]: elapsed since the last report;  period_ns[in]: as instructed.  Pure, O(1). */
bool lbp_alert_due(const struct lbp_alert *a, int64_t since_ns, int64_t period_ns);

/* A report was sent: begin a new window. */
void lbp_alert_told(struct lbp_alert *a);

#endif
