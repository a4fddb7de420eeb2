/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl job: one job's steps, as they run or as they ended, with the hosts' shares as bars. */
#ifndef LBD_CTL_JOB_H
#define LBD_CTL_JOB_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

/*
 * Every step of a job: those that run first, then those that ended, newest first.
 * ret[out]  {jobs: [...]}, perhaps empty
 * Returns as lbd_ctl_ask.
 */
int lbd_job_ask(const char *socket, uint32_t jobid, json_t **ret, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* One step as text of at most width columns. */
void lbd_job_print(FILE *f, const json_t *step, int width);

#endif
