/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts that a new job can have at once, asked of slurmctld. */
#ifndef LBS_IDLE_H
#define LBS_IDLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Idle hosts of a partition (NULL: the default one), a line each: NAME CPUS.  In srun only, and only for who asks for it
 * (key hosts): slurmctld is asked by a child, which is killed at the deadline, since Slurm's own call may take minutes.
 * text[out]  [size], ended by a NUL
 * Returns 0, -ENODATA (no such partition, no host), -ETIMEDOUT, -ENOSPC (too many), or another negative errno.
 */
int lbs_idle_hosts(const char *partition, int64_t deadline_ns, char *text, size_t size)
    __attribute__((warn_unused_result));

#endif
