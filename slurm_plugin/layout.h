/* SPDX-License-Identifier: BSD-3-Clause */
/* How many tasks each host gets.  Pure. */
#ifndef LBS_LAYOUT_H
#define LBS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define LBS_HOST_MAX 64 /* bytes of a name with the NUL */

struct lbs_slot {
    char host[LBS_HOST_MAX];
    double core_speed; /* what one task gets here, > 0 */
    double capacity;   /* what all tasks get here together, > 0 */
    uint32_t room;     /* tasks that fit when nothing is there */
    uint32_t most;     /* tasks that fit now */
    double claimed;    /* tasks of others that are on their way here, >= 0 */
    uint32_t tasks;    /* [out] */
};

/*
 * Each task in turn goes to where it and those already there then run fastest: tasks follow speed, and a host of half the
 * speed gets half the tasks or fewer (D'Hondt's rule).
 * nhosts[in]  exactly so many hosts get tasks, those where one task runs fastest; 0: as many as it turns out
 * Returns 0, -EINVAL (no task, more hosts than tasks or slots), -ENOSPC (they do not fit); then tasks are undefined.
 * O(ntasks x n), no allocation.
 * Source: BEC 1999, seed 004; D'Hondt's rule instead of remainders, which give a slow host more than its half.
 */
int lbs_layout(struct lbs_slot *slot, size_t n, uint32_t ntasks, uint32_t nhosts)
    __attribute__((warn_unused_result));

/* Speed of the slowest task, > 0; 0 when there is none. */
double lbs_layout_pace(const struct lbs_slot *slot, size_t n);

/* The pace of tasks spread evenly over the first hosts, as Slurm does it at best. */
double lbs_layout_plain_pace(const struct lbs_slot *slot, size_t n, uint32_t ntasks);

#endif
