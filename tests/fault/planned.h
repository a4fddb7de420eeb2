/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to go wrong: lines `WHAT WHEN N` of the file `plan` in the folder of the program, and the file `done` there, which says
 * what did.
 */
#ifndef TESTS_FAULT_PLANNED_H
#define TESTS_FAULT_PLANNED_H

#include <stdbool.h>

/* Is it time for this fault?  every: at each Nth moment, else at the Nth alone.  Then it is written down. */
bool planned_due(const char *what, const char *when, bool every);

/* Is there a fault whose WHEN begins with this? */
bool planned_any(const char *when);

#endif
