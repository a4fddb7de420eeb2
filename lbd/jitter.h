/* SPDX-License-Identifier: BSD-3-Clause */
/* Randomly stretched intervals, so that hosts do not act in step. */
#ifndef LBD_JITTER_H
#define LBD_JITTER_H

#include <stdint.h>

/* ns stretched by 0 to ratio of itself. */
int64_t lbd_jitter_ns(int64_t ns, double ratio);

/* The same in ms for the loop's timers, at least 1. */
uint64_t lbd_jitter_ms(int64_t ns, double ratio);

#endif
