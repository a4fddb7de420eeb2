/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks, in ns as int64_t. */
#include "common/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * LBX_NS_PER_S + ts.tv_nsec;
}

int64_t lbx_clock_mono_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t lbx_clock_wall_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t lbx_clock_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t lbx_clock_process_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void lbx_clock_sleep_ns(int64_t ns)
{
    struct timespec ts = {.tv_sec = ns / LBX_NS_PER_S, .tv_nsec = ns % LBX_NS_PER_S};

    if (ns <= 0)
        return;
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
        continue;
}
