/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks, in ns as int64_t. */
#ifndef LBX_CLOCK_H
#define LBX_CLOCK_H

#include <stdint.h>

#define LBX_NS_PER_S INT64_C(1000000000)
#define LBX_NS_PER_MS INT64_C(1000000)
#define LBX_NS_PER_US INT64_C(1000)

int64_t lbx_clock_mono_ns(void);        /* since an unknown moment; for durations and timeouts */
int64_t lbx_clock_wall_ns(void);        /* since 1970 UTC; may jump */
int64_t lbx_clock_thread_cpu_ns(void);  /* CPU time of the calling thread */
int64_t lbx_clock_process_cpu_ns(void); /* CPU time of all threads of the process */
void lbx_clock_sleep_ns(
    int64_t ns); /* sleeps at least ns, through signals; ns <= 0 returns at once */

#endif
