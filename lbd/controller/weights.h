/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's node weights kept in step with the ranking, so that Slurm picks better hosts first and no job waits for one.  The
 * weights of the site are kept in a file before any is changed, and put back when this ends, when it is switched off, and
 * after a crash at the next start.  All calls on the loop's thread; Slurm is spoken to by a process of its own, lb-slurm.
 */
#ifndef LBD_CONTROLLER_WEIGHTS_H
#define LBD_CONTROLLER_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/policyconf.h"
#include "lbd/controller/weighted.h"
#include "lbd/ranking.h"

struct lbd_weights_settings {
    const char *state;  /* folder of the file; copied */
    const char *helper; /* lb-slurm; borrowed until lbd_weights_destroy, as the rest */
    const struct lbx_policyconf *conf; /* read at each turn */
    const struct lbd_ranking *ranking;
};

struct lbd_weights;

/* Returns 0, -ENOMEM, or -ENAMETOOLONG. */
int lbd_weights_create(uv_loop_t *loop, const struct lbd_weights_settings *settings,
                       struct lbd_weights **ret_weights) __attribute__((warn_unused_result));

/* Put the weights back and close; the loop ends when that is done, or after some seconds. */
void lbd_weights_stop(struct lbd_weights *w);
void lbd_weights_destroy(struct lbd_weights *w); /* NULL is fine */

/* Put the weights back now, and leave them until lbd starts again. */
void lbd_weights_restore(struct lbd_weights *w);

/* Borrowed until the loop turns.  ret_error: why the last turn failed, "" */
const struct lbd_weighted *lbd_weights_list(const struct lbd_weights *w, size_t *ret_n,
                                            bool *ret_on, const char **ret_error);

#endif
