/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands about the jobs that run, which the controller answers from memory:
 *   running [FIRST]    every step, from the FIRST-th (0) on as many as fit: {jobs: [...], next: number or null}
 *   running job JOBID  the steps of a job, with their hosts
 * A step has the fields of lbd/past.h's jobs, but ended is null, and period_s, loops, age_s, moved {reason: number} and
 * skipped {reason: number} more.
 */
#ifndef LBD_PRESENT_H
#define LBD_PRESENT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/error.h"
#include "lbd/view.h"

/* Returns false when text is none of these.  Else *ret is the answer, or NULL with err. */
bool lbd_present_command(const struct lbd_view *v, const char *text, json_t **ret,
                         struct lbx_error *err);

#endif
