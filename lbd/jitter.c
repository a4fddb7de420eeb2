/* SPDX-License-Identifier: BSD-3-Clause */
/* Randomly stretched intervals. */
#include "lbd/jitter.h"

#include "common/auth.h"
#include "common/clock.h"

int64_t lbd_jitter_ns(int64_t ns, double ratio)
{
    uint32_t r;

    lbx_auth_random(&r, sizeof(r));
    return ns + (int64_t)((double)ns * ratio * (r / 4294967296.0));
}

uint64_t lbd_jitter_ms(int64_t ns, double ratio)
{
    int64_t ms = lbd_jitter_ns(ns, ratio) / LBX_NS_PER_MS;

    return ms < 1 ? 1 : (uint64_t)ms;
}
