/* SPDX-License-Identifier: BSD-3-Clause */
/* What a loop measures, and what it tells the balancer of it. */
#ifndef LBC_REPORT_H
#define LBC_REPORT_H

#include "libclient/loop.h"

/* Tell the balancer of the loop: its size, its rows, this rank's block. */
void lbc_report_open(struct lb_loop *l);

/* Tell this rank's totals. */
void lbc_report_close(struct lb_loop *l);

/* Account for the iterations [first, last) that were just executed. */
void lbc_report_sample(struct lb_loop *l, int64_t first, int64_t last, int64_t wall_ns,
                       int64_t cpu_ns);

/* Note how a move ended. */
void lbc_report_done(struct lb_loop *l, const struct lbw_done *done);

/* Send a report when one is due. */
void lbc_report_if_due(struct lb_loop *l, int64_t now_ns);

#endif
