/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plugin asks its host's lbd, and tells it.  Nothing here fails a job: no answer is an answer. */
#ifndef LBS_ASK_H
#define LBS_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/local.h"
#include "wire/placement.h"

/* The connection's state in one process: an lbd that did not answer once is not waited for again. */
struct lbs_lbd {
    const char *socket; /* borrowed */
    bool silent;
    enum lbw_placement why; /* why the last question has no answer */
};

/*
 * What the site has decided for a partition and an account ("" or NULL: not known).  Until deadline_ns of
 * lbx_clock_mono_ns at most.  Returns 0; -ENODATA when there is no answer, and then nothing is decided.
 */
int lbs_ask_rule(struct lbs_lbd *lbd, const char *partition, const char *account,
                 int64_t deadline_ns, struct lbw_local_rule *ret_rule)
    __attribute__((warn_unused_result));

/* What this host is worth.  Returns 0 or -ENODATA. */
int lbs_ask_self(struct lbs_lbd *lbd, int64_t deadline_ns, struct lbw_local_host *ret_host)
    __attribute__((warn_unused_result));

/* The named hosts (behind commas) that lbd knows, best first; borrowed until the next call here.  NULL: no answer, lbd->why says why. */
const struct lbw_local_hosts *lbs_ask_hosts(struct lbs_lbd *lbd, const char *names,
                                            int64_t deadline_ns);

/*
 * The idle hosts of a partition (NULL: the default one), which lbd asks of Slurm: asked in two halves, since that takes longer than
 * what is asked of lbd alone.  wait_ns: so long lbd may wait for Slurm.  begin returns a descriptor, or -1; end takes it and closes it,
 * and its answer is borrowed as above.
 */
int lbs_ask_idle_begin(struct lbs_lbd *lbd, const char *partition, int64_t wait_ns,
                       int64_t deadline_ns);
const struct lbw_local_idle *lbs_ask_idle_end(struct lbs_lbd *lbd, int fd, int64_t deadline_ns);

/*
 * Tell where tasks are going.  Returns 0 when that is noted; 1 when others claimed one of the hosts since claims->generation:
 * then *claims is what they have; -ENODATA: no answer, nothing is noted.
 */
int lbs_ask_claim(struct lbs_lbd *lbd, int64_t deadline_ns, struct lbw_local_claims *claims)
    __attribute__((warn_unused_result));

/* The same without waiting for an answer, for who has no time left. */
void lbs_tell_claim(const struct lbs_lbd *lbd, const struct lbw_local_claims *claims);

/* Tasks begin or end; waits for nobody. */
void lbs_tell_notice(const struct lbs_lbd *lbd, const struct lbw_local_notice *notice);

#endif
