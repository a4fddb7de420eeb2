/* SPDX-License-Identifier: BSD-3-Clause */
/* How far this host's load is from what was forecast for it: each sample is compared with what was said before it came. */
#ifndef LBD_NODE_FORESEEN_H
#define LBD_NODE_FORESEEN_H

#include <stdint.h>

#include "policy/forecast.h"
#include "wire/node.h"

#define LBD_FORESEEN_BUCKETS 8 /* bounds of the catalogue's "cpus", the last one without bound */

struct lbd_foreseen {
    struct lbp_forecast forecast; /* of the next sample; ahead 0: not begun */
    uint64_t samples;             /* of the report seen last */
    uint64_t counts[LBD_FORESEEN_BUCKETS];
    double sum_cpus;
};

/* A report of this host; one without a new sample changes nothing. */
void lbd_foreseen_take(struct lbd_foreseen *f, const struct lbw_node_report *report,
                       int64_t now_ns);

#endif
