/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands about the past, which the controller reads from its database (times: seconds since 1970; 0 and less: so long ago):
 *   history HOST FROM TO raw|5m|1h|auto [MAX]   what the host reported, oldest first
 *   jobs FROM TO [MAX]                          steps that ended, newest first
 *   job JOBID [MAX]                             steps of one job, with their hosts
 * history answers {host, resolution, resolution_s, columns: [names], rows: [[numbers] ...], next}: next is null, or the time
 * from which to ask on.  jobs and job answer {jobs: [...], more}.
 */
#ifndef LBD_PAST_H
#define LBD_PAST_H

#include <stdbool.h>

#include "common/error.h"
#include "lbd/view.h"

/*
 * Returns false when text is none of these.  Else err has -EINPROGRESS, and the server is given the answer to the request
 * later; or it says what is wrong.
 */
bool lbd_past_command(const struct lbd_view *v, uint64_t request, const char *text,
                      struct lbx_error *err);

#endif
