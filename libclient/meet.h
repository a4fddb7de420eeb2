/* SPDX-License-Identifier: BSD-3-Clause */
/* How ranks without MPI find each other: through PMIx, each with its address, its key and what it
 * tells of itself. */
#ifndef LBC_MEET_H
#define LBC_MEET_H

#include <stdint.h>

#include "libclient/pmix.h"
#include "libclient/transport.h"

#define LBC_MEET_TELLS_MAX 16

/*
 * Listen, and say to all processes of the job where, with n numbers beside it; then learn all ranks'
 * numbers.  Collective over the processes of the job.
 * p         borrowed until the transport is destroyed
 * serial    the same on all ranks, and another one for each call
 * tell[in]  [n], at most LBC_MEET_TELLS_MAX;  ret_tell[out] [size * n], by rank, alike on all ranks
 * Returns 0; -ENOTCONN when a rank cannot be reached: nothing moves then, and all ranks know; -EIO
 * when PMIx fails.  *ret is set only with 0.
 */
int lbc_meet(struct lbc_pmix *p, uint32_t serial, const double *tell, int n, double *ret_tell,
             struct lbc_transport **ret) __attribute__((warn_unused_result));

#endif
