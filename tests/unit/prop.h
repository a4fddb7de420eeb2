/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded loops.
 * A property loop takes its numbers from prop_start(); the seed is printed, so that a failure in it
 * can be had again: LB_TEST_SEED=12345 tests/unit/common/test_spanset.
 */
#ifndef TESTS_UNIT_PROP_H
#define TESTS_UNIT_PROP_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Check sends a message to its parent for every assertion that holds, and a property loop makes millions of them: that took
 * a hundred times as long as what was tested.  Only those that fail are told.
 */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...) \
    ((expr)                      \
         ? (void)0               \
         : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

struct prop {
    uint64_t state;
};

/* splitmix64, by Vigna: any seed will do, and the same numbers on every machine. */
static inline uint64_t prop_u64(struct prop *p)
{
    uint64_t z = p->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* In [0, n), n > 0. */
static inline uint64_t prop_below(struct prop *p, uint64_t n)
{
    return prop_u64(p) % n;
}

static inline void prop_bytes(struct prop *p, uint8_t *ret_bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ret_bytes[i] = (uint8_t)prop_u64(p);
}

static inline struct prop prop_start(const char *name)
{
    const char *given = getenv("LB_TEST_SEED");
    struct prop p = {given ? strtoull(given, NULL, 0) : (uint64_t)getpid() * 7919 + 1};

    printf("%s: LB_TEST_SEED=%llu\n", name, (unsigned long long)p.state);
    fflush(stdout);
    return p;
}

#endif
