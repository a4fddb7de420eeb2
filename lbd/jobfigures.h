/* SPDX-License-Identifier: BSD-3-Clause */
/* A balancer's figures (lbd/balancer/figures.h) as the message that the controller gets. */
#ifndef LBD_JOBFIGURES_H
#define LBD_JOBFIGURES_H

#include <jansson.h>

#include "wire/job.h"

/* A finite number >= 0 of an object; false when there is none, and then *ret is untouched. */
bool lbd_jobfigures_number(const json_t *o, const char *key, double *ret);

/* A text of an object, "" when there is none; control characters become '?'. */
void lbd_jobfigures_text(const json_t *o, const char *key, char ret[LBW_JOB_NAME_MAX]);

/*
 * Fill what the figures tell.  They are the user's word: what is out of bounds is brought within.
 * wall_ns: now, since 1970.  Not filled: seq, ended, age_ns, jobid, stepid, user.
 */
void lbd_jobfigures_fill(const json_t *o, int64_t wall_ns, struct lbw_job *ret);

#endif
