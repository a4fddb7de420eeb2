/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks on their way: what this host's sruns, and those of other hosts, have been told to put where.  They count at once, before any of them is to be seen in
 * a load, so that placements asked for at the same moment spread; they count less the older they are, since by then the load
 * shows them; and no longer than the srun lives.  Those of other hosts are told by their lbds, and forgotten when these are silent.
 */
#ifndef LBD_CLAIMS_H
#define LBD_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/node.h"

#define LBD_CLAIMS_MAX 1024       /* sruns */
#define LBD_CLAIMS_EACH_MAX 256   /* of one user here */
#define LBD_CLAIMS_FAR_MAX 512    /* of LBD_CLAIMS_MAX: those of other hosts */
#define LBD_CLAIMS_HOSTS_MAX 8192 /* of all together */

struct lbd_claims {
    struct lbd_claimant *claimant; /* [n] */
    size_t n, size;
    uint64_t generation;
    int64_t swept_ns;
    struct lbw_local_claims sum; /* large: of a question that is being answered */
    /*
     * What is claimed here, to be told elsewhere: want, or NULL when it has ended, under the number generation.  Returns whether it
     * was told: only then its end is.  NULL: nothing is told.
     */
    bool (*tell)(void *data, uid_t uid, uint64_t generation, const struct lbw_local_claims *want);
    void *data;
};

void lbd_claims_fini(struct lbd_claims *c); /* NULL is fine */

/*
 * Take what the process claims; what it claimed before is forgotten.
 * Returns 0; 1 when one of the hosts was claimed by another after want->generation: then *ret has what is claimed there and, while there
 * is room, elsewhere, what counts most first, as it counts for a step of want->jobid of that user, and nothing was taken; -ENOSPC (too many) or -ENOMEM.
 * half_life_ns > 0.
 */
int lbd_claims_take(struct lbd_claims *c, uid_t uid, pid_t pid, const struct lbw_local_claims *want,
                    int64_t half_life_ns, int64_t now_ns, struct lbw_local_claims *ret)
    __attribute__((warn_unused_result));

/* What is claimed on these idle hosts, for a new job of that user: sets claimed, held_cpus and generation. */
void lbd_claims_look(struct lbd_claims *c, uid_t uid, int64_t half_life_ns, int64_t now_ns,
                     struct lbw_local_idle *idle);

/* What sruns of another host claim; without any host: the claim has ended. */
void lbd_claims_hear(struct lbd_claims *c, const struct lbw_node_claims *far, int64_t now_ns);

/* Forget those that have ended.  Returns the age of the youngest whose end is to be told; INT64_MAX: there is none. */
int64_t lbd_claims_sweep(struct lbd_claims *c, int64_t now_ns);

/* How many are of sruns of this host, and of others. */
void lbd_claims_count(const struct lbd_claims *c, size_t *ret_here, size_t *ret_far);

#endif
