/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks on their way: what this host's sruns have been told to put where.  They count at once, before any of them is to be seen in
 * a load, so that placements asked for at the same moment spread; they count less the older they are, since by then the load
 * shows them; and no longer than the srun lives.
 */
#ifndef LBD_CLAIMS_H
#define LBD_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/local.h"

#define LBD_CLAIMS_MAX 1024       /* sruns */
#define LBD_CLAIMS_EACH_MAX 256   /* of one user */
#define LBD_CLAIMS_HOSTS_MAX 8192 /* of all together */

struct lbd_claims {
    struct lbd_claimant *claimant; /* [n] */
    size_t n, size;
    uint64_t generation;
    int64_t swept_ns;
};

void lbd_claims_fini(struct lbd_claims *c); /* NULL is fine */

/*
 * Take what the process claims; what it claimed before is forgotten.
 * Returns 0; 1 when one of the hosts was claimed by another after want->generation: then *ret has what is claimed there and
 * elsewhere, as it counts for a step of want->jobid of that user, and nothing was taken; -ENOSPC (too many) or -ENOMEM.
 * half_life_ns > 0.
 */
int lbd_claims_take(struct lbd_claims *c, uid_t uid, pid_t pid, const struct lbw_local_claims *want,
                    int64_t half_life_ns, int64_t now_ns, struct lbw_local_claims *ret)
    __attribute__((warn_unused_result));

#endif
