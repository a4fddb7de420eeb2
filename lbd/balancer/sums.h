/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the messages of a job's ranks, for its figures (lbd_loops_stats, lbd_loops_rank_stats). */
#ifndef LBD_BALANCER_SUMS_H
#define LBD_BALANCER_SUMS_H

#include <stdint.h>

#include "wire/rank.h"

struct lbd_loop;
struct lbd_loops;

/* What an iteration costs by a rank's first report in the loop. */
void lbd_sums_cost(const struct lbd_loops *l, struct lbd_loop *p, uint32_t rank,
                   const struct lbw_report *m);

/* A message of a rank in the loop. */
void lbd_sums_report(struct lbd_loops *l, struct lbd_loop *p, uint32_t rank,
                     const struct lbw_report *m);
void lbd_sums_step(struct lbd_loops *l, struct lbd_loop *p, uint32_t rank,
                   const struct lbw_step *m);
void lbd_sums_close(struct lbd_loops *l, struct lbd_loop *p, uint32_t rank,
                    const struct lbw_close *m);

/* All ranks have closed the loop. */
void lbd_sums_end(struct lbd_loops *l, const struct lbd_loop *p);

#endif
