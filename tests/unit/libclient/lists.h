/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists that belong to the iterations of a loop, and show by their length and contents whether they are the right ones: one
 * rank's, where those of iterations that it does not own are not there.
 */
#ifndef TEST_LISTS_H
#define TEST_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/lb.h"

struct lists;

struct lists *lists_create(int64_t n);
void lists_destroy(struct lists *s); /* and the lists that are there */

struct lb_pack lists_pack(struct lists *s); /* for lb_loop_pack */

/* Make the list of iteration i, as it is before the first step. */
void lists_fill(struct lists *s, int64_t i);

/* Is it what it should be after so many steps?  Then a step more. */
bool lists_step(struct lists *s, int64_t i, int64_t steps);

/* How many lists are there. */
int64_t lists_count(const struct lists *s);

#endif
