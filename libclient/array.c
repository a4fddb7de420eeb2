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

/* At the start of a page of its own, in front of the rows. */
struct lbc_array {
    struct lbc_array *next;
    size_t mapped_bytes; /* this page included */
    size_t bytes;
};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *rows_of(const struct lbc_array *a)
{
    return (char *)a + page_bytes();
}

void *lb_array_alloc(lb_ctx *ctx, int64_t n, size_t row_bytes)
{
    size_t page = page_bytes(), bytes, mapped;
    struct lbc_array *a;

    if (n < 0 || __builtin_mul_overflow((size_t)n, row_bytes, &bytes) ||
        bytes > SIZE_MAX - 2 * page)
        return NULL;
    mapped = page + (bytes + page - 1) / page * page;
    a = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (a == MAP_FAILED)
        return NULL;
    a->mapped_bytes = mapped;
    a->bytes = bytes;
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
    munmap(a, a->mapped_bytes);
}

void lbc_array_forget(lb_ctx *ctx)
{
    ctx->array = NULL;
}

bool lbc_array_holds(const lb_ctx *ctx, const void *base, size_t bytes)
{
    uintptr_t first = (uintptr_t)base;

    for (const struct lbc_array *a = ctx->array; a; a = a->next) {
        uintptr_t start = (uintptr_t)rows_of(a);

        if (first >= start && first - start <= a->bytes && bytes <= a->bytes - (first - start))
            return true;
    }
    return false;
}

/* Of the whole pages inside. */
static void advise(void *base, size_t bytes, int advice)
{
    uintptr_t page = page_bytes(), first = (uintptr_t)base, last = first + bytes;

    first = (first + page - 1) / page * page;
    last = last / page * page;
    if (last > first)
        madvise((void *)first, last - first, advice);
}

void lbc_array_release(void *base, size_t bytes)
{
    advise(base, bytes, MADV_DONTNEED);
}

void lbc_array_populate(void *base, size_t bytes)
{
    advise(base, bytes, MADV_POPULATE_WRITE); /* where it is not known pages come one by one */
}
