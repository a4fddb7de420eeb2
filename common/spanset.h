/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of integers as sorted, disjoint, non-adjacent half-open spans [first, last).
 * A loop's iterations are such a set, and so is what one rank owns of them.
 */
#ifndef LBX_SPANSET_H
#define LBX_SPANSET_H

#include <stddef.h>
#include <stdint.h>

struct lbx_span {
    int64_t first; /* in the span */
    int64_t last;  /* behind the span; last > first in a set */
};

struct lbx_spanset {
    struct lbx_span *span; /* [n], ascending, owned */
    size_t n;
    size_t size; /* spans allocated */
};

#define LBX_SPANSET_EMPTY \
    {                     \
        NULL, 0, 0        \
    }

void lbx_spanset_init(struct lbx_spanset *s);
void lbx_spanset_fini(struct lbx_spanset *s);  /* NULL is fine; leaves an empty set */
void lbx_spanset_clear(struct lbx_spanset *s); /* empties it, keeps its memory */

/* Make room for n spans: until the set has more no memory is needed.  Returns 0 or -ENOMEM. */
int lbx_spanset_reserve(struct lbx_spanset *s, size_t n) __attribute__((warn_unused_result));

/*
 * Add [first, last), or take it away.  An empty span changes nothing; what is already there (or
 * already gone) stays so.
 * Returns 0, -EINVAL when first > last, -ENOMEM (the set is unchanged; only when the number of
 * spans grows: taking away from an end of a span, or whole spans, never fails).  O(number of spans)
 */
int lbx_spanset_add(struct lbx_spanset *s, int64_t first, int64_t last)
    __attribute__((warn_unused_result));
int lbx_spanset_remove(struct lbx_spanset *s, int64_t first, int64_t last)
    __attribute__((warn_unused_result));

/*
 * How many integers are in the set; in all, and of [first, last), 0 when first >= last.
 * The caller sees to it that the number fits (sets of integers >= 0 always do).
 */
int64_t lbx_spanset_count(const struct lbx_spanset *s);
int64_t lbx_spanset_count_in(const struct lbx_spanset *s, int64_t first, int64_t last);

/*
 * ret_out becomes the part of s inside [first, last), empty when first >= last; ret_out must be
 * initialised and not s.
 * Returns 0 or -ENOMEM (ret_out unchanged).
 */
int lbx_spanset_intersect(const struct lbx_spanset *s, int64_t first, int64_t last,
                          struct lbx_spanset *ret_out) __attribute__((warn_unused_result));

/* ret_out, initialised, becomes a copy of s.  Returns 0 or -ENOMEM (ret_out unchanged). */
int lbx_spanset_copy(const struct lbx_spanset *s, struct lbx_spanset *ret_out)
    __attribute__((warn_unused_result));

#endif
