/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted failure: policy/plus.h without its guard; test_sums must see it. */
#ifndef LBP_PLUS_H
#define LBP_PLUS_H

#include <stdint.h>

static inline int64_t lbp_plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

#endif
