/* SPDX-License-Identifier: BSD-3-Clause */
/* What this rank's control group may use of the processors. */
#include "libclient/quota.h"

#include <math.h>

#include "common/clock.h"
#include "wire/rank.h"

#define AGAIN_NS LBX_NS_PER_S

void lbc_quota_read(struct lbc_quota *q, const char *proc, int64_t now_ns)
{
    if (q->found && now_ns - q->read_ns < AGAIN_NS)
        return;
    if (q->found)
        lbx_cgroup_refresh(&q->group);
    else
        (void)lbx_cgroup_find(proc, &q->group); /* not to be found: as without a quota */
    q->found = true;
    q->read_ns = now_ns;
    q->identity = lbx_cgroup_identity(&q->group);
}

double lbc_quota_cpus(const struct lbc_quota *q)
{
    if (!q->found || !isfinite(q->group.quota_cpus) || q->identity == 0)
        return 0;
    return fmin(q->group.quota_cpus, LBW_QUOTA_MAX);
}
