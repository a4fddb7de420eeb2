/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of rows that come and go with a layout. */
#include "libclient/memory.h"

#include <stdint.h>
#include <unistd.h>

#include "libclient/array.h"
#include "libclient/step.h"

/* What of a span is outside of another. */
static void outside(struct lbx_span of, struct lbx_span other, struct lbx_span part[static 2])
{
    part[0] = of;
    part[1] = (struct lbx_span){0, 0};
    if (lbc_layout_both(of, other).first < lbc_layout_both(of, other).last) {
        part[0].last = other.first;
        part[1] = (struct lbx_span){other.last, of.last};
    }
}

struct memory {
    char *base;
    size_t bytes;
};

/* That of these rows of an array, where that is ours; else none. */
static struct memory memory_of(const struct lb_loop *l, size_t array, struct lbx_span rows)
{
    size_t row = l->rows[array].row_bytes;

    if (l->rows[array].page_bytes == 0 || rows.first >= rows.last)
        return (struct memory){NULL, 0};
    return (struct memory){l->rows[array].base + (size_t)rows.first * row,
                           (size_t)(rows.last - rows.first) * row};
}

void lbc_memory_have(const struct lb_loop *l, struct lbx_span old, struct lbx_span new)
{
    struct lbx_span part[2];

    outside(new, old, part);
    for (size_t a = 0; a < l->nrows; a++)
        for (int i = 0; i < 2; i++) {
            struct memory m = memory_of(l, a, part[i]);

            if (m.bytes > 0)
                lbc_array_populate(m.base, m.bytes);
        }
}

/*
 * Have the first bit of it, up to the end of a page.  A machine whose hypervisor maintains the page tables traps each small page
 * once more when it is used first (docs/internals/moves.md), so each is read.  Returns the bytes.
 */
static size_t have_bit(struct memory m)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bit = LBC_MEMORY_BIT + page - (uintptr_t)m.base % page;

    if (bit > m.bytes)
        bit = m.bytes;
    lbc_array_populate(m.base, bit);
    for (size_t at = 0; at < bit; at += page)
        (void)*(volatile char *)(m.base + at);
    return bit;
}

void lbc_memory_ahead(struct lb_loop *l)
{
    struct lbc_step *s = l->step;
    size_t before = 0;
    struct lbx_span part[2];

    if (!s || !s->next || s->next->partial)
        return;
    outside(lbc_layout_block(l, s->next), lbc_layout_block(l, s->layout), part);
    for (size_t a = 0; a < l->nrows; a++)
        for (int i = 0; i < 2; i++) {
            struct memory m = memory_of(l, a, part[i]);

            if (s->memory_bytes < before + m.bytes) {
                size_t had = s->memory_bytes - before;

                s->memory_bytes += have_bit((struct memory){m.base + had, m.bytes - had});
                return;
            }
            before += m.bytes;
        }
}

/* A span outside of a block, and as many rows more, but not into the block. */
static struct lbx_span widened(struct lbx_span s, int64_t rows, struct lbx_span block, int64_t n)
{
    struct lbx_span wide = {s.first > rows ? s.first - rows : 0,
                            n - s.last > rows ? s.last + rows : n};

    if (block.first < block.last && block.last <= s.first && wide.first < block.last)
        wide.first = block.last;
    if (block.first < block.last && s.last <= block.first && block.first < wide.last)
        wide.last = block.first;
    return wide;
}

/*
 * Rows that are no longer owned nor near; what of the new halo is among them comes again.  With what other rows there are on the same
 * pages, which they may have been kept by.
 */
void lbc_memory_release(const struct lb_loop *l, struct lbx_span old, struct lbx_span new)
{
    int64_t halo = l->halo;
    struct lbx_span part[2];

    if (old.first == old.last)
        return;
    outside(widened(old, halo, (struct lbx_span){0, 0}, l->n), new, part);
    for (size_t a = 0; a < l->nrows; a++) {
        size_t row = l->rows[a].row_bytes, page = l->rows[a].page_bytes;

        for (int i = 0; i < 2 && page > 0 && row > 0; i++) {
            struct lbx_span s;

            if (part[i].first >= part[i].last)
                continue;
            s = widened(part[i], (int64_t)(page / row + 1), new, l->n);
            lbc_array_release(l->rows[a].base + (size_t)s.first * row,
                              (size_t)(s.last - s.first) * row, page);
        }
    }
}
