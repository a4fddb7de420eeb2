/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long all ranks of a stepped or pipelined loop are held up by a layout, from what each of them says that applying it took.
 * In a stepped loop all wait for the longest.  In a pipelined one ranks come to the layout one after another, and who gets rows from
 * a later one waits until that one has done its step, as it would have waited within the next one: there it is the mean of what
 * they say, each by its bytes.
 * Source: ours; docs/internals/profit.md has what steps really took.
 */
#ifndef LBP_LAYOUT_COST_H
#define LBP_LAYOUT_COST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one layout; begins as all zeros. */
struct lbp_layout_cost {
    double longest_ns, byte_ns, bytes; /* byte_ns: bytes times ns, summed up, as bytes is */
};

/* A rank gave and took so many bytes, > 0, in so long, >= 0. */
static inline void lbp_layout_cost_add(struct lbp_layout_cost *c, int64_t bytes, int64_t wall_ns)
{
    c->longest_ns = fmax(c->longest_ns, (double)wall_ns);
    c->byte_ns += (double)bytes * (double)wall_ns;
    c->bytes += (double)bytes;
}

/* ns, 0 when nothing moved; flows: the loop is pipelined. */
static inline double lbp_layout_cost_ns(const struct lbp_layout_cost *c, bool flows)
{
    return !flows ? c->longest_ns : c->bytes > 0 ? c->byte_ns / c->bytes : 0;
}

#endif
