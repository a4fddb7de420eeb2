/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays with their global extent in address space, and memory only where they were touched. */
#include "libclient/array.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libclient/ctx.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/*
 * Large pages where the share of a rank is half of one or more, so that at most two for each array hold little: where rows come and go
 * memory is then had far sooner (docs/internals/moves.md).
 */
#define LARGE_PAGE ((size_t)2 << 20)
#define LARGE_SHARE (LARGE_PAGE / 2)

/* At the start of a page of its own, in front of the rows. */
struct lbc_array {
    struct lbc_array *next;
    void *mapped; /* this page included */
    size_t mapped_bytes;
    size_t bytes;
    size_t page_bytes; /* of the rows' memory */
};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static uintptr_t round_up(uintptr_t x, size_t page)
{
    return (x + page - 1) / page * page;
}

static char *rows_of(const struct lbc_array *a)
{
    return (char *)a + page_bytes();
}

void *lb_array_alloc(lb_ctx *ctx, int64_t n, size_t row_bytes)
{
    size_t page = page_bytes(), ranks = ctx && ctx->size > 0 ? (size_t)ctx->size : 1, bytes, all;
    struct lbc_array *a;
    bool large;
    char *mapped;

    if (n < 0 || __builtin_mul_overflow((size_t)n, row_bytes, &bytes) ||
        bytes > SIZE_MAX - 2 * LARGE_PAGE)
        return NULL;
    large = bytes / ranks >= LARGE_SHARE && page < LARGE_PAGE;
    all = page + round_up(bytes, page) + (large ? LARGE_PAGE : 0);
    mapped =
        mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    a = (struct lbc_array *)(large ? (char *)round_up((uintptr_t)mapped + page, LARGE_PAGE) - page
                                   : mapped);
    large = large && madvise(rows_of(a), round_up(bytes, page), MADV_HUGEPAGE) == 0;
    a->mapped = mapped;
    a->mapped_bytes = all;
    a->bytes = bytes;
    a->page_bytes = large ? LARGE_PAGE : page;
    if (ctx) {
        a->next = ctx->array;
        ctx->array = a;
    }
    return rows_of(a);
}

void lb_array_free(lb_ctx *ctx, void *base)
{
    struct lbc_array *a;

    if (!base)
        return;
    a = (struct lbc_array *)((char *)base - page_bytes());
    for (struct lbc_array **p = ctx ? &ctx->array : NULL; p && *p; p = &(*p)->next) {
        if (*p == a) {
            *p = a->next;
            break;
        }
    }
    munmap(a->mapped, a->mapped_bytes);
}

void lbc_array_forget(lb_ctx *ctx)
{
    ctx->array = NULL;
}

size_t lbc_array_page(const lb_ctx *ctx, const void *base, size_t bytes)
{
    uintptr_t first = (uintptr_t)base;

    for (const struct lbc_array *a = ctx->array; a; a = a->next) {
        uintptr_t start = (uintptr_t)rows_of(a);

        if (first >= start && first - start <= a->bytes && bytes <= a->bytes - (first - start))
            return a->page_bytes;
    }
    return 0;
}

/* Of the whole pages inside. */
static void advise(void *base, size_t bytes, size_t page, int advice)
{
    uintptr_t first = round_up((uintptr_t)base, page), last = (uintptr_t)base + bytes;

    last = last / page * page;
    if (last > first)
        madvise((void *)first, last - first, advice);
}

void lbc_array_release(void *base, size_t bytes, size_t page)
{
    advise(base, bytes, page > page_bytes() ? page : page_bytes(), MADV_DONTNEED);
}

void lbc_array_populate(void *base, size_t bytes)
{
    /* where it is not known pages come one by one */
    advise(base, bytes, page_bytes(), MADV_POPULATE_WRITE);
}
