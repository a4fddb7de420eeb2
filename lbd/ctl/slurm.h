/* SPDX-License-Identifier: BSD-3-Clause */
/* What Slurm says of its nodes, asked of sinfo, so that lbctl shows which hosts no job will be given. */
#ifndef LBD_CTL_SLURM_H
#define LBD_CTL_SLURM_H

#include <jansson.h>

/*
 * {NODE: {state, reason} ...}; NULL where there is no sinfo, or where it does not answer within 2 s.
 * The caller gives it back by json_decref.
 */
json_t *lbd_slurm_states(void);

/* The same from sinfo's text, lines "NODE|STATE|REASON". */
json_t *lbd_slurm_parse(char *text);

/* Add "slurm_state" and "slurm_reason" to the hosts of an answer.  states may be NULL. */
void lbd_slurm_add(json_t *hosts, const json_t *states);

#endif
