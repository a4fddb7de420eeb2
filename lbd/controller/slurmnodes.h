/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's list of nodes, asked for now and then through lb-slurm: which are drained or down, and which hosts are no nodes at all.
 * Without an answer nothing is known, and nothing follows from it.  All calls on the loop's thread.
 */
#ifndef LBD_CONTROLLER_SLURMNODES_H
#define LBD_CONTROLLER_SLURMNODES_H

#include <stddef.h>
#include <uv.h>

#include "wire/local.h"

enum lbd_slurm_state {
    LBD_SLURM_UNKNOWN, /* Slurm has not answered */
    LBD_SLURM_UP,
    LBD_SLURM_DRAINED, /* no job starts there; one may still run */
    LBD_SLURM_DOWN,
    LBD_SLURM_ABSENT, /* Slurm has no such node: the head, or a login node */
    LBD_SLURM_STATES
};
extern const char *const lbd_slurm_state_name[LBD_SLURM_STATES];

struct lbd_slurmnode {
    char name[LBW_LOCAL_HOST_MAX];
    enum lbd_slurm_state state;
};

struct lbd_slurmnodes;

/* helper: lb-slurm, borrowed.  on_list: there is a new list.  Returns 0 or -ENOMEM. */
int lbd_slurmnodes_create(uv_loop_t *loop, const char *helper, void (*on_list)(void *data),
                          void *data, struct lbd_slurmnodes **ret_nodes)
    __attribute__((warn_unused_result));
void lbd_slurmnodes_stop(struct lbd_slurmnodes *s);    /* NULL is fine */
void lbd_slurmnodes_destroy(struct lbd_slurmnodes *s); /* likewise */

enum lbd_slurm_state lbd_slurmnodes_state(const struct lbd_slurmnodes *s, const char *name);

/* By name; borrowed until the loop turns. */
const struct lbd_slurmnode *lbd_slurmnodes_list(const struct lbd_slurmnodes *s, size_t *ret_n);

#endif
