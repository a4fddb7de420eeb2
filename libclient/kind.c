/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes a loop stepped or pipelined; one of which nothing is said is free-running. */
#include <errno.h>

#include "libclient/lb.h"
#include "libclient/leave.h"

int lb_loop_stepped(lb_loop *l, int64_t halo)
{
    return lbc_leave_prepare(l, halo, 0);
}

int lb_loop_doacross(lb_loop *l, int64_t halo, int64_t elements)
{
    return elements < 1 ? -EINVAL : lbc_leave_prepare(l, halo, elements);
}
