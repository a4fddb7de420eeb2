/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many of a test's cases are run: all, or the first alone where the same programs have been run in full just before and
 * only whether everything that they need is there is asked (LB_TEST_BRIEF, see HACKING.md).  Of cases that are drawn by the
 * thousand a tenth is run then, and where each is looked at by sanitizers, who need no thousand (LB_TEST_FEW).
 */
#ifndef TESTS_UNIT_BRIEF_H
#define TESTS_UNIT_BRIEF_H

#include <stdlib.h>

static inline int brief_cases(int n)
{
    return getenv("LB_TEST_BRIEF") ? 1 : n;
}

static inline unsigned brief_rounds(unsigned n)
{
    return getenv("LB_TEST_BRIEF") || getenv("LB_TEST_FEW") ? (n + 9) / 10 : n;
}

#endif
