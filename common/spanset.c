/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of integers as sorted, disjoint, non-adjacent half-open spans. */
#include "common/spanset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void lbx_spanset_init(struct lbx_spanset *s)
{
    memset(s, 0, sizeof(*s));
}

void lbx_spanset_fini(struct lbx_spanset *s)
{
    if (!s)
        return;
    free(s->span);
    memset(s, 0, sizeof(*s));
}

void lbx_spanset_clear(struct lbx_spanset *s)
{
    s->n = 0;
}

int lbx_spanset_reserve(struct lbx_spanset *s, size_t n)
{
    size_t size = s->size ? s->size : 4;
    struct lbx_span *span;

    if (n <= s->size)
        return 0;
    while (size < n)
        size *= 2;
    span = realloc(s->span, size * sizeof(*span));
    if (!span)
        return -ENOMEM;
    s->span = span;
    s->size = size;
    return 0;
}

/* Index of the first span whose end is behind value (bisection). */
static size_t find_ending_after(const struct lbx_spanset *s, int64_t value)
{
    size_t lo = 0, hi = s->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (s->span[mid].last > value)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Put nput spans where `cut` spans stand at index i.  Returns 0, or -ENOMEM with nothing done. */
static int splice(struct lbx_spanset *s, size_t i, size_t cut, const struct lbx_span *put,
                  size_t nput)
{
    if (cut == 0 && nput == 0)
        return 0;
    if (lbx_spanset_reserve(s, s->n - cut + nput) < 0)
        return -ENOMEM;
    memmove(s->span + i + nput, s->span + i + cut, (s->n - i - cut) * sizeof(*s->span));
    for (size_t k = 0; k < nput; k++)
        s->span[i + k] = put[k];
    s->n = s->n - cut + nput;
    return 0;
}

int lbx_spanset_add(struct lbx_spanset *s, int64_t first, int64_t last)
{
    struct lbx_span all = {first, last};
    size_t i, end;

    if (first > last)
        return -EINVAL;
    if (first == last)
        return 0;
    /* a span that ends exactly at first is adjacent and joins */
    i = first == INT64_MIN ? 0 : find_ending_after(s, first - 1);
    for (end = i; end < s->n && s->span[end].first <= last; end++) {
        if (s->span[end].first < all.first)
            all.first = s->span[end].first;
        if (s->span[end].last > all.last)
            all.last = s->span[end].last;
    }
    return splice(s, i, end - i, &all, 1);
}

int lbx_spanset_remove(struct lbx_spanset *s, int64_t first, int64_t last)
{
    struct lbx_span rest[2];
    size_t i, end, nrest = 0;

    if (first > last)
        return -EINVAL;
    if (first == last)
        return 0;
    i = find_ending_after(s, first);
    for (end = i; end < s->n && s->span[end].first < last; end++) {
        if (s->span[end].first < first)
            rest[nrest++] = (struct lbx_span){s->span[end].first, first};
        if (s->span[end].last > last)
            rest[nrest++] = (struct lbx_span){last, s->span[end].last};
    }
    return splice(s, i, end - i, rest, nrest);
}

int64_t lbx_spanset_count(const struct lbx_spanset *s)
{
    int64_t sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum += s->span[i].last - s->span[i].first;
    return sum;
}

int64_t lbx_spanset_count_in(const struct lbx_spanset *s, int64_t first, int64_t last)
{
    int64_t sum = 0;

    if (first >= last)
        return 0;
    for (size_t i = find_ending_after(s, first); i < s->n && s->span[i].first < last; i++) {
        int64_t a = s->span[i].first > first ? s->span[i].first : first;
        int64_t b = s->span[i].last < last ? s->span[i].last : last;

        sum += b - a;
    }
    return sum;
}

int lbx_spanset_intersect(const struct lbx_spanset *s, int64_t first, int64_t last,
                          struct lbx_spanset *ret_out)
{
    size_t i = find_ending_after(s, first), n = 0;

    if (first < last)
        for (size_t k = i; k < s->n && s->span[k].first < last; k++)
            n++;
    if (lbx_spanset_reserve(ret_out, n) < 0)
        return -ENOMEM;
    for (size_t k = 0; k < n; k++) {
        ret_out->span[k].first = s->span[i + k].first > first ? s->span[i + k].first : first;
        ret_out->span[k].last = s->span[i + k].last < last ? s->span[i + k].last : last;
    }
    ret_out->n = n;
    return 0;
}

int lbx_spanset_copy(const struct lbx_spanset *s, struct lbx_spanset *ret_out)
{
    if (lbx_spanset_reserve(ret_out, s->n) < 0)
        return -ENOMEM;
    if (s->n > 0)
        memcpy(ret_out->span, s->span, s->n * sizeof(*s->span));
    ret_out->n = s->n;
    return 0;
}
