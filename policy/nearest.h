/* SPDX-License-Identifier: BSD-3-Clause */
/* The valid name nearest to what a person wrote, for messages about mistakes. */
#ifndef LBP_NEAREST_H
#define LBP_NEAREST_H

#include <stddef.h>

#define LBP_NEAREST_MAX \
    32 /* bytes of a name that are compared; the rest counts as so many insertions */

/*
 * How many single-letter edits (insert, delete, replace, swap of two neighbours) lead from a to b;
 * capitals count as small letters.  Pure, O(|a| |b|), no allocation. Source: ours (optimal string
 * alignment).
 */
int lbp_nearest_distance(const char *a, const char *b);

/*
 * Index of the name with the least distance to text; the first of equals; names that begin with
 * text are preferred. name[in]  [n], n >= 1 Source: ours.
 */
size_t lbp_nearest(const char *text, const char *const *name, size_t n);

#endif
