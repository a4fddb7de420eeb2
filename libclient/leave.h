/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a stepped or pipelined loop: all ranks close it at the same step, or all learn that they do not.
 *
 * A rank that closes votes in the reduction that the others come to next, be it that for a layout or that of their own end.
 * As a rank that waits for rows of one that will not come does not get there, who has waited in its end for a while tells
 * those that share halo rows or flow with it after how many exchanges and passes it has closed: for more they do not wait, but tell
 * all that they have given the loop up.
 */
#ifndef LBC_LEAVE_H
#define LBC_LEAVE_H

#include "libclient/step.h"

/* Make the loop a stepped one, see lbc_step_create, that can be left so. */
int lbc_leave_prepare(struct lb_loop *l, int64_t halo, int64_t elements);

/* Close the loop together with all ranks.  When they do not all close it, the context has failed afterwards. */
void lbc_leave(struct lb_loop *l);

/* While other ranks' rows are waited for, or their votes: will they never come?  Then the context has failed. */
bool lbc_leave_is_vain(struct lb_loop *l, bool votes);

#endif
