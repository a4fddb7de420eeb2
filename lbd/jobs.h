/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's figures as its balancer tells them. */
#ifndef LBD_JOBS_H
#define LBD_JOBS_H

#include "common/error.h"

/* Whether it is one JSON object, nested at most as deep as ours are.  Returns 0 or -EINVAL with err. */
int lbd_job_check(const char *json, struct lbx_error *err) __attribute__((warn_unused_result));

#endif
