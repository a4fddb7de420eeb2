/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out: in the threads that ask for it, while they are in the library. */
#ifndef TEST_FAULT_H
#define TEST_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on about one of `every` allocations of this thread fails; 0: none. */
void fault_arm(uint64_t seed, unsigned every);

/* Between these two calls nothing fails; they nest. */
void fault_pause(void);
void fault_resume(void);

/* Shall an allocation fail now? */
bool fault_strikes(void);

/* How many have failed in all threads. */
int64_t fault_count(void);

#endif
