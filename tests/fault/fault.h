/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A malloc that fails at the Nth call: malloc, calloc, realloc, aligned_alloc, strdup and strndup are counted down, by the
 * linker's --wrap, so that it works under the sanitizers and valgrind too.  Link with libfault.la and $(FAULT_WRAP), and say,
 * for whatever should survive each failure:
 *     for (unsigned long nth = 1;; nth++) {
 *         fault_arm(nth);
 *         rc = the_call();
 *         if (!fault_disarm())
 *             break;                  // fewer than nth allocations: nothing failed, and rc is the call's real result
 *         ck_assert_int_eq(rc, -ENOMEM);
 *         ... and all is as it was before the call
 *     }
 * Only calls from what is linked into the program statically are counted, not those of shared libraries.  Check itself may
 * be linked so, and allocates: no ck_assert between the two.
 */
#ifndef TESTS_FAULT_FAULT_H
#define TESTS_FAULT_FAULT_H

#include <stdbool.h>

/* The nth (1, 2, ...) allocation from now on fails; only that one. */
void fault_arm(unsigned long nth);

/* Nothing fails any more.  Returns whether something did since fault_arm. */
bool fault_disarm(void);

/* Blocks allocated and not yet freed: the same before and after means no leak. */
long fault_live(void);

#endif
