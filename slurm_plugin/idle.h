/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts that a new job can have at once, asked of slurmctld. */
#ifndef LBS_IDLE_H
#define LBS_IDLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lbs_idle_child {
    pid_t pid; /* below 1: none */
    int fd;    /* its answer; -1: none */
};

struct lbs_idle {
    struct lbs_idle_child nodes, parts; /* Slurm's nodes do not say in which partitions they are */
};
#define LBS_IDLE_NONE ((struct lbs_idle){{-1, -1}, {-1, -1}})

/*
 * Ask for the idle hosts of a partition (NULL: the default one).  In srun only, and only for who asks for it (key hosts): slurmctld
 * is asked by children, since Slurm's own call may take minutes; by two at the same time, since what it takes is waiting.  What comes of it
 * lbs_idle_hosts says; lbs_idle_end must follow.
 */
void lbs_idle_ask(struct lbs_idle *idle, const char *partition);

/*
 * A line each: NAME CPUS.
 * text[out]  [size], ended by a NUL
 * Returns 0, -ENODATA (no such partition, no host), -ETIMEDOUT, -ENOSPC (too many), or another negative errno.
 */
int lbs_idle_hosts(struct lbs_idle *idle, int64_t deadline_ns, char *text, size_t size)
    __attribute__((warn_unused_result));

/* End the children, whatever they do. */
void lbs_idle_end(struct lbs_idle *idle);

#endif
