/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of what others tell: whatever they say, a sum stays where it was largest. */
#ifndef LBP_PLUS_H
#define LBP_PLUS_H

#include <stdint.h>

/* a + b of numbers >= 0; INT64_MAX where it would be more. */
static inline int64_t lbp_plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

#endif
