/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU control group that we run in, version 1 or 2: what it may use and what it has used. */
#ifndef LBD_NODE_CGROUP_H
#define LBD_NODE_CGROUP_H

#include <stdint.h>

#define LBD_CGROUP_PATH_MAX 1024

struct lbd_cgroup {
    int version;                     /* 1 or 2; 0: none found */
    char mount[LBD_CGROUP_PATH_MAX]; /* where the hierarchy is mounted */
    char path[LBD_CGROUP_PATH_MAX];  /* our folder, in or equal to mount */
    char limited
        [LBD_CGROUP_PATH_MAX]; /* the folder with the tightest quota, "" when there is none */
    double quota_cpus;         /* cores that it may use; INFINITY without a quota */
    int64_t period_ns;         /* of that quota; 0 without one */
};

/*
 * Find our group and its quota.
 * proc[in]  "/proc/self", or a folder with the files cgroup and mountinfo for tests
 * Returns 0 (also when there is no quota), or a negative errno when nothing can be known; *ret is set in both cases.
 */
int lbd_cgroup_find(const char *proc, struct lbd_cgroup *ret);

/* Read the quota again; it may have been changed. */
void lbd_cgroup_refresh(struct lbd_cgroup *g);

/*
 * CPU time used in the limited group so far, by cpu.stat or cpuacct.usage.
 * Returns 0, or a negative errno where the kernel does not account for this group (version 1, separate mounts).
 */
int lbd_cgroup_usage(const struct lbd_cgroup *g, int64_t *ret_ns)
    __attribute__((warn_unused_result));

/*
 * For how long the limited group has been stopped by its quota so far.
 * Returns 0, -ENOENT (no quota, or the kernel does not tell).
 */
int lbd_cgroup_throttled(const struct lbd_cgroup *g, int64_t *ret_ns)
    __attribute__((warn_unused_result));

/* The first number in a small file.  Returns 0 or a negative errno. */
int lbd_cgroup_read_number(const char *folder, const char *name, int64_t *ret)
    __attribute__((warn_unused_result));

#endif
