/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU control group that we run in, version 1 or 2: what it may use and what it has used. */
#ifndef LBX_CGROUP_H
#define LBX_CGROUP_H

#include <stdint.h>

#define LBX_CGROUP_PATH_MAX 1024

struct lbx_cgroup {
    int version;                     /* 1 or 2; 0: none found */
    char mount[LBX_CGROUP_PATH_MAX]; /* where the hierarchy is mounted */
    char path[LBX_CGROUP_PATH_MAX];  /* our folder, in or equal to mount */
    char limited
        [LBX_CGROUP_PATH_MAX]; /* the folder with the tightest quota, "" when there is none */
    double quota_cpus;         /* cores that it may use; INFINITY without a quota */
    int64_t period_ns;         /* of that quota; 0 without one */
};

/*
 * Find our group and its quota.
 * proc[in]  "/proc/self", or a folder with the files cgroup and mountinfo for tests
 * Returns 0 (also when there is no quota), or a negative errno when nothing can be known; *ret is set in both cases.
 */
int lbx_cgroup_find(const char *proc, struct lbx_cgroup *ret);

/* Read the quota again; it may have been changed. */
void lbx_cgroup_refresh(struct lbx_cgroup *g);

/*
 * CPU time used in the limited group so far, by cpu.stat or cpuacct.usage.
 * Returns 0, or a negative errno where the kernel does not account for this group (version 1, separate mounts).
 */
int lbx_cgroup_usage(const struct lbx_cgroup *g, int64_t *ret_ns)
    __attribute__((warn_unused_result));

/*
 * For how long the limited group has been stopped by its quota so far.
 * Returns 0, -ENOENT (no quota, or the kernel does not tell).
 */
int lbx_cgroup_throttled(const struct lbx_cgroup *g, int64_t *ret_ns)
    __attribute__((warn_unused_result));

/*
 * A number for the limited group, the same in all of its processes, whatever they see of the hierarchy, and another one
 * than that of any other group on this or another machine, but for chance.  0: there is no quota.
 */
uint64_t lbx_cgroup_identity(const struct lbx_cgroup *g);

/* The first number in a small file.  Returns 0 or a negative errno. */
int lbx_cgroup_read_number(const char *folder, const char *name, int64_t *ret)
    __attribute__((warn_unused_result));

#endif
