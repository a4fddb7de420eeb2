/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time of the processes in a control group, summed from /proc/PID/stat: for version 1 hierarchies whose cpu and cpuacct
 * controllers are mounted apart, where the kernel keeps no account of a group with a quota.
 */
#ifndef LBD_NODE_PROCS_H
#define LBD_NODE_PROCS_H

#include <stdint.h>

struct lbd_procs;

struct lbd_procs *lbd_procs_create(void);    /* NULL: out of memory */
void lbd_procs_destroy(struct lbd_procs *p); /* NULL is fine */

/*
 * A sum that only grows: what was seen of processes that have ended stays in it.  Processes that come and go between two
 * calls are missed.  Looks at 512 processes at most.
 * proc: "/proc" or a folder like it;  folder: the group's
 * Returns 0 or a negative errno.
 */
int lbd_procs_usage(struct lbd_procs *p, const char *proc, const char *folder, int64_t *ret_ns)
    __attribute__((warn_unused_result));

#endif
