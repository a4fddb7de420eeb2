/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes a loop stepped or pipelined; one of which nothing is said is free-running. */
#include <errno.h>

#include "libclient/lb.h"
#include "libclient/leave.h"
#include "libclient/memory.h"

static int make_stepped(lb_loop *l, int64_t halo, int64_t elements)
{
    int rc = lbc_leave_prepare(l, halo, elements);

    if (rc == 0)
        l->idle = lbc_memory_ahead;
    return rc;
}

int lb_loop_stepped(lb_loop *l, int64_t halo)
{
    return make_stepped(l, halo, 0);
}

int lb_loop_doacross(lb_loop *l, int64_t halo, int64_t elements)
{
    return elements < 1 ? -EINVAL : make_stepped(l, halo, elements);
}
