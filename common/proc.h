/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc tells of other processes. */
#ifndef LBX_PROC_H
#define LBX_PROC_H

#include <stdbool.h>
#include <sys/types.h>

/* The parent of a process; 0 when there is no such process. */
pid_t lbx_proc_parent(pid_t pid);

/* Whether a process is ancestor itself or was started by it or by one of its descendants, as far as they still live. */
bool lbx_proc_descends(pid_t pid, pid_t ancestor);

#endif
