/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts, best first, as this lbd last heard them: computed here or come from the controller.  Kept in memory, where jobs
 * are answered from. */
#ifndef LBD_RANKING_H
#define LBD_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"
#include "wire/local.h"

#define LBD_RANKING_STALE_NS (60 * LBX_NS_PER_S)   /* older: marked */
#define LBD_RANKING_UNUSED_NS (300 * LBX_NS_PER_S) /* older: not used */
#define LBD_RANKING_HOSTS_MAX 65536

struct lbd_ranking {
    struct lbw_local_host *host; /* [n], ages as of at_ns */
    size_t n;
    int64_t at_ns;               /* when it came, monotonic; 0: never */
    struct lbw_local_host *next; /* [nnext]: one that has not come whole */
    size_t nnext, next_size;
};

void lbd_ranking_fini(struct lbd_ranking *r); /* NULL is fine */

/* Add hosts to the one that is coming; the last part (more 0) puts it in force.  Returns 0, -ENOSPC, -ENOMEM. */
int lbd_ranking_part(struct lbd_ranking *r, const struct lbw_local_hosts *part, int64_t now_ns)
    __attribute__((warn_unused_result));

/* Drop what has come of an unfinished one (its connection is gone). */
void lbd_ranking_drop_part(struct lbd_ranking *r);

/* How long the host's load is expected to stay as it is; 0 unknown, also when the ranking is too old to be used. */
int64_t lbd_ranking_stable_ns(const struct lbd_ranking *r, const char *host, int64_t now_ns);

/* Age of the ranking; INT64_MAX when there is none. */
int64_t lbd_ranking_age_ns(const struct lbd_ranking *r, int64_t now_ns);

/*
 * The part that begins at *first, ages brought up to now_ns; *first moves on, ret_hosts->more says whether to call again.
 */
void lbd_ranking_get(const struct lbd_ranking *r, size_t *first, int64_t now_ns,
                     struct lbw_local_hosts *ret_hosts);

/*
 * Of the hosts named (behind commas), those that are known and not older than LBD_RANKING_UNUSED_NS, best first; at most
 * LBW_LOCAL_HOSTS_MAX.  names[in] is taken apart.  Returns 0 or -ENOMEM.
 */
int lbd_ranking_among(const struct lbd_ranking *r, char *names, int64_t now_ns,
                      struct lbw_local_hosts *ret_hosts) __attribute__((warn_unused_result));

#endif
