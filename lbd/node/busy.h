/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a job runs on this host, also one that nobody has told us of. */
#ifndef LBD_NODE_BUSY_H
#define LBD_NODE_BUSY_H

#include <stdbool.h>

/*
 * Look for a slurmstepd among all processes (those of nested PID namespaces are other hosts' in a test cluster).  Takes some
 * microseconds a process: not for the loop's thread.
 * proc[in]  "/proc", or a folder like it for tests
 */
bool lbd_busy_with_job(const char *proc);

#endif
