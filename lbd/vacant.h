/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's idle hosts, for the sruns of this host that want to choose among them: asked through lb-slurm when one wants to know, and
 * four times a second while some have just done so, less often later, so that something is known when slurmctld is slow.  All calls on the loop's thread.
 */
#ifndef LBD_VACANT_H
#define LBD_VACANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/clock.h"
#include "wire/local.h"

#define LBD_VACANT_UNUSED_NS (5 * LBX_NS_PER_S) /* older: jobs may have come there since, unseen */

struct lbd_vacant_host {
    char name[LBW_LOCAL_HOST_MAX];
    uint32_t cpus;          /* tasks that it holds, > 0 */
    const char *partitions; /* behind commas; the default one with a star before it */
};

struct lbd_vacant;

/* helper: lb-slurm, borrowed.  on_answer: Slurm has answered, or will not.  Returns 0 or -ENOMEM. */
int lbd_vacant_create(uv_loop_t *loop, const char *helper, void (*on_answer)(void *data),
                      void *data, struct lbd_vacant **ret_vacant)
    __attribute__((warn_unused_result));
void lbd_vacant_stop(struct lbd_vacant *v);    /* NULL is fine */
void lbd_vacant_destroy(struct lbd_vacant *v); /* likewise */

/* Somebody wants to know.  Returns the time from which on lbd_vacant_has_answered is waited for. */
int64_t lbd_vacant_want(struct lbd_vacant *v, int64_t now_ns);

/* Whether Slurm was asked since, and has answered or failed. */
bool lbd_vacant_has_answered(const struct lbd_vacant *v, int64_t since_ns);

/* When Slurm was asked for what is known now, monotonic; 0: nothing is known. */
int64_t lbd_vacant_at_ns(const struct lbd_vacant *v);

/* In Slurm's order; borrowed until the loop turns. */
const struct lbd_vacant_host *lbd_vacant_list(const struct lbd_vacant *v, size_t *ret_n);

/* Whether the host is in the partition; "": the default one. */
bool lbd_vacant_is_in(const struct lbd_vacant_host *h, const char *partition);

#endif
