/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this rank's control group may use of the processors, as the rank tells it to the balancer: a rank that has little to do
 * never uses its quota up, and would look as fast as a host without one.
 */
#ifndef LBC_QUOTA_H
#define LBC_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cgroup.h"

struct lbc_quota {
    bool found; /* it was looked for */
    struct lbx_cgroup group;
    int64_t read_ns; /* clock when it was read last */
    uint64_t identity;
};

/*
 * Read the quota, if that was not done within the last second: it may be changed at any time.  The first time finds the group.
 * proc[in]  "/proc/self", or a folder for tests
 */
void lbc_quota_read(struct lbc_quota *q, const char *proc, int64_t now_ns);

/* Cores that all processes in the group may use together; 0: there is no quota, or it was never read. */
double lbc_quota_cpus(const struct lbc_quota *q);

#endif
