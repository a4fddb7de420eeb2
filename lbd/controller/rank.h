/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranking of the hosts: from memory, O(n log n). */
#ifndef LBD_CONTROLLER_RANK_H
#define LBD_CONTROLLER_RANK_H

#include "lbd/controller/hosts.h"
#include "lbd/ranking.h"
#include "policy/index.h"

/* Set the hosts' prospects and indices, and put a new ranking in force.  now_s: since 1970.  Returns 0 or -ENOMEM. */
int lbd_rank_hosts(struct lbd_host *host, size_t nhost, const struct lbp_index_weights *weights,
                   struct lbd_ranking *ranking, int64_t now_ns, int64_t now_s)
    __attribute__((warn_unused_result));

#endif
